"""Reading and writing of labels, corpora and answers in all formats: functions for users and commands.

The formats are listed in `crowdlogic.registry.FORMATS`; each is read by its own module.
"""

from __future__ import annotations

import glob
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import polars as pl

from crowdlogic.data.corpus import Corpus
from crowdlogic.data.estimate import Answers, Estimate
from crowdlogic.data.files import (
    STANDARD_STREAM,
    InputFile,
    write_bytes,
    write_folder,
    write_stream,
    write_when_complete,
)
from crowdlogic.data.formats.protocol import (
    DEFAULT_READING,
    Crowd,
    Encoded,
    FileFormat,
    Insertion,
    ReadOptions,
    detect_format,
    find_database,
    find_format,
)
from crowdlogic.data.intake.contract import Boundaries, Duplicates, TableSource, Tokenizer, convertible
from crowdlogic.data.labels import CrowdLabels
from crowdlogic.errors import FormatError, MissingDataError, OptionError, require_kind
from crowdlogic.registry import DATABASES


def read_labels(
    path: str | Path,
    *,
    format: str | None = None,
    columns: Mapping[str, str] | None = None,
    classes: Sequence[Any] | None = None,
    duplicates: Duplicates | str = Duplicates.error,
    wide: bool = False,
    abstain: str | None = None,
    empty_label: str | None = None,
    question: str | None = None,
    tokens: Tokenizer | str = Tokenizer.words,
    boundaries: Boundaries | str = Boundaries.widen,
    threshold: float | None = None,
    query: str | None = None,
) -> CrowdLabels:
    """Read labels from a file.

    Layouts: a long table (item, annotator, label; or tags for sentences) in csv, tsv, parquet or jsonl; a wide table
    (one column per annotator) with `wide`; CoNLL with one column per annotator; jsonl records with tokens and
    {annotator: tags}; exports of annotation tools, recognised by their content.

    Args:
        path: The file, or "-" for standard input.
        format: A name in `crowdlogic.registry.FORMATS`, if neither the suffix nor the content identifies it.
        columns: role -> column, for columns whose names are not recognised.
        classes: The classes, in the order used to break ties; other labels are then errors.
        duplicates: Policy for several labels of an item by one annotator: error, first, last or keep.
        wide: Whether the table has one row per item and one column per annotator.
        abstain: In a wide table, a value that means "no label", such as -1.
        empty_label: In a long table, the class of empty cells; None if they mean no label.
        question: In an export of a project with several questions, the one to read, such as Label Studio's from_name.
        tokens: Tokeniser for texts with marked spans: words, whitespace or characters.
        boundaries: Treatment of spans that begin or end inside a token: widen, shrink, drop or error.
        threshold: In an evaluation, the minimum grade that is a pass.
        query: For a database, the query for the rows; `path` is then the address of the database without a table.
    """
    options = ReadOptions(
        columns=columns,
        classes=classes,
        duplicates=duplicates,
        wide=wide,
        abstain=abstain,
        empty_label=empty_label,
        question=question,
        tokens=tokens,
        boundaries=boundaries,
        threshold=threshold,
        query=query,
    )
    return read_crowd(path, options, format=format).labels


def read_crowd(path: str | Path, options: ReadOptions = DEFAULT_READING, *, format: str | None = None) -> Crowd:
    """Read labels from a file, with the items if the file contains them; see `read_labels` for the layouts."""
    file = InputFile(path)
    if options.query is not None and find_database(path) is None:
        raise OptionError(f"--query goes with a database ({', '.join(DATABASES)}); {file.name} is a file.")
    with _readable(file):
        return detect_format(file, format).read_crowd(file, options)


def read_corpus(path: str | Path, *, format: str | None = None, columns: Mapping[str, str] | None = None) -> Corpus:
    """Read items: texts or token sequences, with gold if the file has labels or tags."""
    file = InputFile(path)
    with _readable(file):
        return detect_format(file, format).read_corpus(file, columns)


def read_answers(path: str | Path, *, format: str | None = None, columns: Mapping[str, str] | None = None) -> Answers:
    """Read answers or gold: a table with item and label, or tagged sentences."""
    file = InputFile(path)
    with _readable(file):
        return detect_format(file, format).read_answers(file, columns)


def read_table(path: str | Path, *, format: str | None = None) -> tuple[pl.DataFrame, TableSource]:
    """Read a table and the source that numbers its rows in messages. Cells of csv and tsv are text or missing."""
    file = InputFile(path)
    with _readable(file):
        return detect_format(file, format).read_table(file)


