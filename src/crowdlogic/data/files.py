"""Reading and writing of files: reading decompresses, and writing never leaves an incomplete file.

A path names a regular file on this machine; patterns, addresses, pipes and devices are rejected. `folders.py` limits
the size of decompressed files.
"""

from __future__ import annotations

import difflib
import gzip
import io
import math
import os
import re
import shutil
import signal
import stat
import sys
import tempfile
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cached_property
from io import BufferedReader
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from crowdlogic.data.folders import (
    DAMAGED_NPZ,
    ZIP_MAGIC,
    Folder,
    open_folder,
    oversize_error,
    read_member,
    unpacked_limit,
)
from crowdlogic.errors import DataError, FormatError, MissingDataError, OptionError, name_list

STANDARD_STREAM = "-"
"""Path for standard input or output."""

GZIP_MAGIC = b"\x1f\x8b"
HEAD_SIZE = 1 << 16
"""Number of bytes of a file by which formats recognise it."""

PIECE, PACKED_PIECE, SMALLEST_PIECE = 1 << 22, 1 << 20, 1 << 9
"""Number of bytes that are decompressed at a time: of the content, and of the compressed file at most and at first."""

NOT_TO_WAIT = getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0) | getattr(os, "O_NOCTTY", 0)
"""Flags that open a file without waiting, even if it is a pipe without a writer."""

NOT_TO_FOLLOW = getattr(os, "O_NOFOLLOW", 0)
"""Flag that prevents opening symbolic links."""


@dataclass(frozen=True)
class InputFile:
    """File to read, or standard input for "-".

    Attributes:
        path: The path as given. It is never interpreted as a pattern, even if it looks like one, such as `a[1].csv`.
    """

    path: str | Path

    @property
    def name(self) -> str:
        """Name for messages."""
        return "standard input" if self.is_standard_input else str(self.path)

    @property
    def is_standard_input(self) -> bool:
        """Whether the bytes come from standard input, which can be read only once."""
        return str(self.path) == STANDARD_STREAM

    @property
    def location(self) -> Path:
        """Return the path; raise an error if the file does not exist."""
        return require_file(self.path)

    def open(self) -> BinaryIO:
        """Open the file on disk without decompressing it."""
        return open_regular(self.path)

    @cached_property
    def is_plain(self) -> bool:
        """Whether this is an uncompressed file on disk, so that readers can open it by its path."""
        if self.is_standard_input:
            return False
        with self.open() as file:
            return file.read(2) != GZIP_MAGIC

    @cached_property
    def content(self) -> bytes:
        """Content of the file, decompressed."""
        if self.is_standard_input:
            raw = sys.stdin.buffer.read()
        else:
            with self.open() as file:
                raw = file.read()
        return gunzip(raw, self.name) if raw[:2] == GZIP_MAGIC else raw

    @cached_property
    def is_folder(self) -> bool:
        """Whether this is a folder or a zip file, whose members are read."""
        if self.is_standard_input:
            return False
        try:
            return Path(self.path).is_dir() or (Path(self.path).is_file() and self.head(4) == ZIP_MAGIC)
        except (OSError, ValueError):  # a name that no file can have; reading it says what is wrong
            return False

    @cached_property
    def folder(self) -> Folder:
        """Members of a folder or zip file."""
        return open_folder(Path(self.path))

    def members(self, *endings: str) -> list[InputFile]:
        """Return the members of a folder or zip file whose names have one of these endings, or only this file."""
        if not self.is_folder:
            return [self]
        return [member_file(self.folder, name) for name in self.folder.names if name.endswith(endings)]

    def open_unpacked(self) -> BinaryIO:
        """Open the file for reading in pieces, decompressed."""
        return self.open() if self.is_plain else io.BytesIO(self.content)

    def head(self, size: int = HEAD_SIZE) -> bytes:
        """Return the first bytes, decompressed; of a damaged file, as many as can be read.

        If the first record of a JSON file is longer, its long texts are truncated; see `_head_of_pieces`.
        """
        if self.is_standard_input:
            return self.content[:size]
        with self.open() as file:
            packed = file.read(2) == GZIP_MAGIC
            file.seek(0)
            return _head_of_pieces(_unzipped_pieces(file) if packed else _plain_pieces(file), size)


