"""How many answers are right, by the items that were checked at random: without bias, and with an interval.

Two figures. The consensus before the review: the share of the random sample whose first answer was confirmed. The
labels as they are now: decided items are right, and of the others the share is that of the random items which only the
sample brought up, each compared with the answer that its reviewer was shown, hence before anybody knew it:

    now = (decided + (all - decided) x share) / all.

Answers of sentences are right if all their tags are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from crowdlogic.numerics.intervals import HALF, credible_interval

LEVEL = 0.95
"""The level of the intervals."""


@dataclass(frozen=True, kw_only=True)
class CheckedItem:
    """An item of the random sample that was decided.

    Attributes:
        first_is_right: Whether the consensus before the review was confirmed.
        shown_is_right: Whether the answer that the reviewer was shown was confirmed.
        drawn: Whether the sample brought it up, and not the queue.
    """

    first_is_right: bool
    shown_is_right: bool
    drawn: bool


@dataclass(frozen=True, kw_only=True)
class CheckedShare:
    """A share of right answers, with its interval, and the number of items that it is from."""

    share: float
    low: float
    high: float
    n: int


@dataclass(frozen=True, kw_only=True)
class CheckedAccuracy:
    """How many answers are right: of the consensus before the review, and now; None where nothing was checked."""

    before: CheckedShare | None
    now: CheckedShare | None


def checked_accuracy(checked: Sequence[CheckedItem], *, decided: int, items: int) -> CheckedAccuracy:
    """Both figures from the checked items of the sample.

    Args:
        checked: The items of the sample that were decided.
        decided: How many items were decided in all.
        items: How many items there are.
    """
    before = _share([one.first_is_right for one in checked])
    rest = _share([one.shown_is_right for one in checked if one.drawn])
    if rest is None:
        return CheckedAccuracy(before=before, now=None)
    share, low, high = ((decided + (items - decided) * end) / items for end in (rest.share, rest.low, rest.high))
    return CheckedAccuracy(before=before, now=CheckedShare(share=share, low=low, high=high, n=rest.n))


def _share(right: Sequence[bool]) -> CheckedShare | None:
    if not right:
        return None
    n, found = len(right), sum(right)
    low, high = credible_interval(np.array([found]), np.array([n]), LEVEL)
    return CheckedShare(share=(found + HALF) / (n + 2 * HALF), low=float(low[0]), high=float(high[0]), n=n)
