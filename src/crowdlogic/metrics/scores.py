"""Scores of answers against gold: accuracy, F1, and all scores at once.

All accuracies in the package are computed here, by one policy (docs/decisions/0047):

- Answers are scored as they were given. Ties were broken when the answers were chosen, so a file of answers has the
  same scores as the estimate from which it was written.
- `accuracy` is over the units that have gold and an answer, and `coverage` is their share of the units with gold.
  `accuracy_all` is over all units with gold, where a missing answer counts as wrong. In a partly answered sentence,
  tokens without an answer count as wrong in both.
- `accuracy_ties_half` counts 1/t for a tie among t classes, for comparison with published figures.

Axes: i unit, k class. A unit whose gold is UNKNOWN is not scored. The scores of beliefs are in `calibration`.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from crowdlogic.data.corpus import UNKNOWN
from crowdlogic.data.estimate import NO_ANSWER, AlignedAnswers, Beliefs
from crowdlogic.data.tagging import Scheme, is_span_tag_set
from crowdlogic.metrics.calibration import (
    brier,
    calibration_error,
    check_beliefs,
    find_scored,
    log_loss,
    mean_or_nan,
    tie_credit,
)
from crowdlogic.numerics.arrays import Ints

COVERAGE, ACCURACY_ALL = "coverage", "accuracy_all"
"""Names of the scores that are only relevant if some units have no answer."""


class Unanswered(StrEnum):
    """Treatment of units with gold but without an answer."""

    skip = "skip"
    """Exclude them; the coverage is the share of scored units."""
    wrong = "wrong"
    """Count them as wrong answers."""


@dataclass(frozen=True, kw_only=True)
class Scores:
    """Scores of answers against gold; NaN if nothing could be scored.

    Attributes:
        coverage: Share of the units with gold that have an answer.
        n: Number of scored units; only `accuracy_all` is over all units with gold.
        accuracy: Share of right answers.
        accuracy_all: Share of right answers among all units with gold, where a missing answer counts as wrong.
        macro_f1: Mean F1 over the classes that occur in gold or answers.
        log_loss: Mean of -log q[i, gold], in nats; None without beliefs.
        brier: Mean over units of the squared distance between q[i] and the gold, 0 to 2; None without beliefs.
        calibration_error: Expected calibration error in BINS equal bins; None without beliefs.
    """

    coverage: float
    n: int
    accuracy: float
    accuracy_all: float
    macro_f1: float
    log_loss: float | None = None
    brier: float | None = None
    calibration_error: float | None = None


def score(gold: Ints, answer: Ints, beliefs: Beliefs | None = None) -> Scores:
    """Compute all scores of the units with gold and an answer.

    Args:
        gold: gold[i], UNKNOWN if unknown.
        answer: answer[i], NO_ANSWER if missing.
        beliefs: q[i, k], if available.
    """
    find_scored(gold, answer, "answers")
    missing = (answer == NO_ANSWER) & (gold != UNKNOWN)
    return _score(gold, np.where(missing, UNKNOWN, gold), answer, beliefs, n_missing=int(missing.sum()))


def score_aligned(pair: AlignedAnswers, *, unanswered: Unanswered = Unanswered.skip) -> Scores:
    """Compute all scores of aligned answers; a sentence is unanswered if none of its tokens has an answer.

    Args:
        pair: Answers and gold over the same units.
        unanswered: Whether units without an answer are excluded or count as wrong.
    """
    missing = pair.unanswered
    scored = pair.gold if unanswered is Unanswered.wrong else pair.without(missing).gold
    return _score(pair.gold, scored, pair.predicted, pair.beliefs, n_missing=int(missing.sum()))


def _score(gold: Ints, scored: Ints, answer: Ints, beliefs: Beliefs | None, *, n_missing: int) -> Scores:
    """Compute all scores; scored[i] is the gold of the units to score, and UNKNOWN for other units."""
    n_gold = int(np.count_nonzero(gold != UNKNOWN))
    return Scores(
        coverage=1.0 - n_missing / n_gold if n_gold else float("nan"),
        n=int(np.count_nonzero(scored != UNKNOWN)),
        accuracy=accuracy_all(scored, answer),
        accuracy_all=accuracy_all(gold, answer),
        macro_f1=macro_f1(scored, answer),
        log_loss=None if beliefs is None else log_loss(scored, beliefs),
        brier=None if beliefs is None else brier(scored, beliefs),
        calibration_error=None if beliefs is None else calibration_error(scored, beliefs),
    )


def headline_scores(pair: AlignedAnswers) -> dict[str, float]:
    """Return the scores by which methods are compared, the most important one first.

    These are the accuracy (for span tags, the F1 of whole spans by both schemes), the coverage, and the accuracy over
    all units with gold.
    """
    from crowdlogic.metrics.spans import span_scores

    found = score_aligned(pair)
    coverage = {COVERAGE: found.coverage, ACCURACY_ALL: found.accuracy_all}
    if pair.offsets is None or not is_span_tag_set(pair.classes):
        return {"accuracy": found.accuracy, **coverage}
    scored = pair.without(pair.unanswered)
    f1 = {
        f"F1 {scheme}": span_scores(scored.gold, scored.predicted, pair.offsets, pair.classes, scheme=scheme).f1
        for scheme in Scheme
    }
    return {**f1, COVERAGE: found.coverage}


def accuracy(gold: Ints, answer: Ints) -> float:
    """Return the share of right answers among the units with gold and an answer."""
    find_scored(gold, answer, "answers")
    return accuracy_all(np.where(answer == NO_ANSWER, UNKNOWN, gold), answer)


def accuracy_all(gold: Ints, answer: Ints) -> float:
    """Return the share of units with gold whose answer is right; a missing answer counts as wrong."""
    known = find_scored(gold, answer, "answers")
    return mean_or_nan(np.asarray(answer[known] == gold[known], dtype=np.float64))


def accuracy_ties_half(gold: Ints, answer: Ints, beliefs: Beliefs) -> float:
    """Return the accuracy, counting 1/t for a tie among t most probable classes that include the gold class.

    This is the expectation over random tie-breaking, as reported by papers on truth inference. Unlike `accuracy`, it
    ignores which of the tied classes was chosen.

    Args:
        gold: gold[i], UNKNOWN if unknown.
        answer: answer[i]; units without an answer are not scored.
        beliefs: q[i, k].
    """
    scored = check_beliefs(gold, beliefs) & find_scored(gold, answer, "answers") & (answer != NO_ANSWER)
    return mean_or_nan(tie_credit(gold[scored], beliefs[scored]))


def macro_f1(gold: Ints, answer: Ints) -> float:
    """Return the mean F1 over the classes that occur in the gold or the answers of scored units.

    A missing answer is not a class; it only counts as a missed gold class.
    """
    known = find_scored(gold, answer, "answers")
    truth, given = gold[known], answer[known]
    size = 1 + int(max(truth.max(initial=-1), given.max(initial=-1)))
    in_both = np.bincount(truth[truth == given], minlength=size)
    in_either = np.bincount(truth, minlength=size) + np.bincount(given[given != NO_ANSWER], minlength=size)
    occurs = in_either > 0
    return mean_or_nan(2.0 * in_both[occurs] / in_either[occurs])
