"""Files as bytes: read whole and unzipped, written so that nothing half-written is ever left behind.

A path names one regular file on this machine: never a pattern, an address, a pipe or a device. What a packed file may
unpack to is limited (`data/files.py`).
"""

from __future__ import annotations

import difflib
import gzip
import io
import itertools
import os
import re
import shutil
import stat
import struct
import sys
import tempfile
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cached_property
from io import BufferedReader
from pathlib import Path, PurePosixPath
from typing import IO, Any, BinaryIO, Protocol, cast

from crowdlogic.errors import FormatError, MissingDataError, MissingExtraError, OptionError, name_list

# Open members of zip files for reading in pieces, including members packed with Zstandard.
#
# Inspect packs its logs with Zstandard (method 93 of the zip format). The standard library can unpack it from Python
# 3.14
# on; earlier versions need the package zstandard.

ZSTANDARD = 93
LOCAL_HEADER = struct.Struct("<4s5H3I2H")
"""What stands before each member: mark, versions and method, times, sizes, lengths of its name and extra field."""


def open_member(archive: zipfile.ZipFile, name: str) -> IO[bytes]:
    """Open a member for reading. Raise KeyError if it does not exist, and zipfile's errors if it is damaged."""
    entry = archive.getinfo(name)
    if entry.compress_type != ZSTANDARD:
        return archive.open(entry)
    if entry.flag_bits & 1:
        raise RuntimeError("the member is encrypted")
    try:
        return cast("IO[bytes]", _ZstandardReader(_packed_bytes(archive, entry), entry.CRC))
    except ModuleNotFoundError as problem:
        raise MissingExtraError(
            f"{name} in the zip file is packed with Zstandard. Python before 3.14 needs a package for it: "
            "pip install crowdlogic[inspect]"
        ) from problem


def _packed_bytes(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> bytes:
    """Return the packed bytes of a member."""
    file = cast("IO[bytes]", archive.fp)
    file.seek(entry.header_offset)
    head = file.read(LOCAL_HEADER.size)
    if len(head) < LOCAL_HEADER.size or head[:4] != b"PK\x03\x04":
        raise zipfile.BadZipFile("a member does not begin where the archive says")
    name_length, extra_length = LOCAL_HEADER.unpack(head)[-2:]
    file.seek(name_length + extra_length, io.SEEK_CUR)
    packed = file.read(entry.compress_size)
    if len(packed) < entry.compress_size:
        raise EOFError("a member is cut short")
    return packed


class _ZstandardReader(io.RawIOBase):
    """Unpack a stream, compare its checksum at the end, and raise zipfile's errors for damage."""

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


# How much a file may unpack and parse to, so that a small file cannot fill the memory.
#
# A packed file may unpack to UNPACKED_LIMIT bytes, or to UNPACKED_RATIO times its own size where that is more. What is
# parsed takes more room than its text: cells, keys, members and columns are counted before memory is spent on them, and
# may take PARSED_RATIO times the limit of what is unpacked. `crowdlogic --max-unpacked`, or the environment variable
# CROWDLOGIC_MAX_UNPACKED, sets another limit for both, in bytes: 8G, 500M.

UNPACKED_LIMIT = 512 << 20
"""Bytes that any packed file may unpack to: 512 MiB."""

UNPACKED_RATIO = 25
"""A large file may unpack to this many times its size: real tables and texts pack 3 to 20 times."""

PARSED_RATIO = 4
"""What is parsed may take this many times the memory of what is unpacked."""

CELL_BYTES, COLUMN_BYTES = 16, 256 << 10
"""What a cell of a table takes at least, and how much of the limit a column counts as: 8,192 columns by default."""

LIMIT_VARIABLE = "CROWDLOGIC_MAX_UNPACKED"

UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}
SIZE = re.compile(rf"([0-9]{{1,18}})\s*([{''.join(UNITS)}]?)(?:I?B)?", re.IGNORECASE)


def unpacked_limit(packed_size: int) -> int:
    """How many bytes a file of this size may unpack to."""
    given = os.environ.get(LIMIT_VARIABLE)
    return max(UNPACKED_LIMIT, UNPACKED_RATIO * packed_size) if given is None else parse_size(given, LIMIT_VARIABLE)


