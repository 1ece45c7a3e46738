"""Flat dataclasses as rows of JSON, and back: the lines of a history, the audit of a rule.

A row holds numbers, texts, true and false, and mappings of numbers. null is NaN where a number is expected.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, fields
from enum import Enum
from types import NoneType
from typing import Any, TypeVar, get_args, get_origin, get_type_hints

from crowdlogic.store.damage import InvalidValueError, require, require_numbers

Record = TypeVar("Record")

JSON_TYPES: Mapping[Any, Any] = {float: (int, float), int: int, str: str, bool: bool}
"""What JSON holds for each type of a field."""


def decode_record(kind: type[Record], row: Any, name: str) -> Record:
    """A dataclass from a row that a file holds, if every value is of its type.

    Args:
        kind: The dataclass.
        row: The row as the file holds it.
        name: What to call the row in messages.
    """
    stored = require(row, Mapping, name)
    hints, known = get_type_hints(kind), {field.name: field for field in fields(kind)}  # type: ignore[arg-type]
    for entry in stored:
        if entry not in known:
            raise InvalidValueError(f"{name}: there is no such thing as {entry!r:.80}")
    for entry, field in known.items():
        if entry not in stored and field.default is MISSING and field.default_factory is MISSING:
            raise InvalidValueError(f"{name}: no {entry!r}")
    return kind(**{entry: _decode(hints[entry], value, f"{name}: {entry}") for entry, value in stored.items()})


def _decode(hint: Any, value: Any, name: str) -> Any:
    if get_origin(hint) is Mapping:
        return require_numbers(value, name)
    if NoneType in get_args(hint):
        return None if value is None else _decode(get_args(hint)[0], value, name)
    if hint is float and value is None:
        return float("nan")
    if isinstance(hint, type) and issubclass(hint, Enum):
        return _decode_choice(hint, value, name)
    return require(value, JSON_TYPES[hint], name)


def _decode_choice(kind: type[Enum], value: Any, name: str) -> Enum:
    if value not in [one.value for one in kind]:
        raise InvalidValueError(f"{name} is {value!r:.80}")
    return kind(value)
