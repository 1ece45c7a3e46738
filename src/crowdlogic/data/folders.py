"""Folders and zip files as collections of named files, and size limits for compressed files.

A zip file may come from anywhere, so its members are confined (no absolute names, no "..") and limited in number and in
unpacked size. The size is also counted while a member is read, because a zip file may lie about it.
"""

from __future__ import annotations

import io
import os
import re
import struct
import sys
import warnings
import zipfile
import zlib
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import IO, Any, BinaryIO, cast

from crowdlogic.errors import FormatError, MissingExtraError, OptionError, SizeLimitError

# Limits, so that a small file cannot fill the memory. A compressed file may decompress to UNPACKED_LIMIT bytes, or to
# UNPACKED_RATIO times its size if that is more. Parsed content needs more memory than text: cells, keys, members and
# columns are counted before memory is allocated, and may take PARSED_RATIO times as much. Both limits can be changed
# with `crowdlogic --max-unpacked`, or the environment variable CROWDLOGIC_MAX_UNPACKED, in bytes: 8G, 500M.

UNPACKED_LIMIT = 512 << 20
"""Size in bytes to which any compressed file may decompress: 512 MiB."""


UNPACKED_RATIO = 25
"""Maximum compression ratio of large files; real tables and texts have ratios from 3 to 20."""


PARSED_RATIO = 4
"""Maximum memory for parsing, as a multiple of the memory for unpacking."""


CELL_BYTES, COLUMN_BYTES = 16, 256 << 10
"""Minimum memory of a cell of a table, and share of the limit that a column counts as (8,192 columns by default)."""


LIMIT_VARIABLE = "CROWDLOGIC_MAX_UNPACKED"


UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}


SIZE = re.compile(rf"([0-9]{{1,18}})\s*([{''.join(UNITS)}]?)(?:I?B)?", re.IGNORECASE)


def unpacked_limit(packed_size: int) -> int:
    """Return the maximum decompressed size of a file of this size, in bytes."""
    given = os.environ.get(LIMIT_VARIABLE)
    return max(UNPACKED_LIMIT, UNPACKED_RATIO * packed_size) if given is None else parse_size(given, LIMIT_VARIABLE)


def parsed_limit(size: int = 0) -> int:
    """Return the maximum memory for the parsed content of a file of this size, in bytes."""
    return PARSED_RATIO * unpacked_limit(size)


def require_parsable(
    name: str, *, rows: int = 1, columns: int = 1, cell_bytes: float = CELL_BYTES, size: int = 0
) -> None:
    """Raise an error for a table with more columns or cells than the limit, before memory is allocated.

    Args:
        name: Name of the file.
        rows: Number of rows.
        columns: Number of columns, of fields of JSON, or of annotators side by side.
        cell_bytes: Memory per cell.
        size: Size of the file.
    """
    limit = parsed_limit(size)
    most = limit // COLUMN_BYTES
    if columns > most:
        raise SizeLimitError(
            f"{name}: {columns:,} columns or fields, but at most {most:,} are supported. {advise_limit(limit)}"
        )
    if rows * columns * cell_bytes > limit:
        raise SizeLimitError(
            f"{name}: {rows:,} rows of {columns:,} columns or fields need more than {describe_size(limit)} of memory, "
            f"which is the limit for a file of its size. {advise_limit(limit)}"
        )


def advise_limit(limit: int) -> str:
    """Return advice on raising the limit, given the present one in bytes."""
    higher = describe_size(8 * limit // PARSED_RATIO).replace(" GiB", "G").replace(" MiB", "M").replace(" KiB", "K")
    return f"If you trust it, raise the limit: crowdlogic --max-unpacked {higher}, or {LIMIT_VARIABLE}={higher}."


def set_unpacked_limit(text: str) -> None:
    """Set the limit for this process and its children."""
    parse_size(text, "--max-unpacked")
    os.environ[LIMIT_VARIABLE] = text


def parse_size(text: str, name: str) -> int:
    """Parse a number of bytes, such as 8G. `name` is the name of the option for messages."""
    found = SIZE.fullmatch(text.strip())
    if found is None:
        raise OptionError(f"{name}: {text!r:.80} is not a size. Write a number of bytes, such as 500M or 8G.")
    return int(found[1]) * UNITS[found[2].upper()]


def require_unpackable(size: int, limit: int, name: str) -> None:
    """Raise an error if content has more than `limit` bytes. `name` is the name of the file."""
    if size > limit:
        raise oversize_error(limit, name)


def oversize_error(limit: int, name: str) -> SizeLimitError:
    """Return the error for a file that decompresses to more than `limit` bytes."""
    return SizeLimitError(
        f"{name}: decompresses to more than {describe_size(limit)}, the limit for a file of its size. If you trust "
        f"it, raise the limit: crowdlogic --max-unpacked 8G, or {LIMIT_VARIABLE}=8G."
    )


def describe_size(size: int) -> str:
    """Format a number of bytes: 2 GiB, 500 MiB, 12 bytes."""
    for unit, name in ((UNITS["G"], "GiB"), (UNITS["M"], "MiB"), (UNITS["K"], "KiB")):
        if size >= unit:
            return f"{size / unit:.3g} {name}"
    return f"{size} bytes"


# Folders and zip files.

MOST_MEMBERS = 100_000
"""Maximum number of files in a folder or zip file."""


ZIP_MAGIC = b"PK\x03\x04"


DAMAGED_ZIP = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, OSError, ValueError)
"""Exceptions raised by zipfile for damaged or unsupported archives."""

