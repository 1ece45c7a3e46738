"""Folders and zip files of exports: named members, read one at a time and never unpacked onto the disk.

A zip file may come from anywhere. Its members are confined (no absolute names, no "..") and limited in number and in
unpacked size, which is counted while reading, too: what a zip file says of its sizes is not believed.
"""

from __future__ import annotations

import io
import os
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import BinaryIO, Protocol

from crowdlogic.data.limits import oversize_error, unpacked_limit
from crowdlogic.data.zip_members import open_member
from crowdlogic.errors import FormatError

MOST_MEMBERS = 100_000
"""The largest number of files in a folder or zip file that is read."""

ZIP_MAGIC = b"PK\x03\x04"
DAMAGED_ZIP = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, OSError, ValueError)
"""What Python's zipfile raises on a damaged archive, or on one that it cannot unpack."""


class Folder(Protocol):
    """Files by name: a folder on disk or a zip file."""

    @property
    def name(self) -> str:
        """What messages call it."""
        ...

    @property
    def names(self) -> tuple[str, ...]:
        """The members, sorted, relative, with forward slashes."""
        ...

    def open(self, name: str) -> BinaryIO:
        """A member, opened for reading."""
        ...

    def read(self, name: str) -> bytes:
        """A whole member."""
        ...


def open_folder(path: Path) -> Folder:
    """The members of a folder or zip file."""
    return DiskFolder(path) if path.is_dir() else ZipFolder(path)


@dataclass(frozen=True)
class DiskFolder:
    """A folder on disk; links to other folders are not followed."""

    path: Path

    @property
    def name(self) -> str:
        """What messages call it."""
        return str(self.path)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The files in it and in its folders."""
        found: list[str] = []
        for root, folders, files in os.walk(self.path):
            folders.sort()
            found.extend((Path(root) / file).relative_to(self.path).as_posix() for file in files)
            if len(found) > MOST_MEMBERS:
                raise FormatError(f"{self.path}: more than {MOST_MEMBERS:,} files. Name the export's own folder.")
        return tuple(sorted(found))

    def open(self, name: str) -> BinaryIO:
        """A file in it."""
        return (self.path / name).open("rb")

    def read(self, name: str) -> bytes:
        """A whole file in it."""
        return (self.path / name).read_bytes()


@dataclass(frozen=True)
class ZipFolder:
    """A zip file."""

    path: Path

    @property
    def name(self) -> str:
        """What messages call it."""
        return str(self.path)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The files in it. A name that leads out of the zip file is refused."""
        with _damage_reported(self.path), zipfile.ZipFile(self.path) as packed:
            entries = [entry for entry in packed.infolist() if not entry.is_dir()]
        names = [entry.filename for entry in entries]
        limit = unpacked_limit(self.path.stat().st_size)
        if sum(entry.file_size for entry in entries) > limit:
            raise oversize_error(limit, self.name)
        if len(names) > MOST_MEMBERS:
            raise FormatError(f"{self.path}: more than {MOST_MEMBERS:,} files. Pack the export alone.")
        for name in names:
            if _leads_out(name):
                raise FormatError(f"{self.path}: the member {name!r} leads out of the zip file. Pack the export again.")
        if len(set(names)) != len(names):
            raise FormatError(f"{self.path}: two members have one name. Pack the export again.")
        return tuple(sorted(names))

    def open(self, name: str) -> BinaryIO:
        """A member, of which no more is read than a zip file of this size may unpack to."""
        return _MemberReader(self.path, name)

    def read(self, name: str) -> bytes:
        """A whole member."""
        with self.open(name) as member:
            return member.read()


def _leads_out(name: str) -> bool:
    path = PurePosixPath(name.replace("\\", "/"))
    return path.is_absolute() or ".." in path.parts or ":" in path.parts[0] if path.parts else True


class _MemberReader(io.BytesIO):
    """A member of a zip file, unpacked as it is read; its problems are FormatErrors."""

    def __init__(self, path: Path, name: str) -> None:
        super().__init__()
        self._path, self._name, self._size = path, name, 0
        self._limit = unpacked_limit(path.stat().st_size)
        with _damage_reported(path, name):
            self._zip = zipfile.ZipFile(path)
            try:
                self._member = open_member(self._zip, name)
            except BaseException as problem:
                self._zip.close()
                if not isinstance(problem, KeyError):
                    raise
                raise FormatError(f"{path}: no member {name!r:.80} in it. Pack the export again.") from None

    def read(self, size: int | None = -1, /) -> bytes:
        """The next bytes."""
        left = self._limit - self._size + 1
        with _damage_reported(self._path, self._name):
            found = self._member.read(left if size is None or size < 0 else min(size, left))
        self._size += len(found)
        if self._size > self._limit:
            raise oversize_error(self._limit, f"{self._path}: {self._name}")
        return found

    def close(self) -> None:
        """Close the member and the zip file."""
        if hasattr(self, "_member"):  # Python also closes an object whose __init__ failed
            self._member.close()
            self._zip.close()
        super().close()


@contextmanager
def _damage_reported(path: Path, member: str = "") -> Iterator[None]:
    """What goes wrong inside a zip file, as a FormatError."""
    try:
        yield
    except FormatError:
        raise
    except DAMAGED_ZIP as problem:
        where = f"{path}: {member}" if member else str(path)
        raise FormatError(f"{where}: the zip file cannot be read ({problem}). Pack or fetch it again.") from problem
