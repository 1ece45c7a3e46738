"""Files as bytes: read whole and unzipped, written so that nothing half-written is ever left behind.

A path names one regular file on this machine: never a pattern, an address, a pipe or a device. What a packed file may
unpack to is limited (`data/limits.py`).
"""

from __future__ import annotations

import difflib
import gzip
import io
import os
import re
import shutil
import stat
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
from pathlib import Path
from typing import BinaryIO

from crowdlogic.data.folders import DAMAGED_ZIP, ZIP_MAGIC, Folder, open_folder
from crowdlogic.data.limits import oversize_error, require_unpackable, unpacked_limit
from crowdlogic.errors import FormatError, MissingDataError, OptionError, name_list

STANDARD_STREAM = "-"
"""The path that means standard input or output."""

GZIP_MAGIC = b"\x1f\x8b"
HEAD_SIZE = 1 << 16
"""How many bytes of a file a format looks at to recognise it."""

PIECE, PACKED_PIECE = 1 << 24, 1 << 20
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
        """The first bytes, unzipped; what can be read of them when the file is damaged."""
        if self.is_standard_input:
            return self.content[:size]
        with self.open() as file:
            raw = file.read(size)
        if raw[:2] != GZIP_MAGIC:
            return raw
        try:
            return zlib.decompressobj(wbits=31).decompress(raw, size)
        except zlib.error:
            return b""


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
        """The first bytes."""
        with self.open() as opened:
            return opened.read(size)


def member_file(folder: Folder, name: str) -> MemberFile:
    """A file in a folder or zip file, as a file to read."""
    return MemberFile(f"{folder.name}/{name}", folder, name)


def read_bytes(path: str | Path) -> bytes:
    """The whole file, unzipped; standard input for "-"."""
    return InputFile(path).content


def gunzip(raw: bytes, name: str) -> bytes:
    """Unzip gzip's format, all members, up to the limit. `name` is what messages call the file."""
    limit, size, pieces = unpacked_limit(len(raw)), 0, []
    try:
        for piece in _unzip_pieces(raw):
            size += len(piece)
            require_unpackable(size, limit, name)
            pieces.append(piece)
    except (EOFError, zlib.error) as problem:
        raise FormatError(f"{name}: the gzip file is damaged ({problem}). Fetch or pack it again.") from problem
    return b"".join(pieces)


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
        _when_all_is_written(lambda: _write_standard_output(content))
        return
    packed = gzip.compress(content, mtime=0) if str(path).endswith(".gz") else content
    if _is_device(Path(path)):
        _when_all_is_written(lambda: _write_device(path, packed))
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
        _when_all_is_written(lambda: _rename(draft, target))
    except BaseException as problem:
        draft.unlink(missing_ok=True)
        if isinstance(problem, OSError) and problem.errno is not None and problem.filename in (None, str(draft), draft):
            # name the file that the user gave, not the temporary one
            raise OSError(problem.errno, problem.strerror, str(target)) from problem
        raise


@dataclass(frozen=True)
class _Outputs:
    """What `written_together` does at its end: files to rename, streams to write; and the drafts and folders so far."""

    finish: list[Callable[[], None]]
    drafts: list[Path]
    folders: list[Path]


_outputs: ContextVar[_Outputs | None] = ContextVar("outputs", default=None)


@contextmanager
def written_together() -> Iterator[None]:
    """What is written within the block appears when all of it is on the disk, or not at all."""
    if _outputs.get() is not None:
        yield
        return
    outputs = _Outputs([], [], [])
    token = _outputs.set(outputs)
    try:
        yield
        for step in outputs.finish:
            step()
    except BaseException:
        for draft in outputs.drafts:
            draft.unlink(missing_ok=True)
        for folder in reversed(outputs.folders):
            with suppress(OSError):  # something else is in it
                folder.rmdir()
        raise
    finally:
        _outputs.reset(token)


def make_folder(path: Path) -> None:
    """Make a folder and those above it, as far as they are not there; within `written_together` they go if it fails."""
    missing = [one for one in (path, *path.parents) if not one.exists()]
    path.mkdir(parents=True, exist_ok=True)
    outputs = _outputs.get()
    if outputs is not None:
        outputs.folders.extend(reversed(missing))


def _when_all_is_written(step: Callable[[], None]) -> None:
    """Take a last step now, or at the end of `written_together`."""
    outputs = _outputs.get()
    if outputs is None:
        step()
    else:
        outputs.finish.append(step)


def _rename(draft: Path, target: Path) -> None:
    draft.replace(target)


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
    """Write a folder whole, from the content of its files by name: it is new when all went well and absent when not.

    A folder of that name may be there if it is empty; nothing in a folder is ever written over.
    """
    target = Path(path)
    if not target.parent.is_dir():
        raise OptionError(f"{path}: the folder {target.parent} does not exist. Make it first.")
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise OptionError(f"{path}: is there already. Name a folder that is new or empty.")
    draft = Path(tempfile.mkdtemp(prefix=f".{target.name}.", suffix=".part", dir=target.parent))
    try:
        for name, content in files.items():
            place = draft / name
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(content)
        draft.chmod(0o777 & ~_umask())
        draft.replace(target)
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
    """The name of the file that a temporary file would have become; None if it is no temporary file of ours."""
    found = DRAFT.fullmatch(name)
    return None if found is None else found["target"]


def _umask() -> int:
    """The permissions that new files do not get; Python can only read them by setting them."""
    mask = os.umask(0)
    os.umask(mask)
    return mask
