"""Options for reading input files, shared by all workflows."""

from __future__ import annotations

import glob
import json
import math
import re
import shlex
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from fnmatch import fnmatch
from itertools import permutations
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from crowdlogic.data.corpus import UNKNOWN, Corpus, align
from crowdlogic.data.estimate import Answers
from crowdlogic.data.features import is_npz, read_featured_items
from crowdlogic.data.files import STANDARD_STREAM, InputFile
from crowdlogic.data.formats.protocol import (
    Crowd,
    ReadOptions,
    detect_format,
    find_database,
    find_format,
    formats_by_suffix,
)
from crowdlogic.data.formats.tables import TableFormat
from crowdlogic.data.intake.columns import ALIASES, find_roles, refuse_reversed
from crowdlogic.data.intake.contract import comparable_columns
from crowdlogic.data.labels import CrowdLabels
from crowdlogic.data.names import as_text, find
from crowdlogic.data.reading import find_label_paths, read_answers, read_corpus, read_crowd, read_table
from crowdlogic.data.wording import list_names
from crowdlogic.errors import DataError, LabelError, OptionError, did_you_mean, name_list
from crowdlogic.numerics.arrays import Floats, Ints
from crowdlogic.store.estimates import ARRAYS, NAMES
from crowdlogic.store.files import CONFIG, Status

if TYPE_CHECKING:
    from crowdlogic.rules.predicates import Vocabulary


# Results as tables that a terminal, a page or a notebook can show.


@dataclass(frozen=True, kw_only=True)
class ResultTable:
    """Small table of results.

    Attributes:
        title: Title of the table.
        columns: Name of each column; the first column contains the names of the rows.
        rows: Cells of each row: text, counts, floats, or None for empty cells.
    """

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[Any]]


def percent(share: float | None, *, digits: int = 2) -> str:
    """Format a share as a percentage, or as a dash if it is missing."""
    return "-" if share is None or math.isnan(share) else f"{100 * share:.{digits}f} %"


# Checks of output paths before the work starts.

SAME_FORMAT = ("csv", "tsv", "xlsx", "parquet", "jsonl", "conll")
"""Formats of labels whose answers are written in the same format if no output file is named."""


def check_writable(path: str | None, format: str | None = None) -> None:
    """Raise an error if the format of an output file is unknown or its folder does not exist."""
    if path is not None and path != STANDARD_STREAM and not find_format(path, format).is_database:
        require_folder(path)


def answer_format(source: str, out: str, *, read_as: str | None, named: str | None) -> str | None:
    """Return the format for answers; None to take it from the suffix of the output file.

    If the output file has the usual suffix of the source's format, and that format can store answers, it is used. So
    the answers for an export of an annotation tool can be imported into that tool.

    Args:
        source: The file of labels.
        out: The output file.
        read_as: The format of the source, if the user named it.
        named: The format of the output file, if the user named it.
    """
    if named is not None or STANDARD_STREAM in (source, out) or find_database(source) is not None:
        return named
    own = detect_format(InputFile(source), read_as)
    usual = Path(out.removesuffix(".gz")).suffix.lower() == own.suffixes[0]
    return own.name if usual and own.overrides("encode_estimate") and not own.writes_folder else None


def require_folder(path: str | Path) -> None:
    """Raise an error if the folder of a file does not exist."""
    if not Path(path).parent.is_dir():
        raise OptionError(f"{path}: the folder {Path(path).parent} does not exist. Create it first.")


