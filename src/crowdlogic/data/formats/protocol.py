"""Interface of file formats, used by `read_labels`, `write_labels` and similar functions.

A format is a module with a subclass of FileFormat, and an entry in `crowdlogic.registry.FORMATS`. The subclass
overrides the supported operations; all others raise an error. A format that only reads, such as an export of an
annotation tool, overrides `read_crowd`:

    class MyTool(FileFormat):
        name, title, suffixes = "my-tool", "My Tool's export", (".json",)

        def recognises(self, head: bytes) -> bool:
            return b'"my_tool_version"' in head

        def read_crowd(self, file: InputFile, options: ReadOptions) -> Crowd:
            ...                                      # a table of item, annotator, label (or tags), and a Corpus
            return assemble_crowd(table, source, options, corpus=corpus, notices=("3 skipped tasks were left out.",))
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, ClassVar, Protocol, TypeAlias

import polars as pl

from crowdlogic.data.corpus import Corpus, align
from crowdlogic.data.estimate import Answers, Estimate, estimate_from_gold
from crowdlogic.data.files import STANDARD_STREAM, InputFile
from crowdlogic.data.folders import Folder
from crowdlogic.data.frames import from_frame
from crowdlogic.data.intake.contract import Boundaries, Duplicates, TableSource, Tokenizer
from crowdlogic.data.labels import CrowdLabels
from crowdlogic.data.wording import pluralise
from crowdlogic.errors import FormatError, OptionError, parse_choice
from crowdlogic.registry import DATABASES, FORMATS, extensions

# ruff: noqa: ARG002 (methods of unsupported operations do not use their arguments)


@dataclass(frozen=True, eq=False)
class Insertion:
    """Rows for a database; `insert` writes them in one transaction."""

    insert: Callable[[], None]


Encoded: TypeAlias = bytes | Mapping[str, bytes] | Callable[[BinaryIO], None] | Insertion
"""Encoded data: the content of a file, a function that writes it to an open file, the content of the files of a folder
by name, or rows for a database."""


@dataclass(frozen=True, eq=False)
class Crowd:
    """Labels, and their items if the file contains them.

    Attributes:
        labels: The labels. `labels.intake` reports what was left out while reading them.
        corpus: The texts or tokens, with gold if the file contains it; None if the file only contains labels.
    """

    labels: CrowdLabels
    corpus: Corpus | None = None


@dataclass(frozen=True, kw_only=True)
class ReadOptions:
    """Options for reading a file of labels.

    Attributes:
        columns: role -> column, for columns whose names are not recognised.
        classes: The classes, in the order used to break ties; other labels are then errors.
        duplicates: Policy for several labels of an item by one annotator: error, first, last or keep.
        wide: Whether the table has one row per item and one column per annotator.
        abstain: In a wide table, a value that means "no label", such as -1.
        empty_label: In a long table, the class of empty cells; None if they mean no label.
        question: In an export of a project with several questions, the one to read: Label Studio's from_name, Potato's
            schema, Argilla's question. `topic=sports` asks of a question with several answers at once whether this
            one was among them, yes or no.
        tokens: Tokeniser for texts with marked spans: words, whitespace or characters.
        boundaries: Treatment of spans that begin or end inside a token: widen, shrink, drop or error.
        threshold: In an evaluation, the minimum grade that is a pass.
        query: For a database, the query for the rows.
        single: Whether a table without a column for the annotator, with one label per item, is accepted.
    """

    columns: Mapping[str, str] | None = None
    classes: Sequence[Any] | None = None
    duplicates: Duplicates | str = Duplicates.error
    wide: bool = False
    abstain: str | None = None
    empty_label: str | None = None
    question: str | None = None
    tokens: Tokenizer | str = Tokenizer.words
    boundaries: Boundaries | str = Boundaries.widen
    threshold: float | None = None
    query: str | None = None
    single: bool = False

    def __post_init__(self) -> None:
        if self.empty_label is not None and self.wide:
            raise OptionError(
                "empty_label: in a wide table (--wide) an empty cell says that an annotator gave no label. "
                "Leave --empty-label out, or write the answer into the cells."
            )
        if self.abstain is not None and not self.wide:
            raise OptionError("abstain: goes with a wide table (--wide). In other layouts an absent label is left out.")
        parse_choice(Tokenizer, self.tokens, "tokens")
        parse_choice(Boundaries, self.boundaries, "boundaries")


DEFAULT_READING = ReadOptions()


class FileFormat(Protocol):
    """Base class of file formats. Methods that a format does not override raise an error.

    Attributes:
        name: Name for `--format`, as in the registry.
        title: Name of the format in messages.
        suffixes: Suffixes of its files, such as .csv; the first is the usual one.
        writes_folder: Whether it is written as a folder, so that the suffix does not determine the format.
        is_database: Whether it is a database, so that its address is not a path.
        is_tool_export: Whether it is the export of an annotation tool, which can import answers in the same layout.
    """

    name: str
    title: str
    suffixes: tuple[str, ...]
    writes_folder: ClassVar[bool] = False
    is_database: ClassVar[bool] = False
    is_tool_export: ClassVar[bool] = False

    def recognises(self, head: bytes) -> bool:
        """Return whether a file that begins with these bytes certainly has this format.

        This is only used if the suffix is ambiguous. If no format is certain, the first one with the suffix is used.
        """
        return False

    def recognises_folder(self, folder: Folder) -> bool:
        """Return whether a folder or zip file with these members certainly has this format."""
        return False

    def read_table(self, file: InputFile) -> tuple[pl.DataFrame, TableSource]:
        """Read the file as a table; return it with the source that numbers its rows in messages."""
        raise self._cannot_read(file, "a table")

    def read_crowd(self, file: InputFile, options: ReadOptions) -> Crowd:
        """Read the labels of all annotators, with the items if the file contains them."""
        raise self._cannot_read(file, "labels of several annotators")

    def read_corpus(self, file: InputFile, columns: Mapping[str, str] | None = None) -> Corpus:
        """Read the items, with gold if the file contains it."""
        raise self._cannot_read(file, "texts or tokens")

    def read_answers(self, file: InputFile, columns: Mapping[str, str] | None = None) -> Answers:
        """Read one class per item or token: the answers of a method, or gold."""
        raise self._cannot_read(file, "one answer per item")

    def encode_table(self, table: pl.DataFrame, target: str) -> Encoded:
        """Encode a table. `target` is the name of the output file in messages."""
        raise self._cannot_write(target, "a table", "encode_table")

    def encode_labels(self, labels: CrowdLabels, corpus: Corpus | None, target: str) -> Encoded:
        """Encode the labels of all annotators."""
        if self.overrides("encode_estimate"):
            raise OptionError(
                f"{target}: {self.title} contains one answer per item, but these are labels by "
                f"{pluralise(len(labels.annotators), 'annotator')}. Aggregate them first: crowdlogic aggregate."
            )
        raise self._cannot_write(target, "labels", "encode_labels")

    def encode_corpus(self, corpus: Corpus, target: str) -> Encoded:
        """Encode the items and their gold; formats for answers encode the gold as answers."""
        if corpus.gold is None or not self.overrides("encode_estimate"):
            raise self._cannot_write(target, "a corpus", "encode_corpus")
        return self.encode_estimate(estimate_from_gold(corpus), corpus, target)

    def encode_estimate(self, estimate: Estimate, corpus: Corpus | None, target: str) -> Encoded:
        """Encode a method's answers."""
        raise self._cannot_write(target, "answers", "encode_estimate")

    def for_spreadsheets(self) -> FileFormat:
        """Return a format that quotes cells which a spreadsheet would read as formulas; most need no quotes."""
        return self

    def overrides(self, operation: str) -> bool:
        """Return whether the format supports an operation, such as encode_labels."""
        return getattr(type(self), operation) is not getattr(FileFormat, operation)

    def _cannot_read(self, file: InputFile, what: str) -> FormatError:
        return FormatError(f"{file.name}: {self.title} does not contain {what}, which is needed here.")

    def _cannot_write(self, target: str, what: str, operation: str) -> OptionError:
        able = " or ".join(", ".join(usual_suffixes(operation)).rsplit(", ", 1))
        return OptionError(f"{target}: {what} cannot be written as {self.name}. Use {able}.")


