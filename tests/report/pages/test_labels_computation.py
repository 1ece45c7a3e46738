"""Which labels to check: counts by hand, orders by brute force."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from tests.report.small_crowds import context_of, estimate_with, small_inputs

from crowdlogic.confidence.expected_accuracy import describe_mistakes, expected_accuracy
from crowdlogic.data.corpus import documents
from crowdlogic.data.estimate import Calibration
from crowdlogic.data.frames import from_dict
from crowdlogic.data.simulate import simulate_ner
from crowdlogic.reporting.findings import Urgency
from crowdlogic.reporting.inputs import ReportInputs, annotator_verdicts, inputs_from_estimate
from crowdlogic.reporting.pages.labels import Belief, Vote, compute_labels, price_thresholds
from crowdlogic.truth.methods import truth_method


def test_expected_mistakes_are_the_missing_confidence() -> None:
    found = compute_labels(context_of(small_inputs()))

    assert (found.n_answered, found.n_unanswered, found.n_tied) == (4, 0, 1)
    assert found.expected_wrong == pytest.approx(0.01 + 0.2 + 0.1 + 0.5)
    assert found.expected_wrong_share == pytest.approx(0.81 / 4, abs=1e-6)


def test_thresholds_say_what_checking_below_them_finds() -> None:
    rows = {row.confidence: row for row in price_thresholds(np.array([0.99, 0.8, 0.9, 0.5]))}

    assert (rows[0.5].n_below, rows[0.5].share_found) == (0, 0.0)
    assert (rows[0.8].n_below, rows[0.8].expected_wrong) == (1, 0.5)
    assert (rows[0.9].n_below, rows[0.9].expected_wrong) == (2, pytest.approx(0.7))
    assert rows[0.99].share_found == pytest.approx(0.8 / 0.81, abs=1e-6)


def test_the_most_doubtful_item_comes_first_with_its_votes() -> None:
    made = small_inputs(["x", "x", "y", "y"])

    found = compute_labels(context_of(made, text=2, items=2))

    assert ([one.name for one in found.doubts], found.n_doubts) == (["u4", "u2"], 4)
    second = found.doubts[1]
    assert (second.answer, second.confidence, second.expected_wrong, second.gold) == ("x", 0.8, 0.2, "x")
    reliability = [round(float(one), 6) for one in annotator_verdicts(context_of(made)).scores.reliability]
    assert second.votes == tuple(
        Vote(annotator=name, label=label, weight=1.0, reliability=right)
        for name, label, right in zip(("ann", "bob", "cat"), ("x", "y", "x"), reliability, strict=True)
    )
    assert second.beliefs == (Belief(name="x", share=0.8), Belief(name="y", share=0.2))
    assert (second.text, second.is_cut) == ("tw", True)


def test_gold_is_doubted_only_where_the_answer_is_sure_of_another() -> None:
    made = small_inputs(["y", "y", "y", "y"])

    found = compute_labels(context_of(made))

    # u1 is x with 0.99; u2 is x with 0.8 only.
    assert [(one.name, one.answer, one.gold) for one in found.gold_mistakes] == [("u1", "x", "y")]
    assert any(one.text.startswith("Check the gold of 1 item: ") for one in found.findings)


def test_a_sentence_is_as_doubtful_as_its_tokens_together() -> None:
    made = simulate_ner(2, items=30, annotators=5)
    estimate = truth_method("dawid-skene").infer(made.labels)

    found = compute_labels(context_of(inputs_from_estimate(estimate, made.labels, made.corpus)))

    wrong = 1 - estimate.beliefs.max(axis=1)
    sums = {
        str(n): wrong[a:b].sum() for n, (a, b) in zip(made.labels.items, pairwise(made.labels.offsets), strict=True)
    }
    assert [one.name for one in found.doubts] == sorted((n for n in sums if sums[n] > 1e-6), key=lambda n: -sums[n])
    for one in found.doubts:
        begin = made.labels.offsets[made.labels.items.to_list().index(one.name)]
        length = one.sentence.n_tokens
        assert one.expected_wrong == pytest.approx(sums[one.name], abs=1e-6)
        assert wrong[begin + one.token] == wrong[begin : begin + length].max()


def inputs_with(confidence: list[float], gold: list[str] | None = None) -> ReportInputs:
    """A label x for each item, believed with these confidences."""
    names = [f"u{i}" for i in range(len(confidence))]
    labels = from_dict({name: {"a": "x"} for name in names}, classes=("x", "y"))
    beliefs = np.array([[one, 1 - one] for one in confidence])
    return inputs_from_estimate(estimate_with(labels, beliefs), labels, documents(names, gold=gold))


@pytest.mark.parametrize(("wrong", "severity"), [(0.049, Urgency.look), (0.051, Urgency.act)])
def test_more_than_five_percent_of_expected_mistakes_call_for_action(wrong: float, severity: Urgency) -> None:
    found = compute_labels(context_of(inputs_with([1 - wrong] * 100)))

    (finding,) = [one for one in found.findings if "should be wrong" in one.text]
    assert finding.text.startswith(
        f"About {100 * wrong:.1f} of 100 labels should be wrong by the method's own confidence, which mostly claims too much"
    )
    assert finding.severity is severity


def test_calibrated_mistakes_have_an_interval_and_say_what_they_rest_on() -> None:
    labels = from_dict({f"u{i}": {"a": "x"} for i in range(100)}, classes=("x", "y"))
    calibration = Calibration(
        source="eleven public data sets", correlation=0.5, doubt=0.02, fewest_wrong=3.0, most_wrong=21.0
    )
    estimate = replace(estimate_with(labels, np.tile([0.9, 0.1], (100, 1))), calibration=calibration)

    found = compute_labels(context_of(inputs_from_estimate(estimate, labels, None)))

    assert found.findings[0].text.startswith(
        "About 10 of 100 labels are likely wrong: 3 if annotators err independently, 21 if they share their mistakes"
    )


def test_likely_mistakes_are_counted_among_the_labels_whose_truth_is_not_known_as_aggregate_counts_them() -> None:
    labels = from_dict({f"u{i}": {"a": "x"} for i in range(100)}, classes=("x", "y"))
    beliefs = np.array([[1.0, 0.0]] * 30 + [[0.9, 0.1]] * 70)
    calibration = Calibration(
        source="30 known", correlation=0.5, doubt=0.02, fewest_wrong=2.0, most_wrong=15.0, checked=30
    )
    estimate = replace(estimate_with(labels, beliefs), calibration=calibration)
    expected = expected_accuracy(estimate)
    assert expected is not None

    found = compute_labels(context_of(inputs_from_estimate(estimate, labels, None)))

    few, many = expected.mistakes
    assert describe_mistakes(expected).startswith(
        f"About 7 of 70 labels are likely wrong (95% interval: {few} to {many}), judging by 30 items"
    )
    assert found.findings[0].text.startswith(
        f"About 7 of 70 labels whose truth is not known (that of 30 is) are likely wrong (95% interval: {few} to {many}), judging by 30 items "
        f"labelled at random"
    )


@pytest.mark.parametrize(("n_unsure", "below"), [(10, 0.6), (9, 0.99)])
def test_the_sentence_the_chart_and_the_list_have_one_threshold(n_unsure: int, below: float) -> None:
    found = compute_labels(context_of(inputs_with([0.55] * n_unsure + [0.97] * 150 + [1.0] * 9)))

    edges, counts = np.array(found.confidence.edges), np.array(found.confidence.counts)
    n_below = n_unsure + 150 * (below == 0.99)
    assert found.check_below == below
    assert f"Check the {n_below} below {100 * below:.0f}% confidence" in found.findings[0].text
    assert counts[edges[1:] <= below + 1e-9].sum() == n_below
    assert counts.sum() == n_unsure + 159


def test_where_everything_or_nothing_is_to_be_checked_there_is_no_threshold() -> None:
    unsure, certain = (compute_labels(context_of(inputs_with([one] * 10))) for one in (0.55, 1.0))

    assert (unsure.check_below, certain.check_below) == (None, None)


@pytest.mark.parametrize(("n_tied", "severity"), [(5, Urgency.know), (6, Urgency.look)])
def test_more_than_five_percent_of_ties_call_for_a_look(n_tied: int, severity: Urgency) -> None:
    found = compute_labels(context_of(inputs_with([0.5] * n_tied + [0.9] * (100 - n_tied))))

    (finding,) = [one for one in found.findings if "tie" in one.text]
    assert finding.text == f"{n_tied} labels are a mere tie between classes: another vote would decide each."
    assert finding.severity is severity


@pytest.mark.parametrize(("confidence", "n_suspects"), [(0.949, 0), (0.95, 1)])
def test_gold_is_suspect_from_95_percent_confidence_on(confidence: float, n_suspects: int) -> None:
    found = compute_labels(context_of(inputs_with([confidence, 0.6], ["y", "y"])))

    assert found.n_gold_mistakes == n_suspects


@pytest.mark.parametrize(("denied", "is_overconfident"), [(10, False), (11, True)])
def test_sure_answers_denied_more_than_twice_as_often_as_expected_are_overconfident(
    denied: int, is_overconfident: bool
) -> None:
    gold = ["y"] * denied + ["x"] * (100 - denied)

    found = compute_labels(context_of(inputs_with([0.99] * 100, gold)))

    (finding,) = [one for one in found.findings if one.text.startswith("Check the gold")]
    assert ("many will be the method's own mistakes" in finding.text) is is_overconfident


@pytest.mark.parametrize(("n_unsure", "threshold"), [(10, "60%"), (9, "99%")])
def test_the_lowest_threshold_with_half_of_the_mistakes_is_named(n_unsure: int, threshold: str) -> None:
    # Each of the unsure is wrong with 0.45, so that ten make 4.5; all others together make 4.5.
    found = compute_labels(context_of(inputs_with([0.55] * n_unsure + [0.97] * 150 + [1.0] * 9)))

    assert f"Check the {n_unsure + 150 * (threshold == '99%')} below {threshold} confidence: " in found.findings[0].text


@pytest.mark.parametrize(("doubt", "n_doubts"), [(0.9e-6, 0), (1.1e-6, 1)])
def test_one_mistake_in_a_million_is_no_doubt(doubt: float, n_doubts: int) -> None:
    assert compute_labels(context_of(inputs_with([1 - doubt]))).n_doubts == n_doubts


def test_thresholds_are_those_that_are_published() -> None:
    assert [row.confidence for row in price_thresholds(np.array([0.5]))] == [0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99]
    # A confidence at the threshold does not lie below it.
    assert [row.n_below for row in price_thresholds(np.array([0.8]))] == [0, 0, 0, 0, 1, 1, 1]
