"""Several methods: their order, their disputes, and when one is called better."""

from __future__ import annotations

import numpy as np
import pytest
from tests.report.small_crowds import estimate_with, inputs_by

from crowdlogic.data.corpus import documents
from crowdlogic.data.estimate import Answers
from crowdlogic.data.frames import from_dict
from crowdlogic.data.simulate import simulate_labels
from crowdlogic.reporting.findings import Urgency
from crowdlogic.reporting.inputs import Context, inputs_from_estimate
from crowdlogic.reporting.pages.comparison import ComparisonFindings, compute_comparison
from crowdlogic.truth.comparison import MethodResult, compare_methods
from crowdlogic.truth.methods import truth_method


def test_methods_are_ordered_by_gold_and_their_disputes_counted() -> None:
    made = simulate_labels(3, items=300, annotators=15, classes=3, hard=True)
    inputs = inputs_by("majority", made.labels, made.corpus)
    gold = Answers(made.labels.items, made.labels.classes, np.asarray(made.corpus.gold))
    compared = compare_methods([truth_method(n) for n in ("majority", "dawid-skene", "wawa")], made.labels, gold=gold)

    found = compute_comparison(Context(inputs=inputs, compared=compared))

    scores = {one.name: one.scores["accuracy"] for one in compared}
    assert [row.name for row in found.methods] == sorted(scores, key=lambda name: -scores[name])
    answers = np.stack([one.estimate.answer for one in compared])
    assert found.n_disputed == int((answers != answers[0]).any(axis=0).sum())
    a, b = (found.methods[n].name for n in (0, 1))
    by = {one.name: one.estimate.answer for one in compared}
    assert found.agreement[0][1] == pytest.approx((by[a] == by[b]).mean(), abs=1e-6)
    assert "Consider it." in found.findings[0].text


def compare_two(n: int, different: int, score: float, best: float) -> ComparisonFindings:
    """Our method against one that differs on so many of n items, with these scores."""
    labels = from_dict({f"u{i}": {"a": "x"} for i in range(n)}, classes=("x", "y"))
    beliefs = np.tile([1.0, 0.0], (n, 1))
    other = beliefs.copy()
    other[:different] = [0.0, 1.0]
    corpus = documents([f"u{i}" for i in range(n)], gold=["x"] * n)
    inputs = inputs_from_estimate(estimate_with(labels, beliefs), labels, corpus)
    compared = [
        MethodResult("by-hand", inputs.estimate, 0.1, {"accuracy": score}),
        MethodResult("rival", estimate_with(labels, other), 0.1, {"accuracy": best}),
    ]
    return compute_comparison(Context(inputs=inputs, compared=compared))


@pytest.mark.parametrize(
    ("best", "verdict", "severity"), [(0.839, "That may be chance", "know"), (0.841, "Consider it", "look")]
)
def test_a_method_is_better_beyond_two_standard_errors(best: float, verdict: str, severity: str) -> None:
    # They differ on 4 of 100: the standard error is sqrt(0.04 / 100) = 0.02.
    found = compare_two(100, 4, 0.8, best)

    (finding,) = [one for one in found.findings if one.about == "rival"]
    assert finding.text == (
        f"Of 2 methods rival scores best by gold: accuracy {100 * best:.1f}%, against 80.0% for by-hand. {verdict}."
    )
    assert finding.severity == severity


@pytest.mark.parametrize(("different", "severity"), [(5, Urgency.know), (6, Urgency.look)])
def test_disputes_call_for_a_look_above_five_percent(different: int, severity: Urgency) -> None:
    found = compare_two(100, different, 0.8, 0.7)

    (finding,) = [one for one in found.findings if one.about is None]
    assert (finding.severity, finding.text) == (
        severity,
        f"The 2 methods disagree on {different} answers ({different}%).",
    )


def test_without_other_methods_there_is_no_page() -> None:
    labels = from_dict({"u": {"a": "x"}})

    assert compute_comparison(Context(inputs=inputs_by("majority", labels))) is None
