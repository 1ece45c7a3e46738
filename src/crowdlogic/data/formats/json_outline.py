"""The outline of JSON from its first bytes, cut off wherever they end: what formats are recognised by."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

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
            key = f"{opened[-1][1]}.{last}".removeprefix(".")
            if len(opened) <= DEEPEST:
                found.add(key)
        elif sign in "{[":
            path = "" if not opened else key if opened[-1][0] == "{" else opened[-1][1]
            opened.append((sign, path if sign == "{" else f"{path}[]"))
        elif sign in "}]" and opened:
            opened.pop()
            if not opened:
                return frozenset(found), token.end()
    return frozenset(found), len(text)
