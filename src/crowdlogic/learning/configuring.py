"""Options as plain data and back: what a run's config.json holds, what a TOML file and --set can change.

Options are frozen dataclasses, nested. As plain data each is a mapping; one that may be of several kinds (a classifier,
an imitation, a truth method) says which by `name`. Reading goes by the types of the fields, so there is no second list
of options to keep; a wrong name or value is refused with its dotted path.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from enum import Enum
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, TypeVar, Union, get_args, get_origin, get_type_hints

import numpy as np

from crowdlogic.classifiers.protocol import Architecture
from crowdlogic.data.files import require_file
from crowdlogic.data.vectors import WordVectors
from crowdlogic.errors import FormatError, OptionError, did_you_mean, name_list
from crowdlogic.learning.schedules import Constant, Growing
from crowdlogic.registry import CLASSIFIERS
from crowdlogic.rules.transitions import TransitionTable
from crowdlogic.truth.methods import TruthMethod, method_named

Options = TypeVar("Options")

NONE = "none"
"""How a TOML file, which has no null, says that there is none of something."""

NUMBER = re.compile(r"[+-]?\.[0-9]+")

NEEDED = {"transformer": {"folder": ""}}
"""Options without a default, open until they are set."""

OF_PYTHON = " of Python"
"""How the plain form of a thing ends that only Python can make."""

IMITATIONS = {"growing": Growing, "constant": Constant}


def architecture_named(name: str) -> Any:
    """The classifier of that name, with its defaults."""
    return CLASSIFIERS.load(name)(**NEEDED.get(name, {}))


def imitation_named(name: str) -> Any:
    """The schedule of that name, with its defaults."""
    if name not in IMITATIONS:
        raise OptionError(f"No imitation is called {name!r}. There are {name_list(IMITATIONS)}.")
    return Growing() if name == "growing" else Constant(k=0.5)


def plain_options(value: Any) -> Any:
    """An option as JSON would hold it. Word vectors are left out: they are data, and not options."""
    if is_dataclass(value) and not isinstance(value, type):
        name = _name_of(value)
        kept = {
            field.name: plain_options(getattr(value, field.name))
            for field in fields(value)
            if field.init and not isinstance(getattr(value, field.name), WordVectors)
        }
        return kept if name is None else {"name": name, **kept}
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, tuple | list):
        return [plain_options(entry) for entry in value]
    if isinstance(value, Mapping):
        return {str(name): plain_options(entry) for name, entry in value.items()}
    is_plain = value is None or isinstance(value, bool | int | float | str)
    return value if is_plain else {"name": f"{type(value).__name__}{OF_PYTHON}"}


def of_python(options: Any) -> str | None:
    """The first thing among plain options that only Python can make, such as an estimator of another package."""
    if not isinstance(options, Mapping):
        return None
    name = options.get("name")
    if isinstance(name, str) and name.endswith(OF_PYTHON):
        return name.removesuffix(OF_PYTHON)
    return next((found for value in options.values() if (found := of_python(value)) is not None), None)


def _name_of(value: Any) -> str | None:
    """What a thing that comes in several kinds is called."""
    known = next((name for name, kind in IMITATIONS.items() if type(value) is kind), None)
    return known or getattr(value, "name", None)


def configured(base: Options, changes: Mapping[str, Any], *, where: str = "") -> Options:
    """The same options, some of them changed.

    Args:
        base: What holds where nothing is changed.
        changes: Values by name; a mapping changes what is nested.
        where: What stands before the names in messages.
    """
    hints = get_type_hints(type(base))
    known = [field.name for field in fields(base) if field.init]  # type: ignore[arg-type]
    read = {}
    for name, value in changes.items():
        if name == "name" and name not in known:
            continue
        if name not in known:
            raise OptionError(
                f"{where}{name}: there is no such option.{did_you_mean(name, known)} There are "
                f"{name_list(known, most=20)}."
            )
        read[name] = _read(hints[name], getattr(base, name), value, f"{where}{name}")
    return replace(base, **read)  # type: ignore[type-var]


def _read(hint: Any, current: Any, value: Any, path: str) -> Any:
    """A plain value as what the type of its field asks for."""
    kinds = _kinds(hint)
    if NoneType in kinds and (value is None or value == NONE):
        return None
    for kind in kinds:
        if kind is WordVectors:
            raise OptionError(f"{path}: word vectors are data, and no option. Give their file: --vectors FILE.")
        named = _registry(kind)
        if named is not None:
            return _read_named(named, current, value, path)
        if is_dataclass(kind) and isinstance(kind, type) and isinstance(value, Mapping):
            return _read_nested(kind, current, value, path)
        if isinstance(kind, type) and issubclass(kind, Enum):
            return _read_choice(kind, value, path)
    found = _fitted(hint, value)
    if found is _UNFIT:
        raise OptionError(f"{path}: {value!r} given where {_wanted(kinds)} is expected.")
    return found


def _kinds(hint: Any) -> tuple[Any, ...]:
    """The kinds that a type allows."""
    return get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)


def _registry(kind: Any) -> Callable[[str], Any] | None:
    """How things of a kind are called by name, when they come in several kinds."""
    if kind is Architecture:
        return architecture_named
    if kind is TruthMethod:
        return method_named
    return imitation_named if get_origin(kind) is Callable else None


def _read_named(named: Callable[[str], Any], current: Any, value: Any, path: str) -> Any:
    """One of several kinds: by its name alone, by its name and options, or the present one with other options."""
    if isinstance(value, str):
        return current if value == _name_of(current) else named(value)
    if not isinstance(value, Mapping):
        raise OptionError(f"{path}: {value!r} given where a name, or a table with a name, is expected.")
    name = value.get("name", _name_of(current))
    return configured(current if name == _name_of(current) else named(name), value, where=f"{path}.")


def _read_nested(kind: type, current: Any, value: Mapping[str, Any], path: str) -> Any:
    if kind is TransitionTable and not isinstance(current, TransitionTable):
        return _transitions(value, path)
    return configured(current if isinstance(current, kind) else kind(), value, where=f"{path}.")


def _transitions(value: Mapping[str, Any], path: str) -> TransitionTable:
    try:
        return TransitionTable(
            tuple(value["classes"]),
            np.array(value["probability"]),
            np.array(value["start"]),
            **{name: float(value[name]) for name in ("strength", "floor") if name in value},
        )
    except (KeyError, TypeError, ValueError) as problem:
        raise OptionError(f"{path}: a table of transitions has classes, probability and start ({problem}).") from None


def _read_choice(kind: type[Enum], value: Any, path: str) -> Any:
    try:
        return kind(value)
    except ValueError:
        choices = [str(one.value) for one in kind]
        raise OptionError(
            f"{path}: {value!r} is none of {', '.join(choices)}.{did_you_mean(str(value), choices)}"
        ) from None


_UNFIT = object()


def _fitted(hint: Any, value: Any) -> Any:
    """A value as the first of the simple kinds that it fits, or _UNFIT."""
    found = (_simple(kind, value) for kind in _kinds(hint))
    return next((entry for entry in found if entry is not _UNFIT), _UNFIT)


def _simple(kind: Any, value: Any) -> Any:
    """A value as a simple kind, or _UNFIT. A whole number will do for a float, and never the other way round."""
    if kind is float and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    if kind in (bool, int, float, str):
        return value if type(value) is kind else _UNFIT
    if get_origin(kind) in (tuple, Sequence) and isinstance(value, list | tuple):
        read = [_fitted(get_args(kind)[0], entry) for entry in value]
        return _UNFIT if any(entry is _UNFIT for entry in read) else tuple(read)
    if get_origin(kind) is Mapping:
        return value if isinstance(value, Mapping) else _UNFIT
    if get_origin(kind) is np.ndarray:
        return np.array(value) if isinstance(value, list) else _UNFIT
    return value if kind is Any else _UNFIT


WORDS = {bool: "true or false", int: "a whole number", float: "a number", str: "a text", NoneType: "none"}


def _wanted(kinds: Iterable[Any]) -> str:
    return " or ".join(
        WORDS.get(kind, "a table" if get_origin(kind) in (None, Mapping) else "a list") for kind in kinds
    )


def read_toml(path: str | Path) -> dict[str, Any]:
    """The tables of a TOML file."""
    try:
        return tomllib.loads(require_file(path).read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as problem:
        raise FormatError(f"{path}: is no TOML ({problem}).") from problem


def dotted(given: Iterable[str]) -> dict[str, Any]:
    """Nested changes from texts such as classifier.filters=50; a value is TOML's, or else a text as it stands."""
    changes: dict[str, Any] = {}
    for text in given:
        path, equals, value = text.partition("=")
        names = [name.strip() for name in path.split(".")]
        if not equals or not all(names):
            raise OptionError(f"--set {text!r}: write name=value, such as strength=4 or classifier.filters=50.")
        place = changes
        for name in names[:-1]:
            inner = place.setdefault(name, {})
            if not isinstance(inner, dict):
                inner = place[name] = {"name": inner}  # classifier=kim-cnn, then classifier.filters=50
            place = inner
        place[names[-1]] = _value(value.strip())
    return changes


def _value(text: str) -> Any:
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return float(text) if NUMBER.fullmatch(text) else text  # .9 is a number to everyone but TOML


def merged(first: Mapping[str, Any], second: Mapping[str, Any]) -> dict[str, Any]:
    """Both, the second where both say something; nested ones are merged, too, unless they are of another name."""
    if "name" in second and second["name"] != first.get("name", second["name"]):
        return dict(second)
    both = dict(first)
    for name, value in second.items():
        old = both.get(name)
        both[name] = merged(old, value) if isinstance(old, Mapping) and isinstance(value, Mapping) else value
    return both
