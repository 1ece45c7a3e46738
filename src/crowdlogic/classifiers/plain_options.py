"""Options as plain values, as a command line or a JSON file has them, to the fields of a dataclass and back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, Field, fields, is_dataclass, replace
from pathlib import Path
from types import UnionType
from typing import Any, get_args, get_origin, get_type_hints

from crowdlogic.data.names import nearest
from crowdlogic.errors import OptionError

KINDS = {int: "whole number", float: "number", bool: "truth value (true or false)", str: "text", Path: "path"}


def plain(value: Any, name: str) -> Any:
    """A value as JSON has it: a dataclass as a table, a tuple as a list."""
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: plain(getattr(value, field.name), field.name) for field in fields(value)}
    if isinstance(value, Mapping):
        return {str(key): plain(inner, name) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [plain(inner, name) for inner in value]
    if value is None or isinstance(value, str | int | float):
        return value
    raise OptionError(
        f"{name}: a {type(value).__name__} cannot be written as a plain value. Give it by name and parameters."
    )


def fitted_options(kind: type[Any], options: Mapping[str, Any], *, where: str) -> dict[str, Any]:
    """Options as a dataclass takes them: checked by name and kind, lists made tuples, tables made dataclasses."""
    known, hints = {field.name: field for field in fields(kind)}, get_type_hints(kind)
    for name in options:
        if name not in known:
            hint = nearest(name, list(known))
            raise OptionError(f"{where} has no option {name!r}.{hint} It has: {', '.join(known) or 'none'}.")
    lacking = [field.name for field in known.values() if _is_needed(field) and field.name not in options]
    if lacking:
        raise OptionError(f"{where} needs the option {lacking[0]!r}.")
    return {name: _value(known[name], hints[name], value, f"{where}: {name}") for name, value in options.items()}


def _value(field: Field[Any], hint: Any, value: Any, where: str) -> Any:
    if is_dataclass(field.default) and isinstance(value, Mapping):
        kind: Any = field.default  # what the table leaves out is as the class has it for its own
        return replace(kind, **fitted_options(type(kind), value, where=where))
    if isinstance(value, list) and get_origin(hint) is tuple:
        value = tuple(value)
    if not _is_of(value, hint):
        raise OptionError(f"{where}: {value!r} is no {_said(hint)}.")
    return value


def _is_of(value: Any, hint: Any) -> bool:
    """Whether a value is of an option's kind. A whole number serves for any number, a truth value for none."""
    if isinstance(hint, UnionType):
        return any(_is_of(value, inner) for inner in get_args(hint))
    if hint is Any:
        return True
    if get_origin(hint) is tuple:
        return isinstance(value, tuple) and all(_is_of(inner, get_args(hint)[0]) for inner in value)
    expected = get_origin(hint) or hint
    if isinstance(value, bool) or expected is bool:
        return isinstance(value, bool) and expected is bool
    return isinstance(value, (int, float) if expected is float else expected)


def _said(hint: Any) -> str:
    """An option's kind in words."""
    if isinstance(hint, UnionType):
        return " or ".join(_said(inner) for inner in get_args(hint) if inner is not type(None))
    if get_origin(hint) is tuple:
        return f"list, each entry a {_said(get_args(hint)[0])}"
    return KINDS.get(hint) or str(getattr(hint, "__name__", hint))


def _is_needed(field: Field[Any]) -> bool:
    return field.default is MISSING and field.default_factory is MISSING
