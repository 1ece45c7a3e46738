"""Files as bytes: read whole and unzipped, written so that nothing half-written is ever left behind."""

from __future__ import annotations

import gzip
import os
import sys
import tempfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from crowdlogic.errors import FormatError, MissingDataError, OptionError, name_list

STANDARD_STREAM = "-"
"""The path that means standard input or output."""

GZIP_MAGIC = b"\x1f\x8b"
HEAD_SIZE = 1 << 16
"""How many bytes of a file a format looks at to recognise it."""


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

    @cached_property
    def is_plain(self) -> bool:
        """Whether it is a file on disk that is not gzipped, so that a reader may open it itself."""
        if self.is_standard_input:
            return False
        with self.location.open("rb") as file:
            return file.read(2) != GZIP_MAGIC

    @cached_property
    def content(self) -> bytes:
        """The whole file, unzipped."""
        raw = sys.stdin.buffer.read() if self.is_standard_input else self.location.read_bytes()
        if raw[:2] != GZIP_MAGIC:
            return raw
        try:
            return gzip.decompress(raw)
        except (OSError, EOFError, zlib.error) as problem:
            raise FormatError(
                f"{self.path}: the gzip file is damaged ({problem}). Fetch or pack it again."
            ) from problem

    def head(self, size: int = HEAD_SIZE) -> bytes:
        """The first bytes, unzipped; what can be read of them when the file is damaged."""
        if self.is_standard_input:
            return self.content[:size]
        with self.location.open("rb") as file:
            raw = file.read(size)
        if raw[:2] != GZIP_MAGIC:
            return raw
        try:
            return zlib.decompressobj(wbits=31).decompress(raw, size)
        except zlib.error:
            return b""


def read_bytes(path: str | Path) -> bytes:
    """The whole file, unzipped; standard input for "-"."""
    return InputFile(path).content


def require_file(path: str | Path) -> Path:
    """The path, if a file is there; else an error that names the files beside it."""
    found = Path(path)
    if not _is_text(str(path)):
        raise FormatError(f"{path}: the file's name is not UTF-8. Rename the file.")
    if found.is_dir():
        raise MissingDataError(f"{path}: is a folder. Name a file in it.")
    if not found.exists():
        beside = sorted(p.name for p in found.parent.iterdir() if p.is_file()) if found.parent.is_dir() else []
        hint = f" Beside it are: {name_list(beside)}." if beside else ""
        raise MissingDataError(f"{path}: no such file.{hint}")
    return found


def _is_text(name: str) -> bool:
    """Whether a name can be written as UTF-8; Python takes any bytes, as lone surrogates."""
    return not any("\ud800" <= sign <= "\udfff" for sign in name)


def write_bytes(path: str | Path, content: bytes) -> None:
    """Write a file whole (gzipped when its name ends in .gz), or to standard output for "-"."""
    if str(path) == STANDARD_STREAM:
        sys.stdout.buffer.write(content)
        sys.stdout.buffer.flush()
        return
    with atomic_write(path) as draft:
        draft.write_bytes(gzip.compress(content, mtime=0) if str(path).endswith(".gz") else content)


@contextmanager
def atomic_write(path: str | Path) -> Iterator[Path]:
    """A temporary path to write to; it becomes `path` when all went well and vanishes when not."""
    target = Path(path)
    if not target.parent.is_dir():
        raise OptionError(f"{path}: the folder {target.parent} does not exist. Make it first.")
    if target.is_dir():
        raise OptionError(f"{path}: is a folder. Name a file.")
    draft = _make_draft(target)
    try:
        yield draft
        draft.chmod(0o666 & ~_umask())
        draft.replace(target)
    finally:
        draft.unlink(missing_ok=True)


def _make_draft(target: Path) -> Path:
    """An empty temporary file in the target's folder, so that renaming it is atomic."""
    try:
        handle, name = tempfile.mkstemp(prefix=f".{target.name}.", suffix=".part", dir=target.parent)
    except OSError as problem:  # name the file that the user gave, not the temporary one
        raise OSError(problem.errno, problem.strerror, str(target)) from problem
    os.close(handle)
    return Path(name)


def _umask() -> int:
    """The permissions that new files do not get; Python can only read them by setting them."""
    mask = os.umask(0)
    os.umask(mask)
    return mask
