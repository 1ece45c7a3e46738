"""Options that are about several files at once: a column or a layout goes to the files that it fits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from crowdlogic.cli.options import columns_of
from crowdlogic.data.files import STANDARD_STREAM
from crowdlogic.data.formats.detection import find_format, formats_by_suffix
from crowdlogic.data.formats.tables import TableFormat
from crowdlogic.data.reading import read_table
from crowdlogic.errors import OptionError, did_you_mean, name_list


def layout_of(path: str, given: str | None) -> str | None:
    """The layout that was given, for a file whose suffix does not say its own."""
    return None if formats_by_suffix(path) else given


def columns_by_file(given: Sequence[str] | None, files: Mapping[str, str | None]) -> dict[str, dict[str, str]]:
    """Role -> column for each file: of those that were given, those that the file has.

    Args:
        given: What was given, as role=name.
        files: The files, each with its layout when the suffix does not say it.
    """
    chosen = columns_of(list(given or ()))
    if not chosen or len(files) == 1:  # a single file is read as it is told to be
        return dict.fromkeys(files, chosen)
    headers = {path: _header(path, layout) for path, layout in files.items()}
    for role, column in chosen.items():
        if not any(header is None or column in header for header in headers.values()):
            known = list(dict.fromkeys(name for header in headers.values() for name in header or ()))
            raise OptionError(
                f"--column {role}={column}: none of {name_list(files)} has a column {column!r}"
                f".{did_you_mean(column, known)}"
            )
    return {
        path: {role: column for role, column in chosen.items() if header is None or column in header}
        for path, header in headers.items()
    }


def _header(path: str, layout: str | None) -> list[str] | None:
    """The columns of a file; None for standard input, which can be read once only."""
    if path == STANDARD_STREAM:
        return None
    is_table = isinstance(find_format(path, layout), TableFormat)
    return read_table(path, format=layout)[0].columns if is_table else []