def check_outputs(
    written: Iterable[str | Path | None], *, read: Iterable[str | Path | None] = (), own: Path | None = None
) -> None:
    """Raise an error for output paths that must not be written. Every command that writes calls this first.

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
        if path is None or str(path) == STANDARD_STREAM:
            continue
        if Path(path).exists() and not Path(path).is_file() and not Path(path).is_dir():
            continue  # a device
        if "\0" in str(path):
            raise OptionError(f"{str(path)!r}: a file name cannot contain a zero byte. Name another output.")
        place = Path(path).resolve()
        for source in inputs:
            if _is_same_file(Path(source), place) or fnmatch(str(place), str(Path(source).resolve())):
                raise OptionError(f"{path}: this command reads {source} and would overwrite it. Name another output.")
            if place.is_file() and Path(source).resolve() in place.parents:
                raise OptionError(f"{path}: this command reads {source}, which contains it. Name another output.")
        if any(_is_same_file(other, place) for other in seen):
            raise OptionError(f"{path}: this command would write it twice. Name two different outputs.")
        for folder in (place, *place.parents):
            if (own is None or folder != own.resolve()) and _is_protected(folder):
                where = "this folder" if folder == place else f"the folder {folder}"
                raise OptionError(f"{path}: {where} contains a run or a saved estimate. Name another output.")
        seen.append(place)


def _is_same_file(one: Path, other: Path) -> bool:
    """Return whether two paths lead to the same file, which need not exist yet."""
    return one.resolve() == other.resolve() or (one.exists() and other.exists() and one.samefile(other))


def _is_protected(folder: Path) -> bool:
    """Return whether a folder contains a run or a saved estimate, judging by config.json and other files."""
    if (folder / NAMES).is_file() and (folder / ARRAYS).is_file():
        return True
    try:
        config = json.loads((folder / CONFIG).read_bytes())
    except (OSError, ValueError):
        return False
    return isinstance(config, dict) and config.get("status") in list(Status) and "version" in config


def default_answers(source: str, input: ReadOptions, *, read_as: str | None = None) -> str:
    """Return the default file for the answers: labels.truth.csv for labels.csv, in the same folder.

    The suffix is that of the labels, or .jsonl for exports of tools and for tags in csv. An existing file
    raises an error unless it has the columns that `aggregate` writes.

    Args:
        source: The labels.
        input: How they are read.
        read_as: The format of the labels, if the user named it.
    """
    path = Path(source)
    if (
        find_database(source) is not None
        or source == STANDARD_STREAM
        or not path.name
        or (glob.has_magic(source) and not path.exists())
    ):
        raise OptionError("Say where to write with -o FILE, or compare methods with --methods all.")
    shards = find_label_paths(source)
    if shards is not None:
        suffix, stem = shards[0].suffix, path.name
    else:
        found = detect_format(InputFile(source), read_as)
        stem = path.name if path.is_dir() else Path(path.name.removesuffix(".gz")).stem
        suffix = found.suffixes[0] if found.name in SAME_FORMAT else ".jsonl"
        if suffix in (".csv", ".tsv"):  # tags in csv: its header names a column of tags and none of labels
            header = InputFile(source).head().partition(b"\n")[0].decode("utf-8", "replace")
            names = [name.strip().strip('"') for name in re.split(r"[,;\t]", header)]
            roles = find_roles(names, {role: name for role, name in (input.columns or {}).items() if name in names})
            if "tags" in roles and "label" not in roles and not input.wide:
                suffix = ".jsonl"
    out = path.with_name(f"{stem}.truth{suffix}")
    if out.exists():
        columns: set[str] = set()
        with suppress(DataError, OptionError):
            columns = set(read_table(out)[0].columns)
        if not ({"item", "confidence"} <= columns and {"label", "tags"} & columns):
            raise OptionError(
                f"{out}: this file exists and was not written by aggregate. Name another file with -o FILE."
            )
    return str(out)


def relabel_path(out: str | Path) -> Path:
    """Return the file for items to label again: the output file with .relabel before its suffix (and before .gz)."""
    path = Path(out)
    zipped = ".gz" if path.suffix == ".gz" else ""
    bare = path.with_suffix("") if zipped else path
    return bare.with_name(f"{bare.stem}.relabel{bare.suffix}{zipped}")


# Guess the columns of item, annotator, label and text by their contents.
#
# In a table of labels, an item has several rows with different annotators, who often agree. If exactly one choice of
# columns fits this description, it is suggested to the user; the guess is never used to read a file.

MOST_COLUMNS = 8
"""Maximum number of candidate columns for guessing."""
MOST_CLASSES = 50
"""Maximum number of distinct values in a column of classes."""
MOST_REPEATED = 0.1
"""Maximum share of labels that an annotator gave to an item they had already labelled."""
TEXT_LENGTH = 25
"""Minimum mean number of characters of a column of texts."""
NEEDED = ("item", "annotator", "label")
GUESSED = (*NEEDED, "text")
"""Roles of columns that are guessed by their contents."""


def guess_columns(table: pl.DataFrame, known: Mapping[str, str]) -> dict[str, str]:
    """Return role -> column, with the known ones, if the contents of the table leave one choice; otherwise empty.

    Args:
        table: The table.
        known: Role -> column for known columns.
    """
    cells = comparable_columns(table).unique(maintain_order=True)
    free = [name for name in cells.columns if name not in known.values()]
    texts = [name for name in free if _mean_length(cells[name]) > TEXT_LENGTH]
    counts = {name: cells[name].n_unique() for name in cells.columns}
    likely = [name for name in free if name not in texts and 1 < counts[name] < len(cells)]
    missing = [role for role in NEEDED if role not in known]
    if not missing or not len(missing) <= len(likely) <= MOST_COLUMNS:
        return {}
    choices = (dict(zip(missing, chosen, strict=True)) for chosen in permutations(likely, len(missing)))
    found = [{**known, **one} for one in choices if _is_like_labels(cells, {**known, **one}, counts)]
    # Prefer choices in which no annotator labelled an item twice.
    found = [one for one in found if cells.select(one["item"], one["annotator"]).n_unique() == len(cells)] or found
    if len(found) > 1:  # a date or a shop is the same in all rows of an item; annotators of labels do not always agree
        found = [one for one in found if cells.select(one["item"], one["label"]).n_unique() > counts[one["item"]]]
    if len(found) != 1:
        return {}
    # The one column of texts that belong to the items, if there is exactly one
    (roles,) = found
    fitting = [name for name in texts if cells.select(roles["item"], name).n_unique() == counts[roles["item"]]]
    return {**roles, **({"text": fitting[0]} if "text" not in roles and len(fitting) == 1 else {})}


def guess_text_column(table: pl.DataFrame, known: Mapping[str, str]) -> str | None:
    """Return the only column of long cells without a role; None if there is none or several, or a text column."""
    roles = find_roles(table.columns, known, gold=True)
    if "text" in roles:
        return None
    cells = comparable_columns(table)
    long = [name for name in cells.columns if name not in roles.values() and _mean_length(cells[name]) > TEXT_LENGTH]
    return long[0] if len(long) == 1 else None


def suggest_columns(path: str, format: str | None, chosen: Mapping[str, str] | None) -> str:
    """Return --column options for a table of labels if its contents leave only one choice; otherwise an empty text.

    Args:
        path: The file.
        format: The name of its format; None to detect it.
        chosen: Role -> column, as given by the user.
    """
    file = InputFile(path)
    found = detect_format(file, format)
    if not isinstance(found, TableFormat):
        return ""
    table = found.read_table(file)[0]
    if not {*(chosen or {}).values()} <= {*table.columns}:
        return ""
    known = find_roles(table.columns, chosen)
    guessed = guess_columns(table, {role: name for role, name in known.items() if role in GUESSED})
    return " ".join(f"--column {shlex.quote(f'{role}={name}')}" for role, name in guessed.items())


def _mean_length(column: pl.Series) -> float:
    mean = column.str.len_chars().mean()
    return float(mean) if isinstance(mean, int | float) else 0.0


def _is_like_labels(cells: pl.DataFrame, roles: Mapping[str, str], counts: Mapping[str, int]) -> bool:
    """Return whether annotators label each item once, with few repeats, and some annotators of an item agree."""
    item, annotator, label = (roles[role] for role in NEEDED)
    if counts[label] > MOST_CLASSES or counts[annotator] >= counts[item]:
        return False
    given = cells.select(item, annotator, label).unique()
    pairs = given.select(item, annotator).n_unique()
    return pairs >= (1 - MOST_REPEATED) * len(given) and given.select(item, label).n_unique() < pairs


@dataclass(frozen=True, kw_only=True)
class InputOptions(ReadOptions):
    """Options for reading a file of labels.

    Attributes:
        format: The name of its format; None to detect it by suffix or content.
        features: The columns of items' tables that hold numeric features, or an npz file with them.
    """

    format: str | None = None
    features: str | None = None

    def read_crowd(self, path: str) -> Crowd:
        """Read the labels of a file, and its items if it has any; if columns are missing, the error suggests some."""
        try:
            return self.read_crowd_plainly(path)
        except LabelError as problem:
            words = "" if self.wide or path == STANDARD_STREAM else suggest_columns(path, self.format, self.columns)
            if not words:
                raise
            raise LabelError(f"{problem} Judging by their contents, these columns may fit: {words}") from problem

    def read_crowd_plainly(self, path: str) -> Crowd:
        """Read the labels of a file, and its items if it has any, without suggestions in errors."""
        return read_crowd(path, self, format=self.format)

    def read_corpus(self, path: str) -> Corpus:
        """Read the items of a file, with their numeric features if requested."""
        if self.features is not None or is_npz(path):
            return read_featured_items(path, self.features, format=self.format, columns=self.columns)
        return read_corpus(path, format=self.format, columns=self.columns)

    def read_labelled(self, labels: str, items: str | None) -> Crowd:
        """Read labels, aligned with the items of a second file if one is given."""
        by_file = self.by_file(labels, items)
        crowd = by_file[labels].read_crowd(labels)
        if items is None:
            return crowd
        return Crowd(*align(crowd.labels, by_file[items].read_corpus(items)))

    def items_file(self, items: str | None) -> str | None:
        """Return the file of items, or the npz file of features if no file of items is given."""
        return self.features if items is None and is_npz(self.features) else items

    def read_answers(self, path: str) -> Answers:
        """Return the answers, or the gold, of a file."""
        return read_answers(path, format=self.format, columns=self.columns)

    def by_file(self, labels: str, *others: str | None, optional: Sequence[str] = ()) -> dict[str, InputOptions]:
        """Return the options for each of several files, with the columns that the file has.

        Args:
            labels: The main file, to which the given format applies.
            others: Further files; None values are skipped. The format applies to those without a known suffix.
            optional: Roles of columns that may be missing from all files.
        """
        formats = {path: None if formats_by_suffix(path) else self.format for path in others if path is not None}
        formats[labels] = self.format
        columns = _columns_by_file(self.columns or {}, formats, optional)
        return {path: replace(self, format=formats[path], columns=columns[path]) for path in formats}


def parse_columns(texts: Iterable[str] | None) -> dict[str, str]:
    """Return role -> column from texts such as item=task_number, or several in one: item=task_number,label=answer."""
    given: list[str] = []
    for text in texts or ():
        # Commas separate pairs where two parts name a role and all are pairs: a column's name may hold commas, too, and
        # a mistyped role must be reported, not read as part of the name before it.
        parts = text.split(",")
        named = sum(part.partition("=")[0].strip() in ALIASES for part in parts)
        given += parts if named > 1 and all("=" in part for part in parts) else [text]
    pairs = [_split_pair(text, "--column", "role=name, such as item=task_number") for text in given]
    chosen: dict[str, str] = {}
    for role, name in pairs:
        if chosen.setdefault(role, name) != name:
            raise OptionError(f"--column {role} was given twice, as {chosen[role]} and {name}. Choose one column.")
    return chosen


def parse_names(text: str | None) -> tuple[str, ...] | None:
    """Split names that are separated by commas; None remains None."""
    return None if text is None else tuple(name.strip() for name in text.split(",") if name.strip())


def read_vocabulary(tables: Iterable[str] | None) -> Vocabulary:
    """Return a vocabulary with predicates whose facts are in tables, given as texts such as Similar=similar.csv."""
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


def _columns_by_file(
    chosen: Mapping[str, str], formats: Mapping[str, str | None], optional: Sequence[str]
) -> dict[str, Mapping[str, str]]:
    """Return role -> column for each file, for the columns that the file has."""
    if not chosen or len(formats) == 1:  # a single file is read with all options, and reports a missing column itself
        return dict.fromkeys(formats, chosen)
    # The columns of each table; empty for other files, None for standard input, which can be read only once
    headers: dict[str, list[str] | None] = dict.fromkeys(formats)
    for path, given in formats.items():
        if path != STANDARD_STREAM:
            is_table = isinstance(find_format(path, given), TableFormat)
            headers[path] = read_table(path, format=given)[0].columns if is_table else []
    known = list(dict.fromkeys(name for header in headers.values() for name in header or ()))
    for role, column in chosen.items():
        if role in optional:
            continue
        refuse_reversed(role, column, known)
        if column not in known and None not in headers.values():
            hint = did_you_mean(column, known)
            raise OptionError(f"--column {role}={column}: no column {column!r} in {name_list(headers)}.{hint}")
    return {
        path: {role: column for role, column in chosen.items() if header is None or column in header}
        for path, header in headers.items()
    }


# Groups of annotators that count as one, and ordered classes.

TAKEN_AS_ORDERED = "The classes are numbers and taken as ordered; pass --nominal if their order is arbitrary."
"""Notice for numeric classes when gold is learnt from."""
GROUP_COLUMNS = ("group", "team", "family")
"""Names of a column of groups."""


def read_groups(path: str, labels: CrowdLabels) -> Ints:
    """Return group[j] from a table of annotator and group, which may be the file of labels itself.

    Args:
        path: The table.
        labels: The labels, for the names of the annotators.
    """
    table, source = read_table(path)
    annotator = find_roles(table.columns, None, where=source.name).get("annotator", table.columns[0])
    group = next((name for name in table.columns if name.lower() in GROUP_COLUMNS), None)
    if group is None:
        raise DataError(f"{path}: expected columns annotator and group, found {', '.join(table.columns)}.")
    pairs = table.select(as_text(table[annotator]).alias("annotator"), as_text(table[group]).alias("group")).unique(
        maintain_order=True
    )
    twice = pairs.filter(pairs["annotator"].is_duplicated())
    if len(twice):
        raise DataError(f"{path}: annotator {twice[0, 0]!r} is in several groups. Keep one of them.")
    return group_annotators(dict(pairs.drop_nulls("group").iter_rows()), labels, source=path)


def group_annotators(groups: Mapping[Any, Any], labels: CrowdLabels, *, source: str = "groups") -> Ints:
    """Return group[j], the number of the first annotator in the group of annotator j; unnamed ones form their own.

    Args:
        groups: annotator -> group.
        labels: The labels, for the names of the annotators.
        source: Name of the source of the groups in messages.
    """
    names = as_text(labels.annotators)
    members = [str(name) for name in groups]
    where = find(pl.Series(members, dtype=pl.String), names)
    if (where < 0).all():
        first = members[0] if members else "(no rows)"
        hint = did_you_mean(first, names.to_list())
        raise DataError(
            f"{source}: expected annotators of the labels ({name_list(names)}), found {first!r}, ....{hint} Use the "
            f"names in the labels."
        )
    if (where < 0).any():
        wrong = members[int(np.flatnonzero(where < 0)[0])]
        raise DataError(f"{source}: no annotator is called {wrong!r}.{did_you_mean(wrong, names.to_list())}")
    codes = np.arange(len(names))
    team = np.array([str(group) for group in groups.values()])
    for name in np.unique(team):
        codes[where[team == name]] = where[team == name].min()
    return codes


def class_numbers(classes: Sequence[Any]) -> Floats | None:
    """Return the classes as numbers, or None if they are not numbers."""
    try:
        numbers = np.array([float(str(name)) for name in classes])
    except ValueError:
        return None
    return numbers if len(numbers) and np.isfinite(numbers).all() else None


def classes_are_ordered(classes: Sequence[Any], ordered: bool | None, *, given: bool) -> bool:
    """Return whether the classes are ordered; raise an error if their order is unknown.

    Args:
        classes: The classes.
        ordered: The user's choice; None treats three or more ascending numbers as ordered.
        given: Whether the user listed the classes.
    """
    numbers = class_numbers(classes)
    ascending = numbers is not None and bool((np.diff(numbers) > 0).all())
    if ordered and not (ascending or given):
        raise OptionError(
            f"--ordered: the order of the classes ({name_list(classes)}) is not known. List them from the lowest to "
            f"the highest: --classes NAMES."
        )
    return bool(ordered) or (ordered is None and ascending and len(classes) > 2)


ENOUGH_EQUAL = 20
"""An annotator who labelled at least this many gold items and agrees with all of them may have made the gold."""
MODEL_COLUMNS = ("model", "judge", "llm")
"""Columns that say which model gave a label."""


def gold_notices(labels: CrowdLabels, gold: Ints, path: str) -> list[str]:
    """Return notices about gold that seems to be made by a model, or by an annotator who is judged by it.

    Args:
        labels: The labels.
        gold: gold[i], UNKNOWN without gold.
        path: The file of the gold.
    """
    notices = []
    if isinstance(find_format(path, None), TableFormat):
        table, _ = read_table(path)
        column = {name.lower(): name for name in table.columns}
        if named := [column[name] for name in MODEL_COLUMNS if name in column]:
            notices.append(f"{path}: column {named[0]!r} says that a model made this gold. {GOLD_BY_PEOPLE}")
        elif "kind" in column and (as_text(table[column["kind"]]) == "llm").any():
            notices.append(f"{path}: column {column['kind']!r} says that a model made this gold. {GOLD_BY_PEOPLE}")
        elif "annotator" in column:
            makers = as_text(table[column["annotator"]]).drop_nulls().unique(maintain_order=True)
            own = makers.filter(find(makers, as_text(labels.annotators)) >= 0).to_list()
            if own:
                notices.append(f"{path}: the gold is by {list_names(own)}, whose labels it judges. {GOLD_BY_PEOPLE}")
    # Annotators who agree with every gold item that they labelled
    right, seen = count_right(labels, gold)
    equal = [str(labels.annotators[int(j)]) for j in np.flatnonzero((right == seen) & (seen >= ENOUGH_EQUAL))]
    if equal:
        notices.append(f"{path}: the gold equals the labels of {list_names(equal)} on every item. {GOLD_BY_PEOPLE}")
    return notices


def count_right(labels: CrowdLabels, gold: Ints) -> tuple[Ints, Ints]:
    """Return right[j] and checked[j], the number of correct labels and of all labels of annotator j on gold items."""
    by, size = labels.annotator, len(labels.annotators)
    on_gold = gold[labels.unit] != UNKNOWN
    hit = on_gold & (gold[labels.unit] == labels.label)
    return np.bincount(by[hit], minlength=size), np.bincount(by[on_gold], minlength=size)


GOLD_BY_PEOPLE = "Gold must come from people who did not see these labels; otherwise all figures are too high."
"""Advice about gold made by a model."""
