"""Which labels to check: counts by hand, orders by brute force."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from tests.report.small_crowds import context_of, estimate_with, small_inputs

from crowdlogic.data.corpus import sentences
from crowdlogic.data.frames import from_sequences
from crowdlogic.data.simulate import simulate_ner
from crowdlogic.report.inputs import inputs_from_estimate
from crowdlogic.report.pages.labels.computation import compute_labels, price_thresholds
from crowdlogic.report.pages.labels.findings import Belief, Span, Vote
from crowdlogic.report.reliability import score_annotators
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
    reliability = [round(float(one), 6) for one in score_annotators(context_of(made)).reliability]
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


def test_everybodys_spans_of_a_sentence_are_shown() -> None:
    corpus = sentences(["s"], [["Ann", "met", "New", "York"]], gold=[["B-PER", "O", "B-LOC", "I-LOC"]])
    labels = from_sequences(
        [("s", "a", ["B-PER", "O", "B-LOC", "I-LOC"]), ("s", "b", ["O", "O", "O", "B-LOC"])],
        classes=["B-LOC", "B-PER", "I-LOC", "O"],
    )
    beliefs = np.eye(4)[[1, 3, 0, 2]] * 0.7 + 0.075
    made = inputs_from_estimate(estimate_with(labels, beliefs), labels, corpus)

    (one,) = compute_labels(context_of(made)).doubts

    assert one.sentence.tokens == ("Ann", "met", "New", "York")
    assert (
        one.sentence.consensus
        == one.sentence.gold
        == (Span(start=0, end=1, kind="PER"), Span(start=2, end=4, kind="LOC"))
    )
    assert [(r.annotator, r.spans) for r in one.sentence.readings] == [
        ("a", (Span(start=0, end=1, kind="PER"), Span(start=2, end=4, kind="LOC"))),
        ("b", (Span(start=3, end=4, kind="LOC"),)),
    ]
    assert one.sentence.confidence == (0.775, 0.775, 0.775, 0.775)
