"""Places to write to, checked before the work and not after it."""

from __future__ import annotations

import glob
import json
import re
from collections.abc import Iterable
from fnmatch import fnmatch
from pathlib import Path

from crowdlogic.data.files import STANDARD_STREAM, InputFile
from crowdlogic.data.formats.detection import detect_format, find_format
from crowdlogic.data.formats.protocol import ReadOptions
from crowdlogic.data.intake.columns import find_roles
from crowdlogic.data.label_files import find_label_paths
from crowdlogic.data.reading import read_table
from crowdlogic.errors import DataError, OptionError
from crowdlogic.store.estimates import ARRAYS, NAMES
from crowdlogic.store.layout import CONFIG, Status

SAME_FORMAT = ("csv", "tsv", "xlsx", "parquet", "jsonl", "conll")
"""Formats of labels whose answers are written in the same format where no file is named."""


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


def check_outputs(
    written: Iterable[str | Path | None], *, read: Iterable[str | Path | None] = (), own: Path | None = None
) -> None:
    """Refuse output paths that must not be written. Every command that writes calls this before it starts to work.

    A path is refused if the command reads it, if it is a file of a folder that the command reads, if it is inside a run
    or a saved estimate, or if the command writes it twice. Symbolic links, hard links and relative paths that lead to
    the same file count as the same path. Devices such as /dev/null may be written to any number of times.

    Args:
        written: The output files and folders; None and "-" (standard output) are skipped.
        read: The input files and folders, or patterns of files; None and "-" (standard input) are skipped.
        own: The folder of the run that the command itself writes.
    """
    inputs = [str(path) for path in read if path is not None and str(path) != STANDARD_STREAM]
    inputs = [path for path in inputs if "\0" not in path]  # reading them reports it
    seen: list[Path] = []
    for path in written:
        if path is None or str(path) == STANDARD_STREAM or _is_device(Path(path)):
            continue
        if "\0" in str(path):
            raise OptionError(f"{str(path)!r}: a file name cannot contain a zero byte. Name another output.")
        place = Path(path).resolve()
        for source in inputs:
            if _is_same_file(Path(source), place) or fnmatch(str(place), str(Path(source).resolve())):
                raise OptionError(f"{path}: this command reads {source} and would overwrite it. Name another output.")
            if place.is_file() and Path(source).resolve() in place.parents:
                raise OptionError(f"{path}: is in {source}, which this command reads. Name another output.")
        if any(_is_same_file(other, place) for other in seen):
            raise OptionError(f"{path}: this command would write it twice. Name two different outputs.")
        for folder in (place, *place.parents):
            if (own is None or folder != own.resolve()) and _is_protected(folder):
                where = "" if folder == place else f"is inside {folder}, which "
                raise OptionError(f"{path}: {where}holds a run or a saved estimate. Name another output.")
        seen.append(place)


def _is_device(path: Path) -> bool:
    return path.exists() and not path.is_file() and not path.is_dir()  # False for names that no file can have


def _is_same_file(one: Path, other: Path) -> bool:
    """Whether two paths lead to the same file, which need not exist yet."""
    return one.resolve() == other.resolve() or (one.exists() and other.exists() and one.samefile(other))


def _is_protected(folder: Path) -> bool:
    """Whether a folder is a run or a saved estimate; the content of config.json decides, as others have such a file."""
    if (folder / NAMES).is_file() and (folder / ARRAYS).is_file():
        return True
    try:
        config = json.loads((folder / CONFIG).read_bytes())
    except (OSError, ValueError):
        return False
    return isinstance(config, dict) and config.get("status") in list(Status) and "version" in config


def default_answers(source: str, input: ReadOptions, *, read_as: str | None = None) -> str:
    """Return the file for the answers where none is named: labels.truth.csv for labels.csv, in the same folder.

    The suffix is that of the labels, or .jsonl for exports of tools and for tags in csv. A file that is there already
    is refused unless it has the columns that `aggregate` writes.

    Args:
        source: The labels.
        input: How they are read.
        read_as: The format of the labels, where the user named it.
    """
    path = Path(source)
    if source == STANDARD_STREAM or not path.name or (glob.has_magic(source) and not path.exists()):
        raise OptionError("Say where to write with -o FILE, or compare methods with --methods all.")
    shards = find_label_paths(source)
    if shards is not None:
        suffix, stem = shards[0].suffix, path.name
    else:
        found = detect_format(InputFile(source), read_as)
        stem = path.name if path.is_dir() else Path(path.name.removesuffix(".gz")).stem
        suffix = found.suffixes[0] if found.name in SAME_FORMAT else ".jsonl"
        if suffix in (".csv", ".tsv") and _holds_tags(source, input):
            suffix = ".jsonl"
    out = path.with_name(f"{stem}.truth{suffix}")
    if out.exists() and not _is_own_output(out):
        raise OptionError(f"{out}: exists and was not written by aggregate. Name another file with -o FILE.")
    return str(out)


def _holds_tags(source: str, input: ReadOptions) -> bool:
    """Whether the header of a csv file names a column of tags and none of labels."""
    header = InputFile(source).head().partition(b"\n")[0].decode("utf-8", "replace")
    names = [name.strip().strip('"') for name in re.split(r"[,;\t]", header)]
    chosen = {role: name for role, name in (input.columns or {}).items() if name in names}
    roles = find_roles(names, chosen)
    return "tags" in roles and "label" not in roles and not input.wide


def _is_own_output(path: Path) -> bool:
    """Whether a file has the columns of answers: item, label (or tags) and confidence."""
    try:
        columns = set(read_table(path)[0].columns)
    except (DataError, OptionError):
        return False
    return {"item", "confidence"} <= columns and bool({"label", "tags"} & columns)


def relabel_path(out: str | Path) -> Path:
    """Where items to label again go: the file's name with .relabel before its suffix (and before .gz)."""
    path = Path(out)
    zipped = ".gz" if path.suffix == ".gz" else ""
    bare = path.with_suffix("") if zipped else path
    return bare.with_name(f"{bare.stem}.relabel{bare.suffix}{zipped}")