def usual_suffixes(operation: str) -> list[str]:
    """Return the usual suffix of every format that overrides an operation, such as encode_labels."""
    formats = [FORMATS.load(name) for name in FORMATS]
    able = [one for one in formats if one.overrides(operation) and not one.writes_folder]
    return list(dict.fromkeys(one.suffixes[0] for one in able))


def assemble_crowd(
    table: pl.DataFrame,
    source: TableSource,
    options: ReadOptions,
    *,
    corpus: Corpus | None = None,
    notices: Iterable[str] = (),
) -> Crowd:
    """Return a Crowd from the rows collected by a reader: the last step of most formats.

    Args:
        table: One row per label (item, annotator, label) or per tagged sentence (item, annotator, tags); optional
            columns are weight, time and kind.
        source: Name and row numbers of the table in messages.
        options: The user's options.
        corpus: The items, with gold where known. Every item of the table must be in it.
        notices: Sentences about what was left out or changed, displayed to users.
    """
    labels = from_frame(
        table,
        columns=options.columns,
        classes=options.classes,
        duplicates=options.duplicates,
        empty_label=options.empty_label,
        source=source,
    )
    labels = labels.with_notices(*notices)
    return Crowd(labels) if corpus is None else Crowd(*align(labels, corpus))


# Detection of formats: the named format, otherwise by suffix or content.

