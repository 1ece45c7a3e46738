"""How good answers and beliefs are, measured against gold.

Axes: i unit, k class. A unit whose gold is UNKNOWN is not scored. A unit without an answer (NO_ANSWER) is counted, and
is wrong; its beliefs count as they stand.

[GUO17] Guo, Pleiss, Sun, Weinberger: On Calibration of Modern Neural Networks. ICML 2017.
[BRIER50] Brier: Verification of forecasts expressed in terms of probability. Monthly Weather Review 78, 1950.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from crowdlogic.data.corpus import UNKNOWN
from crowdlogic.data.estimate import NO_ANSWER, Beliefs
from crowdlogic.errors import DataError, OptionError
from crowdlogic.numerics.arrays import Bools, Floats, Ints
from crowdlogic.numerics.logspace import safe_log

TIE_TOLERANCE = 1e-9
"""Beliefs that differ by less are tied: they are sums in some order."""

LEAST_BELIEF = float(np.finfo(np.float64).eps)
"""A smaller belief in the gold class counts as this one, as in scikit-learn: one certain mistake costs 36 nats, and not
an infinite loss that would hide everything else."""

BINS = 15
"""Bins of the calibration error, as in [GUO17]."""


class TieCredit(StrEnum):
    """What a tie that holds the gold class is worth."""

    answered = "answered"
    """All or nothing: the answer counts, however it was chosen."""
    half = "half"
    """1/t for a tie among t best classes: what random choice would earn on average."""


@dataclass(frozen=True)
class Scores:
    """How good answers are. NaN where nothing could be scored.

    Attributes:
        n: How many units were scored: those with gold.
        accuracy: The share of right answers.
        macro_f1: The mean F1 over the classes that occur in gold or answers.
        log_loss: The mean of -log q[i, gold], in nats; None without beliefs.
        brier: The mean over units of the squared distance between q[i] and the gold, 0 to 2; None without beliefs.
        calibration_error: Expected calibration error in BINS equal bins; None without beliefs.
    """

    n: int
    accuracy: float
    macro_f1: float
    log_loss: float | None = None
    brier: float | None = None
    calibration_error: float | None = None


def score(
    gold: Ints, answer: Ints, beliefs: Beliefs | None = None, *, ties: TieCredit | str = TieCredit.answered
) -> Scores:
    """All scores at once.

    Args:
        gold: gold[i], UNKNOWN where it is not known.
        answer: answer[i], NO_ANSWER where there is none.
        beliefs: q[i, k], when there are any.
        ties: What a tie is worth to the accuracy; `half` needs beliefs.
    """
    right = accuracy(gold, answer, beliefs=beliefs, ties=ties)
    n = int(np.count_nonzero(gold != UNKNOWN))
    if beliefs is None:
        return Scores(n, right, macro_f1(gold, answer))
    return Scores(
        n,
        right,
        macro_f1(gold, answer),
        log_loss=log_loss(gold, beliefs),
        brier=brier(gold, beliefs),
        calibration_error=calibration_error(gold, beliefs),
    )


def accuracy(
    gold: Ints, answer: Ints, *, beliefs: Beliefs | None = None, ties: TieCredit | str = TieCredit.answered
) -> float:
    """The share of right answers among the units with gold."""
    known = _known(gold, answer, "answers")
    right = np.asarray(answer[known] == gold[known], dtype=np.float64)
    if _credit(ties) is TieCredit.half:
        if beliefs is None:
            raise OptionError("ties = half needs beliefs: an answer alone does not say what it was tied with.")
        _check_beliefs(gold, beliefs)
        right = np.where(answer[known] == NO_ANSWER, 0.0, tie_credit(gold[known], beliefs[known]))
    return _mean(right)


def tie_credit(gold: Ints, beliefs: Beliefs) -> Floats:
    """credit[i], 1/t where the gold is one of the t most probable classes, and 0 elsewhere."""
    best = beliefs >= beliefs.max(axis=1, keepdims=True, initial=-np.inf) - TIE_TOLERANCE
    return np.asarray(_at(best, gold) / np.maximum(best.sum(axis=1), 1))


def macro_f1(gold: Ints, answer: Ints) -> float:
    """The mean over classes of F1, for the classes that occur in gold or among the answers to scored units.

    "No answer" is no class of its own: it is a miss of the gold class, and nothing else.
    """
    known = _known(gold, answer, "answers")
    truth, given = gold[known], answer[known]
    size = 1 + int(max(truth.max(initial=-1), given.max(initial=-1)))
    in_both = np.bincount(truth[truth == given], minlength=size)
    in_either = np.bincount(truth, minlength=size) + np.bincount(given[given != NO_ANSWER], minlength=size)
    occurs = in_either > 0
    return _mean(2.0 * in_both[occurs] / in_either[occurs])


def log_loss(gold: Ints, beliefs: Beliefs) -> float:
    """The mean of -log q[i, gold], in nats."""
    known = _check_beliefs(gold, beliefs)
    return _mean(-safe_log(np.clip(_at(beliefs[known], gold[known]), LEAST_BELIEF, 1.0)))


def brier(gold: Ints, beliefs: Beliefs) -> float:
    """The mean over units of sum_k (q[i, k] - [gold = k])², between 0 and 2 ([BRIER50]; not halved for two classes)."""
    known = _check_beliefs(gold, beliefs)
    q = beliefs[known]
    return _mean((q**2).sum(axis=1) - 2.0 * _at(q, gold[known]) + 1.0)


def calibration_error(gold: Ints, beliefs: Beliefs, *, bins: int = BINS) -> float:
    """Expected calibration error ([GUO17] eq. 3): the mean over units of |accuracy - confidence| of the unit's bin.

    A unit's confidence is its highest belief; bin b of `bins` equal ones holds the confidences in
    (b / bins, (b + 1) / bins]. A tie among the best classes is right in part (`tie_credit`), so that the order of the
    classes does not matter.
    """
    if bins < 1:
        raise OptionError(f"bins: {bins} asked for. Give 1 or more.")
    known = _check_beliefs(gold, beliefs)
    confidence = beliefs[known].max(axis=1, initial=0.0)
    right = tie_credit(gold[known], beliefs[known])
    # Inner edges only, and "left" closes each bin on its right: all that lies above the last edge is in the last bin.
    at = np.searchsorted(np.arange(1, bins) / bins, confidence, side="left")
    gap = np.abs(np.bincount(at, weights=right - confidence, minlength=bins))
    return float(gap.sum() / len(at)) if len(at) else float("nan")


def _at(table: Floats | Bools, column: Ints) -> Floats:
    """table[i, column[i]]."""
    return np.asarray(np.take_along_axis(table, column[:, None].astype(np.intp), axis=1)[:, 0], dtype=np.float64)


def _mean(values: Floats) -> float:
    """The mean; NaN, without a warning, when there is nothing to average."""
    return float(values.mean()) if len(values) else float("nan")


def _known(gold: Ints, other: Ints | Beliefs, what: str) -> Bools:
    if len(gold) != len(other):
        raise DataError(f"{len(gold):,} gold classes and {len(other):,} {what}. Give one of each for every unit.")
    return np.asarray(gold != UNKNOWN)


def _check_beliefs(gold: Ints, beliefs: Beliefs) -> Bools:
    known = _known(gold, beliefs, "rows of beliefs")
    if gold.max(initial=-1) >= beliefs.shape[1]:
        raise DataError(f"gold holds the code {gold.max()}, but the beliefs are over {beliefs.shape[1]} classes.")
    return known


def _credit(ties: TieCredit | str) -> TieCredit:
    try:
        return TieCredit(ties)
    except ValueError:
        raise OptionError(f"ties: {ties!r} is none of {', '.join(TieCredit)}.") from None
