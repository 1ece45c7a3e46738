"""Write labels, corpora, answers and tables to files, so that reading gives back the same.

All ids, labels and texts are written unchanged. With `spreadsheet_safe`, csv and tsv files get a leading quote (')
before each cell that a spreadsheet would read as a formula; other formats ignore this option.
"""

from __future__ import annotations

from pathlib import Path

import polars as pl

from crowdlogic.data.corpus import Corpus
from crowdlogic.data.estimate import Estimate
from crowdlogic.data.files import STANDARD_STREAM, write_bytes, write_folder, write_stream
from crowdlogic.data.formats.detection import find_format
from crowdlogic.data.formats.protocol import Encoded, FileFormat
from crowdlogic.data.labels import CrowdLabels
from crowdlogic.errors import OptionError, require_kind


def write_labels(
    path: str | Path,
    labels: CrowdLabels,
    *,
    corpus: Corpus | None = None,
    format: str | None = None,
    spreadsheet_safe: bool = False,
) -> None:
    """Write labels as a long table, or (sentences with tokens) as CoNLL with one column per annotator."""
    _require_path(path, "write_labels")
    write_encoded(
        path, _find_format(path, format, spreadsheet_safe=spreadsheet_safe).encode_labels(labels, corpus, str(path))
    )


def write_corpus(
    path: str | Path, corpus: Corpus, *, format: str | None = None, spreadsheet_safe: bool = False
) -> None:
    """Write a corpus with its gold: a table of texts; CoNLL, jsonl or parquet for sentences."""
    _require_path(path, "write_corpus")
    write_encoded(path, _find_format(path, format, spreadsheet_safe=spreadsheet_safe).encode_corpus(corpus, str(path)))


def write_estimate(
    path: str | Path,
    estimate: Estimate,
    *,
    corpus: Corpus | None = None,
    format: str | None = None,
    spreadsheet_safe: bool = False,
) -> None:
    """Write answers: a table for documents; CoNLL, jsonl or parquet of tags for sentences."""
    _require_path(path, "write_estimate")
    write_encoded(
        path, _find_format(path, format, spreadsheet_safe=spreadsheet_safe).encode_estimate(estimate, corpus, str(path))
    )


def write_table(
    path: str | Path, table: pl.DataFrame, *, format: str | None = None, spreadsheet_safe: bool = False
) -> None:
    """Write a table as csv, tsv, parquet or jsonl, by suffix."""
    _require_path(path, "write_table")
    write_encoded(path, _find_format(path, format, spreadsheet_safe=spreadsheet_safe).encode_table(table, str(path)))


def _find_format(path: str | Path, format: str | None, *, spreadsheet_safe: bool) -> FileFormat:
    found = find_format(path, format)
    return found.for_spreadsheets() if spreadsheet_safe else found


def _require_path(path: object, function: str) -> None:
    """Refuse what is written where the file should be named: the two are easily swapped."""
    require_kind(path, (str, Path), function, "The file comes first, then what goes into it.")


def write_encoded(path: str | Path, encoded: Encoded) -> None:
    """Write what a format encoded: a file, or a folder."""
    if isinstance(encoded, bytes):
        write_bytes(path, encoded)
    elif callable(encoded):
        write_stream(path, encoded)
    elif str(path) == STANDARD_STREAM:
        raise OptionError("A folder cannot be written to standard output. Name a folder with -o FOLDER.")
    else:
        write_folder(path, encoded)
