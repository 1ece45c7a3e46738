"""Several methods on the same labels, side by side: agreement, run time and scores."""

from __future__ import annotations

import time
import warnings
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from crowdlogic.data.answers import Answers, align_answers, answers_from_estimate
from crowdlogic.data.corpus import Corpus
from crowdlogic.data.estimate import Estimate
from crowdlogic.data.labels import CrowdLabels
from crowdlogic.data.tagging import Scheme, is_span_tag_set
from crowdlogic.errors import ConvergenceWarning
from crowdlogic.metrics.scores import TieCredit, accuracy
from crowdlogic.metrics.spans import span_scores
from crowdlogic.numerics.arrays import Floats
from crowdlogic.truth.fitting import DEFAULT_FIT, Fitting
from crowdlogic.truth.methods import TruthMethod, infer_truth


@dataclass(frozen=True, eq=False)
class MethodResult:
    """The estimate of one method, its run time and its scores.

    Attributes:
        name: The method.
        estimate: Its estimate.
        seconds: Run time.
        scores: Accuracy with ties counted half, or for span tags the F1 under both schemes; empty without gold.
    """

    name: str
    estimate: Estimate
    seconds: float
    scores: dict[str, float]


def compare_methods(
    methods: Sequence[TruthMethod],
    labels: CrowdLabels,
    corpus: Corpus | None = None,
    *,
    gold: Answers | None = None,
    fitting: Fitting = DEFAULT_FIT,
) -> list[MethodResult]:
    """Run each method. A fit that does not converge gives no warning; see `estimate.converged`."""
    found = []
    for method in methods:
        begin = time.perf_counter()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            estimate = infer_truth(method, labels, corpus, fitting=fitting)
        seconds = time.perf_counter() - begin
        found.append(
            MethodResult(method.name, estimate, seconds, {} if gold is None else score_estimate(estimate, gold))
        )
    return found


def score_estimate(estimate: Estimate, gold: Answers) -> dict[str, float]:
    """Accuracy with ties counted half; for span tags the F1 of whole spans, as conlleval counts and strictly."""
    pair = align_answers(answers_from_estimate(estimate, "the answers"), gold)
    if pair.offsets is None:
        return {"accuracy": accuracy(pair.gold, pair.predicted, beliefs=pair.beliefs, ties=TieCredit.half)}
    if not is_span_tag_set(pair.classes):
        return {"accuracy": accuracy(pair.gold, pair.predicted)}
    return {
        f"F1 {scheme}": span_scores(pair.gold, pair.predicted, pair.offsets, pair.classes, scheme=scheme).f1
        for scheme in Scheme
    }


def pairwise_agreement(compared: Sequence[MethodResult]) -> Floats:
    """The share of units that two methods answer alike, among those that both answer; a matrix over the methods."""
    agreement = np.ones((len(compared), len(compared)))
    for a, one in enumerate(compared):
        for b, two in enumerate(compared):
            both = one.estimate.answered & two.estimate.answered
            same = np.count_nonzero(both & (one.estimate.answer == two.estimate.answer))
            agreement[a, b] = same / max(int(np.count_nonzero(both)), 1)
    return agreement
