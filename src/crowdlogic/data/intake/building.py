"""The one place where names become codes and the input contract is applied to labels of single items."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl

from crowdlogic.data.folders import LIMIT_VARIABLE, PARSED_RATIO, describe_size, parsed_limit
from crowdlogic.data.intake.columns import normalise_name
from crowdlogic.data.intake.contract import (
    FRAME_NAME,
    Duplicates,
    Intake,
    TableSource,
    is_plain,
    number_column,
    row_error,
    text_column,
)
from crowdlogic.data.labels import KINDS, NOT_SEEN, CrowdLabels
from crowdlogic.data.names import Classes, Names, as_text, encode, find, sort_classes
from crowdlogic.data.wording import pluralise
from crowdlogic.errors import DataError, LabelError, OptionError, name_list, parse_choice
from crowdlogic.numerics.arrays import Bools, Floats, Ints, stable_order

# What the cells of a label table may hold: one category per cell, a finite weight, a time, a kind.

LARGEST_NUMBER = 2.0**53
"""From here on a float cannot distinguish whole numbers, so it names no class."""


def code_labels(labels: Names, source: TableSource, classes: Sequence[Any] | None = None) -> tuple[Ints, Classes]:
    """Return codes of a column of labels, and the classes they mean: those given, or those found, sorted.

    An empty cell, null or NaN means that no label was given, and has the code -1. A label that is not among given
    classes is refused; so are lists (several labels at once) and fractions (measurements): a label is one class.
    """
    codes, names = encode(_to_one_type(labels, source))
    codes, names = drop_blank_names(codes, names)
    if classes is not None:
        return _code_among(codes, names, tuple(classes), source)
    if names.dtype == pl.String:
        _refuse_lists(codes, names, source)
        _refuse_fractions(codes, names.str.strip_chars().cast(pl.Float64, strict=False), source)
    ordered = sort_classes(names.to_list())
    position = {name: k for k, name in enumerate(ordered)}
    rank = np.array([*(position[name] for name in names.to_list()), -1], dtype=np.int32)
    return rank[codes], ordered


def drop_blank_names(codes: Ints, names: Names) -> tuple[Ints, Names]:
    """Return the same codes with -1 where the name is only white space, and the names without it."""
    if names.dtype != pl.String:
        return codes, names
    filled = (names.str.strip_chars() != "").to_numpy()
    if filled.all():
        return codes, names
    renumbered = np.append(np.where(filled, np.cumsum(filled) - 1, -1), -1).astype(np.int32)
    return renumbered[codes], names.filter(pl.Series(filled))


def _to_one_type(labels: Names, source: TableSource) -> Names:
    """Return the labels as text, whole numbers or booleans."""
    if labels.dtype in (pl.Categorical, pl.Enum, pl.Null):
        return labels.cast(pl.String)
    if labels.dtype.is_float():
        numbers = labels.fill_nan(None)
        codes, names = encode(numbers)
        _refuse_fractions(codes, names.cast(pl.Float64), source)
        return numbers.cast(pl.Int64)
    if labels.dtype == pl.String or labels.dtype.is_integer() or labels.dtype == pl.Boolean:
        return labels
    raise LabelError(
        f"{source.name}: a label is one class, but the column holds {labels.dtype}. For the tags of a sentence name "
        f"the column 'tags'; for several labels at once make one table per class, with yes or no as labels."
    )


def _refuse_lists(codes: Ints, names: Names, source: TableSource) -> None:
    """Text such as ["a", "b"] is several labels at once."""
    bracketed = names.str.contains(r"""(?s)^\s*(\[.*[,"'].*\]|\{.*\}|\[\])\s*$""").arg_true()
    if len(bracketed):
        rows = np.flatnonzero(codes == bracketed[0])
        raise row_error(
            source,
            rows,
            f"{names[bracketed[0]]!r} looks like several labels at once",
            "Give one class per row; for several labels at once make one table per class, with yes or no as labels.",
        )


def _refuse_fractions(codes: Ints, numbers: Names, source: TableSource) -> None:
    """Raise an error for labels that are all numbers, some with decimals or infinite: these are measurements."""
    if numbers.null_count() or not len(numbers):
        return
    fraction = ((numbers % 1 != 0) | ~(numbers.abs() < LARGEST_NUMBER)).to_numpy()
    rows = np.flatnonzero(np.append(fraction, False)[codes])
    if len(rows):
        raise row_error(
            source,
            rows,
            f"the label {numbers[int(codes[rows[0]])]} is a number, not a class",
            "Numeric answers cannot be voted on: round or bin them into classes first, or name the classes.",
        )


def _code_among(codes: Ints, names: Names, classes: Classes, source: TableSource) -> tuple[Ints, Classes]:
    """Return codes among given classes. Names are compared as text, so that --classes 0,1 fits a column of numbers."""
    if len(set(classes)) != len(classes) or not classes:
        raise OptionError(f"classes: {name_list(classes)} names a class twice or none at all. Give each class once.")
    position = find(as_text(names), pl.Series([str(name) for name in classes], dtype=pl.String))
    rank = np.append(position, -1).astype(np.int32)
    unknown = np.flatnonzero((rank[codes] < 0) & (codes >= 0))
    if len(unknown):
        what = f"the label {names[int(codes[unknown[0]])]!r} is not among the classes {name_list(classes)}"
        raise row_error(source, unknown, what, "Correct the label, or add it to the classes.")
    return rank[codes], classes


def parse_weights(column: Names, source: TableSource, rows: Ints) -> Floats:
    """Return weight of the rows that are taken, finite and not negative."""
    taken = column.gather(rows)
    numbers = number_column(taken, "weight", source)
    wrong = (numbers.is_null() | ~numbers.is_finite() | (numbers < 0)).fill_null(value=True)
    if wrong.any():
        at = np.sort(rows[wrong.arg_true().to_numpy()])
        found = (
            "is missing"
            if column[int(at[0])] is None
            else f"{column[int(at[0])]!r} is not a finite number of 0 or more"
        )
        raise row_error(
            source, at, f"the weight {found}", "Correct the weight, or drop the column to count every label once."
        )
    return numbers.to_numpy().copy()


def parse_times(column: Names, source: TableSource) -> Floats:
    """time[n] in seconds: numbers are taken as they are, dates and times as seconds since 1970; NaN where unknown."""
    if column.dtype.is_numeric():
        return column.cast(pl.Float64).fill_null(np.nan).to_numpy().copy()
    moments = column
    if column.dtype == pl.String:
        column = column.set(column.str.strip_chars() == "", None)
        numbers = number_column(column, "time", source)
        if numbers.null_count() == column.null_count():
            return numbers.fill_null(np.nan).to_numpy().copy()
        # Of the usual ways of writing times, the one that reads the most rows
        tidy = column.str.strip_chars().str.replace("T", " ", literal=True).str.replace(r"(Z|[+-]00:?00)$", "")
        formats = ("%Y-%m-%d %H:%M:%S%.f", "%Y-%m-%d %H:%M", "%Y-%m-%d")
        read = [tidy.str.to_datetime(form, strict=False, time_unit="us") for form in formats]
        moments = min(read, key=lambda found: found.null_count())
    if moments.dtype not in (pl.Date, pl.Datetime) or moments.null_count() > column.null_count():
        known = moments.dtype in (pl.Date, pl.Datetime)
        rows = (
            (moments.is_null() & column.is_not_null()).arg_true().to_numpy() if known else np.zeros(1, dtype=np.int64)
        )
        remedy = "Write times as 2024-05-31T12:00:00 or as seconds, or drop the column."
        raise row_error(source, rows, f"{column[int(rows[0])]!r} is not a time", remedy)
    return moments.cast(pl.Datetime("us")).dt.epoch("us").cast(pl.Float64).fill_null(np.nan).to_numpy() / 1e6


def parse_kinds(column: Names, annotator_column: Names, annotators: Names, source: TableSource) -> tuple[str, ...]:
    """Return kind[j], what each annotator is; "" where no row has it."""
    kinds = text_column(column, "kind", source).str.strip_chars().str.to_lowercase()
    said = pl.DataFrame({"annotator": annotator_column, "kind": kinds})
    wrong = (said["kind"].is_not_null() & (said["kind"] != "") & ~said["kind"].is_in(KINDS)).arg_true().to_numpy()
    if len(wrong):
        what = f"the kind must be one of {', '.join(KINDS)}; got {column[int(wrong[0])]!r}"
        raise row_error(source, wrong, what, "Use one of them, or leave the cell empty.")
    pairs = said.filter(pl.col("kind").is_not_null() & (pl.col("kind") != "")).unique(maintain_order=True)
    twice = pairs.filter(pairs["annotator"].is_duplicated())
    if len(twice):
        raise LabelError(
            f"{source.name}: annotator {twice['annotator'][0]!r} is both {twice['kind'][0]} and {twice['kind'][1]}. "
            f"Give an annotator one kind."
        )
    kind_of = dict(zip(pairs["annotator"].to_list(), pairs["kind"].to_list(), strict=True))
    return tuple(kind_of.get(name, "") for name in annotators.to_list())


# Possible mistakes in a table of labels. They are reported, and the labels are used unchanged.

MISSING_WORDS = frozenset({"na", "n/a", "nan", "null", "none", "nil", "-", "?"})
"""Words that often mean "no label"; as labels they are classes like any other, but are pointed out."""

SEPARATORS = ("|", ";", ",", "/", "+", "&")
"""Signs with which several labels are written into one cell."""

CONFIDENCES = frozenset({"confidence", "certainty", "sureness", "probability", "prob", "score"})
"""Names of columns that say how sure an annotator was."""


def odd_classes(classes: Iterable[object]) -> tuple[str, ...]:
    """Return notices about class names that look like mistakes."""
    names = [name for name in classes if isinstance(name, str)]
    absent = [
        f"The label {name!r} is taken as a class; if it means that there is no label, leave the cell empty."
        for name in names
        if name.strip().casefold() in MISSING_WORDS
    ]
    folded: dict[str, list[str]] = {}
    for name in names:
        folded.setdefault(" ".join(name.split()).casefold(), []).append(name)
    alike = [
        f"The classes {', '.join(map(repr, group))} differ only in case or spaces; are they one class?"
        for group in folded.values()
        if len(group) > 1
    ]
    return (*alike, *absent, *_joined_classes(names))


def single_class(classes: Sequence[object]) -> tuple[str, ...]:
    """Return a notice where all labels are one class."""
    if len(classes) != 1:
        return ()
    return (f"All labels are {classes[0]!r}: there is nothing to decide. Is the column of the label the right one?",)


def _joined_classes(names: Sequence[str]) -> list[str]:
    """Return a notice where classes are made of other classes, such as toxic|insult beside toxic and insult."""
    for separator in SEPARATORS:
        parts = {name: {part.strip() for part in name.split(separator)} - {""} for name in names}
        # All parts of a joined class are classes, or parts of other classes, too
        used = Counter(part for found in parts.values() for part in found)
        joined = [name for name in names if len(parts[name]) > 1 and all(used[part] > 1 for part in parts[name])]
        if joined:
            return [
                f"{pluralise(len(joined), 'class', 'classes')} of {len(names):,} join others with {separator!r}, such "
                f"as {joined[0]!r}. Several labels at once are not supported: each combination counts as a class of "
                f"its own. Ask one question per label instead, with yes or no as labels, in a table of its own."
            ]
    return []


def unused_confidence(header: Iterable[str], used: Collection[str], source: TableSource) -> tuple[str, ...]:
    """Return a notice about columns that look like confidences and are not used."""
    unused = [name for name in header if name not in used and normalise_name(name) in CONFIDENCES]
    as_weight = source.advise("--column weight={0}", 'columns={{"weight": "{0}"}}')
    return tuple(
        f"The column {name!r} is not used: every label counts the same. If it says how much a label should count, name "
        f"it: {as_weight.format(name)}."
        for name in unused
    )


def empty_labels(missing: int, source: TableSource) -> tuple[str, ...]:
    """Return a notice about empty cells, which were left out as no labels and may be answers."""
    if not missing:
        return ()
    name_it = source.advise("--empty-label NAME", 'empty_label="NAME"')
    return (f"If an empty cell is an answer, such as none of these, name its class: {name_it}.",)


# What to do when one annotator labels one thing twice.
#
# A label that is repeated exactly (same item, annotator and label) is one label that was written down twice, and counts
# once unless every label is to be kept. Labels that differ contradict one another: a policy must say which one holds.


def deduplicate(
    item: Ints,
    annotator: Ints,
    *,
    label: Callable[[], Ints],
    place: Ints | None,
    names: tuple[Names, Names],
    policy: Duplicates,
    source: TableSource,
) -> tuple[Ints, int]:
    """Return which rows are kept, sorted by item and annotator, and how many repeat a pair that came before.

    Args:
        item: item[n], codes in the order of the source.
        annotator: annotator[n], likewise.
        label: Gives label[n], codes of what each row says; called only where a pair is repeated.
        place: place[n], the position of each row in the source; None when they are all its rows, in order.
        names: What the codes are called, for the message.
        policy: Take the first or last row of a pair, keep all, or refuse rows that differ.
        source: Where the rows come from, for the message.
    """
    key = item.astype(np.int64) * max(len(names[1]), 1) + annotator
    in_order = len(key) < 2 or bool((key[1:] >= key[:-1]).all())
    rows = np.arange(len(key)) if in_order else stable_order(key)
    ordered = key if in_order else key[rows]
    repeats = ordered[1:] == ordered[:-1]
    count = int(np.count_nonzero(repeats))
    if count == 0 or policy is Duplicates.keep:
        return rows, count
    if policy is Duplicates.error:
        differs = differing_rows(rows, repeats, label())
        if len(differs):
            raise _contradiction(differs, (item, annotator), count, place=place, names=names, source=source)
    # In sorted order a row is the last of its pair unless it equals the row after it, the first unless the row before.
    distinct, edge = ~repeats, np.ones(1, dtype=bool)
    kept = np.concatenate([distinct, edge] if policy is Duplicates.last else [edge, distinct])
    return rows[kept], count


def differing_rows(rows: Ints, repeats: Bools, label: Ints) -> Ints:
    """Return the rows whose label is not that of the first row of their pair, in the order of the source.

    Args:
        rows: The rows, sorted by pair.
        repeats: repeats[n], whether row n + 1 of them is of the same pair as row n.
        label: label[n], in the order of the source.
    """
    first = np.maximum.accumulate(np.where(np.append(True, ~repeats), np.arange(len(rows)), 0))
    return np.sort(rows[label[rows] != label[rows[first]]])


def _contradiction(
    differs: Ints,
    codes: tuple[Ints, Ints],
    count: int,
    *,
    place: Ints | None,
    names: tuple[Names, Names],
    source: TableSource,
) -> DataError:
    """Return the error for rows that give a pair another label than before."""
    item, annotator = codes
    row = int(differs[0])
    before = int(np.flatnonzero((item == item[row]) & (annotator == annotator[row]))[0])
    place = np.arange(len(item)) if place is None else place
    what = (
        f"annotator {names[1][int(annotator[row])]!r} labels item {names[0][int(item[row])]!r} again, with another "
        f"label than in {source.word} {source.number(int(place[before]))}"
    )
    same = count - len(differs)
    repeats = f"Of {count:,} {source.word}s that repeat an item and annotator, {same:,} give the same label and "
    counted = f"{repeats}{len(differs):,} another. " if same else ""
    choices = source.advise("--duplicates first, last or keep", 'duplicates="first", "last" or "keep"')
    choices = f"from_frame with {choices}" if source.name == FRAME_NAME else choices
    return row_error(
        source, place[differs], what, f"{counted}Say whether the first, the last or each counts: {choices}."
    )


MANY_ROWS = 5_000_000
"""Minimum number of rows for encoding two columns at a time."""


def build_labels(
    table: pl.DataFrame,
    source: TableSource,
    *,
    classes: Sequence[Any] | None = None,
    duplicates: Duplicates | str = Duplicates.error,
) -> CrowdLabels:
    """Return CrowdLabels from a long table: item, annotator, label and, when known, negated, weight, time and kind.

    Items and annotators all of whose labels are missing stay in the table, without labels.
    """
    policy = parse_choice(Duplicates, duplicates, "duplicates")
    with ThreadPoolExecutor(2 if len(table) >= MANY_ROWS else 1) as pool:  # encoding waits for memory, not for Python
        coded_items = pool.submit(encode_names, table["item"], "item", source)
        coded_people = pool.submit(encode_names, table["annotator"], "annotator", source)
        coded_labels = pool.submit(code_labels, table["label"], source, classes)
    (item, items), (annotator, annotators) = coded_items.result(), coded_people.result()
    label, names = coded_labels.result()
    _require_beliefs(len(items), len(names), source)
    given = np.flatnonzero(label >= 0) if (label < 0).any() else None
    if given is not None:
        item, annotator, label = item[given], annotator[given], label[given]
    negated = parse_negated(table, source, given)
    rows, repeats = deduplicate(
        item,
        annotator,
        label=lambda: label if negated is None else label + len(names) * negated,
        place=given,
        names=(items, annotators),
        policy=policy,
        source=source,
    )
    weight, time = parse_weights_and_times(table, source, rows if given is None else given[rows])
    missing = 0 if given is None else len(table) - len(given)
    return CrowdLabels(
        unit=item[rows],
        annotator=annotator[rows],
        label=label[rows],
        items=items,
        annotators=annotators,
        classes=names,
        weight=weight,
        time=time,
        kind=annotator_kinds(table, annotators, source),
        negated=None if negated is None else negated[rows],
        intake=Intake(
            rows=len(table),
            missing=missing,
            duplicates=repeats,
            policy=policy,
            notices=(*empty_labels(missing, source), *odd_classes(names)),
        ),
    )


MANY_CLASSES = 1000
"""From this many classes on, the memory for beliefs about them is looked at."""


def _require_beliefs(items: int, classes: int, source: TableSource) -> None:
    """Raise an error if the probabilities of all classes for all items would exceed the memory limit."""
    size, limit = 8 * items * classes, parsed_limit()
    if classes > MANY_CLASSES and size > limit:
        needed = f"{-(-size // (PARSED_RATIO << 30))}G"
        raise LabelError(
            f"{source.name}: {classes:,} different labels for {items:,} items. Each is a class, and their "
            f"probabilities take {describe_size(size)}, where {describe_size(limit)} is the limit. Is this the column "
            f"of the label? Name another (--column label=NAME), or raise the limit: crowdlogic --max-unpacked "
            f"{needed}, "
            f"or {LIMIT_VARIABLE}={needed}."
        )


def encode_names(names: Names, what: str, source: TableSource) -> tuple[Ints, Names]:
    """Return codes for items or annotators, every one of which must have a name."""
    if not is_plain(names.dtype):
        raise LabelError(f"{source.name}: the {what} column holds {names.dtype}. Give each {what} one name.")
    if not (names.dtype in (pl.String, pl.Boolean) or names.dtype.is_integer()):
        names = names.cast(pl.String, strict=False)
    codes, found = drop_blank_names(*encode(names))
    absent = np.flatnonzero(codes < 0)
    if len(absent):
        raise row_error(source, absent, f"no {what} is named", f"Fill in the {what}, or remove the row.")
    return codes, found


def parse_negated(table: pl.DataFrame, source: TableSource, given: Ints | None) -> Bools | None:
    """Return negated[n] of the rows with a label, where the table has it: whether a label says "not this class"."""
    if "negated" not in table.columns:
        return None
    said = text_column(table["negated"], "negated", source).str.strip_chars().str.to_lowercase().fill_null("")
    wrong = (~said.is_in(["true", "false", "1", "0", ""])).arg_true().to_numpy()
    if len(wrong):
        remedy = "Write true for a label that says which class it is not, else false."
        raise row_error(source, wrong, f"negated is {table['negated'][int(wrong[0])]!r}", remedy)
    negated = said.is_in(["true", "1"]).to_numpy()
    return negated if given is None else negated[given]


def parse_weights_and_times(
    table: pl.DataFrame, source: TableSource, rows: Ints
) -> tuple[Floats | None, Floats | None]:
    """Return the weights and times of the rows that are taken, where the table has them."""
    weight = parse_weights(table["weight"], source, rows) if "weight" in table.columns else None
    time = parse_times(table["time"], source)[rows] if "time" in table.columns else None
    return weight, time


def annotator_kinds(table: pl.DataFrame, annotators: Names, source: TableSource) -> tuple[str, ...] | None:
    """Return kind[j]; None if the table does not have it."""
    return parse_kinds(table["kind"], table["annotator"], annotators, source) if "kind" in table.columns else None


# Labels of token sequences from a table of (item, annotator, tags): the input contract for sentences.
#
# A row is what one annotator did with one sentence. A row without tags, like a sentence without a row, was not seen; a
# tag of ? is a token that was not seen. Axes: r row of the table, t tag (a token of a row).


@dataclass(frozen=True, eq=False, kw_only=True)
class TagRows:
    """The rows of a table of tags, with names as codes.

    Attributes:
        item: item[r], the sentence of each row.
        annotator: annotator[r], who tagged it.
        items: The name of each sentence.
        annotators: The name of each annotator.
        lengths: lengths[r], the number of tags; 0 where the sentence was not seen.
        source: How the rows are numbered in messages.
    """

    item: Ints
    annotator: Ints
    items: Names
    annotators: Names
    lengths: Ints
    source: TableSource

    @cached_property
    def tagged(self) -> Ints:
        """The positions of the rows that have tags."""
        return np.flatnonzero(self.lengths)

    @cached_property
    def row_of_tag(self) -> Ints:
        """row[t], the row that tag t belongs to."""
        return np.repeat(np.arange(len(self.lengths)), self.lengths)


def build_sequences(
    table: pl.DataFrame,
    source: TableSource,
    *,
    classes: Sequence[Any] | None = None,
    duplicates: Duplicates | str = Duplicates.error,
) -> CrowdLabels:
    """Return CrowdLabels from a table with the columns item, annotator, tags and, when known, weight, time and kind."""
    policy = parse_choice(Duplicates, duplicates, "duplicates")
    tags = split_tags(table["tags"], source)
    (item, items), (annotator, annotators) = (encode_names(table[n], n, source) for n in ("item", "annotator"))
    lengths = tags.list.len().fill_null(0).to_numpy().astype(np.int64)
    rows = TagRows(item=item, annotator=annotator, items=items, annotators=annotators, lengths=lengths, source=source)
    offsets = np.concatenate([[0], np.cumsum(_common_lengths(rows))])
    kept, repeats = deduplicate(
        rows.item[rows.tagged],
        rows.annotator[rows.tagged],
        # a code for the whole list of tags of each tagged row: the same code for the same tags
        label=lambda: encode(tags.gather(rows.tagged).cast(pl.List(pl.String)).list.join("\n", ignore_nulls=False))[0],
        place=rows.tagged,
        names=(rows.items, rows.annotators),
        policy=policy,
        source=source,
    )
    label, names, seen = _code_tags(tags.filter(pl.Series(rows.lengths > 0)).explode(), rows, classes)
    keep = np.isin(rows.row_of_tag, rows.tagged[kept]) & seen
    row = rows.row_of_tag[keep]
    first_tag = np.cumsum(rows.lengths) - rows.lengths  # first[r], the first tag of row r
    weight, time = parse_weights_and_times(table, source, row)
    return CrowdLabels(
        unit=offsets[rows.item[row]] + np.flatnonzero(keep) - first_tag[row],
        annotator=rows.annotator[row],
        label=label[keep],
        items=rows.items,
        annotators=rows.annotators,
        classes=names,
        offsets=offsets,
        weight=weight,
        time=time,
        kind=annotator_kinds(table, rows.annotators, source),
        intake=Intake(
            rows=len(table),
            missing=len(table) - len(rows.tagged),
            duplicates=repeats,
            policy=policy,
            notices=odd_classes(names),
        ),
    )


def split_tags(tags: Names, source: TableSource) -> Names:
    """Return tags as lists: lists as they are, text split at white space."""
    if tags.dtype == pl.String:
        bracketed = tags.str.strip_chars().str.starts_with("[").arg_true().to_numpy()
        if len(bracketed):
            remedy = "Write tags as lists throughout, or as text separated by spaces throughout."
            raise row_error(
                source, bracketed, f"the tags {tags[int(bracketed[0])]!r} are a list written as text", remedy
            )
        return tags.str.split(" ").list.eval(pl.element().str.strip_chars().replace("", None).drop_nulls())
    if not isinstance(tags.dtype, pl.List) or tags.dtype.inner.is_nested():
        raise LabelError(
            f"{source.name}: the column of tags holds {tags.dtype}. Give lists of tags, or tags separated by spaces."
        )
    return tags


def _common_lengths(rows: TagRows) -> Ints:
    """Return length[s], the number of tokens of each sentence, 0 if nobody tagged it; annotators must agree on it."""
    tagged, lengths = rows.tagged, rows.lengths
    common = np.zeros(len(rows.items), dtype=np.int64)
    first = tagged[np.unique(rows.item[tagged], return_index=True)[1]]  # the first tagged row of each sentence
    common[rows.item[first]] = lengths[first]
    wrong = tagged[lengths[tagged] != common[rows.item[tagged]]]
    if len(wrong):
        row = int(wrong[0])
        what = (
            f"annotator {rows.annotators[int(rows.annotator[row])]!r} gives {lengths[row]} tags to "
            f"{rows.items[int(rows.item[row])]!r}, where another gave {common[rows.item[row]]}"
        )
        raise row_error(rows.source, wrong, what, "Every annotator of a sequence needs one tag per token.")
    return common


def _code_tags(flat: Names, rows: TagRows, classes: Sequence[Any] | None) -> tuple[Ints, tuple[Any, ...], Bools]:
    """Return label[t], the classes, and whether each tag was given (a token may be marked as not seen)."""
    seen = (flat != NOT_SEEN).fill_null(value=True).to_numpy() if flat.dtype == pl.String else np.ones(len(flat), bool)
    known = flat if seen.all() else flat.set(pl.Series(~seen), None)
    label, names = code_labels(known, rows.source.take(rows.row_of_tag), classes)
    empty = np.unique(rows.row_of_tag[(label < 0) & seen])
    if len(empty):
        remedy = f"Give every token a tag, {NOT_SEEN} for one not seen."
        raise row_error(rows.source, empty, "a token has no tag", remedy)
    return label, names, seen
