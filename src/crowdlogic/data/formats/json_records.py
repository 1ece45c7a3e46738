"""Records of a JSON file, one at a time: elements of an array, one object per line, or a single object.

The file is read in pieces, and each record is parsed separately, so only one record is in memory at a time.
"""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Iterator
from typing import Any, BinaryIO

from crowdlogic.data.files import InputFile
from crowdlogic.errors import FormatError, json_reason

PIECE = 1 << 20
"""Number of bytes that are read at a time; more if a record is longer."""

CUT_OFF = 64
"""Distance in characters from the end of the read text beyond which a problem is not caused by missing text."""

SPACE = re.compile(r"[ \t\n\r]*")
LONE_SURROGATE = re.compile("[\ud800-\udfff]")
REMEDY = "Export the file again."


def iterate_records(file: InputFile) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the records, which must be objects, and their numbers from 1: elements of an array, or one per line."""
    with file.open_unpacked() as opened:
        text, number = JsonText(opened, file.name), 0
        if text.peek() == "[":
            for number, value in iterate_elements(text):
                yield number, require_object(value, number, file)
            text.require_end(number)
            return
        while text.peek():
            number += 1
            yield number, require_object(text.value(number), number, file)
        if not number:
            raise FormatError(f"{file.name}: the file is empty. {REMEDY}")


def iterate_elements(text: JsonText) -> Iterator[tuple[int, Any]]:
    """Yield the elements of the next array, and their numbers from 1."""
    text.expect("[", 1)
    number = 0
    while text.peek() != "]":
        number += 1
        if number > 1:
            text.expect(",", number)
        yield number, text.value(number)
    text.expect("]", number)


def require_object(record: Any, number: int, file: InputFile) -> dict[str, Any]:
    """Return the record if it is an object; raise an error otherwise."""
    if not isinstance(record, dict):
        kind = type(record).__name__
        raise FormatError(f"{file.name}, record {number}: expected an object, got a JSON {kind}. {REMEDY}")
    return record


def read_json_member(file: InputFile, name: str, number: int) -> dict[str, Any]:
    """Read a member of a folder or zip file that contains a single JSON object; `number` is its number in messages."""
    try:
        found = json.loads(file.folder.read(name))
    except FormatError:
        raise
    except (ValueError, RecursionError) as problem:
        raise FormatError(f"{file.name}, {name}: not JSON ({problem}). {REMEDY}") from None
    return require_object(found, number, file)


class JsonText:
    """Text of a JSON file, read in pieces, with the current position."""

    def __init__(self, opened: BinaryIO, name: str) -> None:
        self.name = name
        self._opened, self._decode = opened, codecs.getincrementaldecoder("utf-8-sig")().decode
        self._text, self._at, self._ended, self._may_hold_halves = "", 0, False, False
        self._scan = json.JSONDecoder().raw_decode

    def peek(self) -> str:
        """Return the next character that is not white space; empty at the end."""
        while True:
            self._at = SPACE.match(self._text, self._at).end()  # type: ignore[union-attr]  # it matches anywhere
            if self._at < len(self._text) or self._ended:
                return self._text[self._at : self._at + 1]
            self._read_on()

    def expect(self, sign: str, number: int) -> None:
        """Skip a character that must be the next one."""
        found = self.peek()
        if found != sign:
            what = repr(found) if found else "the end of the file"
            raise FormatError(f"{self.name}, record {number}: expected {sign!r}, got {what}. {REMEDY}")
        self._at += 1

    def value(self, number: int) -> Any:
        """Return the next value."""
        self.peek()
        while True:
            try:
                found, end = self._scan(self._text, self._at)
            except json.JSONDecodeError as problem:
                cut_off = problem.pos > len(self._text) - CUT_OFF or "Unterminated string" in problem.msg
                if self._ended or not cut_off:
                    raise FormatError(f"{self.name}, record {number}: not JSON ({problem.msg}). {REMEDY}") from None
                self._read_on()
            except (RecursionError, ValueError) as problem:
                raise FormatError(
                    f"{self.name}, record {number}: not JSON ({json_reason(problem)}). {REMEDY}"
                ) from None
            else:
                if end < len(self._text) or self._ended:
                    self._at = end
                    return self._repair(found)
                self._read_on()  # a number may continue in the next piece

    def _repair(self, found: Any) -> Any:
        """Replace half characters (lone surrogates), which escapes can represent but text cannot, by U+FFFD."""
        if not self._may_hold_halves:
            return found
        whole = json.dumps(found, ensure_ascii=False)
        return json.loads(LONE_SURROGATE.sub("\ufffd", whole)) if LONE_SURROGATE.search(whole) else found

    def require_end(self, number: int) -> None:
        """Raise an error for anything but white space up to the end."""
        if self.peek():
            raise FormatError(f"{self.name}, record {number}: unexpected text after the last record. {REMEDY}")

    def _read_on(self) -> None:
        """Read another piece, at least as long as the unused text, so that long records are not parsed repeatedly."""
        unused = self._text[self._at :]
        piece = self._opened.read(max(PIECE, len(unused)))
        self._ended = not piece
        try:
            self._text = unused + self._decode(piece, self._ended)
        except UnicodeDecodeError:
            raise FormatError(f"{self.name}: not UTF-8 text. Save the file as UTF-8.") from None
        self._at = 0
        self._may_hold_halves = "\\ud" in self._text or "\\uD" in self._text
