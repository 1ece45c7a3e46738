"""The default confidence: its parameters are those that the eleven public sets give, and it is believable on them."""

from __future__ import annotations

import numpy as np
import pytest
from benchmarks.calibration.default_method import thin
from benchmarks.calibration.sets import fit_strength, load_sets, score_beliefs
from benchmarks.calibration.simulated import copied, ordinal, shared_difficulty
from benchmarks.calibration.spans import fit_scale

from crowdlogic.data.character_spans import scale_odds
from crowdlogic.data.simulate.crowds import simulate_crowd
from crowdlogic.truth.dependence import PUBLIC_CROWDS


@pytest.mark.data
def test_the_default_is_what_the_public_sets_give_and_is_believable_there() -> None:
    sets = load_sets()

    found = [score_beliefs(one.gold, one.state(PUBLIC_CROWDS)) for one in sets]

    mean = {name: float(np.mean([row[name] for row in found])) for name in found[0]}
    assert fit_strength(sets) == pytest.approx(PUBLIC_CROWDS.strength, abs=0.01)
    assert mean["log loss"] < 0.46
    assert mean["Brier"] < 0.109
    assert mean["AUROC"] > 0.76
    assert mean["calibration error"] < 6
    assert mean["accuracy"] > 85.2
    assert np.mean([abs(row["gap"]) for row in found]) < 3.5


def test_a_thinned_copy_keeps_at_most_so_many_labels_of_each_item() -> None:
    labels = simulate_crowd(np.random.default_rng(0), units=50, annotators=12, labels_per_unit=6).labels

    found = thin(labels, 3, np.random.default_rng(1))

    np.testing.assert_array_equal(found.labels_per_unit(), np.minimum(labels.labels_per_unit(), 3))


def test_planted_dependence_makes_labels_agree_more_than_the_truth_explains() -> None:
    for draw in (copied, shared_difficulty):
        labels, truth = draw(np.random.default_rng(0))
        wrong = labels.label != truth[labels.unit]
        both = labels.votes()
        # two wrong labels of one item agree more often than the half that two other classes would give
        same = sum(
            int((both[i, k] * (both[i, k] - 1)) // 2) for i in range(len(both)) for k in range(3) if k != truth[i]
        )
        pairs = sum(int(n * (n - 1) // 2) for n in np.bincount(labels.unit[wrong], minlength=len(both)))
        assert same / pairs > 0.6


def test_ordered_classes_err_to_their_neighbours() -> None:
    labels, truth = ordinal(np.random.default_rng(0), classes=5, annotators=40, each=5)

    off = np.abs(labels.label - truth[labels.unit])

    assert np.mean(off == 1) / np.mean(off > 0) > 0.5


def test_the_scale_of_spans_is_found_again() -> None:
    rng = np.random.default_rng(0)
    raw = rng.uniform(0.3, 0.999, 20_000)
    right = rng.random(20_000) < scale_odds(raw, shift=-0.8, slope=0.7)

    assert fit_scale(raw, right) == (pytest.approx(-0.8, abs=0.1), pytest.approx(0.7, abs=0.05))
