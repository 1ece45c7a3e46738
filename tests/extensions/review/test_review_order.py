"""What deciding an item is worth."""

from __future__ import annotations

import numpy as np

from crowdlogic.data.simulate.crowds import simulate_crowd
from crowdlogic.extensions.review.review_queue import NO_DECISIONS, Decisions, expected_mistakes_removed, refit
from crowdlogic.truth.pool import Ensemble


def test_what_was_decided_is_worth_nothing_more() -> None:
    labels = simulate_crowd(np.random.default_rng(0), units=60, annotators=9).labels
    decisions = Decisions(truth={labels.items[7]: labels.classes[0]})
    estimate = refit(Ensemble(), labels, None, decisions)

    removed = expected_mistakes_removed(labels, estimate, decisions=decisions)

    assert removed[7] == 0.0
    assert (np.delete(removed, 7) > 0).all()


def test_answers_of_a_class_that_was_often_wrong_are_suspect() -> None:
    labels = simulate_crowd(np.random.default_rng(1), units=200, annotators=12, classes=3).labels
    estimate = refit(Ensemble(), labels, None, NO_DECISIONS)
    first = np.flatnonzero(estimate.answer == 0)[:15]
    wrong = Decisions(truth={labels.items[i]: labels.classes[1] for i in first.tolist()})
    right = Decisions(truth={labels.items[i]: labels.classes[0] for i in first.tolist()})

    suspect, trusted = (
        expected_mistakes_removed(labels, estimate, decisions=d, before=estimate) for d in (wrong, right)
    )

    rest = np.setdiff1d(np.flatnonzero(estimate.answer == 0), first)
    assert (suspect[rest] > 1.5 * trusted[rest]).all()


def test_unsure_answers_are_worth_more_than_sure_ones() -> None:
    labels = simulate_crowd(np.random.default_rng(1), units=200, annotators=12).labels
    estimate = refit(Ensemble(), labels, None, NO_DECISIONS)

    removed = expected_mistakes_removed(labels, estimate)

    order = np.argsort(estimate.confidence)
    assert removed[order[:20]].mean() > 3 * removed[order[-20:]].mean()
