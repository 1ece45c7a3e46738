"""Options as plain data and back: what a run's config.json holds, what a TOML file and --set can change.

Options are frozen dataclasses, nested. As plain data each is a mapping; one that may be of several kinds (a classifier,
an imitation, a truth method) says which by `name`, and is found in the registry of its kind. Reading goes by the types
of the fields, so there is no second list of options; a wrong name or value is refused with its dotted path.
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

# Plain data as options again, by the types of the fields.

Options = TypeVar("Options")

NONE = "none"
"""How a TOML file, which has no null, represents a missing value."""


def decode_options(base: Options, changes: Mapping[str, Any], *, where: str = "") -> Options:
    """Return the same options, some of them changed.

    Args:
        base: Values of the options that are not changed.
        changes: Values by name; a mapping changes what is nested.
        where: A prefix of the names in messages.
    """
    decoded = _decode_fields(type(base), changes, where, lambda name: getattr(base, name))
    return replace(base, **decoded)  # type: ignore[type-var]


def _suggest(name: str, known: list[str], current: Callable[[str], Any]) -> str:
    """Return a hint for an unknown option: the same one, or one like it, here or one level below."""
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
    """Return a plain value as what the type of its field asks for."""
    kinds = _kinds(hint)
    if NoneType in kinds and (value is None or value == NONE):
        return None
    for kind in kinds:
        if kind is WordVectors:
            raise OptionError(f"{path}: word vectors are data, and no option. Give their file: --vectors FILE.")
        registry = registry_serving(kind)
        if registry is not None:
            return _decode_named(registry, current, value, path)
        if is_dataclass(kind) and isinstance(kind, type) and isinstance(value, Mapping):
            return _decode_nested(kind, current, value, path)
        if isinstance(kind, type) and issubclass(kind, Enum):
            return _decode_choice(kind, value, path)
    found = _first_fitting(hint, value)
    if found is _UNFIT:
        raise OptionError(f"{path}: {value!r} given where {_describe_kinds(kinds)} is expected.")
    return found


def _kinds(hint: Any) -> tuple[Any, ...]:
    """Return the kinds that a type allows."""
    return get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)


def _decode_named(registry: Registry, current: Any, value: Any, path: str) -> Any:
    """One of several kinds: by its name alone, by its name and options, or the present one with other options."""
    present = getattr(current, "name", None)
    if isinstance(value, str):
        return current if value == present else registry.create(value)
    name = value.get("name", present) if isinstance(value, Mapping) else None
    if not isinstance(name, str):
        raise OptionError(f"{path}: {value!r} given where a name, or a table with a name, is expected.")
    return decode_options(current if name == present else registry.create(name), value, where=f"{path}.")


def _decode_nested(kind: type, current: Any, value: Mapping[str, Any], path: str) -> Any:
    """Return a dataclass: the present one with changes, or a new one."""
    if isinstance(current, kind):
        return decode_options(current, value, where=f"{path}.")
    needed = [field.name for field in fields(kind) if field.init and _is_required(field)]
    missing = [name for name in needed if name not in value]
    if missing:
        raise OptionError(f"{path}: there is no {missing[0]} in it. It needs {', '.join(needed)}.")
    defaults = {field.name: _default(field) for field in fields(kind)}
    return kind(**_decode_fields(kind, value, f"{path}.", defaults.get))


def _is_required(field: Any) -> bool:
    return field.default is MISSING and field.default_factory is MISSING


def _default(field: Any) -> Any:
    """Return what a field is unless it is given; None where it must be."""
    if field.default_factory is not MISSING:
        return field.default_factory()
    return None if field.default is MISSING else field.default


def _decode_choice(kind: type[Enum], value: Any, path: str) -> Any:
    try:
        return kind(value)
    except ValueError:
        choices = [str(one.value) for one in kind]
        raise OptionError(
            f"{path}: expected one of {', '.join(choices)}; got {value!r}.{did_you_mean(str(value), choices)}"
        ) from None


_UNFIT = object()


def _first_fitting(hint: Any, value: Any) -> Any:
    """Return a value as the first of the simple kinds that it fits, or _UNFIT."""
    found = (_simple(kind, value) for kind in _kinds(hint))
    return next((entry for entry in found if entry is not _UNFIT), _UNFIT)


def _simple(kind: Any, value: Any) -> Any:
    """Return a value as a simple kind, or _UNFIT. A whole number will do for a float, and never the other way round."""
    if kind is float and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    if kind in (bool, int, float, str):
        return value if type(value) is kind else _UNFIT
    if get_origin(kind) in (tuple, Sequence) and isinstance(value, list | tuple):
        read = [_first_fitting(get_args(kind)[0], entry) for entry in value]
        return _UNFIT if any(entry is _UNFIT for entry in read) else tuple(read)
    if get_origin(kind) is Mapping:
        return value if isinstance(value, Mapping) else _UNFIT
    if get_origin(kind) in (np.ndarray, NDArray):  # from numpy 2.5 on, NDArray is an alias of its own
        return _array(value)
    return value if kind is Any else _UNFIT


def _array(value: Any) -> Any:
    """Return nested lists of numbers as an array, or _UNFIT."""
    try:
        found = np.array(value) if isinstance(value, list) else None
    except ValueError:  # rows of different lengths
        return _UNFIT
    return found if found is not None and found.dtype.kind in "biuf" else _UNFIT


WORDS = {bool: "true or false", int: "a whole number", float: "a number", str: "a text", NoneType: "none"}


def _describe_kinds(kinds: Iterable[Any]) -> str:
    return " or ".join(
        WORDS.get(kind, "a table" if get_origin(kind) in (None, Mapping) else "a list") for kind in kinds
    )


# Options as plain data, which JSON can hold.

OF_PYTHON = " of Python"
"""How the plain form of a thing ends that only Python can make."""

SHOWN, LONGEST = "shown", 4000
"""Where its repr stands beside that, and how much of it."""


def encode_options(value: Any) -> Any:
    """Return an option as JSON would hold it. Word vectors are left out: they are data, and not options."""
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
    """Return the type of the first thing among plain options that only Python can make, such as an estimator."""
    if not isinstance(options, Mapping):
        return None
    name = options.get("name")
    if isinstance(name, str) and name.endswith(OF_PYTHON):
        return name.removesuffix(OF_PYTHON)
    return next((found for value in options.values() if (found := find_python_object(value)) is not None), None)


def find_difference(stored: Any, given: Any, where: str = "") -> str | None:
    """Return the first option in which what is given differs from what was stored, in words; None if it is the same.

    What was stored without a repr is taken for the same.
    """
    if not isinstance(stored, Mapping) or not isinstance(given, Mapping):
        return None if stored == given else f"{where or 'it'} was {stored!r} and is {given!r}"
    if SHOWN in stored and stored[SHOWN] != given.get(SHOWN):
        return f"{where or 'it'} was {stored[SHOWN]} and is {given.get(SHOWN)}"
    names = [name for name in dict.fromkeys([*stored, *given]) if name != SHOWN]
    found = (find_difference(stored.get(name), given.get(name), f"{where}.{name}".strip(".")) for name in names)
    return next((one for one in found if one is not None), None)


# Changes to options, nested: from --set and from TOML files, and several of them put together.

UNREADABLE_TOML = (ValueError, RecursionError)
"""What a text that is not valid TOML raises: wrong or no UTF-8, a number of thousands of digits, nested too deep."""

NUMBER = re.compile(r"[+-]?\.[0-9]+")
"""A number such as .9, which is one to everyone but TOML."""


def read_toml(path: str | Path) -> dict[str, Any]:
    """Return the tables of a TOML file."""
    content = InputFile(path).content
    try:
        return tomllib.loads(content.decode("utf-8"))
    except UNREADABLE_TOML as problem:
        raise FormatError(f"{path}: is not valid TOML ({problem}).") from problem


def parse_changes(texts: Iterable[str]) -> dict[str, Any]:
    """Return nested changes from texts such as classifier.filters=50; a value is TOML's, or else the text itself."""
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
    """Return both merged, the second over the first; nested ones are merged, too, unless their names differ."""
    if "name" in second and second["name"] != first.get("name", second["name"]):
        return dict(second)
    both = dict(first)
    for name, value in second.items():
        old = both.get(name)
        both[name] = merge_changes(old, value) if isinstance(old, Mapping) and isinstance(value, Mapping) else value
    return both
