"""Warm re-fits with decisions: the same end as a fit from scratch, in fewer iterations."""

from __future__ import annotations

import numpy as np
import pytest

from crowdlogic.confidence.calibration import infer_calibrated
from crowdlogic.data.simulate.crowds import SimulatedCrowd, simulate_crowd
from crowdlogic.extensions.review.review_queue import NO_DECISIONS, Decisions, own_posterior, refit
from crowdlogic.numerics.convergence import Convergence
from crowdlogic.truth.dawid_skene import DawidSkene
from crowdlogic.truth.methods import TruthMethod
from crowdlogic.truth.pool import Ensemble

STRICT = DawidSkene(convergence=Convergence(tolerance=1e-12))


def crowd(units: int = 300) -> SimulatedCrowd:
    return simulate_crowd(np.random.default_rng(2), units=units, annotators=20, classes=3, labels_per_unit=4)


def decide(drawn: SimulatedCrowd, count: int, at_random: int = 0) -> Decisions:
    labels = drawn.labels
    items = [labels.items[i] for i in range(count)]
    truth = {item: labels.classes[int(drawn.truth[i])] for i, item in enumerate(items)}
    return Decisions(truth=truth, at_random=frozenset(items[:at_random]))


@pytest.mark.parametrize("method", [DawidSkene(), Ensemble()])
def test_decided_items_are_certain(method: TruthMethod) -> None:
    drawn = crowd()
    first = refit(method, drawn.labels, None, NO_DECISIONS)

    found = refit(method, drawn.labels, first, decide(drawn, 12))

    assert found.answer[:12].tolist() == drawn.truth[:12].tolist()
    assert (found.confidence[:12] == 1.0).all()
    assert (found.confidence[12:] < 1.0).all()


def test_a_warm_fit_ends_where_a_fit_from_scratch_does_and_sooner() -> None:
    drawn = crowd()
    first = refit(STRICT, drawn.labels, None, NO_DECISIONS)

    warm = refit(STRICT, drawn.labels, first, decide(drawn, 10))
    cold = refit(STRICT, drawn.labels, None, decide(drawn, 10))

    np.testing.assert_allclose(warm.beliefs, cold.beliefs, atol=1e-4)
    assert len(warm.trace) < len(cold.trace)


def test_the_methods_own_posterior_is_recovered_from_what_was_stated() -> None:
    labels = crowd().labels

    found = own_posterior(labels, infer_calibrated(DawidSkene(), labels))

    np.testing.assert_allclose(found, DawidSkene().infer(labels).beliefs, atol=1e-6)


def test_only_decisions_drawn_at_random_fit_the_scale() -> None:
    drawn = crowd()
    first = refit(DawidSkene(), drawn.labels, None, NO_DECISIONS)

    chosen = refit(DawidSkene(), drawn.labels, first, decide(drawn, 60))
    sampled = refit(DawidSkene(), drawn.labels, first, decide(drawn, 60, at_random=40))

    assert chosen.calibration is not None
    assert (chosen.calibration.sharpness, chosen.calibration.anchors) == (1.0, 0)
    assert sampled.calibration is not None
    assert sampled.calibration.anchors == 40
    assert sampled.calibration.sharpness > 1.05  # simulated annotators err independently


def test_without_recalibration_the_scale_stays_as_it_was() -> None:
    drawn = crowd()
    sampled = refit(DawidSkene(), drawn.labels, None, decide(drawn, 60, at_random=40))

    found = refit(DawidSkene(), drawn.labels, sampled, decide(drawn, 80, at_random=50), recalibrate=False)

    assert found.calibration is not None
    assert sampled.calibration is not None
    assert found.calibration.sharpness == sampled.calibration.sharpness
    assert found.calibration.anchors == 40


def test_the_own_posterior_may_be_kept() -> None:
    drawn = crowd()

    assert refit(DawidSkene(), drawn.labels, None, decide(drawn, 5), dependence=None).calibration is None
