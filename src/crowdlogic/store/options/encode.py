"""Options as plain data, which JSON can hold."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from typing import Any

import numpy as np

from crowdlogic.data.vectors import WordVectors

OF_PYTHON = " of Python"
"""How the plain form of a thing ends that only Python can make."""

SHOWN, LONGEST = "shown", 4000
"""Where its repr stands beside that, and how much of it."""


def encode_options(value: Any) -> Any:
    """An option as JSON would hold it. Word vectors are left out: they are data, and not options."""
    if is_dataclass(value) and not isinstance(value, type):
        return _encode_dataclass(value)
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, tuple | list):
        return [encode_options(entry) for entry in value]
    if isinstance(value, Mapping):
        return {str(name): encode_options(entry) for name, entry in value.items()}
    is_plain = value is None or isinstance(value, bool | int | float | str)
    return value if is_plain else _name_python_object(value)


def _name_python_object(value: Any) -> dict[str, str]:
    """The type of a thing that only Python can make and, unless that differs from process to process, its repr."""
    shown = " ".join(repr(value).split())
    named = {"name": f"{type(value).__name__}{OF_PYTHON}"}
    return named if " at 0x" in shown else {**named, SHOWN: shown[:LONGEST]}


def _encode_dataclass(value: Any) -> dict[str, Any]:
    options = {field.name: getattr(value, field.name) for field in fields(value) if field.init}
    plain = {name: encode_options(one) for name, one in options.items() if not isinstance(one, WordVectors)}
    name = getattr(value, "name", None)
    return plain if name is None else {"name": name, **plain}


def find_python_object(options: Any) -> str | None:
    """The type of the first thing among plain options that only Python can make, such as an estimator."""
    if not isinstance(options, Mapping):
        return None
    name = options.get("name")
    if isinstance(name, str) and name.endswith(OF_PYTHON):
        return name.removesuffix(OF_PYTHON)
    return next((found for value in options.values() if (found := find_python_object(value)) is not None), None)


def find_difference(stored: Any, given: Any, where: str = "") -> str | None:
    """The first option in which what is given differs from what was stored, in words; None if it is the same.

    What was stored without a repr is taken for the same.
    """
    if not isinstance(stored, Mapping) or not isinstance(given, Mapping):
        return None if stored == given else f"{where or 'it'} was {stored!r} and is {given!r}"
    if SHOWN in stored and stored[SHOWN] != given.get(SHOWN):
        return f"{where or 'it'} was {stored[SHOWN]} and is {given.get(SHOWN)}"
    names = [name for name in dict.fromkeys([*stored, *given]) if name != SHOWN]
    found = (find_difference(stored.get(name), given.get(name), f"{where}.{name}".strip(".")) for name in names)
    return next((one for one in found if one is not None), None)
