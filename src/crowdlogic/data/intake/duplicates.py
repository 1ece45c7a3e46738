"""What to do when one annotator labels one thing twice."""

from __future__ import annotations

import numpy as np

from crowdlogic.data.intake.contract import Duplicates, TableSource, row_error
from crowdlogic.data.names import Names
from crowdlogic.numerics.arrays import Ints, stable_order


def deduplicate(
    item: Ints,
    annotator: Ints,
    *,
    place: Ints | None,
    names: tuple[Names, Names],
    policy: Duplicates,
    source: TableSource,
) -> tuple[Ints, int]:
    """Which rows are kept, sorted by item and annotator, and how many repeat a pair that came before.

    Args:
        item: item[n], codes in the order of the source.
        annotator: annotator[n], likewise.
        place: place[n], the position of each row in the source; None when they are all its rows, in order.
        names: What the codes are called, for the message.
        policy: Take the first or last row of a pair, keep all, or refuse.
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
        again = np.sort(rows[1:][repeats])
        row = int(again[0])
        before = int(rows[np.flatnonzero(ordered == key[row])[0]])
        place = np.arange(len(key)) if place is None else place
        what = (
            f"annotator {names[1][int(annotator[row])]!r} labels item {names[0][int(item[row])]!r} again, "
            f"after {source.word} {source.number(int(place[before]))}"
        )
        raise row_error(
            source, place[again], what, "Say what to do with duplicates: first, last or keep (--duplicates)."
        )
    # In sorted order a row is the first of its pair unless it equals the row before it, the last unless the row after.
    differs, edge = ~repeats, np.ones(1, dtype=bool)
    kept = np.concatenate([edge, differs] if policy is Duplicates.first else [differs, edge])
    return rows[kept], count
