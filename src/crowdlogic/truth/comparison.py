"""Comparison of several methods on the same labels: agreement, run time and scores."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from crowdlogic.data.corpus import Corpus
from crowdlogic.data.estimate import Answers, Estimate, align_answers, answers_from_estimate
from crowdlogic.data.frames import as_labels
from crowdlogic.data.labels import CrowdLabels
from crowdlogic.errors import ConvergenceWarning, OptionError
from crowdlogic.numerics.arrays import Floats
from crowdlogic.truth.fitting import DEFAULT_FIT, Fitting
from crowdlogic.truth.methods import TruthMethod, as_answers, as_truth_method, infer_truth


@dataclass(frozen=True, eq=False)
class MethodResult:
    """Estimate of one method, its run time and its scores.

    Attributes:
        name: Name of the method.
        estimate: Estimate of the method.
        seconds: Run time.
        scores: Scores by name, the most important one first (`metrics.scores.headline_scores`); empty without gold.
    """

    name: str
    estimate: Estimate
    seconds: float
    scores: dict[str, float]


def compare_methods(
    methods: Sequence[TruthMethod | str],
    labels: Any,
    corpus: Corpus | None = None,
    *,
    gold: Any = None,
    fitting: Fitting = DEFAULT_FIT,
    infer: Callable[[TruthMethod], Estimate] | None = None,
) -> list[MethodResult]:
    """Run several methods on the same labels. Methods that do not converge give no warning; see `estimate.converged`.

    Args:
        methods: Methods, or their names.
        labels: CrowdLabels, or a frame of labels.
        corpus: The items, for methods that look at words.
        gold: True classes: Answers, a frame with item and label, {item: class}, or a Corpus with gold.
        fitting: Options of the fits.
        infer: Function that fits a method to the labels; None for the method's own `infer`.
    """
    if isinstance(methods, CrowdLabels) or hasattr(methods, "columns"):
        raise OptionError("compare_methods: got labels instead of methods. Write compare_methods(methods, labels).")
    labels = as_labels(labels, "compare_methods")
    gold = None if gold is None else as_answers(gold, "compare_methods")
    found = []
    several = list(methods) if isinstance(methods, Iterable) and not isinstance(methods, str) else [methods]
    for method in [as_truth_method(one) for one in several]:
        begin = time.perf_counter()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            estimate = infer_truth(method, labels, corpus, fitting=fitting) if infer is None else infer(method)
        seconds = time.perf_counter() - begin
        found.append(
            MethodResult(method.name, estimate, seconds, {} if gold is None else score_estimate(estimate, gold))
        )
    return found


def score_estimate(estimate: Estimate, gold: Answers) -> dict[str, float]:
    """Return the scores of an estimate by name: accuracy (F1 by both schemes for span tags), and the coverage."""
    from crowdlogic.metrics.scores import headline_scores

    return headline_scores(align_answers(answers_from_estimate(estimate, "the answers"), gold))


def shown_scores(compared: Sequence[MethodResult]) -> list[str]:
    """Return the names of the scores to show, without those about coverage if every method answers all items."""
    from crowdlogic.metrics.scores import ACCURACY_ALL, COVERAGE

    names = list(compared[0].scores) if compared else []
    if all(one.scores.get(COVERAGE) == 1.0 for one in compared):
        return [name for name in names if name not in (COVERAGE, ACCURACY_ALL)]
    return names


def pairwise_agreement(compared: Sequence[MethodResult]) -> Floats:
    """Return the share of equal answers for each pair of methods, among units that both answer."""
    agreement = np.ones((len(compared), len(compared)))
    for a, one in enumerate(compared):
        for b, two in enumerate(compared):
            both = one.estimate.answered & two.estimate.answered
            same = np.count_nonzero(both & (one.estimate.answer == two.estimate.answer))
            agreement[a, b] = same / max(int(np.count_nonzero(both)), 1)
    return agreement