DAMAGED_NPZ = (*DAMAGED_ZIP, KeyError, AttributeError, TypeError, MemoryError, SyntaxError)
"""Exceptions raised by numpy and zipfile for files that are not npz files."""


@dataclass(frozen=True)
class Folder(ABC):
    """Protocol for collections of named files: a folder on disk, or the members of a zip file."""

    path: Path

    @property
    def name(self) -> str:
        """Name for messages."""
        return str(self.path)

    @cached_property
    @abstractmethod
    def names(self) -> tuple[str, ...]:
        """Names of the files, sorted, relative to the folder, with forward slashes."""

    @abstractmethod
    def open(self, name: str) -> BinaryIO:
        """Open a file for reading."""

    def read(self, name: str) -> bytes:
        """Read a whole file."""
        with self.open(name) as member:
            return member.read()


def open_folder(path: Path) -> Folder:
    """Open a folder or a zip file."""
    return DiskFolder(path) if path.is_dir() else ZipFolder(path)


@dataclass(frozen=True)
class DiskFolder(Folder):
    """Folder on disk. Links to other folders are not followed."""

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Names of the files in the folder and in folders below it."""
        found: list[str] = []
        for root, folders, files in os.walk(self.path):
            folders.sort()
            found.extend((Path(root) / file).relative_to(self.path).as_posix() for file in files)
            if len(found) > MOST_MEMBERS:
                raise FormatError(
                    f"{self.path}: more than {MOST_MEMBERS:,} files. Name the folder of the export itself."
                )
        return tuple(sorted(found))

    def open(self, name: str) -> BinaryIO:
        """Open a file for reading."""
        return (self.path / name).open("rb")


@dataclass(frozen=True)
class ZipFolder(Folder):
    """Zip file. Its members are read one at a time and never extracted to the disk."""

    @cached_property
    def archive(self) -> zipfile.ZipFile:
        """The open zip file, whose directory is read once."""
        with _damage_reported(self.path):
            return zipfile.ZipFile(self.path)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Names of the members. Too many members, too much content and names outside of the archive raise an error."""
        with _damage_reported(self.path):
            entries = [
                entry for entry in self.archive.infolist() if not entry.filename.endswith("/")
            ]  # is_dir fails on an empty name
        names = [entry.filename for entry in entries]
        size = self.path.stat().st_size
        if any(entry.file_size > unpacked_limit(size) for entry in entries):
            raise oversize_error(unpacked_limit(size), self.name)
        limit = parsed_limit(size)  # members are read one at a time
        if sum(entry.file_size for entry in entries) > limit:
            raise oversize_error(limit, self.name)
        if len(names) > MOST_MEMBERS:
            raise FormatError(f"{self.path}: more than {MOST_MEMBERS:,} files. Compress only the export.")
        for name in names:
            inside = PurePosixPath(name.replace("\\", "/"))
            if inside.is_absolute() or not inside.parts or ".." in inside.parts or ":" in inside.parts[0]:
                raise FormatError(
                    f"{self.path}: the member {name!r} points outside of the zip file. Compress the export again."
                )
        if len(set(names)) != len(names):
            raise FormatError(f"{self.path}: two members have the same name. Compress the export again.")
        return tuple(sorted(names))

    def open(self, name: str) -> BinaryIO:
        """Open a member, of which at most the decompressed limit of this zip file is read."""
        return _MemberReader(self.path, self.archive, name)


class _MemberReader(io.BytesIO):
    """Reader of a member of a zip file, which converts its problems to FormatErrors."""

    def __init__(self, path: Path, archive: zipfile.ZipFile, name: str) -> None:
        super().__init__()
        self._path, self._name, self._size = path, name, 0
        self._limit = unpacked_limit(path.stat().st_size)
        with _damage_reported(path, name):
            try:
                self._member = open_member(archive, name)
            except KeyError:
                raise FormatError(f"{path}: contains no member {name!r:.80}. Compress the export again.") from None

    def read(self, size: int | None = -1, /) -> bytes:
        """Return the next bytes."""
        left = self._limit - self._size + 1
        with _damage_reported(self._path, self._name):
            found = self._member.read(left if size is None or size < 0 else min(size, left))
        self._size += len(found)
        if self._size > self._limit:
            raise oversize_error(self._limit, f"{self._path}: {self._name}")
        return found

    def close(self) -> None:
        """Close the member."""
        if hasattr(self, "_member"):  # Python also closes an object whose __init__ failed
            self._member.close()
        super().close()


