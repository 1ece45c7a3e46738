"""The overview's figures against those worked out by hand."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import beta
from tests.report.small_crowds import context_of, estimate_with, small_crowd, small_inputs

from crowdlogic.data.estimate import Calibration
from crowdlogic.data.simulate import simulate_ner
from crowdlogic.data.tagging import Scheme
from crowdlogic.metrics.spans import span_scores
from crowdlogic.reporting.findings import Quantity, TaskKind, Urgency
from crowdlogic.reporting.inputs import inputs_from_estimate
from crowdlogic.reporting.pages.overview import (
    ClassShare,
    Coefficient,
    agreement_finding,
    balance_findings,
    compute_overview,
    score_findings,
    volume_findings,
)
from crowdlogic.truth.methods import truth_method


def test_counts_are_those_of_the_labels() -> None:
    found = compute_overview(context_of(small_inputs()))

    assert (found.task, found.n_items, found.n_units, found.n_annotators, found.n_labels) == (
        TaskKind.documents,
        4,
        4,
        3,
        9,
    )
    assert (found.n_unlabelled, found.n_single, found.mean_labels_per_item) == (0, 1, 2.25)
    assert found.labels_per_item.edges == (0.0, 1.0, 2.0, 3.0, 4.0)
    assert found.labels_per_item.counts == (0, 1, 1, 2)


def test_classes_are_shared_among_votes_answers_beliefs_and_gold() -> None:
    found = compute_overview(context_of(small_inputs(["x", "x", "y", None])))

    # 5 votes for x of 9; answers x, x, y, x (a tie goes to the first); beliefs in x 0.99 + 0.8 + 0.1 + 0.5 over 4.
    assert found.classes == (
        ClassShare(
            name="x",
            votes=5,
            vote_share=round(5 / 9, 6),
            answers=3,
            posterior_share=round(2.39 / 4, 6),
            gold_share=round(2 / 3, 6),
        ),
        ClassShare(
            name="y",
            votes=4,
            vote_share=round(4 / 9, 6),
            answers=1,
            posterior_share=round(1.61 / 4, 6),
            gold_share=round(1 / 3, 6),
        ),
    )


def test_the_score_is_of_the_answers_and_stands_beside_the_vote() -> None:
    (score,) = compute_overview(context_of(small_inputs(["x", "y", "y", "x"]))).scores

    # u1 is right, u2 wrong, u3 right; u4 is a tie, answered x, which is right; by votes u4 is y, and so wrong.
    assert (score.name, score.figure.value, score.majority, score.n) == ("accuracy", 3 / 4, 0.5, 4)
    assert score.figure.low is not None
    assert score.figure.high is not None
    assert 0 < score.figure.low < 3 / 4 < score.figure.high < 1


def test_calibration_bins_hold_confidence_and_the_share_that_is_right() -> None:
    found = compute_overview(context_of(small_inputs(["x", "y", "y", "x"])))

    filled = {(one.low, one.n, one.confidence, one.accuracy) for one in found.calibration if one.n}
    assert filled == {(0.5, 1, 0.5, 0.5), (0.8, 1, 0.8, 0.0), (0.9, 2, 0.945, 1.0)}
    assert found.calibration_error == pytest.approx((0.8 + 0.1 + 0.01 + 0) / 4, abs=1e-6)


def test_the_share_that_is_right_has_its_interval() -> None:
    found = compute_overview(context_of(small_inputs(["x", "x", "y", "y"])))

    for one in found.calibration:
        if one.n:
            right = one.accuracy * one.n
            low, high = beta.ppf([0.025, 0.975], right + 0.5, one.n - right + 0.5)
            assert (one.accuracy_low, one.accuracy_high) == (
                pytest.approx(low, abs=1e-6),
                pytest.approx(high, abs=1e-6),
            )


def test_what_the_confidence_rests_on_is_said_where_it_is_calibrated() -> None:
    made = small_inputs()
    calibration = Calibration(source="eleven public data sets", correlation=0.5, doubt=0.02)
    stated = replace(made, estimate=replace(made.estimate, calibration=calibration))

    assert compute_overview(context_of(made)).confidence_source is None
    assert (
        compute_overview(context_of(stated)).confidence_source
        == "if your annotators share mistakes as those of eleven public data sets do"
    )


def test_spans_are_scored_as_spans() -> None:
    made = simulate_ner(1, items=60, annotators=6)
    estimate = truth_method("dawid-skene").infer(made.labels)

    found = compute_overview(context_of(inputs_from_estimate(estimate, made.labels, made.corpus)))

    assert found.task is TaskKind.spans
    assert [score.name for score in found.scores] == ["F1 conll", "F1 strict"]
    for score, scheme in zip(found.scores, Scheme, strict=True):
        expected = span_scores(
            made.corpus.gold, estimate.answer, made.corpus.offsets, made.labels.classes, scheme=scheme
        )
        assert score.figure.value == pytest.approx(expected.f1, abs=1e-6)
        assert score.n == expected.n_gold


def test_a_method_that_did_not_settle_calls_for_action() -> None:
    labels = small_crowd()

    found = compute_overview(context_of(inputs_from_estimate(estimate_with(labels, converged=False), labels)))

    (finding,) = [one for one in found.findings if one.severity is Urgency.act]
    assert finding.text == "by-hand did not converge: allow more iterations before relying on it."


def coefficient(alpha: float) -> Coefficient:
    return Coefficient(name="alpha", title="alpha", figure=Quantity(alpha), level=0.95, reason=None)


@pytest.mark.parametrize(
    ("alpha", "how", "severity"),
    [
        (0.399, "poorly", Urgency.look),
        (0.4, "moderately", Urgency.know),
        (0.666, "moderately", Urgency.know),
        (0.667, "well", Urgency.know),
    ],
)
def test_agreement_is_poor_moderate_or_good(alpha: float, how: str, severity: Urgency) -> None:
    found = agreement_finding(small_inputs(), coefficient(alpha))

    assert found.text == (
        f"4 items, 9 labels by 3 annotators. They agree {how}: where 0 is guessing and 1 is full agreement they reach "
        f"{alpha:.2f} (Krippendorff's alpha)."
    )
    assert found.severity is severity


@pytest.mark.parametrize(("error", "is_said"), [(0.1, False), (0.101, True)])
def test_a_calibration_error_above_ten_points_is_said(error: float, is_said: bool) -> None:
    texts = [one.text for one in score_findings(small_inputs(), (), error)]

    assert texts == (
        ["Confidences are off by 10% on average, measured by gold: do not take them literally."] if is_said else []
    )


@pytest.mark.parametrize(("votes", "how"), [(0.599, None), (0.601, "too often"), (0.399, "too seldom"), (0.401, None)])
def test_a_class_is_pointed_out_where_labels_and_beliefs_differ_by_more_than_ten_points(
    votes: float, how: str | None
) -> None:
    shares = [("x", votes), ("y", 1 - votes)]
    classes = tuple(
        ClassShare(name=name, votes=1, vote_share=share, answers=1, posterior_share=0.5, gold_share=None)
        for name, share in shares
    )

    found = [one.text for one in balance_findings(classes)]

    assert len(found) == (how is not None)
    assert how is None or f"some annotators give it {how}." in found[0]


@pytest.mark.parametrize(("single", "severity"), [(2, Urgency.know), (3, Urgency.look)])
def test_items_with_one_annotator_call_for_a_look_where_they_are_most(single: int, severity: Urgency) -> None:
    (found,) = volume_findings(np.array([1] * single + [2] * (4 - single)))

    assert found.severity is severity
    assert found.text == (
        f"{single} items of 4 have a single annotator, so nobody else confirms or contradicts the label."
    )
