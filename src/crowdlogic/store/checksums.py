"""Checksums: the SHA-256 of every file of a run or an estimate, to detect flipped bits and mixed-up files.

They are stored in SHA256SUMS, in the layout of `sha256sum --check`. They only detect accidents: who changes a file on
purpose can change its checksum as well, so the content of files is validated nevertheless.
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
OTHER_FILE = "the file has changed since it was written (its SHA-256 differs)."
LINE = re.compile(r"(?P<digest>[0-9a-f]{64})  (?P<name>[^\x00-\x1f]+)")


def sha256(content: bytes) -> str:
    """Return the SHA-256 of bytes as hexadecimal digits."""
    return hashlib.sha256(content).hexdigest()


def file_sha256(path: Path) -> str:
    """Return the SHA-256 of a file."""
    with open_regular(path, follow=False) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def arrays_sha256(arrays: Arrays) -> str:
    """Return the SHA-256 of named arrays: names, types, shapes and numbers."""
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
        sums: File name, relative to the folder -> SHA-256.
    """
    lines = (f"{digest}  {name}\n" for name, digest in sorted(sums.items()))
    put_bytes(folder / CHECKSUMS, "".join(lines).encode())


def check_checksums(folder: Path, *, remedy: str = DAMAGED_RUN) -> frozenset[str]:
    """Return the names of the files with a checksum, after checking that all of them are unchanged.

    Args:
        folder: The folder.
        remedy: Advice in the error message.
    """
    listed = _read_checksums(folder / CHECKSUMS, remedy)
    for name, expected in listed.items():
        path = folder / name
        if not path.is_file():
            raise MissingDataError(f"{path.parent}: {path.name} is missing. {MISSING_FILE}")
        if file_sha256(path) != expected:
            raise FormatError(f"{path}: {OTHER_FILE} {remedy}")
    return frozenset(listed)


def _read_checksums(path: Path, remedy: str) -> dict[str, str]:
    """Return the checksum of each file by its name, which must lie within the folder."""
    lines = read_own_bytes(path).decode("utf-8", errors="replace").splitlines()
    found = [LINE.fullmatch(line) for line in lines]
    sums = {match["name"]: match["digest"] for match in found if match is not None}
    # Names must not lead out of the folder
    outside = [
        name
        for name in sums
        if name.startswith("/") or "\\" in name or any(part in ("", ".", "..") for part in name.split("/"))
    ]
    if not sums or len(sums) != len(lines) or outside:
        raise FormatError(f"{path}: is not a list of checksums. {remedy}")
    return sums
