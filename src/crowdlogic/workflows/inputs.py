"""How input files are read: one options object for all workflows that read labels, and options for several files."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING

from crowdlogic.data.answers import Answers
from crowdlogic.data.corpus import Corpus
from crowdlogic.data.files import STANDARD_STREAM
from crowdlogic.data.formats.detection import find_format, formats_by_suffix
from crowdlogic.data.formats.protocol import Crowd, ReadOptions
from crowdlogic.data.formats.tables import TableFormat
from crowdlogic.data.intake.columns import ALIASES, refuse_reversed
from crowdlogic.data.reading import read_answers, read_corpus, read_crowd, read_table
from crowdlogic.errors import LabelError, OptionError, did_you_mean, name_list
from crowdlogic.workflows.column_guess import suggest_columns

if TYPE_CHECKING:
    from crowdlogic.rules.predicates import Vocabulary


@dataclass(frozen=True, kw_only=True)
class InputOptions(ReadOptions):
    """How a file of labels is read.

    Attributes:
        format: The name of its format; None to detect it by suffix or content.
    """

    format: str | None = None

    def read_crowd(self, path: str) -> Crowd:
        """The labels of a file, and the items where the file holds them; unknown columns are suggested by contents."""
        try:
            return self.read_crowd_plainly(path)
        except LabelError as problem:
            words = "" if self.wide or path == STANDARD_STREAM else suggest_columns(path, self.format, self.columns)
            if not words:
                raise
            raise LabelError(f"{problem} By what the columns hold, this may be it: {words}") from problem

    def read_crowd_plainly(self, path: str) -> Crowd:
        """The same without suggestions."""
        return read_crowd(path, **{one.name: getattr(self, one.name) for one in fields(self)})

    def read_corpus(self, path: str) -> Corpus:
        """The items of a file."""
        return read_corpus(path, format=self.format, columns=self.columns)

    def read_answers(self, path: str) -> Answers:
        """The answers, or the gold, of a file."""
        return read_answers(path, format=self.format, columns=self.columns)

    def by_file(self, labels: str, *others: str | None, optional: Sequence[str] = ()) -> dict[str, InputOptions]:
        """These options for each of several files: a column or a format goes to the files that it fits.

        Args:
            labels: The file that the options are about in the first place.
            others: Files that are read beside it; None for those that are not there.
            optional: Roles of columns that need not be in any file.
        """
        formats = {path: _format_for(path, self.format) for path in others if path is not None}
        formats[labels] = self.format
        columns = _columns_by_file(self.columns or {}, formats, optional)
        return {path: replace(self, format=formats[path], columns=columns[path]) for path in formats}


def parse_columns(texts: Iterable[str] | None) -> dict[str, str]:
    """Role -> column from texts such as item=task_number, or several in one: item=task_number,label=answer."""
    given = [part for text in texts or () for part in _split_list(text)]
    pairs = [_split_pair(text, "--column", "role=name, such as item=task_number") for text in given]
    chosen: dict[str, str] = {}
    for role, name in pairs:
        if chosen.setdefault(role, name) != name:
            raise OptionError(f"--column {role}: {chosen[role]} and {name} cannot both be it. Name one column.")
    return chosen


def _split_list(text: str) -> list[str]:
    """The parts between commas, where two of them name a role and all are pairs; a column's name may hold commas, too.

    So a role that is mistyped in a list is said to be one, and not read as part of the name before it.
    """
    parts = text.split(",")
    named = sum(part.partition("=")[0].strip() in ALIASES for part in parts)
    return parts if named > 1 and all("=" in part for part in parts) else [text]


def parse_names(text: str | None) -> tuple[str, ...] | None:
    """Names separated by commas; None where no text was given."""
    return None if text is None else tuple(name.strip() for name in text.split(",") if name.strip())


def read_vocabulary(tables: Iterable[str] | None) -> Vocabulary:
    """The built-in predicates, and those whose facts are in tables, from texts such as Similar=similar.csv."""
    from crowdlogic.rules.predicates import Vocabulary

    vocabulary = Vocabulary()
    for text in tables or ():
        name, path = _split_pair(text, "--table", "Name=file, such as Similar=similar.csv")
        frame, source = read_table(path)
        vocabulary.table(name, frame, source=source)
    return vocabulary


def _split_pair(text: str, option: str, form: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals or not name or not value:
        raise OptionError(f"{option} {text!r}: write {form}.")
    return name.strip(), value


def _format_for(path: str, given: str | None) -> str | None:
    """The format that was given, for a file whose suffix names no format."""
    return None if formats_by_suffix(path) else given


def _columns_by_file(
    chosen: Mapping[str, str], formats: Mapping[str, str | None], optional: Sequence[str]
) -> dict[str, Mapping[str, str]]:
    """Role -> column for each file: of those that were given, those that the file has."""
    if not chosen or len(formats) == 1:  # a single file is read with all options, and reports a missing column itself
        return dict.fromkeys(formats, chosen)
    headers = {path: _header(path, formats[path]) for path in formats}
    for role, column in chosen.items():
        if role not in optional:
            _require_column(role, column, headers)
    return {
        path: {role: column for role, column in chosen.items() if header is None or column in header}
        for path, header in headers.items()
    }


def _require_column(role: str, column: str, headers: Mapping[str, Sequence[str] | None]) -> None:
    """Refuse a column that no file has."""
    refuse_reversed(role, column, [name for header in headers.values() for name in header or ()])
    if not any(header is None or column in header for header in headers.values()):
        known = list(dict.fromkeys(name for header in headers.values() for name in header or ()))
        raise OptionError(
            f"--column {role}={column}: none of {name_list(headers)} has a column {column!r}"
            f".{did_you_mean(column, known)}"
        )


def _header(path: str, format: str | None) -> list[str] | None:
    """The columns of a file; None for standard input, which can be read once only."""
    if path == STANDARD_STREAM:
        return None
    is_table = isinstance(find_format(path, format), TableFormat)
    return read_table(path, format=format)[0].columns if is_table else []
