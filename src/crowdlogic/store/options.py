"""Conversion of options to plain data and back, for config.json of a run, TOML files and --set.

Options are nested frozen dataclasses. As plain data, each is a mapping. A component with several implementations (a
classifier, an imitation, a truth method) also has a `name`, by which it is found in its registry. Reading is based on
the types of the fields, so there is no second list of options; invalid names and values are reported with a dotted
path.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import MISSING, fields, is_dataclass, replace
from enum import Enum
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, TypeVar, Union, get_args, get_origin, get_type_hints

import numpy as np
from numpy.typing import NDArray

from crowdlogic.data.files import InputFile
from crowdlogic.data.vectors import WordVectors
from crowdlogic.errors import FormatError, OptionError, did_you_mean, name_list
from crowdlogic.registry import Registry, registry_serving

# From plain data to options, by the types of the fields.

Options = TypeVar("Options")

NONE = "none"
"""Representation of None in TOML, which has no null."""


def decode_options(base: Options, changes: Mapping[str, Any], *, where: str = "") -> Options:
    """Return options with some changes applied.

    Args:
        base: Values of the options that are not changed.
        changes: Values by name; a mapping changes nested options.
        where: Prefix of the names in messages.
    """
    decoded = _decode_fields(type(base), changes, where, lambda name: getattr(base, name))
    return replace(base, **decoded)  # type: ignore[type-var]


def _suggest(name: str, known: list[str], current: Callable[[str], Any]) -> str:
    """Return a hint for an unknown option: a similar name, or the same name one level deeper."""
    nested = {
        field.name: f"{outer}.{field.name}"
        for outer in known
        if is_dataclass(current(outer)) and not isinstance(current(outer), type)
        for field in fields(current(outer))
    }
    if name in nested:
        return f" Did you mean {nested[name]!r}?"
    near = did_you_mean(name, known)
    if near or not (close := did_you_mean(name, list(nested))):
        return near
    return close.replace(close.split("'")[1], nested[close.split("'")[1]])


def _decode_fields(kind: type, changes: Mapping[str, Any], where: str, current: Any) -> dict[str, Any]:
    """Return the new values of a dataclass's fields, by name; `current` returns the current value of a field."""
    hints = get_type_hints(kind)
    known = [field.name for field in fields(kind) if field.init]
    decoded = {}
    for name, value in changes.items():
        if name == "name" and name not in known:
            continue
        if name not in known:
            raise OptionError(
                f"{where}{name}: unknown option.{_suggest(name, known, current)} There are {name_list(known, most=20)}."
            )
        decoded[name] = _decode(hints[name], current(name), value, f"{where}{name}")
    return decoded


def _decode(hint: Any, current: Any, value: Any, path: str) -> Any:
    """Convert a plain value to the type of its field."""
    kinds = _kinds(hint)
    if NoneType in kinds and (value is None or value == NONE):
        return None
    for kind in kinds:
        if kind is WordVectors:
            raise OptionError(f"{path}: word vectors cannot be set as an option. Give their file: --vectors FILE.")
        registry = registry_serving(kind)
        if registry is not None:
            return _decode_named(registry, current, value, path)
        if is_dataclass(kind) and isinstance(kind, type) and isinstance(value, Mapping):
            return _decode_nested(kind, current, value, path)
        if isinstance(kind, type) and issubclass(kind, Enum):
            choices = [str(one.value) for one in kind]
            if value not in choices:
                hint = did_you_mean(str(value), choices)
                raise OptionError(f"{path}: expected one of {', '.join(choices)}; got {value!r}.{hint}")
            return kind(value)
    found = _first_fitting(hint, value)
    if found is _UNFIT:
        raise OptionError(f"{path}: expected {_describe_kinds(kinds)}, got {value!r}.")
    return found


def _kinds(hint: Any) -> tuple[Any, ...]:
    """Return the alternatives of a type."""
    return get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)


def _decode_named(registry: Registry, current: Any, value: Any, path: str) -> Any:
    """Return a component by name, by name and options, or the current one with other options."""
    present = getattr(current, "name", None)
    if isinstance(value, str):
        return current if value == present else registry.create(value)
    name = value.get("name", present) if isinstance(value, Mapping) else None
    if not isinstance(name, str):
        raise OptionError(f"{path}: expected a name, or a table with a name; got {value!r}.")
    return decode_options(current if name == present else registry.create(name), value, where=f"{path}.")


def _decode_nested(kind: type, current: Any, value: Mapping[str, Any], path: str) -> Any:
    """Return a dataclass: the current one with changes, or a new one."""
    if isinstance(current, kind):
        return decode_options(current, value, where=f"{path}.")
    # default[name]; None if the field is required
    default: dict[str, Any] = {}
    needed = []
    for field in fields(kind):
        default[field.name] = None if field.default is MISSING else field.default
        if field.default_factory is not MISSING:
            default[field.name] = field.default_factory()
        elif field.default is MISSING and field.init:
            needed.append(field.name)
    missing = [name for name in needed if name not in value]
    if missing:
        raise OptionError(f"{path}: {missing[0]} is missing. Required are {', '.join(needed)}.")
    return kind(**_decode_fields(kind, value, f"{path}.", default.get))


_UNFIT = object()


def _first_fitting(hint: Any, value: Any) -> Any:
    """Convert a value to the first simple type that it matches; otherwise _UNFIT."""
    found = (_simple(kind, value) for kind in _kinds(hint))
    return next((entry for entry in found if entry is not _UNFIT), _UNFIT)


