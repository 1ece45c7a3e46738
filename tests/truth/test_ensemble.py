"""Dawid-Skene, MACE and the vote, pooled."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from crowdlogic.data.frames import from_arrays
from crowdlogic.data.simulate.crowds import simulate_crowd, simulate_hard_crowd
from crowdlogic.errors import OptionError
from crowdlogic.truth.dawid_skene import DawidSkene
from crowdlogic.truth.dependence import posterior_of_votes
from crowdlogic.truth.fitting import Fitting
from crowdlogic.truth.mace import MACE
from crowdlogic.truth.majority import MajorityVote
from crowdlogic.truth.pool import Ensemble


def test_the_pool_is_the_weighted_mean_of_its_members_written_out() -> None:
    labels = simulate_crowd(np.random.default_rng(0), units=60, annotators=6, labels_per_unit=4).labels
    votes = labels.votes()
    each = labels.n_labels / (6 * 3)
    weight = each**2 / (each**2 + 9)

    found = Ensemble(dependence=None).infer(labels)

    vote = posterior_of_votes(votes / votes.sum(axis=1, keepdims=True), votes)
    parts = [
        (weight, DawidSkene().infer(labels).beliefs),
        (1 - 0.3 * weight, MACE().infer(labels).beliefs),
        (1 - weight, vote),
    ]
    expected = sum(w * q for w, q in parts) / sum(w for w, _ in parts)
    np.testing.assert_allclose(found.beliefs, expected, rtol=1e-9)
    assert found.calibration is None


def test_what_is_stated_discounts_every_member() -> None:
    labels = simulate_crowd(np.random.default_rng(1), units=60, annotators=6, labels_per_unit=4).labels

    own, stated = Ensemble(dependence=None).infer(labels), Ensemble().infer(labels)

    assert stated.calibration is not None
    assert np.nanmean(stated.confidence) < np.nanmean(own.confidence)
    assert stated.beliefs.max() <= 1 - 0.02 * 2 / 3


def test_few_labels_per_annotator_leave_the_confusion_matrices_little_weight() -> None:
    rng = np.random.default_rng(0)
    many = simulate_crowd(rng, units=500, annotators=5, labels_per_unit=5, tail=0).labels
    few = simulate_crowd(rng, units=100, annotators=200, labels_per_unit=3).labels

    assert Ensemble().confusion_weight(many) > 0.99
    assert Ensemble().confusion_weight(few) < 0.1


def test_annotators_without_labels_do_not_count() -> None:
    labels = simulate_crowd(np.random.default_rng(0), units=200, annotators=40, labels_per_unit=5).labels
    half = labels.take(labels.annotator < 20)

    assert Ensemble().confusion_weight(half) == pytest.approx(
        Ensemble().confusion_weight(half.select(annotators=labels.annotators[:20].to_list()))
    )


@pytest.mark.parametrize("seed", range(3))
def test_it_is_about_as_right_as_dawid_skene_where_majority_fails(seed: int) -> None:
    rng = np.random.default_rng(seed)
    drawn = simulate_hard_crowd(rng, rng.integers(2, size=1000).astype(np.int32), 2)

    right = {
        method.name: np.mean(method.infer(drawn.labels).answer == drawn.truth)
        for method in (Ensemble(), DawidSkene(), MajorityVote())
    }

    assert right["ensemble"] > right["dawid-skene"] - 0.012
    assert right["ensemble"] > right["majority"] + 0.15


@pytest.mark.long
def test_confusion_matrices_that_would_not_fit_into_memory_are_left_out() -> None:
    labels = from_arrays(np.arange(9000), ["w"] * 9000, np.arange(9000) % 8000)

    estimate = Ensemble().infer(labels)

    assert Ensemble().confusion_weight(labels) == 0
    assert estimate.confusion is None
    np.testing.assert_array_equal(estimate.answer, labels.label)


def test_members_keep_checkpoints_of_their_own(tmp_path: Path) -> None:
    labels = simulate_crowd(np.random.default_rng(0), units=60, annotators=6).labels
    seen: list[set[str]] = []

    def progress(_: object) -> None:
        seen.append({path.name for path in tmp_path.iterdir()})

    with_files = Ensemble().infer(labels, fitting=Fitting(checkpoint=tmp_path / "fit", every=1, progress=progress))

    np.testing.assert_array_equal(with_files.beliefs, Ensemble().infer(labels).beliefs)
    assert {name for names in seen for name in names} == {"fit.dawid-skene", "fit.mace"}
    assert list(tmp_path.iterdir()) == []


def test_a_half_weight_of_0_is_refused() -> None:
    with pytest.raises(OptionError, match="ensemble: half must be greater than 0, got 0"):
        Ensemble(half=0)
