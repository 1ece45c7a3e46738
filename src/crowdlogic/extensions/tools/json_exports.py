"""JSON exports: recognition of a file by the fields of its first record, and iteration over nested arrays."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from crowdlogic.data.files import InputFile
from crowdlogic.data.formats.json_records import REMEDY, JsonText, iterate_elements, require_object
from crowdlogic.errors import FormatError


def iterate_members(file: InputFile) -> Iterator[tuple[int, str, Any]]:
    """Yield the number (from 1), key and value of each member of a file that is a single object."""
    with file.open_unpacked() as opened:
        text = JsonText(opened, file.name)
        text.expect("{", 1)
        number = 0
        while text.peek() != "}":
            number += 1
            if number > 1:
                text.expect(",", number)
            key = text.value(number)
            if not isinstance(key, str):
                raise FormatError(f"{file.name}, record {number}: a field without a name. {REMEDY}")
            text.expect(":", number)
            yield number, key, text.value(number)
        text.expect("}", number)
        text.require_end(number)


def iterate_array(file: InputFile, *path: str, required: bool = True) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the number (from 1) and value of each object in an array within a file that is a single object.

    Args:
        file: The file.
        path: The fields that lead to the array.
        required: Whether a missing array is an error. If False, a missing array has no elements.
    """
    with file.open_unpacked() as opened:
        text = JsonText(opened, file.name)
        found = all(_enter(text, field) for field in path)
        if found and text.peek() == "[":
            for number, value in iterate_elements(text):
                yield number, require_object(value, number, file)
        elif required or found:
            where = ".".join(path)
            raise FormatError(f"{file.name}: {'no array at' if found else 'no field'} {where!r}. {REMEDY}")


def _enter(text: JsonText, field: str) -> bool:
    """Advance to the value of a field of the next object; return False if there is no such field."""
    text.expect("{", 1)
    while text.peek() not in ("}", ""):
        key = text.value(1)
        text.expect(":", 1)
        if key == field:
            return True
        _skip(text)
        if text.peek() == ",":
            text.expect(",", 1)
    text.expect("}", 1)
    return False


def _skip(text: JsonText) -> None:
    """Skip a value; at most one element of an array is in memory at a time."""
    if text.peek() != "[":
        text.value(1)
        return
    for _ in iterate_elements(text):
        pass


DEEPEST = 6
"""Maximum depth of the fields that are collected."""


TOKEN = re.compile(r'"(?:[^"\\]|\\.)*+"?|[{}\[\]:,]', re.DOTALL)


@dataclass(frozen=True)
class Outline:
    """Outline of the first record of a JSON file.

    Attributes:
        root: `array` of records, one `object`, or `lines` (one object per line); empty if the file is not JSON.
        paths: Paths of all fields in the first record, or in the object itself if there is one: `data`, `data.text`,
            `annotations[].result`.
    """

    root: str
    paths: frozenset[str]

    def has(self, *paths: str) -> bool:
        """Return whether the record has all these fields."""
        return self.paths.issuperset(paths)


@lru_cache(maxsize=4)
def outline_json(head: bytes) -> Outline:
    """Return the outline of the JSON file that begins with these bytes."""
    text = head.removeprefix(b"\xef\xbb\xbf").decode("utf-8", errors="ignore").lstrip()
    if text[:1] not in ("[", "{"):
        return Outline("", frozenset())
    is_array = text[0] == "["
    paths, end = _first_record_paths(text[1:] if is_array else text)
    if is_array:
        return Outline("array", paths)
    return Outline("lines" if text[end:].lstrip().startswith("{") else "object", paths)


def _first_record_paths(text: str) -> tuple[frozenset[str], int]:
    """Return the paths of all fields of the first value in a text, and the position where that value ends."""
    found: set[str] = set()
    opened: list[tuple[str, str]] = []  # bracket and path of each open object or array
    key, last = "", ""
    for token in TOKEN.finditer(text):
        sign = token[0][0]
        if sign == '"':
            last = token[0][1:-1]
        elif sign == ":" and opened and opened[-1][0] == "{":
            if len(opened) <= DEEPEST:
                key = f"{opened[-1][1]}.{last}".removeprefix(".")
                found.add(key)
        elif sign in "{[":
            path = "" if not opened else key if opened[-1][0] == "{" else opened[-1][1]
            is_deep = len(opened) > DEEPEST  # do not extend the path at every bracket if no fields are kept
            opened.append((sign, path if sign == "{" or is_deep else f"{path}[]"))
        elif sign in "}]" and opened:
            opened.pop()
            if not opened:
                return frozenset(found), token.end()
    return frozenset(found), len(text)