@dataclass(frozen=True)
class MemberFile(InputFile):
    """File in a folder or zip file.

    Attributes:
        parent: The folder or zip file.
        member: Name of the file within it.
    """

    parent: Folder
    member: str

    @property
    def is_plain(self) -> bool:
        """Always false: readers get the bytes, not a path."""
        return False

    @cached_property
    def content(self) -> bytes:
        """Content of the member."""
        return self.parent.read(self.member)

    def open(self) -> BinaryIO:
        """Open the member for reading in pieces."""
        return self.parent.open(self.member)

    def open_unpacked(self) -> BinaryIO:
        """Open the member; members are not gzipped."""
        return self.open()

    def head(self, size: int = HEAD_SIZE) -> bytes:
        """Return the first bytes; of JSON at least the first record."""
        with self.open() as opened:
            return _head_of_pieces(_plain_pieces(opened), size)


SCANNED, CONDENSED = 1 << 28, 1 << 20
"""Maximum number of bytes that are read of a JSON file to recognise it, and that are kept with truncated texts."""

JSON_TEXT = re.compile(rb'("(?:[^"\\]|\\.){0,200})[^"\\]*+(?:\\.[^"\\]*+)*+("?)', re.DOTALL)
"""Pattern of a JSON string, which is truncated to this length; names of fields are shorter."""

BRACKETS = re.compile(rb'"(?:[^"\\]|\\.)*+"?|[{}\[\]]', re.DOTALL)


def _plain_pieces(file: BinaryIO) -> Iterator[bytes]:
    """Yield the bytes of a file in pieces."""
    while piece := file.read(HEAD_SIZE):
        yield piece


def _unzipped_pieces(file: BinaryIO) -> Iterator[bytes]:
    """Yield the content of the first member of a gzip file in pieces, up to the first damage."""
    member = zlib.decompressobj(wbits=31)
    while not member.eof and (packed := member.unconsumed_tail or file.read(HEAD_SIZE)):
        try:
            piece = member.decompress(packed, HEAD_SIZE)
        except zlib.error:
            return
        if piece:
            yield piece


def _head_of_pieces(pieces: Iterator[bytes], size: int) -> bytes:
    """Return the first bytes of a file; for JSON with a longer first record, more bytes with truncated text.

    A record of an annotation tool may contain a whole document before the fields by which the tool is recognised, so a
    fixed number of bytes is not enough.
    """
    head = bytearray()
    while len(head) < size and (piece := next(pieces, b"")):
        head += piece
    first = bytes(head[:size])
    is_json = first.removeprefix(b"\xef\xbb\xbf").lstrip()[:1] in (b"[", b"{")
    if size < HEAD_SIZE or len(first) < size or not is_json or _holds_first_record(first):
        return first
    # Text is truncated while the file is read, so that little memory is needed. A string that is cut by the end of what
    # was read has no closing quote; it continues with the next piece.
    condensed, scanned = JSON_TEXT.sub(rb"\1\2", head), len(head)
    head.clear()
    while scanned < SCANNED and len(condensed) < CONDENSED and (piece := next(pieces, b"")):
        head += piece
        scanned += len(piece)
        if len(head) >= CONDENSED:
            condensed = JSON_TEXT.sub(rb"\1\2", condensed + head)
            head.clear()
    return JSON_TEXT.sub(rb"\1\2", condensed + head)[:CONDENSED]


def _holds_first_record(head: bytes) -> bool:
    """Return whether the bytes contain the whole first record: the first element of an array, or the object itself."""
    depth, outside = 0, 1 if head.removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"[") else 0
    for token in BRACKETS.finditer(head):
        depth += (token[0] in (b"{", b"[")) - (token[0] in (b"}", b"]"))
        if depth == outside and token[0] in (b"}", b"]"):
            return True
    return False


def member_file(folder: Folder, name: str) -> MemberFile:
    """Return a file of a folder or zip file as an input file."""
    return MemberFile(f"{folder.name}/{name}", folder, name)


def read_bytes(path: str | Path) -> bytes:
    """Read a whole file, decompressed; standard input for "-"."""
    return InputFile(path).content


LONGEST_NPZ = 200
"""Maximum number of arrays in an npz file."""


