"""Construction of CrowdLabels from tables: names are encoded and the input contract is applied.

All readers use `build_labels` for labels of items, or `build_sequences` for tags of sentences.
"""

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

# Valid cells of a table of labels: a class, a finite weight, a time, a kind of annotator.

LARGEST_NUMBER = 2.0**53
"""Floats cannot represent all integers from here on, so they are not accepted as classes."""


def code_labels(labels: Names, source: TableSource, classes: Sequence[Any] | None = None) -> tuple[Ints, Classes]:
    """Return the codes of a column of labels, and the classes: the given ones, or those in the column, sorted.

    Empty cells, null and NaN mean that there is no label, and get the code -1. Labels that are not among the given
    classes raise an error, and so do lists (several labels) and fractions (measurements).
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
    """Remove the name that is only white space, if any, and return the other names and codes, -1 for that name."""
    if names.dtype != pl.String:
        return codes, names
    filled = (names.str.strip_chars() != "").to_numpy()
    if filled.all():
        return codes, names
    renumbered = np.append(np.where(filled, np.cumsum(filled) - 1, -1), -1).astype(np.int32)
    return renumbered[codes], names.filter(pl.Series(filled))


def _to_one_type(labels: Names, source: TableSource) -> Names:
    """Convert labels to text, integers or booleans."""
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
        f"{source.name}: expected one class per label, but the column has type {labels.dtype}. Name a column with the "
        f"tags of sentences 'tags'. For several labels per item, make one table per class with the labels yes and no."
    )


def _refuse_lists(codes: Ints, names: Names, source: TableSource) -> None:
    """Raise an error for text such as ["a", "b"], which means several labels."""
    bracketed = names.str.contains(r"""(?s)^\s*(\[.*[,"'].*\]|\{.*\}|\[\])\s*$""").arg_true()
    if len(bracketed):
        rows = np.flatnonzero(codes == bracketed[0])
        raise row_error(
            source,
            rows,
            f"{names[bracketed[0]]!r} looks like several labels",
            "Give one class per row. For several labels per item, make one table per class with the labels yes and no.",
        )


def _refuse_fractions(codes: Ints, numbers: Names, source: TableSource) -> None:
    """Raise an error if all labels are numbers and some are fractions or infinite, since these are measurements."""
    if numbers.null_count() or not len(numbers):
        return
    fraction = ((numbers % 1 != 0) | ~(numbers.abs() < LARGEST_NUMBER)).to_numpy()
    rows = np.flatnonzero(np.append(fraction, False)[codes])
    if len(rows):
        raise row_error(
            source,
            rows,
            f"the label {numbers[int(codes[rows[0]])]} is a number, not a class",
            "Numeric answers cannot be aggregated: round them or bin them into classes first, or name the classes.",
        )


def _code_among(codes: Ints, names: Names, classes: Classes, source: TableSource) -> tuple[Ints, Classes]:
    """Return codes among the given classes, which are compared as text: --classes 0,1 also matches numbers."""
    if len(set(classes)) != len(classes) or not classes:
        raise OptionError(
            f"classes: expected at least one class, each once, got {name_list(classes)}. Correct the list."
        )
    position = find(as_text(names), pl.Series([str(name) for name in classes], dtype=pl.String))
    rank = np.append(position, -1).astype(np.int32)
    unknown = np.flatnonzero((rank[codes] < 0) & (codes >= 0))
    if len(unknown):
        what = f"the label {names[int(codes[unknown[0]])]!r} is not among the classes {name_list(classes)}"
        raise row_error(source, unknown, what, "Correct the label, or add it to the classes.")
    return rank[codes], classes


def parse_weights(table: pl.DataFrame, source: TableSource, rows: Ints) -> Floats | None:
    """Return the weights of some rows, which must be finite and not negative; None without a column of weights."""
    if "weight" not in table.columns:
        return None
    column = table["weight"]
    numbers = number_column(column.gather(rows), "weight", source)
    wrong = (numbers.is_null() | ~numbers.is_finite() | (numbers < 0)).fill_null(value=True)
    if wrong.any():
        at = np.sort(rows[wrong.arg_true().to_numpy()])
        found = (
            "is missing"
            if column[int(at[0])] is None
            else f"{column[int(at[0])]!r} is not a finite number of 0 or more"
        )
        raise row_error(
            source, at, f"the weight {found}", "Correct the weight, or remove the column to count every label once."
        )
    return numbers.to_numpy().copy()


def parse_times(table: pl.DataFrame, source: TableSource, rows: Ints) -> Floats | None:
    """Return the times of some rows in seconds, NaN if unknown; None without a column of times.

    Numbers are used unchanged. Dates and times become seconds since 1970.
    """
    if "time" not in table.columns:
        return None
    column = moments = table["time"]
    if column.dtype.is_numeric():
        return column.gather(rows).cast(pl.Float64).fill_null(np.nan).to_numpy().copy()
    if column.dtype == pl.String:
        column = column.set(column.str.strip_chars() == "", None)
        numbers = number_column(column, "time", source)
        if numbers.null_count() == column.null_count():
            return numbers.gather(rows).fill_null(np.nan).to_numpy().copy()
        # Use the one of the usual formats that matches the most rows
        tidy = column.str.strip_chars().str.replace("T", " ", literal=True).str.replace(r"(Z|[+-]00:?00)$", "")
        formats = ("%Y-%m-%d %H:%M:%S%.f", "%Y-%m-%d %H:%M", "%Y-%m-%d")
        read = [tidy.str.to_datetime(form, strict=False, time_unit="us") for form in formats]
        moments = min(read, key=lambda found: found.null_count())
    if moments.dtype not in (pl.Date, pl.Datetime) or moments.null_count() > column.null_count():
        known = moments.dtype in (pl.Date, pl.Datetime)
        wrong = (moments.is_null() & column.is_not_null()).arg_true().to_numpy() if known else np.zeros(1, np.int64)
        remedy = "Write times as 2024-05-31T12:00:00 or as seconds, or remove the column."
        raise row_error(source, wrong, f"{column[int(wrong[0])]!r} is not a time", remedy)
    seconds = moments.gather(rows).cast(pl.Datetime("us")).dt.epoch("us").cast(pl.Float64)
    return seconds.fill_null(np.nan).to_numpy() / 1e6


def parse_kinds(table: pl.DataFrame, annotators: Names, source: TableSource) -> tuple[str, ...] | None:
    """Return the kind of each annotator, empty if unknown; None without a column of kinds."""
    if "kind" not in table.columns:
        return None
    column = table["kind"]
    kinds = text_column(column, "kind", source).str.strip_chars().str.to_lowercase()
    said = pl.DataFrame({"annotator": table["annotator"], "kind": kinds})
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


# Possible mistakes in a table of labels, which are reported. The labels are used unchanged.

MISSING_WORDS = frozenset({"na", "n/a", "nan", "null", "none", "nil", "-", "?"})
"""Words that often mean "no label". They are used as classes, with a notice."""

SEPARATORS = ("|", ";", ",", "/", "+", "&")
"""Characters that often separate several labels in a cell."""

CONFIDENCES = frozenset({"confidence", "certainty", "sureness", "probability", "prob", "score"})
"""Names of columns with the confidence of annotators."""


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
    """Return a notice if all labels are the same class."""
    if len(classes) != 1:
        return ()
    return (f"All labels are {classes[0]!r}. Is this the right column for the label?",)


def _joined_classes(names: Sequence[str]) -> list[str]:
    """Return a notice if classes are combinations of other classes, such as toxic|insult of toxic and insult."""
    for separator in SEPARATORS:
        parts = {name: {part.strip() for part in name.split(separator)} - {""} for name in names}
        # All parts of a combined class also occur as classes or in other combinations
        used = Counter(part for found in parts.values() for part in found)
        joined = [name for name in names if len(parts[name]) > 1 and all(used[part] > 1 for part in parts[name])]
        if joined:
            return [
                f"{len(joined):,} of {pluralise(len(names), 'class', 'classes')} combine others with {separator!r}, "
                f"such as {joined[0]!r}. Several labels per item are not supported, so each combination is used as a "
                f"class. Instead, make one table per label with the labels yes and no."
            ]
    return []


def unused_confidence(header: Iterable[str], used: Collection[str], source: TableSource) -> tuple[str, ...]:
    """Return notices about columns that look like confidences and are not used."""
    unused = [name for name in header if name not in used and normalise_name(name) in CONFIDENCES]
    as_weight = source.advise("--column weight={0}", 'columns={{"weight": "{0}"}}')
    return tuple(
        f"The column {name!r} is not used, so all labels have equal weights. To use it as weights: "
        f"{as_weight.format(name)}."
        for name in unused
    )


def empty_labels(missing: int, source: TableSource) -> tuple[str, ...]:
    """Return a notice that empty cells, which were left out, may be answers."""
    if not missing:
        return ()
    name_it = source.advise("--empty-label NAME", 'empty_label="NAME"')
    return (f"If empty cells are answers, such as 'none of these', name their class: {name_it}.",)


# Several labels of an item by one annotator.
#
# Equal labels count once, unless all labels are to be kept. For labels that differ, a policy defines which ones count.


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
    """Return the rows to keep, sorted by item and annotator, and the number of rows that repeat an earlier pair.

    Args:
        item: item[n], the codes of the items.
        annotator: annotator[n], the codes of the annotators.
        label: Function that returns label[n], the codes of the labels; only called if a pair is repeated.
        place: place[n], the position of each row in the source; None if these are all rows of the source.
        names: Names of the items and of the annotators, for the message.
        policy: Which rows of a pair to keep.
        source: Source of the rows, for the message.
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
    # A row is the last of its pair unless the next row has the same pair, and the first unless the previous row has it
    distinct, edge = ~repeats, np.ones(1, dtype=bool)
    kept = np.concatenate([distinct, edge] if policy is Duplicates.last else [edge, distinct])
    return rows[kept], count


def differing_rows(rows: Ints, repeats: Bools, label: Ints) -> Ints:
    """Return the rows whose label differs from that of the first row of their pair, in the order of the source.

    Args:
        rows: The rows, sorted by pair.
        repeats: repeats[n], whether sorted row n + 1 has the same pair as row n.
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
    """Return the error for rows whose label differs from an earlier row with the same item and annotator."""
    item, annotator = codes
    row = int(differs[0])
    before = int(np.flatnonzero((item == item[row]) & (annotator == annotator[row]))[0])
    place = np.arange(len(item)) if place is None else place
    what = (
        f"annotator {names[1][int(annotator[row])]!r} labels item {names[0][int(item[row])]!r} again, with another "
        f"label than in {source.word} {source.number(int(place[before]))}"
    )
    same = count - len(differs)
    repeats = f"Of {count:,} {source.word}s that repeat an item and annotator, {same:,} have the same label and "
    counted = f"{repeats}{len(differs):,} another. " if same else ""
    choices = source.advise("--duplicates first, last or keep", 'duplicates="first", "last" or "keep"')
    choices = f"from_frame with {choices}" if source.name == FRAME_NAME else choices
    return row_error(source, place[differs], what, f"{counted}Choose which labels count: {choices}.")


MANY_ROWS = 5_000_000
"""Minimum number of rows for encoding two columns at a time."""


def build_labels(
    table: pl.DataFrame,
    source: TableSource,
    *,
    classes: Sequence[Any] | None = None,
    duplicates: Duplicates | str = Duplicates.error,
) -> CrowdLabels:
    """Create CrowdLabels from a long table: item, annotator, label and, if known, negated, weight, time and kind.

    Items and annotators without any label are kept.
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
    taken = rows if given is None else given[rows]
    missing = 0 if given is None else len(table) - len(given)
    return CrowdLabels(
        unit=item[rows],
        annotator=annotator[rows],
        label=label[rows],
        items=items,
        annotators=annotators,
        classes=names,
        weight=parse_weights(table, source, taken),
        time=parse_times(table, source, taken),
        kind=parse_kinds(table, annotators, source),
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
"""Number of classes from which the memory for their probabilities is checked."""


def _require_beliefs(items: int, classes: int, source: TableSource) -> None:
    """Raise an error if the probabilities of all classes for all items would exceed the memory limit."""
    size, limit = 8 * items * classes, parsed_limit()
    if classes > MANY_CLASSES and size > limit:
        needed = f"{-(-size // (PARSED_RATIO << 30))}G"
        raise LabelError(
            f"{source.name}: {classes:,} different labels for {items:,} items. The probabilities of all classes need "
            f"{describe_size(size)}, but the limit is {describe_size(limit)}. If the labels are in another column, "
            f"name it (--column label=NAME); otherwise raise the limit: crowdlogic --max-unpacked {needed}, "
            f"or {LIMIT_VARIABLE}={needed}."
        )


def encode_names(names: Names, what: str, source: TableSource) -> tuple[Ints, Names]:
    """Encode the names of items or annotators; missing names raise an error."""
    if not is_plain(names.dtype):
        raise LabelError(f"{source.name}: the {what} column has type {names.dtype}. Give each {what} one name.")
    if not (names.dtype in (pl.String, pl.Boolean) or names.dtype.is_integer()):
        names = names.cast(pl.String, strict=False)
    codes, found = drop_blank_names(*encode(names))
    absent = np.flatnonzero(codes < 0)
    if len(absent):
        raise row_error(source, absent, f"no {what} is named", f"Fill in the {what}, or remove the row.")
    return codes, found


def parse_negated(table: pl.DataFrame, source: TableSource, given: Ints | None) -> Bools | None:
    """Return negated[n] of the rows with a label, whether it means "not this class"; None without such a column."""
    if "negated" not in table.columns:
        return None
    said = text_column(table["negated"], "negated", source).str.strip_chars().str.to_lowercase().fill_null("")
    wrong = (~said.is_in(["true", "false", "1", "0", ""])).arg_true().to_numpy()
    if len(wrong):
        remedy = "Write true for labels that mean 'not this class', otherwise false."
        raise row_error(source, wrong, f"negated is {table['negated'][int(wrong[0])]!r}", remedy)
    negated = said.is_in(["true", "1"]).to_numpy()
    return negated if given is None else negated[given]


# Labels of token sequences from a table of (item, annotator, tags).
#
# A row contains the tags of one annotator for one sentence. Sentences without a row or without tags, and tokens tagged
# with ?, were not seen by the annotator.
#
# Axes: r row of the table, t tag (a token of a row).


@dataclass(frozen=True, eq=False, kw_only=True)
class TagRows:
    """Rows of a table of tags, with encoded names.

    Attributes:
        item: item[r], the sentence of each row.
        annotator: annotator[r], the annotator of each row.
        items: Name of each sentence.
        annotators: Name of each annotator.
        lengths: lengths[r], the number of tags; 0 if the sentence was not seen.
        source: Source of the rows, for messages.
    """

    item: Ints
    annotator: Ints
    items: Names
    annotators: Names
    lengths: Ints
    source: TableSource

    @cached_property
    def tagged(self) -> Ints:
        """Rows with tags."""
        return np.flatnonzero(self.lengths)

    @cached_property
    def row_of_tag(self) -> Ints:
        """row[t], the row of tag t."""
        return np.repeat(np.arange(len(self.lengths)), self.lengths)


def build_sequences(
    table: pl.DataFrame,
    source: TableSource,
    *,
    classes: Sequence[Any] | None = None,
    duplicates: Duplicates | str = Duplicates.error,
) -> CrowdLabels:
    """Create CrowdLabels from a table with the columns item, annotator, tags and, if known, weight, time and kind."""
    policy = parse_choice(Duplicates, duplicates, "duplicates")
    tags = split_tags(table["tags"], source)
    (item, items), (annotator, annotators) = (encode_names(table[n], n, source) for n in ("item", "annotator"))
    lengths = tags.list.len().fill_null(0).to_numpy().astype(np.int64)
    rows = TagRows(item=item, annotator=annotator, items=items, annotators=annotators, lengths=lengths, source=source)
    offsets = np.concatenate([[0], np.cumsum(_common_lengths(rows))])
    kept, repeats = deduplicate(
        rows.item[rows.tagged],
        rows.annotator[rows.tagged],
        # one code for all tags of a row, equal for equal tags
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
    return CrowdLabels(
        unit=offsets[rows.item[row]] + np.flatnonzero(keep) - first_tag[row],
        annotator=rows.annotator[row],
        label=label[keep],
        items=rows.items,
        annotators=rows.annotators,
        classes=names,
        offsets=offsets,
        weight=parse_weights(table, source, row),
        time=parse_times(table, source, row),
        kind=parse_kinds(table, rows.annotators, source),
        intake=Intake(
            rows=len(table),
            missing=len(table) - len(rows.tagged),
            duplicates=repeats,
            policy=policy,
            notices=odd_classes(names),
        ),
    )


def split_tags(tags: Names, source: TableSource) -> Names:
    """Return tags as lists; text is split at white space."""
    if tags.dtype == pl.String:
        bracketed = tags.str.strip_chars().str.starts_with("[").arg_true().to_numpy()
        if len(bracketed):
            remedy = "Write all tags as lists, or all as text separated by spaces."
            raise row_error(
                source, bracketed, f"the tags {tags[int(bracketed[0])]!r} are a list written as text", remedy
            )
        return tags.str.split(" ").list.eval(pl.element().str.strip_chars().replace("", None).drop_nulls())
    if not isinstance(tags.dtype, pl.List) or tags.dtype.inner.is_nested():
        raise LabelError(
            f"{source.name}: the column of tags has type {tags.dtype}. Give lists of tags, or tags separated by spaces."
        )
    return tags


def _common_lengths(rows: TagRows) -> Ints:
    """Return length[s], the number of tokens of each sentence, 0 if nobody tagged it. Annotators must agree on it."""
    tagged, lengths = rows.tagged, rows.lengths
    common = np.zeros(len(rows.items), dtype=np.int64)
    first = tagged[np.unique(rows.item[tagged], return_index=True)[1]]  # the first tagged row of each sentence
    common[rows.item[first]] = lengths[first]
    wrong = tagged[lengths[tagged] != common[rows.item[tagged]]]
    if len(wrong):
        row = int(wrong[0])
        what = (
            f"annotator {rows.annotators[int(rows.annotator[row])]!r} gives {lengths[row]} tags to "
            f"{rows.items[int(rows.item[row])]!r}, but another annotator {common[rows.item[row]]}"
        )
        raise row_error(rows.source, wrong, what, "Give one tag per token.")
    return common


def _code_tags(flat: Names, rows: TagRows, classes: Sequence[Any] | None) -> tuple[Ints, tuple[Any, ...], Bools]:
    """Return label[t], the classes, and whether each token was seen."""
    seen = (flat != NOT_SEEN).fill_null(value=True).to_numpy() if flat.dtype == pl.String else np.ones(len(flat), bool)
    known = flat if seen.all() else flat.set(pl.Series(~seen), None)
    label, names = code_labels(known, rows.source.take(rows.row_of_tag), classes)
    empty = np.unique(rows.row_of_tag[(label < 0) & seen])
    if len(empty):
        remedy = f"Give every token a tag, {NOT_SEEN} if it was not seen."
        raise row_error(rows.source, empty, "a token has no tag", remedy)
    return label, names, seen