def _simple(kind: Any, value: Any) -> Any:
    """Convert a value to a simple type, or return _UNFIT. Integers are valid floats, but not vice versa."""
    if kind is float and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    if kind in (bool, int, float, str):
        return value if type(value) is kind else _UNFIT
    if get_origin(kind) in (tuple, Sequence) and isinstance(value, list | tuple):
        read = [_first_fitting(get_args(kind)[0], entry) for entry in value]
        return _UNFIT if any(entry is _UNFIT for entry in read) else tuple(read)
    if get_origin(kind) is Mapping:
        return value if isinstance(value, Mapping) else _UNFIT
    if get_origin(kind) in (np.ndarray, NDArray):  # since numpy 2.5, NDArray is a type alias
        return _array(value)
    return value if kind is Any else _UNFIT


def _array(value: Any) -> Any:
    """Convert nested lists of numbers to an array, or return _UNFIT."""
    try:
        found = np.array(value) if isinstance(value, list) else None
    except ValueError:  # rows of different lengths
        return _UNFIT
    return found if found is not None and found.dtype.kind in "biuf" else _UNFIT


WORDS = {bool: "true or false", int: "an integer", float: "a number", str: "a text", NoneType: "none"}


def _describe_kinds(kinds: Iterable[Any]) -> str:
    return " or ".join(
        WORDS.get(kind, "a table" if get_origin(kind) in (None, Mapping) else "a list") for kind in kinds
    )


# From options to plain data for JSON.

OF_PYTHON = " of Python"
"""Suffix of the plain form of objects that can only be created in Python."""

SHOWN, LONGEST = "shown", 4000
"""Entry with the repr of such an object, and maximum length of the repr."""


def encode_options(value: Any) -> Any:
    """Convert an option to plain data. Word vectors are omitted, because they are data."""
    if is_dataclass(value) and not isinstance(value, type):
        options = {field.name: getattr(value, field.name) for field in fields(value) if field.init}
        plain = {name: encode_options(one) for name, one in options.items() if not isinstance(one, WordVectors)}
        name = getattr(value, "name", None)
        return plain if name is None else {"name": name, **plain}
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
    """Return the type of an object that can only be created in Python, and its repr unless that contains an address."""
    shown = " ".join(repr(value).split())
    named = {"name": f"{type(value).__name__}{OF_PYTHON}"}
    return named if " at 0x" in shown else {**named, SHOWN: shown[:LONGEST]}


def find_python_object(options: Any) -> str | None:
    """Return the type of the first object in plain options that can only be created in Python, such as an estimator."""
    if not isinstance(options, Mapping):
        return None
    name = options.get("name")
    if isinstance(name, str) and name.endswith(OF_PYTHON):
        return name.removesuffix(OF_PYTHON)
    return next((found for value in options.values() if (found := find_python_object(value)) is not None), None)


def find_difference(stored: Any, given: Any, where: str = "") -> str | None:
    """Describe the first option that differs from the stored one; None if all are equal.

    Objects that were stored without a repr count as equal.
    """
    if not isinstance(stored, Mapping) or not isinstance(given, Mapping):
        return None if stored == given else f"{where or 'it'} was {stored!r} and is now {given!r}"
    if SHOWN in stored and stored[SHOWN] != given.get(SHOWN):
        return f"{where or 'it'} was {stored[SHOWN]} and is now {given.get(SHOWN)}"
    names = [name for name in dict.fromkeys([*stored, *given]) if name != SHOWN]
    found = (find_difference(stored.get(name), given.get(name), f"{where}.{name}".strip(".")) for name in names)
    return next((one for one in found if one is not None), None)


# Nested changes to options, from --set and TOML files, and merging of changes.

UNREADABLE_TOML = (ValueError, RecursionError)
"""Exceptions raised for invalid TOML: wrong encoding, a number with thousands of digits, too deep nesting."""

NUMBER = re.compile(r"[+-]?\.[0-9]+")
"""Pattern of numbers such as .9, which are not valid TOML."""


def read_toml(path: str | Path) -> dict[str, Any]:
    """Return the tables of a TOML file."""
    content = InputFile(path).content
    try:
        return tomllib.loads(content.decode("utf-8"))
    except UNREADABLE_TOML as problem:
        raise FormatError(f"{path}: is not valid TOML ({problem}).") from problem


def parse_changes(texts: Iterable[str]) -> dict[str, Any]:
    """Return nested changes from text such as classifier.filters=50; values are TOML, otherwise plain text."""
    changes: dict[str, Any] = {}
    for text in texts:
        path, equals, value = text.partition("=")
        names = [name.strip() for name in path.split(".")]
        if not equals or not all(names):
            raise OptionError(
                f"--set {text!r}: write name=value, such as projector.strength=4 or classifier.filters=50."
            )
        place = changes
        for name in names[:-1]:
            inner = place.setdefault(name, {})
            if not isinstance(inner, dict):
                inner = place[name] = {"name": inner}  # classifier=kim-cnn, then classifier.filters=50
            place = inner
        place[names[-1]] = _parse_value(value.strip())
    return changes


def _parse_value(text: str) -> Any:
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except UNREADABLE_TOML:
        return float(text) if NUMBER.fullmatch(text) else text


def merge_changes(first: Mapping[str, Any], second: Mapping[str, Any]) -> dict[str, Any]:
    """Merge changes, the second over the first; nested changes are merged as well unless their names differ."""
    if "name" in second and second["name"] != first.get("name", second["name"]):
        return dict(second)
    both = dict(first)
    for name, value in second.items():
        old = both.get(name)
        both[name] = merge_changes(old, value) if isinstance(old, Mapping) and isinstance(value, Mapping) else value
    return both