def read_npz(path: str | Path, names: Sequence[str] | None = None) -> dict[str, NDArray[Any]]:
    """Read arrays from an npz file, checking the header of each before allocating memory.

    Args:
        path: The file. Arrays of objects, which would need pickle, are rejected.
        names: The names of the arrays; None for all.
    """
    arrays: dict[str, NDArray[Any]] = {}
    try:
        with open_regular(path) as file, zipfile.ZipFile(file) as archive:
            size = os.fstat(file.fileno()).st_size
            members = [name for name in archive.namelist() if name.endswith(".npy")]
            members = members if names is None else [f"{name}.npy" for name in names]
            if len(members) > LONGEST_NPZ:
                raise FormatError(f"{path}: contains {len(members):,} arrays, but the limit is {LONGEST_NPZ}.")
            for member in members:
                content = read_member(archive, member, packed_size=size, name=str(path))
                stream, name = io.BytesIO(content), member.removesuffix(".npy")
                is_first = np.lib.format.read_magic(stream) == (1, 0)
                read = np.lib.format.read_array_header_1_0 if is_first else np.lib.format.read_array_header_2_0
                shape, _, dtype = read(stream)
                if not dtype.hasobject and math.prod(shape) * dtype.itemsize != len(content) - stream.tell():
                    raise FormatError(f"{path}: the size of {name} does not match its shape {shape}. Save it again.")
                stream.seek(0)
                arrays[name] = np.load(stream, allow_pickle=False)
    except DataError:
        raise
    except DAMAGED_NPZ as problem:
        what = "plain arrays" if names is None else f"the arrays {' and '.join(names)}"
        raise FormatError(f"{path}: is not an npz file of {what} ({problem!s:.200}). Save it again.") from problem
    return arrays


def gunzip(raw: bytes, name: str) -> bytes:
    """Decompress all members of a gzip file, up to the limit. `name` is the name of the file for messages."""
    limit, buffer = unpacked_limit(len(raw)), io.BytesIO()
    try:
        for piece in _unzip_pieces(raw):
            if buffer.tell() + len(piece) > limit:
                buffer.close()  # so that the error does not keep a reference
                raise oversize_error(limit, name)
            buffer.write(piece)
    except (EOFError, zlib.error) as problem:
        raise FormatError(f"{name}: the gzip file is damaged ({problem}). Fetch or compress it again.") from problem
    return buffer.getvalue()  # not copied


def _unzip_pieces(raw: bytes) -> Iterator[bytes]:
    """Yield the content of all members of a gzip file in pieces; zeros may follow the last one."""
    view, at = memoryview(raw), 0
    while at < len(raw):
        member, size = zlib.decompressobj(wbits=31), SMALLEST_PIECE
        while not member.eof:
            packed: bytes | memoryview = view[at : at + size]
            if not packed:
                raise EOFError("Compressed file ended before the end-of-stream marker was reached")
            at += len(packed)
            # What follows a member is copied, so a member begins with a small piece
            size = min(2 * size, PACKED_PIECE)
            while packed and not member.eof:
                yield member.decompress(packed, PIECE)
                packed = member.unconsumed_tail
        at -= len(member.unused_data)
        if at < len(raw) and not raw[at] and not raw[at : at + HEAD_SIZE].strip(b"\0"):
            return