def parsed_limit(size: int = 0) -> int:
    """How many bytes a file of this size may take in memory once it is parsed."""
    return PARSED_RATIO * unpacked_limit(size)


def require_parsable(
    name: str, *, rows: int = 1, columns: int = 1, cell_bytes: float = CELL_BYTES, size: int = 0
) -> None:
    """Refuse a table with more columns or cells than the limit admits, before memory is spent on it.

    Args:
        name: What messages call the file.
        rows: Number of rows.
        columns: Number of columns, of fields of JSON, or of annotators side by side.
        cell_bytes: Memory that a cell takes.
        size: Size of the file.
    """
    limit = parsed_limit(size)
    most = limit // COLUMN_BYTES
    if columns > most:
        raise FormatError(
            f"{name}: {columns:,} columns or fields, and at most {most:,} are read. {_advise_limit(limit)}"
        )
    if rows * columns * cell_bytes > limit:
        raise FormatError(
            f"{name}: {rows:,} rows of {columns:,} columns or fields take more than {describe_size(limit)} of memory, "
            f"which is the limit for a file of its size. {_advise_limit(limit)}"
        )


def _advise_limit(limit: int) -> str:
    higher = describe_size(8 * limit // PARSED_RATIO).replace(" GiB", "G").replace(" MiB", "M").replace(" KiB", "K")
    return f"If you trust it, raise the limit: crowdlogic --max-unpacked {higher}, or {LIMIT_VARIABLE}={higher}."


def set_unpacked_limit(text: str) -> None:
    """Set the limit of this process and of those that it starts."""
    parse_size(text, "--max-unpacked")
    os.environ[LIMIT_VARIABLE] = text


def parse_size(text: str, name: str) -> int:
    """A number of bytes from a text such as 8G. `name` is what messages call it."""
    found = SIZE.fullmatch(text.strip())
    if found is None:
        raise OptionError(f"{name}: {text!r:.80} is not a size. Write a number of bytes, such as 500M or 8G.")
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


# Folders and zip files of exports: named members, read one at a time and never unpacked onto the disk.
#
# A zip file may come from anywhere. Its members are confined (no absolute names, no "..") and limited in number and
# in
# unpacked size, which is counted while reading, too: what a zip file says of its sizes is not believed.

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
    def archive(self) -> zipfile.ZipFile:
        """The open zip file: its directory is read once, and not for every member."""
        with _damage_reported(self.path):
            return zipfile.ZipFile(self.path)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The files in it. A name that leads out of the zip file is refused."""
        with _damage_reported(self.path):
            entries = [entry for entry in self.archive.infolist() if not entry.is_dir()]
        names = [entry.filename for entry in entries]
        size = self.path.stat().st_size
        if any(entry.file_size > unpacked_limit(size) for entry in entries):
            raise oversize_error(unpacked_limit(size), self.name)
        limit = parsed_limit(size)  # members are read one at a time
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
        return _MemberReader(self.path, self.archive, name)

    def read(self, name: str) -> bytes:
        """A whole member."""
        with self.open(name) as member:
            return member.read()


def _leads_out(name: str) -> bool:
    path = PurePosixPath(name.replace("\\", "/"))
    return path.is_absolute() or ".." in path.parts or ":" in path.parts[0] if path.parts else True


class _MemberReader(io.BytesIO):
    """A member of a zip file, unpacked as it is read; its problems are FormatErrors."""

    def __init__(self, path: Path, archive: zipfile.ZipFile, name: str) -> None:
        super().__init__()
        self._path, self._name, self._size = path, name, 0
        self._limit = unpacked_limit(path.stat().st_size)
        with _damage_reported(path, name):
            try:
                self._member = open_member(archive, name)
            except KeyError:
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
        """Close the member."""
        if hasattr(self, "_member"):  # Python also closes an object whose __init__ failed
            self._member.close()
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


STANDARD_STREAM = "-"
"""The path that means standard input or output."""

GZIP_MAGIC = b"\x1f\x8b"
HEAD_SIZE = 1 << 16
"""How many bytes of a file a format looks at to recognise it."""

PIECE, PACKED_PIECE = 1 << 22, 1 << 20
"""How many bytes are unzipped at a time: of the content, and of the packed file."""

NOT_TO_WAIT = getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0) | getattr(os, "O_NOCTTY", 0)
"""Flags that open a file at once, even if it is a pipe that nobody writes to."""

NOT_TO_FOLLOW = getattr(os, "O_NOFOLLOW", 0)
"""The flag that refuses to open a symbolic link."""


@dataclass(frozen=True)
class InputFile:
    """A file to read, or standard input for "-".

    Attributes:
        path: The path as it was given. It names this very file, even if it looks like a pattern, such as `a[1].csv`.
    """

    path: str | Path

    @property
    def name(self) -> str:
        """What messages call the file."""
        return "standard input" if self.is_standard_input else str(self.path)

    @property
    def is_standard_input(self) -> bool:
        """Whether the bytes come from standard input, which can be read only once."""
        return str(self.path) == STANDARD_STREAM

    @property
    def location(self) -> Path:
        """The path of a file on disk; an error if there is no such file."""
        return require_file(self.path)

    def open(self) -> BinaryIO:
        """The file on disk, opened to be read as it is, packed or not."""
        return open_regular(self.path)

    @cached_property
    def is_plain(self) -> bool:
        """Whether it is a file on disk that is not gzipped, so that a reader may open it itself."""
        if self.is_standard_input:
            return False
        with self.open() as file:
            return file.read(2) != GZIP_MAGIC

    @cached_property
    def content(self) -> bytes:
        """The whole file, unzipped."""
        if self.is_standard_input:
            raw = sys.stdin.buffer.read()
        else:
            with self.open() as file:
                raw = file.read()
        return gunzip(raw, self.name) if raw[:2] == GZIP_MAGIC else raw

    @cached_property
    def is_folder(self) -> bool:
        """Whether it is a folder or a zip file, whose members are read."""
        if self.is_standard_input:
            return False
        try:
            return Path(self.path).is_dir() or (Path(self.path).is_file() and self.head(4) == ZIP_MAGIC)
        except (OSError, ValueError):  # a name that no file can have; reading it says what is wrong
            return False

    @cached_property
    def folder(self) -> Folder:
        """The members of a folder or zip file."""
        return open_folder(Path(self.path))

    def open_unpacked(self) -> BinaryIO:
        """The file opened to be read in pieces, unzipped."""
        return self.open() if self.is_plain else io.BytesIO(self.content)

    def head(self, size: int = HEAD_SIZE) -> bytes:
        """The first bytes, unzipped; what can be read of them when the file is damaged.

        Of JSON at least the first record, if it can be told with a reasonable effort: see `_head_of_pieces`.
        """
        if self.is_standard_input:
            return self.content[:size]
        with self.open() as file:
            packed = file.read(2) == GZIP_MAGIC
            file.seek(0)
            return _head_of_pieces(_unzipped_pieces(file) if packed else _plain_pieces(file), size)


@dataclass(frozen=True)
class MemberFile(InputFile):
    """A file in a folder or zip file.

    Attributes:
        parent: The folder or zip file.
        member: Its name in there.
    """

    parent: Folder
    member: str

    @property
    def is_plain(self) -> bool:
        """No: a reader is given its bytes."""
        return False

    @cached_property
    def content(self) -> bytes:
        """The whole member."""
        return self.parent.read(self.member)

    def open(self) -> BinaryIO:
        """The member opened to be read in pieces."""
        return self.parent.open(self.member)

    def open_unpacked(self) -> BinaryIO:
        """The same: members are not gzipped."""
        return self.open()

    def head(self, size: int = HEAD_SIZE) -> bytes:
        """The first bytes; of JSON at least the first record."""
        with self.open() as opened:
            return _head_of_pieces(_plain_pieces(opened), size)


SCANNED, CONDENSED = 1 << 28, 1 << 20
"""How many bytes of a JSON file are looked at to recognise it, and how many are kept without their long texts."""

LONG_TEXT = 200
"""Of longer texts in JSON only the beginning is kept to recognise a file: fields have shorter names."""

TEXT_BODY = re.compile(rb'(?:[^"\\]|\\.)*+', re.DOTALL)
BRACKETS = re.compile(rb'"(?:[^"\\]|\\.)*+"?|[{}\[\]]', re.DOTALL)


def _plain_pieces(file: BinaryIO) -> Iterator[bytes]:
    """The bytes of a file, piece by piece."""
    while piece := file.read(HEAD_SIZE):
        yield piece


def _unzipped_pieces(file: BinaryIO) -> Iterator[bytes]:
    """The content of the first member of a gzip file, piece by piece, as far as it is not damaged."""
    member = zlib.decompressobj(wbits=31)
    while not member.eof and (packed := member.unconsumed_tail or file.read(HEAD_SIZE)):
        try:
            piece = member.decompress(packed, HEAD_SIZE)
        except zlib.error:
            return
        if piece:
            yield piece


def _head_of_pieces(pieces: Iterator[bytes], size: int) -> bytes:
    """The first bytes of a file; of JSON whose first record is longer, more of it, with long texts cut.

    A record of an annotation tool holds a whole document before the fields that tell the tool, so a fixed number of
    bytes does not do. Texts are cut while they are read: memory holds no more than CONDENSED bytes.
    """
    first = b""
    while len(first) < size and (piece := next(pieces, b"")):
        first += piece
    first, rest = first[:size], first[size:]
    if size < HEAD_SIZE or len(first) < size or _is_no_json(first) or _holds_first_record(first):
        return first
    found, scanned = bytearray(), 0
    in_text, kept, carried = False, 0, b""
    for piece in itertools.chain((first, rest), pieces):
        scanned += len(piece)
        part, at, carried = carried + piece, 0, b""
        while at < len(part):
            if not in_text:
                end = part.find(b'"', at)
                found += part[at:] if end < 0 else part[at : end + 1]
                at, in_text, kept = (len(part) if end < 0 else end + 1), end >= 0, 0
                continue
            end = cast("re.Match[bytes]", TEXT_BODY.match(part, at)).end()
            taken = part[at : min(end, at + LONG_TEXT - kept)]
            found += taken if at + len(taken) == end else taken.rstrip(b"\\")  # no half of an escape
            kept += len(taken)
            if end < len(part) and part[end : end + 1] == b'"':
                found += b'"'
                in_text, end = False, end + 1
            elif end < len(part):  # a backslash ends the piece
                carried, end = part[end:], len(part)
            at = end
        if scanned > SCANNED or len(found) > CONDENSED:
            break
    return bytes(found[:CONDENSED])


def _is_no_json(head: bytes) -> bool:
    return head.removeprefix(b"\xef\xbb\xbf").lstrip()[:1] not in (b"[", b"{")


def _holds_first_record(head: bytes) -> bool:
    """Whether the first record of JSON ends within its first bytes: an element of an array, or the object itself."""
    depth, outside = 0, 1 if head.removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"[") else 0
    for token in BRACKETS.finditer(head):
        depth += (token[0] in (b"{", b"[")) - (token[0] in (b"}", b"]"))
        if depth == outside and token[0] in (b"}", b"]"):
            return True
    return False


def member_file(folder: Folder, name: str) -> MemberFile:
    """A file in a folder or zip file, as a file to read."""
    return MemberFile(f"{folder.name}/{name}", folder, name)


def read_bytes(path: str | Path) -> bytes:
    """The whole file, unzipped; standard input for "-"."""
    return InputFile(path).content


def gunzip(raw: bytes, name: str) -> bytes:
    """Unzip gzip's format, all members, up to the limit. `name` is what messages call the file."""
    limit, buffer = unpacked_limit(len(raw)), io.BytesIO()
    try:
        for piece in _unzip_pieces(raw):
            if buffer.tell() + len(piece) > limit:
                buffer.close()  # the error must not keep it
                raise oversize_error(limit, name)
            buffer.write(piece)
    except (EOFError, zlib.error) as problem:
        raise FormatError(f"{name}: the gzip file is damaged ({problem}). Fetch or pack it again.") from problem
    return buffer.getvalue()  # not copied


def _unzip_pieces(raw: bytes) -> Iterator[bytes]:
    """The content of all members of a gzip file, piece by piece; zeros may follow the last one."""
    view, at = memoryview(raw), 0
    while at < len(raw):
        member = zlib.decompressobj(wbits=31)
        while not member.eof:
            packed: bytes | memoryview = view[at : at + PACKED_PIECE]
            if not packed:
                raise EOFError("Compressed file ended before the end-of-stream marker was reached")
            at += len(packed)
            while packed and not member.eof:
                yield member.decompress(packed, PIECE)
                packed = member.unconsumed_tail
        at -= len(member.unused_data)
        if not raw[at : at + HEAD_SIZE].strip(b"\0"):
            return


def read_member(archive: zipfile.ZipFile, member: str, *, packed_size: int, name: str) -> bytes:
    """A file within a zip archive, unzipped up to the limit.

    Args:
        archive: The archive.
        member: The file's name in it; a KeyError if it is not there.
        packed_size: The size of the archive.
        name: What messages call the archive.
    """
    limit = unpacked_limit(packed_size)
    try:
        with archive.open(member) as file:
            content = file.read(limit + 1)
    except DAMAGED_ZIP as problem:
        raise FormatError(f"{name}: the zip archive is damaged ({problem}). Fetch or pack it again.") from problem
    if len(content) > limit:
        raise oversize_error(limit, name)
    return content


def open_regular(path: str | Path, *, follow: bool = True) -> BufferedReader:
    """Open a regular file to read its bytes; refuse pipes and devices, which could wait or never end.

    Args:
        path: The file.
        follow: Whether a symbolic link to it will do.
    """
    found = require_file(path)
    try:
        handle = os.open(found, os.O_RDONLY | NOT_TO_WAIT | (0 if follow else NOT_TO_FOLLOW))
    except OSError as problem:
        raise _unreadable(path, problem) from problem
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise _no_regular_file(path)
    return os.fdopen(handle, "rb")


def require_file(path: str | Path) -> Path:
    """The path, if a regular file is there; else an error that names the files beside it."""
    found = Path(path)
    if not _is_text(str(path)):
        raise FormatError(f"{path}: the file's name is not UTF-8. Rename the file.")
    try:
        mode = found.stat().st_mode
    except (FileNotFoundError, NotADirectoryError, ValueError):  # ValueError: a zero byte in the name
        raise MissingDataError(f"{path}: no such file.{_hint_beside(found)}") from None
    except OSError as problem:
        raise _unreadable(path, problem) from problem
    if stat.S_ISDIR(mode):
        raise MissingDataError(f"{path}: is a folder. Name a file in it.")
    if not stat.S_ISREG(mode):
        raise _no_regular_file(path)
    return found


def _hint_beside(path: Path) -> str:
    """The file beside it that has nearly its name; else those of its kind, or all where there are none."""
    try:
        beside = sorted(p.name for p in path.parent.iterdir() if p.is_file())
    except (OSError, ValueError):
        return ""
    alike = [name for name in beside if Path(name).suffix == path.suffix] or beside
    near = difflib.get_close_matches(path.stem, [Path(name).stem for name in alike], n=1)
    if near:
        return f" Did you mean {next(name for name in alike if Path(name).stem == near[0])!r}?"
    return f" Beside it are: {name_list(alike)}." if alike else ""


def _no_regular_file(path: str | Path) -> FormatError:
    return FormatError(
        f"{path}: is a pipe or a device, and no regular file. Write its content to a file first, or give - for "
        f"standard input."
    )


def _unreadable(path: str | Path, problem: OSError) -> MissingDataError:
    return MissingDataError(f"{path}: cannot be read ({problem.strerror or problem}). Check the path and its rights.")


def _is_text(name: str) -> bool:
    """Whether a name can be written as UTF-8; Python takes any bytes, as lone surrogates."""
    return not any("\ud800" <= sign <= "\udfff" for sign in name)


def write_bytes(path: str | Path, content: bytes) -> None:
    """Write a file whole (gzipped when its name ends in .gz), or to standard output for "-"."""
    if str(path) == STANDARD_STREAM:
        write_when_complete(lambda: _write_standard_output(content))
        return
    packed = gzip.compress(content, mtime=0) if str(path).endswith(".gz") else content
    if _is_device(Path(path)):
        write_when_complete(lambda: _write_device(path, packed))
        return
    with atomic_write(path) as draft:
        draft.write_bytes(packed)


def write_stream(path: str | Path, write: Callable[[BinaryIO], None]) -> None:
    """Write a file whole by a function that is given the open file; what is gzipped, or a stream, by way of memory."""
    if str(path) == STANDARD_STREAM or str(path).endswith(".gz") or _is_device(Path(path)):
        buffer = io.BytesIO()
        write(buffer)
        write_bytes(path, buffer.getvalue())
        return
    with atomic_write(path) as draft, draft.open("wb") as file:
        try:
            write(file)
        except OSError as problem:
            raise _numbered(problem) from problem


def _numbered(problem: OSError) -> OSError:
    """An error of the system with its number, which polars only has in its words: "... (os error 28)"."""
    said = re.search(r"^(.*) \(os error (\d+)\)$", str(problem))
    return problem if problem.errno is not None or said is None else OSError(int(said[2]), said[1])


@contextmanager
def atomic_write(path: str | Path) -> Iterator[Path]:
    """A temporary path to write to; it becomes `path` when all went well and vanishes when not.

    Within `written_together` it becomes `path` at the end of that block.
    """
    target = Path(path)
    if not target.parent.is_dir():
        raise OptionError(f"{path}: the folder {target.parent} does not exist. Make it first.")
    if target.is_dir():
        raise OptionError(f"{path}: is a folder. Name a file.")
    draft = _make_draft(target)
    try:
        yield draft
        draft.chmod(0o666 & ~_umask())
        outputs = _outputs.get()
        if outputs is None:
            draft.replace(target)
        else:
            outputs.renames.append((draft, target))
    except BaseException as problem:
        draft.unlink(missing_ok=True)
        if isinstance(problem, OSError) and problem.errno is not None and problem.filename in (None, str(draft), draft):
            # name the file that the user gave, not the temporary one
            raise OSError(problem.errno, problem.strerror, str(target)) from problem
        raise


@dataclass(frozen=True)
class _Outputs:
    """What `written_together` does at its end (streams to write, drafts to rename), and what there is so far."""

    streams: list[Callable[[], None]]
    renames: list[tuple[Path, Path]]
    drafts: list[Path]
    folders: list[Path]


_outputs: ContextVar[_Outputs | None] = ContextVar("outputs", default=None)


@contextmanager
def written_together() -> Iterator[None]:
    """What is written within the block appears when all of it is on the disk, or not at all."""
    if _outputs.get() is not None:
        yield
        return
    outputs = _Outputs([], [], [], [])
    token = _outputs.set(outputs)
    try:
        yield
        for write in outputs.streams:
            write()
        _rename_together(outputs.renames)
    except BaseException:
        for draft in outputs.drafts:
            draft.unlink(missing_ok=True)
        for folder in reversed(outputs.folders):
            with suppress(OSError):  # something else is in it
                folder.rmdir()
        raise
    finally:
        _outputs.reset(token)


def _rename_together(renames: list[tuple[Path, Path]]) -> None:
    """Give drafts their names: all of them, or none.

    No system renames two files at once. Earlier files are moved aside before the first new one takes its place, so that
    a process that is killed here may leave a file missing, but never a new one beside an old one. Any other failure
    brings the earlier files back.
    """
    aside: list[tuple[Path, Path]] = []
    placed: list[Path] = []
    target = Path()
    try:
        for _, target in renames if len(renames) > 1 else []:
            if target.exists():
                backup = _make_draft(target)
                aside.append((backup, target))
                target.replace(backup)
        for draft, target in renames:
            draft.replace(target)
            placed.append(target)
    except BaseException as problem:
        for new in placed:
            new.unlink(missing_ok=True)
        for backup, old in aside:
            if not old.exists():  # else it was not moved yet, and the backup is empty
                backup.replace(old)
        if isinstance(problem, OSError) and problem.errno is not None:
            raise OSError(problem.errno, problem.strerror, str(target)) from problem  # not the temporary file
        raise
    for backup, _ in aside:
        backup.unlink(missing_ok=True)


def make_folder(path: Path) -> None:
    """Make a folder and those above it, as far as they are not there; within `written_together` they go if it fails."""
    missing = [one for one in (path, *path.parents) if not one.exists()]
    path.mkdir(parents=True, exist_ok=True)
    outputs = _outputs.get()
    if outputs is not None:
        outputs.folders.extend(reversed(missing))


def write_when_complete(write: Callable[[], None]) -> None:
    """Write to a stream or a database now, or at the end of `written_together`."""
    outputs = _outputs.get()
    if outputs is None:
        write()
    else:
        outputs.streams.append(write)


def _write_standard_output(content: bytes) -> None:
    sys.stdout.buffer.write(content)
    sys.stdout.buffer.flush()


def _is_device(path: Path) -> bool:
    """Whether a path is there already and is a pipe or a device, such as /dev/null: it is written to, not replaced."""
    try:
        mode = path.stat().st_mode
    except (OSError, ValueError):
        return False
    return not stat.S_ISREG(mode) and not stat.S_ISDIR(mode)


def _write_device(path: str | Path, content: bytes) -> None:
    try:
        with Path(path).open("wb") as file:
            file.write(content)
    except OSError as problem:
        raise OSError(problem.errno, problem.strerror, str(path)) from problem


DRAFT = re.compile(r"\.(?P<target>.+)\.[a-z0-9_]{8}\.part", re.DOTALL)
"""The names of temporary files: that of the file they become, and eight random characters."""


def write_folder(path: str | Path, files: Mapping[str, bytes]) -> None:
    """Write a folder whole, from the content of its files by name; see `new_folder`."""
    with new_folder(path) as draft:
        for name, content in files.items():
            place = draft / name
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(content)


@contextmanager
def new_folder(path: str | Path) -> Iterator[Path]:
    """A temporary folder to write to; it becomes `path` when all went well and vanishes when not.

    A folder of that name may be there if it is empty; nothing in a folder is ever overwritten.
    """
    target = Path(path)
    if not target.parent.is_dir():
        raise OptionError(f"{path}: the folder {target.parent} does not exist. Make it first.")
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise OptionError(f"{path}: is there already. Name a folder that is new or empty.")
    draft = Path(tempfile.mkdtemp(prefix=f".{target.name}.", suffix=".part", dir=target.parent))
    try:
        yield draft
        draft.chmod(0o777 & ~_umask())
        draft.replace(target)
    except OSError as problem:
        if problem.filename is not None and str(problem.filename).startswith(str(draft)):
            inside = Path(problem.filename).relative_to(draft)
            raise type(problem)(problem.errno, problem.strerror, str(target / inside)) from problem
        raise
    finally:
        shutil.rmtree(draft, ignore_errors=True)


def _make_draft(target: Path) -> Path:
    """An empty temporary file in the target's folder, so that renaming it is atomic."""
    try:
        handle, name = tempfile.mkstemp(prefix=f".{target.name}.", suffix=".part", dir=target.parent)
    except OSError as problem:  # name the file that the user gave, not the temporary one
        raise OSError(problem.errno, problem.strerror, str(target)) from problem
    os.close(handle)
    outputs = _outputs.get()
    if outputs is not None:
        outputs.drafts.append(Path(name))
    return Path(name)


def draft_target(name: str) -> str | None:
    """The name of the file that a temporary file would have become; None if it is not a temporary file of ours."""
    found = DRAFT.fullmatch(name)
    return None if found is None else found["target"]


def _umask() -> int:
    """The permissions that new files do not get; Python can only read them by setting them."""
    mask = os.umask(0)
    os.umask(mask)
    return mask
