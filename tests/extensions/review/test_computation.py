"""The page of the plan."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from crowdlogic.confidence.annotator_verdicts import askable, judge_annotators
from crowdlogic.confidence.calibration import infer_calibrated
from crowdlogic.data.simulate.crowds import label_truth, simulate_crowd
from crowdlogic.data.wording import list_names
from crowdlogic.extensions.review.next import annotator_skills, choose_next
from crowdlogic.extensions.review.plan_page import MAX_ITEMS, compute_plan
from crowdlogic.reporting.inputs import Context, ReportInputs
from crowdlogic.truth.pool import Ensemble


def inputs(units: int = 400) -> ReportInputs:
    labels = simulate_crowd(np.random.default_rng(0), units=units, annotators=20, classes=3, labels_per_unit=4).labels
    return ReportInputs(labels=labels, estimate=infer_calibrated(Ensemble(), labels))


def test_the_page_shows_the_plan_of_the_command() -> None:
    given = inputs()
    available, _ = askable(given.labels, judge_annotators(given.labels, given.estimate))
    skills = annotator_skills(given.labels, given.estimate, available=available)
    batch = choose_next(given.labels, given.estimate, skills)

    found = compute_plan(Context(inputs=given))

    assert found is not None
    assert found.n_labels == len(batch.item) > 0
    assert found.n_items == len(np.unique(batch.item))
    assert len(found.items) == min(MAX_ITEMS, found.n_items)
    first = found.items[0]
    asked = [str(given.labels.annotators[j]) for j in batch.annotator[batch.item == batch.item[0]].tolist()]
    assert (first.item, list(first.annotators)) == (str(given.labels.items[int(batch.item[0])]), asked)


def test_the_curve_rises_and_decisions_gain_more_than_votes() -> None:
    given = inputs()

    found = compute_plan(Context(inputs=given))

    assert found is not None
    votes = np.array([point.votes for point in found.forecast])
    decisions = np.array([point.decisions for point in found.forecast])
    assert votes[0] == decisions[0] == pytest.approx(given.estimate.confidence.mean(), abs=1e-6)
    assert (np.diff(votes) > 0).all()
    assert (decisions[1:] > votes[1:]).all()
    assert decisions.max() <= 1.0


def test_where_no_label_is_worth_it_the_page_says_so() -> None:
    labels = simulate_crowd(np.random.default_rng(0), units=40, annotators=30, classes=2, labels_per_unit=25).labels
    given = ReportInputs(labels=labels, estimate=infer_calibrated(Ensemble(), labels))

    found = compute_plan(Context(inputs=given))

    assert found is not None
    assert (found.n_labels, found.items) == (0, ())
    assert any(one.text.startswith("Stop buying labels: ") for one in found.findings)


def test_there_is_no_plan_without_a_stated_confidence_nor_for_tags() -> None:
    given = inputs(60)
    offsets = np.array([0, 3, 6])
    tags = label_truth(np.random.default_rng(0), np.zeros(6, dtype=np.int32), 2, annotators=3, offsets=offsets).labels
    tagged = ReportInputs(labels=tags, estimate=infer_calibrated(Ensemble(), tags))

    own = replace(given, estimate=replace(given.estimate, calibration=None))

    assert compute_plan(Context(inputs=own)) is None
    assert compute_plan(Context(inputs=tagged)) is None


def test_who_is_flagged_is_not_asked_and_the_page_says_so() -> None:
    given = inputs()
    verdicts = judge_annotators(given.labels, given.estimate)
    flagged = [str(given.labels.annotators[int(j)]) for j in np.flatnonzero(verdicts.distrusted())]

    found = compute_plan(Context(inputs=given))

    assert found is not None
    assert flagged
    assert not {name for one in found.items for name in one.annotators} & set(flagged)
    assert [one.text for one in found.findings if "not asked" in one.text] == [
        f"{list_names(flagged)} {'is' if len(flagged) == 1 else 'are'} not asked for more labels: see the page on "
        f"annotators for the reasons."
    ]
