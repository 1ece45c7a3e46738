"""Skill is Cohen's kappa."""

from __future__ import annotations

import numpy as np
import pytest

from crowdlogic.confidence.annotator_verdicts import ConfusionStatistics


def statistics_of(counts: list[list[float]]) -> ConfusionStatistics:
    table = np.array([counts])
    n = table.sum(axis=(1, 2)).round().astype(np.int64)
    return ConfusionStatistics(
        names=("w",), classes=("A", "B", "C")[: len(counts)], counts=table, n_labels=n, n_items=n
    )


def test_skill_is_cohens_kappa_by_hand() -> None:
    one = statistics_of([[40, 10], [20, 30]])

    # 70 of 100 right; truth is half A, labels are 60 A: chance 0.5 * 0.6 + 0.5 * 0.4 = 0.5.
    assert one.chance[0] == pytest.approx(0.5)
    assert one.skill[0][0] == pytest.approx((0.7 - 0.5) / 0.5)


def test_skill_is_undefined_where_chance_leaves_no_room() -> None:
    assert np.isnan(statistics_of([[40, 0], [0, 0]]).skill[0][0])
