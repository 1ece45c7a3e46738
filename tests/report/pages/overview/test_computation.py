"""The overview's figures against those worked out by hand."""

from __future__ import annotations

import pytest
from tests.report.small_crowds import context_of, estimate_with, small_crowd, small_inputs

from crowdlogic.data.simulate import simulate_ner
from crowdlogic.data.tagging import Scheme
from crowdlogic.metrics.spans import span_scores
from crowdlogic.report.findings import Severity, TaskKind
from crowdlogic.report.inputs import inputs_from_estimate
from crowdlogic.report.pages.overview.computation import compute_overview
from crowdlogic.report.pages.overview.findings import ClassShare
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


def test_the_score_counts_ties_half_and_stands_beside_the_vote() -> None:
    (score,) = compute_overview(context_of(small_inputs(["x", "y", "y", "x"]))).scores

    # x right, u2 wrong, y right, a tie that is half right; by votes u4 is y, and so wrong.
    assert (score.name, score.figure.value, score.majority, score.n) == ("accuracy", 2.5 / 4, 0.5, 4)
    assert score.figure.low is not None
    assert score.figure.high is not None
    assert 0 < score.figure.low < 2.5 / 4 < score.figure.high < 1


def test_calibration_bins_hold_confidence_and_the_share_that_is_right() -> None:
    found = compute_overview(context_of(small_inputs(["x", "y", "y", "x"])))

    filled = {(one.low, one.n, one.confidence, one.accuracy) for one in found.calibration if one.n}
    assert filled == {(0.5, 1, 0.5, 0.5), (0.8, 1, 0.8, 0.0), (0.9, 2, 0.945, 1.0)}
    assert found.calibration_error == pytest.approx((0.8 + 0.1 + 0.01 + 0) / 4, abs=1e-6)


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

    (finding,) = [one for one in found.findings if one.severity is Severity.act]
    assert finding.text == "by-hand stopped before it converged: allow more iterations before relying on it."
