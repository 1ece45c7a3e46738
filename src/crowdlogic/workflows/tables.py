"""Results as tables that a terminal, a page or a notebook can show."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, kw_only=True)
class ResultTable:
    """A small table of figures.

    Attributes:
        title: What it is about.
        columns: The name of each column; the first one names the rows.
        rows: The cells: text, counts, floats, None where there is nothing.
    """

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[Any]]


def percent(share: float | None) -> str:
    """A share as a percentage with two digits, a dash when there is none."""
    return "-" if share is None or math.isnan(share) else f"{100 * share:.2f} %"