@contextmanager
def _damage_reported(path: Path, member: str = "") -> Iterator[None]:
    """Raise exceptions of zipfile as a FormatError."""
    try:
        yield
    except FormatError:
        raise
    except DAMAGED_ZIP as problem:
        where = f"{path}: {member}" if member else str(path)
        raise FormatError(f"{where}: the zip file cannot be read ({problem}). Compress or fetch it again.") from problem


def read_member(archive: zipfile.ZipFile, member: str, *, packed_size: int, name: str) -> bytes:
    """Return a file in a zip archive, decompressed up to the limit.

    Args:
        archive: The archive.
        member: Name of the file in the archive; a KeyError is raised if it does not exist.
        packed_size: Size of the archive.
        name: Name of the archive in messages.
    """
    limit = unpacked_limit(packed_size)
    try:
        with open_member(archive, member) as file:
            content = file.read(limit + 1)
    except DAMAGED_ZIP as problem:
        raise FormatError(f"{name}: the zip archive is damaged ({problem}). Fetch or compress it again.") from problem
    if len(content) > limit:
        raise oversize_error(limit, name)
    return content


# Members compressed with Zstandard (method 93 of the zip format), as in logs of Inspect. The standard library supports
# them since Python 3.14; earlier versions need the package zstandard.

ZSTANDARD = 93


LOCAL_HEADER = struct.Struct("<4s5H3I2H")
"""Header of each member: signature, versions and method, times, sizes, lengths of its name and extra field."""


def open_member(archive: zipfile.ZipFile, name: str) -> IO[bytes]:
    """Open a member for reading. Raise KeyError if it does not exist, and zipfile's errors if it is damaged."""
    entry = archive.getinfo(name)
    if entry.compress_type != ZSTANDARD:
        with warnings.catch_warnings():
            warnings.filterwarnings("error", "Overlapped entries")  # recent versions of Python warn about such bombs
            try:
                return archive.open(entry)
            except UserWarning as problem:
                raise zipfile.BadZipFile(str(problem)) from problem
    if entry.flag_bits & 1:
        raise RuntimeError("the member is encrypted")
    try:
        return cast("IO[bytes]", _ZstandardReader(_packed_bytes(archive, entry), entry.CRC))
    except ModuleNotFoundError as problem:
        raise MissingExtraError(
            f"{name} in the zip file is compressed with Zstandard, which needs a package before Python 3.14: "
            "pip install crowdlogic[inspect]"
        ) from problem


def _packed_bytes(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> bytes:
    """Return the compressed bytes of a member."""
    file = cast("IO[bytes]", archive.fp)
    file.seek(entry.header_offset)
    head = file.read(LOCAL_HEADER.size)
    if len(head) < LOCAL_HEADER.size or head[:4] != b"PK\x03\x04":
        raise zipfile.BadZipFile("a member does not start at the recorded position")
    name_length, extra_length = LOCAL_HEADER.unpack(head)[-2:]
    file.seek(name_length + extra_length, io.SEEK_CUR)
    packed = file.read(entry.compress_size)
    if len(packed) < entry.compress_size:
        raise EOFError("a member is truncated")
    return packed


class _ZstandardReader(io.RawIOBase):
    """Decompress a stream, compare its checksum at the end, and raise zipfile's errors for damage."""

    def __init__(self, packed: bytes, checksum: int) -> None:
        self._reader: Any
        if sys.version_info >= (3, 14):
            from compression.zstd import ZstdError, ZstdFile

            self._reader, self._damage = ZstdFile(io.BytesIO(packed)), (ZstdError, EOFError)
        else:
            import zstandard

            self._reader = zstandard.ZstdDecompressor().stream_reader(io.BytesIO(packed), read_across_frames=True)
            self._damage = (zstandard.ZstdError,)
        self._expected, self._checksum = checksum, 0

    def read(self, size: int = -1, /) -> bytes:
        """Return the next bytes."""
        try:
            found = cast("bytes", self._reader.read(size))
        except self._damage as problem:
            raise zipfile.BadZipFile(str(problem)) from problem
        self._checksum = zlib.crc32(found, self._checksum)
        if (size < 0 or len(found) < size) and self._checksum != self._expected:
            raise zipfile.BadZipFile("the checksum of a member is wrong")
        return found