def open_regular(path: str | Path, *, follow: bool = True) -> BufferedReader:
    """Open a regular file for reading bytes; pipes and devices raise an error, since they could block forever.

    Args:
        path: The file.
        follow: Whether the path may be a symbolic link.
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
    """Return the path of a regular file; raise an error that names similar files if there is none."""
    found = Path(path)
    if any("\ud800" <= sign <= "\udfff" for sign in str(path)):  # Python takes any bytes, as lone surrogates
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
    """Suggest a file of a similar name; otherwise list the files with the same suffix, or all files."""
    try:
        beside = sorted(p.name for p in path.parent.iterdir() if p.is_file())
    except (OSError, ValueError):
        return ""
    alike = [name for name in beside if Path(name).suffix == path.suffix] or beside
    near = difflib.get_close_matches(path.stem, [Path(name).stem for name in alike], n=1)
    if near:
        return f" Did you mean {next(name for name in alike if Path(name).stem == near[0])!r}?"
    return f" The folder contains: {name_list(alike)}." if alike else ""


def _no_regular_file(path: str | Path) -> FormatError:
    return FormatError(
        f"{path}: is a pipe or a device, not a regular file. Write its content to a file first, or use - for "
        f"standard input."
    )


def _unreadable(path: str | Path, problem: OSError) -> MissingDataError:
    return MissingDataError(
        f"{path}: cannot be read ({problem.strerror or problem}). Check the path and its permissions."
    )


def write_bytes(path: str | Path, content: bytes) -> None:
    """Write a file atomically (gzipped if its name ends in .gz), or to standard output for "-"."""
    if str(path) == STANDARD_STREAM:
        write_when_complete(lambda: _write_to(sys.stdout.buffer, content))
        return
    packed = gzip.compress(content, mtime=0) if str(path).endswith(".gz") else content
    if _is_device(Path(path)):
        write_when_complete(lambda: _write_to(path, packed))
        return
    with atomic_write(path) as draft:
        draft.write_bytes(packed)


def write_stream(path: str | Path, write: Callable[[BinaryIO], None]) -> None:
    """Write a file with a function that takes the open file. Gzipped files and streams are built in memory first."""
    if str(path) == STANDARD_STREAM or str(path).endswith(".gz") or _is_device(Path(path)):
        buffer = io.BytesIO()
        write(buffer)
        write_bytes(path, buffer.getvalue())
        return
    with atomic_write(path) as draft, draft.open("wb") as file:
        try:
            write(file)
        except OSError as problem:
            # polars only gives the number of a system error in its message: "... (os error 28)"
            said = re.search(r"^(.*) \(os error (\d+)\)$", str(problem))
            if problem.errno is not None or said is None:
                raise
            raise OSError(int(said[2]), said[1]) from problem


@contextmanager
def atomic_write(path: str | Path) -> Iterator[Path]:
    """Yield a temporary path to write to. It becomes `path` on success and is removed on failure.

    Within `written_together`, it becomes `path` at the end of that block.
    """
    target = Path(path)
    if not target.parent.is_dir():
        raise OptionError(f"{path}: the folder {target.parent} does not exist. Create it first.")
    if target.is_dir():
        raise OptionError(f"{path}: is a folder. Name a file.")
    draft = None
    try:
        with _interrupts_delayed():  # a draft that is not yet known here would be left behind
            draft = _make_draft(target)
        yield draft
        draft.chmod(0o666 & ~_umask())
        outputs = _outputs.get()
        if outputs is None:
            draft.replace(target)
        else:
            outputs.renames.append((draft, target))
    except BaseException as problem:
        if draft is not None:
            draft.unlink(missing_ok=True)
        if isinstance(problem, OSError) and problem.errno is not None and problem.filename in (None, str(draft), draft):
            # name the file that the user gave, not the temporary one
            raise OSError(problem.errno, problem.strerror, str(target)) from problem
        raise


@dataclass(frozen=True)
class _Outputs:
    """Outputs of a `written_together` block: what to rename at its end, and what to remove on failure."""

    streams: list[Callable[[], None]]
    renames: list[tuple[Path, Path]]
    drafts: list[Path]
    folders: list[Path]


_outputs: ContextVar[_Outputs | None] = ContextVar("outputs", default=None)


@contextmanager
def written_together() -> Iterator[None]:
    """Make all outputs of the block appear together at its end, or not at all."""
    if _outputs.get() is not None:
        yield
        return
    outputs = _Outputs([], [], [], [])
    token = _outputs.set(outputs)
    try:
        yield
        for write in outputs.streams:
            write()
        with _interrupts_delayed():
            _rename_together(outputs.renames)
    except BaseException:
        for draft in outputs.drafts:
            _remove(draft)
        for folder in reversed(outputs.folders):
            with suppress(OSError):  # something else is in it
                folder.rmdir()
        raise
    finally:
        _outputs.reset(token)


@contextmanager
def _interrupts_delayed() -> Iterator[None]:
    """Delay SIGINT and SIGTERM until the end of the block, so that they cannot interrupt renames halfway."""
    received: list[int] = []
    delayed = (signal.SIGINT, signal.SIGTERM)
    try:
        handlers = [signal.signal(one, lambda number, _: received.append(number)) for one in delayed]
    except ValueError:  # only the main thread handles signals
        yield
        return
    try:
        yield
    finally:
        for one, handler in zip(delayed, handlers, strict=True):
            signal.signal(one, signal.SIG_DFL if handler is None else handler)
        for number in received:
            signal.raise_signal(number)


def _rename_together(renames: list[tuple[Path, Path]]) -> None:
    """Rename temporary files to their targets: all of them, or none.

    Two files cannot be renamed atomically. Existing files are moved aside before the first rename, so a process that is
    killed here may leave a file missing, but never a mixture of new and old files. After any other failure, the
    existing files are restored.
    """
    aside: list[tuple[Path, Path]] = []
    placed: list[Path] = []
    target = Path()
    try:
        for _, target in renames if len(renames) > 1 else []:
            if target.is_file():
                backup = _make_draft(target)
                aside.append((backup, target))
                target.replace(backup)
        for draft, target in renames:
            draft.replace(target)
            placed.append(target)
    except BaseException as problem:
        for new in placed:
            _remove(new)
        for backup, old in aside:
            if not old.exists():  # else it was not moved yet, and the backup is empty
                backup.replace(old)
        if isinstance(problem, OSError) and problem.errno is not None:
            raise OSError(problem.errno, problem.strerror, str(target)) from problem  # not the temporary file
        raise
    for backup, _ in aside:
        backup.unlink(missing_ok=True)


def _remove(path: Path) -> None:
    """Remove a file or a folder, if it exists."""
    if path.is_dir():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


def make_folder(path: Path) -> None:
    """Create a folder and its parents. If a surrounding `written_together` block fails, they are removed again."""
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


def _is_device(path: Path) -> bool:
    """Return whether a path is a pipe or a device, such as /dev/null, which must not be replaced by a file."""
    try:
        mode = path.stat().st_mode
    except (OSError, ValueError):
        return False
    return not stat.S_ISREG(mode) and not stat.S_ISDIR(mode)


def _write_to(target: str | Path | BinaryIO, content: bytes) -> None:
    """Write to an open stream, or to a device by its path."""
    if not isinstance(target, str | Path):
        target.write(content)
        target.flush()
        return
    try:
        with Path(target).open("wb") as file:
            file.write(content)
    except OSError as problem:
        raise OSError(problem.errno, problem.strerror, str(target)) from problem


DRAFT = re.compile(r"\.(?P<target>.+)\.[a-z0-9_]{8}\.part", re.DOTALL)
"""Names of temporary files: the name of the target and eight random characters."""


def write_folder(path: str | Path, files: Mapping[str, bytes]) -> None:
    """Write a folder from the content of its files by name; see `new_folder`."""
    with new_folder(path) as draft:
        for name, content in files.items():
            place = draft / name
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(content)


@contextmanager
def new_folder(path: str | Path) -> Iterator[Path]:
    """Yield a temporary folder to write to. It becomes `path` on success and is removed on failure.

    Within `written_together`, it becomes `path` at the end of that block. An existing folder must be empty: nothing in
    a folder is overwritten.
    """
    target = Path(path)
    if not target.parent.is_dir():
        raise OptionError(f"{path}: the folder {target.parent} does not exist. Create it first.")
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise OptionError(f"{path}: already exists. Name a new or an empty folder.")
    draft = None
    try:
        with _interrupts_delayed():
            draft = Path(tempfile.mkdtemp(prefix=f".{target.name}.", suffix=".part", dir=target.parent))
        yield draft
        draft.chmod(0o777 & ~_umask())
        outputs = _outputs.get()
        if outputs is None:
            draft.replace(target)
        else:
            outputs.drafts.append(draft)
            outputs.renames.append((draft, target))
    except BaseException as problem:
        if draft is None:
            raise
        shutil.rmtree(draft, ignore_errors=True)
        if isinstance(problem, OSError) and str(problem.filename or "").startswith(str(draft)):
            inside = Path(problem.filename).relative_to(draft)
            raise type(problem)(problem.errno, problem.strerror, str(target / inside)) from problem
        raise


def _make_draft(target: Path) -> Path:
    """Make an empty temporary file in the target's folder, so that renaming it is atomic."""
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
    """Return the name of the target of a temporary file; None if the name is not that of a temporary file."""
    found = DRAFT.fullmatch(name)
    return None if found is None else found["target"]


def _umask() -> int:
    """Return the umask of this process; Python can only read it by setting it."""
    mask = os.umask(0)
    os.umask(mask)
    return mask
