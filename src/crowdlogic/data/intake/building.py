"""The one place where names become codes and the input contract is applied to labels of single items."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl

from crowdlogic.data.files import LIMIT_VARIABLE, PARSED_RATIO, describe_size, parsed_limit
from crowdlogic.data.intake.cells import (
    code_labels,
    drop_blank_names,
    empty_labels,
    odd_classes,
    parse_kinds,
    parse_times,
    parse_weights,
)
from crowdlogic.data.intake.contract import FRAME_NAME, Duplicates, Intake, TableSource, row_error
from crowdlogic.data.intake.conversions import is_plain, text_column
from crowdlogic.data.labels import CrowdLabels
from crowdlogic.data.names import Names, encode
from crowdlogic.data.tagging import NOT_SEEN
from crowdlogic.errors import DataError, LabelError
from crowdlogic.numerics.arrays import Bools, Floats, Ints, stable_order
from crowdlogic.numerics.first_appearance import LARGE

# What to do when one annotator labels one thing twice.
#
# A label that is repeated exactly (same item, annotator and label) is one label that was written down twice, and
# counts
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
    """Which rows are kept, sorted by item and annotator, and how many repeat a pair that came before.

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
    """The rows whose label is not that of the first row of their pair, in the order of the source.

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
    """The error for rows that give a pair another label than before."""
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


def build_labels(
    table: pl.DataFrame,
    source: TableSource,
    *,
    classes: Sequence[Any] | None = None,
    duplicates: Duplicates | str = Duplicates.error,
) -> CrowdLabels:
    """CrowdLabels from a long table: item, annotator, label and, when known, negated, weight, time and kind.

    Items and annotators all of whose labels are missing stay in the table, without labels.
    """
    policy = Duplicates.parse(duplicates)
    with ThreadPoolExecutor(2 if len(table) >= LARGE else 1) as pool:  # coding waits for memory, not for Python
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
    """Refuse so many classes that the probabilities of all classes for all items exceed the memory limit."""
    size, limit = 8 * items * classes, parsed_limit()
    if classes > MANY_CLASSES and size > limit:
        needed = f"{-(-size // (PARSED_RATIO << 30))}G"
        raise LabelError(
            f"{source.name}: {classes:,} different labels for {items:,} items. Each is a class, and their "
            f"probabilities take {describe_size(size)}, where {describe_size(limit)} is the limit. Is this the column "
            f"of the label? Name another (--column label=NAME), or raise it: crowdlogic --max-unpacked {needed}, "
            f"or {LIMIT_VARIABLE}={needed}."
        )


def encode_names(names: Names, what: str, source: TableSource) -> tuple[Ints, Names]:
    """Codes for items or annotators, every one of which must have a name."""
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
    """negated[n] of the rows with a label, where the table has it: whether a label says "not this class"."""
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
    """The weights and times of the rows that are taken, where the table has them."""
    weight = parse_weights(table["weight"], source, rows) if "weight" in table.columns else None
    time = parse_times(table["time"], source)[rows] if "time" in table.columns else None
    return weight, time


def annotator_kinds(table: pl.DataFrame, annotators: Names, source: TableSource) -> tuple[str, ...] | None:
    """kind[j], where the table has it."""
    return parse_kinds(table["kind"], table["annotator"], annotators, source) if "kind" in table.columns else None


# Labels of token sequences from a table of (item, annotator, tags): the input contract for sentences.
#
# A row is what one annotator did with one sentence. A row without tags, like a sentence without a row, was not seen;
# a
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
    """CrowdLabels from a table with the columns item, annotator, tags and, when known, weight, time and kind."""
    policy = Duplicates.parse(duplicates)
    tags = split_tags(table["tags"], source)
    rows = _code_rows(table, tags, source)
    offsets = np.concatenate([[0], np.cumsum(_common_lengths(rows))])
    kept, repeats = deduplicate(
        rows.item[rows.tagged],
        rows.annotator[rows.tagged],
        label=lambda: _code_sentences(tags, rows),
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


def _code_rows(table: pl.DataFrame, tags: Names, source: TableSource) -> TagRows:
    item, items = encode_names(table["item"], "item", source)
    annotator, annotators = encode_names(table["annotator"], "annotator", source)
    lengths = tags.list.len().fill_null(0).to_numpy().astype(np.int64)
    return TagRows(item=item, annotator=annotator, items=items, annotators=annotators, lengths=lengths, source=source)


def split_tags(tags: Names, source: TableSource) -> Names:
    """Tags as lists: lists as they are, text split at white space."""
    if tags.dtype == pl.String:
        bracketed = tags.str.strip_chars().str.starts_with("[").arg_true().to_numpy()
        if len(bracketed):
            remedy = "Write tags as lists throughout, or as text separated by spaces throughout."
            raise row_error(
                source, bracketed, f"the tags {tags[int(bracketed[0])]!r} are a list written as text", remedy
            )
        return _split_words(tags)
    if not isinstance(tags.dtype, pl.List) or tags.dtype.inner.is_nested():
        raise LabelError(
            f"{source.name}: the column of tags holds {tags.dtype}. Give lists of tags, or tags separated by spaces."
        )
    return tags


def _split_words(text: Names) -> Names:
    return text.str.split(" ").list.eval(pl.element().str.strip_chars().replace("", None).drop_nulls())


def _code_sentences(tags: Names, rows: TagRows) -> Ints:
    """A code for the whole list of tags of each tagged row: the same code for the same tags."""
    return encode(tags.gather(rows.tagged).cast(pl.List(pl.String)).list.join("\n", ignore_nulls=False))[0]


def _common_lengths(rows: TagRows) -> Ints:
    """length[s], the number of tokens of each sentence, on which its annotators must agree; 0 when nobody tagged it."""
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
    """label[t], the classes, and whether each tag was given (a token may be marked as not seen)."""
    seen = (flat != NOT_SEEN).fill_null(value=True).to_numpy() if flat.dtype == pl.String else np.ones(len(flat), bool)
    known = flat if seen.all() else flat.set(pl.Series(~seen), None)
    label, names = code_labels(known, rows.source.take(rows.row_of_tag), classes)
    empty = np.unique(rows.row_of_tag[(label < 0) & seen])
    if len(empty):
        remedy = f"Give every token a tag, {NOT_SEEN} for one not seen."
        raise row_error(rows.source, empty, "a token has no tag", remedy)
    return label, names, seen
