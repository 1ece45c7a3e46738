"""Writing files so that nothing half-written is ever left behind: a temporary file beside it, then a rename."""

from __future__ import annotations

import gzip
import io
import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import polars as pl

from crowdlogic.data.formats.tables import STANDARD_STREAM, Format, detect_format
from crowdlogic.errors import OptionError


@contextmanager
def atomic_write(path: str | Path) -> Iterator[Path]:
    """A temporary path to write to; it becomes `path` when all went well and vanishes when not."""
    target = Path(path)
    if not target.parent.is_dir():
        raise OptionError(f"{path}: the folder {target.parent} does not exist. Make it first.")
    if target.is_dir():
        raise OptionError(f"{path}: is a folder. Name a file.")
    draft = _draft(target)
    try:
        yield draft
        draft.chmod(0o666 & ~_umask())
        draft.replace(target)
    finally:
        draft.unlink(missing_ok=True)


def _draft(target: Path) -> Path:
    try:
        handle, name = tempfile.mkstemp(prefix=f".{target.name}.", suffix=".part", dir=target.parent)
    except OSError as problem:  # nobody asked for the temporary file: name the one that was asked for
        raise OSError(problem.errno, problem.strerror, str(target)) from problem
    os.close(handle)
    return Path(name)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def write_bytes(path: str | Path, content: bytes) -> None:
    """Write a file whole (gzipped when its name ends in .gz), or to standard output for "-"."""
    if str(path) == STANDARD_STREAM:
        sys.stdout.buffer.write(content)
        sys.stdout.buffer.flush()
        return
    with atomic_write(path) as draft:
        draft.write_bytes(gzip.compress(content, mtime=0) if str(path).endswith(".gz") else content)


def write_table(path: str | Path, table: pl.DataFrame, *, format: Format | str | None = None) -> None:
    """Write a table as csv, tsv, parquet or jsonl, by suffix."""
    layout = detect_format(path, format)
    writers: dict[Format, Callable[[io.BytesIO], object]] = {
        Format.csv: table.write_csv,
        Format.tsv: lambda buffer: table.write_csv(buffer, separator="\t"),
        Format.parquet: table.write_parquet,
        Format.jsonl: table.write_ndjson,
    }
    if layout not in writers:
        raise OptionError(f"{path}: a table cannot be written as {layout}. Use .csv, .tsv, .parquet or .jsonl.")
    buffer = io.BytesIO()
    writers[layout](buffer)
    write_bytes(path, buffer.getvalue())