STANDARD_FORMAT = "csv"
"""Default format of standard input and output."""


COMMON_SUFFIXES = {".csv": "csv", ".parquet": "parquet"}
"""Formats of the most common suffixes, which are known without loading every format."""


def find_format(path: str | Path, name: str | None = None) -> FileFormat:
    """Return the format for writing a file: the named one, or the first one with the file's suffix."""
    if name is not None or str(path) == STANDARD_STREAM:
        return load_format(name or STANDARD_FORMAT)
    candidates = formats_by_suffix(path)
    if not candidates:
        raise _unknown_suffix(path, usual_suffixes("encode_estimate"))
    return candidates[0]


def detect_format(file: InputFile, name: str | None = None) -> FileFormat:
    """Return the format for reading a file: the named one, or the one detected by its suffix and content.

    If exactly one format has the suffix, return it. Otherwise, return the first format that recognises the first bytes
    of the file, or else the first format with the suffix. A folder, or a zip file with an unspecific suffix, has the
    format that recognises its members.
    """
    if name is not None or file.is_standard_input:
        return load_format(name or STANDARD_FORMAT)
    candidates = formats_by_suffix(file.path)
    if len(candidates) == 1 and candidates[0].name == "csv" and not file.is_folder:
        candidates += _csv_exports(file)
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
    """Return the format of a folder or zip file."""
    found = next((one for one in map(load_format, FORMATS) if one.recognises_folder(file.folder)), None)
    if found is not None:
        return found
    kind = "a folder" if Path(file.path).is_dir() else "a zip file"
    raise FormatError(
        f"{file.name}: is {kind} whose files are not recognised. Name the file with the labels, or the format: "
        f"--format."
    )


def load_format(name: str) -> FileFormat:
    """Return the named format."""
    if name not in FORMATS:
        raise OptionError(f"format: expected one of {', '.join(FORMATS)}; got {name!r}.")
    found: FileFormat = FORMATS.load(name)
    return found


def find_database(path: str | Path) -> FileFormat | None:
    """Return the database of an address such as duckdb:warehouse.db/labels; None for a path."""
    scheme, colon, _ = str(path).partition(":")
    if not colon or scheme not in DATABASES:
        return None
    found: FileFormat = DATABASES.load(scheme)
    return found


def formats_by_suffix(path: str | Path) -> list[FileFormat]:
    """Return the formats that have the file's suffix (a final .gz aside), in the order of the registry."""
    database = find_database(path)
    if database is not None:
        return [database]
    suffix = _suffix(path)
    common = None if FORMATS.has_more else COMMON_SUFFIXES.get(suffix)
    return [one for one in map(load_format, [common] if common else FORMATS) if suffix in one.suffixes]


def _csv_exports(file: InputFile) -> list[FileFormat]:
    """Return the formats of extensions whose csv exports have a certain column, if this file's header mentions it."""
    columns = {name: column for one in extensions() for name, column in getattr(one, "CSV_COLUMNS", {}).items()}
    header = file.head().partition(b"\n")[0]
    return [load_format(name) for name, column in columns.items() if column.encode() in header]


def all_suffixes() -> tuple[str, ...]:
    """Return the suffixes of all formats."""
    return tuple(dict.fromkeys(suffix for name in FORMATS for suffix in load_format(name).suffixes))


def _suffix(path: str | Path) -> str:
    return Path(str(path).removesuffix(".gz")).suffix.lower()


def _unknown_suffix(path: str | Path, known: Sequence[str]) -> OptionError:
    suffix = Path(str(path).removesuffix(".gz")).suffix
    if Path(path).is_dir():
        return OptionError(f"{path}: is a folder. Name a file in it, such as {Path(path) / 'truth.csv'}.")
    return OptionError(f"{path}: no format has the suffix {suffix!r}. Use {', '.join(known)}, or give --format.")
