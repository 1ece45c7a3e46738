"""How good answers are, measured against gold: accuracy and F1, and all scores at once.

Axes: i unit, k class. A unit whose gold is UNKNOWN is not scored. A unit without an answer (NO_ANSWER) is counted, and
is wrong. The scores of beliefs are in `calibration`.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from crowdlogic.data.corpus import UNKNOWN
from crowdlogic.data.estimate import NO_ANSWER, Beliefs
from crowdlogic.errors import OptionError
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
    known = find_scored(gold, answer, "answers")
    right = np.asarray(answer[known] == gold[known], dtype=np.float64)
    if _parse_credit(ties) is TieCredit.half:
        if beliefs is None:
            raise OptionError("ties = half needs beliefs: an answer alone does not say what it was tied with.")
        check_beliefs(gold, beliefs)
        right = np.where(answer[known] == NO_ANSWER, 0.0, tie_credit(gold[known], beliefs[known]))
    return mean_or_nan(right)


def macro_f1(gold: Ints, answer: Ints) -> float:
    """The mean over classes of F1, for the classes that occur in gold or among the answers to scored units.

    "No answer" is no class of its own: it is a miss of the gold class, and nothing else.
    """
    known = find_scored(gold, answer, "answers")
    truth, given = gold[known], answer[known]
    size = 1 + int(max(truth.max(initial=-1), given.max(initial=-1)))
    in_both = np.bincount(truth[truth == given], minlength=size)
    in_either = np.bincount(truth, minlength=size) + np.bincount(given[given != NO_ANSWER], minlength=size)
    occurs = in_either > 0
    return mean_or_nan(2.0 * in_both[occurs] / in_either[occurs])


def _parse_credit(ties: TieCredit | str) -> TieCredit:
    try:
        return TieCredit(ties)
    except ValueError:
        raise OptionError(f"ties: {ties!r} is none of {', '.join(TieCredit)}.") from None
