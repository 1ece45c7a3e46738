"""Exports in JSON: recognise a file by the fields of its first record, and read a list inside an object."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from crowdlogic.data.files import InputFile
from crowdlogic.data.formats.json_records import REMEDY, JsonText, iterate_elements
from crowdlogic.errors import FormatError


def iterate_members(file: InputFile) -> Iterator[tuple[int, str, Any]]:
    """The members of the one object that a file is: number from 1, key, value."""
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


def iterate_array(file: InputFile, *path: str, required: bool = True) -> Iterator[tuple[int, Any]]:
    """The elements of an array within the one object that a file is, and their numbers from 1.

    Args:
        file: The file.
        path: The fields that lead to the array.
        required: Whether an absent array is an error; else there are no elements.
    """
    with file.open_unpacked() as opened:
        text = JsonText(opened, file.name)
        found = all(_enter(text, field) for field in path)
        if found and text.peek() == "[":
            yield from iterate_elements(text)
        elif required or found:
            where = ".".join(path)
            raise FormatError(f"{file.name}: {'no array' if found else 'nothing'} at {where!r}. {REMEDY}")


def _enter(text: JsonText, field: str) -> bool:
    """Go to the value of a field of the object that comes next; False where there is no such field."""
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
    """Go past a value; of an array no more than one element is in memory."""
    if text.peek() != "[":
        text.value(1)
        return
    for _ in iterate_elements(text):
        pass


DEEPEST = 6
"""Fields below this depth are left out."""


TOKEN = re.compile(r'"(?:[^"\\]|\\.)*+"?|[{}\[\]:,]', re.DOTALL)


@dataclass(frozen=True)
class Outline:
    """What the first record of a JSON file looks like.

    Attributes:
        root: `array` of records, one `object`, or `lines` (an object a line); empty for what is not JSON.
        paths: The fields of the first record (of the object itself if there is one), and theirs: `data`, `data.text`,
            `annotations[].result`.
    """

    root: str
    paths: frozenset[str]

    def has(self, *paths: str) -> bool:
        """Whether all these fields are there."""
        return self.paths.issuperset(paths)


@lru_cache(maxsize=4)
def outline_json(head: bytes) -> Outline:
    """The outline of the JSON that begins with these bytes."""
    text = head.removeprefix(b"\xef\xbb\xbf").decode("utf-8", errors="ignore").lstrip()
    if text[:1] not in ("[", "{"):
        return Outline("", frozenset())
    is_array = text[0] == "["
    paths, end = _first_record_paths(text[1:] if is_array else text)
    if is_array:
        return Outline("array", paths)
    return Outline("lines" if text[end:].lstrip().startswith("{") else "object", paths)


def _first_record_paths(text: str) -> tuple[frozenset[str], int]:
    """The paths of the first value of a text, and where that value ends."""
    found: set[str] = set()
    opened: list[tuple[str, str]] = []  # bracket and path of the objects and arrays that are open
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
            is_deep = len(opened) > DEEPEST  # no fields of it are kept, and its path would grow with every bracket
            opened.append((sign, path if sign == "{" or is_deep else f"{path}[]"))
        elif sign in "}]" and opened:
            opened.pop()
            if not opened:
                return frozenset(found), token.end()
    return frozenset(found), len(text)
