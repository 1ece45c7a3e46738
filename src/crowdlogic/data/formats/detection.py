"""Which format a file is in: the one that was named, else detected by its suffix or its content."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from crowdlogic.data.files import STANDARD_STREAM, InputFile
from crowdlogic.data.formats.protocol import FileFormat, usual_suffixes
from crowdlogic.errors import FormatError, OptionError
from crowdlogic.registry import FORMATS

STANDARD_FORMAT = "csv"
"""The format of standard input and output when none is named."""


BY_SUFFIX = {".csv": ("csv", "label-studio"), ".parquet": ("parquet",)}
"""Which of our formats have the most usual suffixes, so that the others need not be loaded to know it."""


def find_format(path: str | Path, name: str | None = None) -> FileFormat:
    """The format to write a file in: the one that was named, or the first one that has the file's suffix."""
    if name is not None or str(path) == STANDARD_STREAM:
        return load_format(name or STANDARD_FORMAT)
    candidates = formats_by_suffix(path)
    if not candidates:
        raise _unknown_suffix(path, usual_suffixes("encode_estimate"))
    return candidates[0]


def detect_format(file: InputFile, name: str | None = None) -> FileFormat:
    """The format to read a file in: the one that was named, or detected by its suffix and its content.

    A suffix that one format has decides. Where several have it, or none, the file's first bytes are looked at: the
    first format that recognises them is taken, else the first one that has the suffix. A folder, or a zip file whose
    suffix decides nothing, is of the format that recognises its members.
    """
    if name is not None or file.is_standard_input:
        return load_format(name or STANDARD_FORMAT)
    candidates = formats_by_suffix(file.path)
    if file.is_folder and (len(candidates) != 1 or Path(file.path).is_dir()):
        return _detect_by_members(file)
    if len(candidates) == 1:
        return candidates[0]
    asked = candidates or [load_format(one) for one in FORMATS]
    if candidates or Path(file.path).is_file():
        head = file.head()
        certain = next((one for one in asked if one.recognises(head)), None)
        if certain is not None:
            return certain
    if not candidates:
        raise _unknown_suffix(file.path, all_suffixes())
    return candidates[0]


def _detect_by_members(file: InputFile) -> FileFormat:
    """The format of a folder or zip file."""
    found = next((one for one in map(load_format, FORMATS) if one.recognises_folder(file.folder)), None)
    if found is not None:
        return found
    kind = "a folder" if Path(file.path).is_dir() else "a zip file"
    raise FormatError(
        f"{file.name}: is {kind}, and no format knows its files. Name the file that holds the labels, or the format: "
        f"--format."
    )


def load_format(name: str) -> FileFormat:
    """The format of that name."""
    if name not in FORMATS:
        raise OptionError(f"format: {name!r} is none of {', '.join(FORMATS)}.")
    found: FileFormat = FORMATS.load(name)
    return found


def formats_by_suffix(path: str | Path) -> list[FileFormat]:
    """The formats that have the file's suffix (a final .gz aside), in the order of the registry."""
    suffix = _suffix(path)
    names = FORMATS if FORMATS.has_more else BY_SUFFIX.get(suffix, FORMATS)
    return [one for one in map(load_format, names) if suffix in one.suffixes]


def all_suffixes() -> tuple[str, ...]:
    """Every suffix of a format, each once."""
    return tuple(dict.fromkeys(suffix for name in FORMATS for suffix in load_format(name).suffixes))


def _suffix(path: str | Path) -> str:
    return Path(str(path).removesuffix(".gz")).suffix.lower()


def _unknown_suffix(path: str | Path, known: Sequence[str]) -> OptionError:
    suffix = Path(str(path).removesuffix(".gz")).suffix
    if Path(path).is_dir():
        return OptionError(f"{path}: is a folder. Name a file in it, such as {Path(path) / 'truth.csv'}.")
    return OptionError(f"{path}: the suffix {suffix!r} says no format. Use {', '.join(known)}, or give --format.")
