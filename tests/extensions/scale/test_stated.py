"""Stated confidence over engines is what is stated of a table in memory, for any sharding."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.extensions.scale.shardings import as_patterns, cut_at
from tests.truth.planted import planted

from crowdlogic.registry import TRUTH_METHODS
from crowdlogic.truth.dependence import (
    PUBLIC_CROWDS,
    alpha_of_pairs,
    pair_sums,
    state_confidence,
    state_fit,
    sum_votes,
)
from crowdlogic.truth.fitting import fits_over_engines
from crowdlogic.truth.methods import truth_method
from crowdlogic.truth.pool import Ensemble

METHODS = [name for name in TRUTH_METHODS if fits_over_engines(name) and name not in ("ebcc", "hmm-crowd", "bsc-seq")]


@pytest.mark.parametrize("name", METHODS)
@settings(max_examples=5, deadline=None)
@given(cuts=st.lists(st.integers(0, 40), max_size=4), seed=st.integers(0, 3))
def test_what_is_stated_shard_by_shard_is_what_is_stated_in_memory(name: str, cuts: list[int], seed: int) -> None:
    labels = planted(seed, units=40, given=0.6).labels
    method = truth_method(name)
    whole = state_confidence(labels, method.infer(labels))

    fit = state_fit(method.fit_over(cut_at(labels, cuts)), PUBLIC_CROWDS)  # type: ignore[attr-defined]

    q = np.concatenate([part for _, part in fit.stream()])
    np.testing.assert_allclose(q, whole.beliefs, rtol=0, atol=1e-8)
    assert fit.calibration is not None
    assert whole.calibration is not None
    assert fit.calibration.correlation == pytest.approx(whole.calibration.correlation, rel=1e-9)


def test_the_ensemble_without_dependence_is_the_mean_of_its_members() -> None:
    labels = planted(4, units=60, given=0.5).labels
    method = Ensemble(dependence=None)

    fit = state_fit(method.fit_over(cut_at(labels, [20])), None)

    np.testing.assert_allclose(fit.gather(), method.infer(labels).beliefs, rtol=0, atol=1e-8)
    assert fit.calibration is None


def test_sums_of_votes_are_those_of_the_table_and_of_its_patterns() -> None:
    labels = planted(5, units=100, given=0.5).labels
    given = np.zeros((5, 3))
    np.add.at(given, (labels.annotator, labels.label), 1)

    for engine in (cut_at(labels, [30, 70]), as_patterns(labels)[0]):
        votes = sum_votes(engine)
        np.testing.assert_allclose(alpha_of_pairs(votes), alpha_of_pairs(pair_sums(labels.votes())), rtol=1e-9)
        np.testing.assert_array_equal(votes["given"], given)


def test_the_sum_of_confidences_goes_by_what_is_stated() -> None:
    labels = planted(6, units=50, given=0.6).labels
    fit = state_fit(truth_method("dawid-skene").fit_over(cut_at(labels, [9])), PUBLIC_CROWDS)  # type: ignore[attr-defined]

    counts, _ = fit.engine.sum(fit.beliefs.step, fit.beliefs.parameters, fit.beliefs.states)

    labelled = labels.labels_per_unit() > 0
    np.testing.assert_allclose(counts["confidence"], fit.gather().max(axis=1)[labelled].sum(), rtol=1e-9)
    assert counts["unsure"] == labelled.sum()


def test_labels_with_weights_are_counted_by_weight() -> None:
    labels = planted(7, units=50, given=0.6).labels
    labels = replace(labels, weight=np.random.default_rng(0).choice([0.5, 1.0, 2.0], size=labels.n_labels))
    whole = state_confidence(labels, truth_method("dawid-skene").infer(labels))

    fit = state_fit(truth_method("dawid-skene").fit_over(cut_at(labels, [9])), PUBLIC_CROWDS)  # type: ignore[attr-defined]

    np.testing.assert_allclose(fit.gather(), whole.beliefs, rtol=0, atol=1e-8)
