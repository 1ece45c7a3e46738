"""How much a packed file may unpack to, so that a small file cannot fill the memory.

A file may unpack to UNPACKED_LIMIT bytes, or to UNPACKED_RATIO times its own size where that is more. The environment
variable CROWDLOGIC_MAX_UNPACKED, or `crowdlogic --max-unpacked`, sets another limit, in bytes: 8G, 500M.
"""

from __future__ import annotations

import os
import re

from crowdlogic.errors import FormatError, OptionError

UNPACKED_LIMIT = 2 << 30
"""Bytes that any packed file may unpack to: 2 GiB."""

UNPACKED_RATIO = 50
"""A large file may unpack to this many times its size: real tables and texts pack 3 to 20 times."""

LIMIT_VARIABLE = "CROWDLOGIC_MAX_UNPACKED"

UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}
SIZE = re.compile(rf"([0-9]{{1,18}})\s*([{''.join(UNITS)}]?)(?:I?B)?", re.IGNORECASE)


def unpacked_limit(packed_size: int) -> int:
    """How many bytes a file of this size may unpack to."""
    given = os.environ.get(LIMIT_VARIABLE)
    return max(UNPACKED_LIMIT, UNPACKED_RATIO * packed_size) if given is None else parse_size(given, LIMIT_VARIABLE)


def set_unpacked_limit(text: str) -> None:
    """Set the limit of this process and of those that it starts."""
    parse_size(text, "--max-unpacked")
    os.environ[LIMIT_VARIABLE] = text


def parse_size(text: str, name: str) -> int:
    """A number of bytes from a text such as 8G. `name` is what messages call it."""
    found = SIZE.fullmatch(text.strip())
    if found is None:
        raise OptionError(f"{name}: {text!r:.80} is no size. Write a number of bytes, such as 500M or 8G.")
    return int(found[1]) * UNITS[found[2].upper()]


def require_unpackable(size: int, limit: int, name: str) -> None:
    """Refuse content of more than `limit` bytes. `name` is what messages call the file."""
    if size > limit:
        raise oversize_error(limit, name)


def oversize_error(limit: int, name: str) -> FormatError:
    """The error for a file that unpacks to too much."""
    return FormatError(
        f"{name}: unpacks to more than {describe_size(limit)}, which is the limit for a file of its size. If you trust "
        f"it, raise the limit: crowdlogic --max-unpacked 8G, or {LIMIT_VARIABLE}=8G."
    )


def describe_size(size: int) -> str:
    """A number of bytes in words: 2 GiB, 500 MiB, 12 bytes."""
    for unit, name in ((UNITS["G"], "GiB"), (UNITS["M"], "MiB"), (UNITS["K"], "KiB")):
        if size >= unit:
            return f"{size / unit:.3g} {name}"
    return f"{size} bytes"
