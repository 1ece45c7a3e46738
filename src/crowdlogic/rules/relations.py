"""Relations in integer columns, and the sorted joins that ground rules: no loop ever runs over rows.

Every join counts its rows before it makes them, so that a rule that would explode is refused while it is still small.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from crowdlogic.errors import RuleError
from crowdlogic.numerics.arrays import Bools, Floats, Ints, stable_order

MAX_ROWS = 50_000_000
"""Maximum number of rows that one rule may ground to: about 400 MB a column while they are joined."""


@dataclass(frozen=True, eq=False)
class Relation:
    """Rows over named columns.

    Attributes:
        columns: The codes of each variable.
        size: How many rows there are.
        truths: truths[a][row], the truth of the a-th atom joined; left out where it is always 1.
    """

    columns: dict[str, Ints]
    size: int
    truths: dict[int, Floats] = field(default_factory=dict)

    def take(self, rows: Ints | Bools) -> Relation:
        """Some rows."""
        size = int(np.count_nonzero(rows)) if rows.dtype == np.bool_ else len(rows)
        columns = {name: column[rows] for name, column in self.columns.items()}
        return Relation(columns, size, {atom: truth[rows] for atom, truth in self.truths.items()})

    def with_column(self, name: str, column: Ints) -> Relation:
        """The same rows with one more column."""
        return Relation({**self.columns, name: column}, self.size, self.truths)


NOTHING_JOINED = Relation({}, 1)
"""The relation that every join begins with: one row without columns."""


def join(left: Relation, right: Relation, limit: Callable[[int], None]) -> Relation:
    """Every pair of rows that agree on the columns both have.

    Args:
        left: One relation.
        right: The other.
        limit: Called with the number of rows before they are made; raises when that is too many.
    """
    if not left.columns and left.size == 1 and not left.truths:
        limit(right.size)
        return right
    shared = [name for name in left.columns if name in right.columns]
    rows_left, rows_right = _matching_rows(left, right, shared, limit)
    ours, theirs = left.take(rows_left), right.take(rows_right)
    return Relation({**theirs.columns, **ours.columns}, ours.size, {**ours.truths, **theirs.truths})


def _matching_rows(
    left: Relation, right: Relation, shared: Sequence[str], limit: Callable[[int], None]
) -> tuple[Ints, Ints]:
    """The rows of both sides that meet."""
    if not shared:
        limit(left.size * right.size)
        return np.repeat(np.arange(left.size), right.size), np.tile(np.arange(right.size), left.size)
    keys_left, keys_right = row_keys([left.columns[n] for n in shared], [right.columns[n] for n in shared])
    order = stable_order(keys_right)
    sorted_right = keys_right[order]
    # The partners of row r of the left are the run low[r] .. low[r] + counts[r] of the sorted right side.
    low = np.searchsorted(sorted_right, keys_left, side="left")
    counts = np.searchsorted(sorted_right, keys_left, side="right") - low
    limit(int(counts.sum()))
    rows_left = np.repeat(np.arange(left.size), counts)
    # within[row] counts the partners of one left row from 0
    within = np.arange(len(rows_left)) - np.repeat(np.cumsum(counts) - counts, counts)
    return rows_left, order[np.repeat(low, counts) + within]


def row_keys(left: Sequence[Ints], right: Sequence[Ints]) -> tuple[Ints, Ints]:
    """One whole number per row, equal exactly where all columns are."""
    key_left = np.zeros(len(left[0]), dtype=np.int64)
    key_right = np.zeros(len(right[0]), dtype=np.int64)
    span = 1
    for mine, theirs in zip(left, right, strict=True):
        size = 1 + max(int(mine.max(initial=0)), int(theirs.max(initial=0)))
        if span * size >= 1 << 62:  # the next key would overflow: number the distinct keys so far instead
            _, codes = np.unique(np.concatenate([key_left, key_right]), return_inverse=True)
            key_left, key_right = codes[: len(key_left)], codes[len(key_left) :]
            span = int(codes.max(initial=0)) + 1
        key_left = key_left * size + mine
        key_right = key_right * size + theirs
        span *= size
    return key_left, key_right


def look_up(facts: Sequence[Ints], value: Floats | None, wanted: Sequence[Ints]) -> Floats:
    """The truth of each wanted row among listed facts; 0 where it is not listed."""
    known, queried = row_keys(facts, wanted)
    if not len(known):
        return np.zeros(len(queried))
    order = stable_order(known)
    known = known[order]
    at = np.minimum(np.searchsorted(known, queried), len(known) - 1)
    truth = 1.0 if value is None else value[order][at]
    return np.where(known[at] == queried, truth, 0.0)


def row_limit(rule: object, limit: int) -> Callable[[int], None]:
    """A limit on rows, with a message that names the rule."""

    def check(rows: int) -> None:
        if rows > limit:
            raise RuleError(
                f"{rule} would ground to {rows:,} rows, and the limit is {limit:,}. Add an atom that binds its "
                f"variables more tightly, or raise the limit (max_rows)."
            )

    return check
