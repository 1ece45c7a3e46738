"""Learning from gold: it learns whom to trust, falls back to the members, and never scores what it learnt from."""

from __future__ import annotations

import numpy as np
import pytest
from tests.confidence.planted_crowds import crowd

from crowdlogic.confidence.calibration import assess, fit_without_gold, members_to_weigh
from crowdlogic.confidence.learning_from_gold import (
    gold_problem,
    learn_from_gold,
    normal_scores,
    one_factor,
    subtype_beliefs,
)
from crowdlogic.data.estimate import vote_shares
from crowdlogic.data.labels import CrowdLabels
from crowdlogic.errors import DataError
from crowdlogic.truth.ebcc import EBCC


def misled(seed: int, *, items: int = 600) -> tuple[CrowdLabels, np.ndarray]:
    """One good judge, and five who make the same mistakes: without gold the five look right."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(2, size=items)
    common = np.where(rng.random(items) < 0.6, truth, 1 - truth)
    five = [np.where(rng.random(items) < 0.85, common, 1 - common) for _ in range(5)]
    good = np.where(rng.random(items) < 0.9, truth, 1 - truth)
    return crowd(np.stack([*five, good], axis=1), 2), truth


def draw(truth: np.ndarray, size: int, seed: int) -> np.ndarray:
    gold = np.full(len(truth), -1)
    chosen = np.random.default_rng(seed).choice(len(truth), size, replace=False)
    gold[chosen] = truth[chosen]
    return gold


def test_gold_finds_the_one_good_judge() -> None:
    labels, truth = misled(0)
    gold = draw(truth, 100, 0)

    found = assess(labels, gold=gold)

    rest = gold < 0
    assert np.mean(fit_without_gold(labels).estimate.answer[rest] == truth[rest]) < 0.7
    assert np.mean(found.estimate.answer[rest] == truth[rest]) > 0.85
    assert found.reliability.argmax() == 5


def test_held_out_beliefs_do_not_know_their_own_gold() -> None:
    labels, truth = misled(1)
    random_truth = np.random.default_rng(7).integers(2, size=len(truth))
    gold = draw(random_truth, 200, 1)  # gold that nothing can predict

    fit = fit_without_gold(labels)
    found = learn_from_gold(labels, gold, members_to_weigh(fit))

    assert found.mistakes / 200 > 0.38


def test_an_answer_does_not_depend_on_the_order_of_the_members() -> None:
    labels, truth = misled(2, items=200)
    fit = fit_without_gold(labels)
    members = members_to_weigh(fit)
    gold = draw(truth, 40, 2)

    first = learn_from_gold(labels, gold, members).beliefs
    second = learn_from_gold(labels, gold, members[::-1]).beliefs

    np.testing.assert_allclose(first, second, atol=2e-3)


def test_with_little_gold_the_answer_stays_near_the_members() -> None:
    rng = np.random.default_rng(3)
    truth = rng.integers(3, size=500)
    table = np.stack([np.where(rng.random(500) < 0.8, truth, rng.integers(3, size=500)) for _ in range(7)], axis=1)
    labels = crowd(table, 3)
    fit = fit_without_gold(labels)

    found = learn_from_gold(labels, draw(truth, 20, 3), members_to_weigh(fit))

    assert np.mean(found.beliefs.argmax(axis=1) == fit.estimate.answer) > 0.97


def test_finer_scores_than_the_classes_help() -> None:
    rng = np.random.default_rng(4)
    latent = rng.normal(size=800)
    truth = (latent > 0).astype(int)
    score = np.stack([np.round(4.5 + 2 * (latent + s * rng.normal(size=800)), 1) for s in (0.5, 1, 2)], axis=1)
    labels = crowd((score > 6.5).astype(int), 2)  # a bad cut, which the scores repair
    gold = draw(truth, 100, 4)

    with_scores = assess(labels, gold=gold, scores=score.ravel())
    without = assess(labels, gold=gold)

    rest = gold < 0
    assert np.mean(with_scores.estimate.answer[rest] == truth[rest]) > 0.83
    assert np.mean(without.estimate.answer[rest] == truth[rest]) < 0.8


def test_missing_labels_and_many_annotators_are_no_problem() -> None:
    rng = np.random.default_rng(5)
    truth = rng.integers(4, size=2000)
    skill = rng.uniform(0.3, 0.9, 400)
    table = np.full((2000, 400), -1)
    for j in range(400):
        rows = rng.choice(2000, 25, replace=False)
        table[rows, j] = np.where(rng.random(25) < skill[j], truth[rows], rng.integers(4, size=25))
    labels = crowd(table, 4)
    labelled = labels.labels_per_unit() > 0
    gold = np.where(labelled, draw(truth, 300, 5), -1)

    found = assess(labels, gold=gold)

    rest = labelled & (gold < 0)
    vote = vote_shares(labels.votes()).argmax(axis=1)
    assert np.mean(found.estimate.answer[rest] == truth[rest]) > np.mean(vote[rest] == truth[rest])
    np.testing.assert_allclose(found.estimate.beliefs.sum(axis=1), 1.0)


def test_gold_that_cannot_be_learnt_from_is_explained() -> None:
    few, one_class, enough = np.full(100, -1), np.full(100, -1), np.full(100, -1)
    few[:19] = np.arange(19) % 2
    one_class[:50] = 1
    enough[:20] = np.arange(20) % 2

    assert "19 gold items are too few" in str(gold_problem(few, 2))
    assert "of one class" in str(gold_problem(one_class, 2))
    assert gold_problem(enough, 2) is None
    with pytest.raises(DataError, match="too few"):
        learn_from_gold(crowd(np.zeros((100, 3), dtype=int), 2), few, [np.full((100, 2), 0.5)])


def test_gold_items_keep_their_gold_answer() -> None:
    labels, truth = misled(6, items=300)
    gold = draw(truth, 60, 6)

    found = assess(labels, gold=gold)

    known = gold >= 0
    np.testing.assert_array_equal(found.estimate.answer[known], truth[known])
    assert not np.isin(found.doubtful, np.flatnonzero(known)).any()


def test_normal_scores_are_standardised_ranks() -> None:
    annotator, score = np.repeat([0, 1], 200), np.concatenate([np.arange(200) ** 3, np.zeros(200)])

    normal = normal_scores(annotator, score, 2)

    assert (np.diff(normal[:200]) > 0).all()
    np.testing.assert_allclose([normal[:200].mean(), normal[:200].std()], [0, 1], atol=1e-9)
    np.testing.assert_array_equal(normal[200:], 0)


def test_the_factor_recovers_a_planted_consensus_with_missing_scores() -> None:
    rng = np.random.default_rng(8)
    factor, loading = rng.normal(size=1000), np.array([0.9, 0.8, 0.6, 0.3, 0.1])
    score = factor[:, None] * loading + rng.normal(size=(1000, 5)) * np.sqrt(1 - loading**2)
    unit, annotator = np.nonzero(rng.random((1000, 5)) < 0.8)
    normal = normal_scores(annotator, score[unit, annotator], 5)

    found = one_factor(unit, annotator, normal, n_units=1000, n_annotators=5)

    plain = np.bincount(unit, weights=normal, minlength=1000)
    assert np.corrcoef(found, factor)[0, 1] > max(0.85, np.corrcoef(plain, factor)[0, 1])


def test_subtypes_agree_with_ebcc() -> None:
    labels, _ = misled(9)

    ours, theirs = subtype_beliefs(labels), EBCC(restarts=1).infer(labels).beliefs

    np.testing.assert_allclose(ours, theirs, atol=1e-8)