@contextmanager
def _readable(file: InputFile) -> Iterator[None]:
    """Report values that do not fit a column, and incomplete characters (lone surrogates, possible in JSON)."""
    try:
        with convertible(file.name):
            yield
    except UnicodeEncodeError as problem:
        half = ascii(problem.object[problem.start : problem.end])
        raise FormatError(
            f"{file.name}: contains an incomplete character ({half}). Save the file again as UTF-8."
        ) from None


TABLE_SUFFIXES = {".parquet": "parquet", ".pq": "parquet", ".csv": "csv", ".tsv": "tsv", ".tab": "tsv"}
"""Formats of tables that may consist of several files, by suffix."""


def find_label_paths(name: str) -> tuple[Path, ...] | None:
    """Return the tables in a folder, or the files that match a pattern; None for other names.

    The folder must only contain tables and auxiliary files of tools, such as _SUCCESS or .crc files.
    """
    place = Path(name)
    if find_database(name) is not None:
        return None
    if place.is_dir():
        inside = [path for path in sorted(place.rglob("*")) if path.is_file()]
        shown = [path for path in inside if not any(p.startswith((".", "_")) for p in path.relative_to(place).parts)]
        are_tables = bool(shown) and all(path.suffix.lower() in TABLE_SUFFIXES for path in shown)
        return tuple(shown) if are_tables else None
    if place.exists() or not glob.has_magic(name):
        return None
    found = tuple(sorted(Path(one) for one in glob.glob(name, recursive=True) if Path(one).is_file()))
    if not found:
        raise MissingDataError(f"{name}: no file matches this pattern.")
    return found


# Writing of labels, corpora, answers and tables, so that reading returns the same data.
#
# All ids, labels and texts are written unchanged. With `spreadsheet_safe`, csv and tsv files get a leading quote (')
# before each cell that a spreadsheet would read as a formula; other formats ignore this option.


def write_labels(
    path: str | Path,
    labels: CrowdLabels,
    *,
    corpus: Corpus | None = None,
    format: str | None = None,
    spreadsheet_safe: bool = False,
) -> None:
    """Write labels as a long table, or (sentences with tokens) as CoNLL with one column per annotator."""
    found = _find_format(path, format, "write_labels", spreadsheet_safe=spreadsheet_safe)
    write_encoded(path, found.encode_labels(labels, corpus, str(path)))


def write_corpus(
    path: str | Path, corpus: Corpus, *, format: str | None = None, spreadsheet_safe: bool = False
) -> None:
    """Write a corpus with its gold: a table of texts; CoNLL, jsonl or parquet for sentences."""
    found = _find_format(path, format, "write_corpus", spreadsheet_safe=spreadsheet_safe)
    write_encoded(path, found.encode_corpus(corpus, str(path)))


def write_estimate(
    path: str | Path,
    estimate: Estimate,
    *,
    corpus: Corpus | None = None,
    format: str | None = None,
    spreadsheet_safe: bool = False,
) -> None:
    """Write answers: a table for documents; CoNLL, jsonl or parquet of tags for sentences."""
    found = _find_format(path, format, "write_estimate", spreadsheet_safe=spreadsheet_safe)
    write_encoded(path, found.encode_estimate(estimate, corpus, str(path)))


def write_table(
    path: str | Path, table: pl.DataFrame, *, format: str | None = None, spreadsheet_safe: bool = False
) -> None:
    """Write a table as csv, tsv, parquet or jsonl, by suffix."""
    found = _find_format(path, format, "write_table", spreadsheet_safe=spreadsheet_safe)
    write_encoded(path, found.encode_table(table, str(path)))


def _find_format(path: str | Path, format: str | None, function: str, *, spreadsheet_safe: bool) -> FileFormat:
    """Return the format for writing. Raise an error if the path and the data were swapped."""
    require_kind(path, (str, Path), function, "The first argument is the file, the second the data.")
    found = find_format(path, format)
    return found.for_spreadsheets() if spreadsheet_safe else found


def write_encoded(path: str | Path, encoded: Encoded) -> None:
    """Write encoded data to a file, a folder or a database."""
    if isinstance(encoded, bytes):
        write_bytes(path, encoded)
    elif callable(encoded):
        write_stream(path, encoded)
    elif str(path) == STANDARD_STREAM:
        raise OptionError("A folder cannot be written to standard output. Name a folder with -o FOLDER.")
    elif isinstance(encoded, Insertion):
        write_when_complete(encoded.insert)
    else:
        write_folder(path, encoded)
