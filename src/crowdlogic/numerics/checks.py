"""Checks of options that are numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from crowdlogic.errors import OptionError, require_kind


def check_amounts(options: Any, *, not_negative: tuple[str, ...] = (), positive: tuple[str, ...] = ()) -> None:
    """Refuse fields of a dataclass of options that are below zero, infinite or not a number; or zero, where `positive`.

    Args:
        options: A frozen dataclass with a `name`.
        not_negative: The fields that may be 0 or more.
        positive: The fields that must be more than 0.
    """
    for name in (*not_negative, *positive):
        value = getattr(options, name)
        require_kind(value, (int, float, np.number), f"{options.name}: {name}", "Give a number.")
        if not np.isfinite(value) or value < 0 or (value == 0 and name in positive):
            least = "more than 0" if name in positive else "0 or more"
            raise OptionError(f"{options.name}: {name} must be {least}, not {value}.")
