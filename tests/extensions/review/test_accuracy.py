"""Accuracy from random items, worked out by hand."""

from __future__ import annotations

import pytest

from crowdlogic.extensions.review.snapshot import CheckedItem, checked_accuracy


def item(first: bool, shown: bool, drawn: bool = True) -> CheckedItem:
    return CheckedItem(first_is_right=first, shown_is_right=shown, drawn=drawn)


def test_nothing_is_said_before_anything_was_checked() -> None:
    found = checked_accuracy([], decided=0, items=10)

    assert (found.before, found.now) == (None, None)


def test_both_figures() -> None:
    checked = [item(True, True)] * 7 + [item(False, True)] * 2 + [item(False, False, drawn=False)]

    found = checked_accuracy(checked, decided=50, items=200)

    assert found.before is not None
    assert found.now is not None
    assert (found.before.n, found.now.n) == (10, 9)
    assert found.before.share == pytest.approx(7.5 / 11)
    assert found.now.share == pytest.approx((50 + 150 * 9.5 / 10) / 200)
    assert found.before.low < 0.7 < found.before.high
    assert found.now.low < found.now.share < found.now.high <= 1.0
