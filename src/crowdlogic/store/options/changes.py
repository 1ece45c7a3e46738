"""Changes to options, nested: from --set and from TOML files, and several of them put together."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from crowdlogic.data.files import InputFile
from crowdlogic.errors import FormatError, OptionError

UNREADABLE_TOML = (ValueError, RecursionError)
"""What a text that is no TOML raises: wrong or no UTF-8, a number of thousands of digits, nested too deep."""

NUMBER = re.compile(r"[+-]?\.[0-9]+")
"""A number such as .9, which is one to everyone but TOML."""


def read_toml(path: str | Path) -> dict[str, Any]:
    """The tables of a TOML file."""
    content = InputFile(path).content
    try:
        return tomllib.loads(content.decode("utf-8"))
    except UNREADABLE_TOML as problem:
        raise FormatError(f"{path}: is no TOML ({problem}).") from problem


def parse_changes(texts: Iterable[str]) -> dict[str, Any]:
    """Nested changes from texts such as classifier.filters=50; a value is TOML's, or else the text itself."""
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
    """Both merged, the second over the first; nested ones are merged, too, unless their names differ."""
    if "name" in second and second["name"] != first.get("name", second["name"]):
        return dict(second)
    both = dict(first)
    for name, value in second.items():
        old = both.get(name)
        both[name] = merge_changes(old, value) if isinstance(old, Mapping) and isinstance(value, Mapping) else value
    return both
