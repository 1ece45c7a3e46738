"""What to do when one annotator labels one thing twice.

A label that is repeated exactly (same item, annotator and label) is one label that was written down twice, and counts
once unless every label is to be kept. Labels that differ contradict one another: a policy must say which one holds.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from crowdlogic.data.intake.contract import FRAME_NAME, Duplicates, TableSource, row_error
from crowdlogic.data.names import Names
from crowdlogic.errors import DataError
from crowdlogic.numerics.arrays import Bools, Ints, stable_order


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
