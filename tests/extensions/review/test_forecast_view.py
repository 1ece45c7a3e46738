"""What a forecast counts with."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from crowdlogic.confidence.calibration import infer_calibrated
from crowdlogic.data.estimate import Estimate
from crowdlogic.data.labels import CrowdLabels
from crowdlogic.data.simulate.crowds import simulate_crowd, simulate_hard_crowd
from crowdlogic.extensions.review.next import (
    FORECAST_SHARED,
    SHARED_DOUBT,
    Skills,
    annotator_skills,
    batch_gains,
    choose_next,
    forecast_view,
    pick_items,
    read_labels_by,
    spread,
    usable_gains,
)
from crowdlogic.numerics.arrays import Floats
from crowdlogic.truth.dawid_skene import DawidSkene
from crowdlogic.truth.fitting import Fitting
from crowdlogic.truth.pool import Ensemble


def plan(labels: CrowdLabels, *, pooled: bool = True) -> tuple[Estimate, Skills]:
    estimate = infer_calibrated(Ensemble() if pooled else DawidSkene(), labels)
    return estimate, annotator_skills(labels, estimate)


def crowd() -> CrowdLabels:
    return simulate_crowd(np.random.default_rng(0), units=300, annotators=15, classes=3, labels_per_unit=4).labels


def posterior_by_hand(labels: CrowdLabels, skills: Skills, unit: int) -> Floats:
    """Bayes' rule, label by label."""
    q = skills.prior.copy()
    for row in np.flatnonzero(labels.unit == unit).tolist():
        q *= skills.confusion[labels.annotator[row], :, labels.label[row]]
    return np.asarray(q / q.sum())


def test_labels_are_read_by_bayes_rule_on_the_stated_scale() -> None:
    labels = crowd()
    estimate, skills = plan(labels)
    scale = estimate.calibration
    assert scale is not None

    found = read_labels_by(labels, estimate, skills)
    plain = read_labels_by(labels, replace(estimate, calibration=None), skills)

    n = labels.labels_per_unit()
    for unit in range(5):
        q = posterior_by_hand(labels, skills, unit)
        np.testing.assert_allclose(plain[unit], q, rtol=1e-6)
        flat = q ** (1 / (1 + scale.correlation * (n[unit] - 1)))
        np.testing.assert_allclose(found[unit], (1 - scale.doubt) * flat / flat.sum() + scale.doubt / 3, rtol=1e-6)


def test_the_view_is_half_way_between_what_is_stated_and_what_is_read() -> None:
    labels = crowd()
    estimate, skills = plan(labels)

    seen, _ = forecast_view(labels, estimate, skills)

    def odds(q: Floats) -> Floats:
        return np.asarray(np.log(q[:, 0] / q[:, 1]))

    read = read_labels_by(labels, estimate, skills)
    np.testing.assert_allclose(odds(seen.beliefs), 0.5 * (odds(estimate.beliefs) + odds(read)), atol=1e-9)
    np.testing.assert_allclose(seen.beliefs.sum(axis=1), 1.0)


def test_doubt_that_the_confusion_matrices_settle_is_not_foretold_to_be_removed() -> None:
    """Where many answer against the truth, the vote within the ensemble is unsure of what their matrices settle."""
    rng = np.random.default_rng(4)
    drawn = simulate_hard_crowd(rng, rng.integers(3, size=3000).astype(np.int32), 3, annotators=60)
    estimate = Ensemble(dependence=None).infer(drawn.labels)
    skills = annotator_skills(drawn.labels, estimate)

    seen, _ = forecast_view(drawn.labels, estimate, skills)

    mistakes = (estimate.answer != drawn.truth).sum()
    stated, foretold = ((1.0 - q.max(axis=1)).sum() for q in (estimate.beliefs, seen.beliefs))
    assert abs(foretold - mistakes) < 0.5 * abs(stated - mistakes)


def test_a_known_truth_stays_known() -> None:
    labels = crowd()
    fitting = Fitting(anchors={labels.items[3]: labels.classes[1]})
    estimate = infer_calibrated(DawidSkene(), labels, fitting=fitting)

    seen, _ = forecast_view(labels, estimate, annotator_skills(labels, estimate))

    assert seen.beliefs[3].tolist() == pytest.approx([0.0, 1.0, 0.0])


def test_what_knows_the_items_keeps_what_it_states() -> None:
    labels = crowd()
    estimate, skills = plan(labels)
    learned = replace(estimate, method="logic-lncl")

    seen, view = forecast_view(labels, learned, skills)

    assert seen is learned
    assert view.shared == FORECAST_SHARED > SHARED_DOUBT == skills.shared


def test_the_labels_that_are_chosen_do_not_depend_on_the_view() -> None:
    labels = crowd()
    estimate, skills = plan(labels)

    batch = choose_next(labels, estimate, skills, count=60)

    wanted = pick_items(spread(usable_gains(labels, estimate, skills)), 60)
    assert sorted(batch.item.tolist()) == sorted(wanted.tolist())
    foretold = batch_gains(labels, estimate, skills, batch.item, batch.annotator)
    np.testing.assert_allclose(batch.gain, foretold)
