"""Places to write to, checked before the work and not after it."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from crowdlogic.data.files import STANDARD_STREAM, InputFile
from crowdlogic.data.formats.detection import detect_format, find_format
from crowdlogic.errors import OptionError


def check_writable(path: str | None, format: str | None = None) -> None:
    """Refuse a table's file whose format is unknown or whose folder does not exist."""
    if path is not None and path != STANDARD_STREAM:
        find_format(path, format)
        require_folder(path)


def answer_format(source: str, out: str, *, read_as: str | None, named: str | None) -> str | None:
    """The format to write answers in: the one that was named; else the source's own, where it writes answers too.

    Its own it is only where the file to write has its usual suffix, so that an export comes back in its tool's shape.

    Args:
        source: The file of labels.
        out: The file to write.
        read_as: The format that the source is read in, where the user named it.
        named: The format to write, where the user named it.
    """
    if named is not None or STANDARD_STREAM in (source, out):
        return named
    own = detect_format(InputFile(source), read_as)
    usual = Path(out.removesuffix(".gz")).suffix.lower() == own.suffixes[0]
    return own.name if usual and own.overrides("encode_estimate") and not own.writes_folder else None


def require_folder(path: str | Path) -> None:
    """Refuse a file whose folder does not exist."""
    if not Path(path).parent.is_dir():
        raise OptionError(f"{path}: the folder {Path(path).parent} does not exist. Make it first.")


def check_distinct(read: Iterable[str | None], written: Iterable[str | None]) -> None:
    """Refuse to write a file twice, or over one that is read."""
    taken = {Path(path).resolve() for path in read if path is not None and path != STANDARD_STREAM}
    for path in written:
        if path is None or path == STANDARD_STREAM:
            continue
        place = Path(path).resolve()
        if place in taken:
            raise OptionError(f"{path}: is used twice, and would be written over. Name another file.")
        taken.add(place)


def relabel_path(out: str | Path) -> Path:
    """Where items to label again go: the file's name with .relabel before its suffix (and before .gz)."""
    path = Path(out)
    zipped = ".gz" if path.suffix == ".gz" else ""
    bare = path.with_suffix("") if zipped else path
    return bare.with_name(f"{bare.stem}.relabel{bare.suffix}{zipped}")
