"""Checksums: a SHA-256 of every file of a run or an estimate, so that a flipped bit or a mixed-up file is noticed.

They are kept in SHA256SUMS, in the layout that `sha256sum --check` reads. They guard against accidents: who can change
a file can change its checksum, too, so whatever is read is validated all the same.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from crowdlogic.data.files import open_regular
from crowdlogic.errors import FormatError, MissingDataError
from crowdlogic.store.files import DAMAGED_RUN, MISSING_FILE, Arrays, put_bytes, read_own_bytes

CHECKSUMS = "SHA256SUMS"
OTHER_FILE = "is not the file that was written (its SHA-256 differs)."
LINE = re.compile(r"(?P<digest>[0-9a-f]{64})  (?P<name>[^\x00-\x1f]+)")


def sha256(content: bytes) -> str:
    """The checksum of bytes, in hexadecimal digits."""
    return hashlib.sha256(content).hexdigest()


def file_sha256(path: Path) -> str:
    """The checksum of a file."""
    with open_regular(path, follow=False) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def arrays_sha256(arrays: Arrays) -> str:
    """The checksum of named arrays: their names, types, shapes and numbers."""
    made = hashlib.sha256()
    for name in sorted(arrays):
        array = np.asarray(arrays[name], order="C")
        made.update(f"{name} {array.dtype.str} {array.shape} ".encode())
        made.update(array.reshape(-1).view(np.uint8).data)
    return made.hexdigest()


def write_checksums(folder: Path, sums: Mapping[str, str]) -> None:
    """Write the checksums of the files of a folder.

    Args:
        folder: The folder.
        sums: The SHA-256 of each file by its name in the folder, such as tables/Near.parquet.
    """
    lines = (f"{digest}  {name}\n" for name, digest in sorted(sums.items()))
    put_bytes(folder / CHECKSUMS, "".join(lines).encode())


def check_checksums(folder: Path, *, remedy: str = DAMAGED_RUN) -> frozenset[str]:
    """The names of the files that have a checksum, if each is byte by byte the one that was written.

    Args:
        folder: The folder.
        remedy: What to do about a file that is not.
    """
    listed = _read_checksums(folder / CHECKSUMS, remedy)
    for name, expected in listed.items():
        path = folder / name
        if not path.is_file():
            raise MissingDataError(f"{path.parent}: no {path.name} in it. {MISSING_FILE}")
        if file_sha256(path) != expected:
            raise FormatError(f"{path}: {OTHER_FILE} {remedy}")
    return frozenset(listed)


def _read_checksums(path: Path, remedy: str) -> dict[str, str]:
    """The checksum of each file by its name, which cannot lead out of the folder."""
    lines = read_own_bytes(path).decode("utf-8", errors="replace").splitlines()
    found = [LINE.fullmatch(line) for line in lines]
    sums = {match["name"]: match["digest"] for match in found if match is not None}
    if not sums or len(sums) != len(lines) or any(_leads_out(name) for name in sums):
        raise FormatError(f"{path}: is no list of checksums. {remedy}")
    return sums


def _leads_out(name: str) -> bool:
    return name.startswith("/") or "\\" in name or any(part in ("", ".", "..") for part in name.split("/"))
