"""Scores of beliefs against gold: log loss, Brier score and calibration error.

Axes: i unit, k class. A unit whose gold is UNKNOWN is not scored; the beliefs of a unit without an answer count.

[GUO17] Guo, Pleiss, Sun, Weinberger: On Calibration of Modern Neural Networks. ICML 2017.
[BRIER50] Brier: Verification of forecasts expressed in terms of probability. Monthly Weather Review 78, 1950.
"""

from __future__ import annotations

import numpy as np

from crowdlogic.data.corpus import UNKNOWN
from crowdlogic.data.estimate import Beliefs
from crowdlogic.errors import DataError, OptionError, require_kind
from crowdlogic.numerics.arrays import Bools, Floats, Ints
from crowdlogic.numerics.logspace import safe_log

TIE_TOLERANCE = 1e-9
"""Tolerance below which beliefs are tied, since they are sums with rounding errors."""

LEAST_BELIEF = float(np.finfo(np.float64).eps)
"""Minimum belief in the gold class, as in scikit-learn: a certain mistake costs 36 nats instead of an infinite loss."""

BINS = 15
"""Number of bins of the calibration error, as in [GUO17]."""


def log_loss(gold: Ints, beliefs: Beliefs) -> float:
    """Return the mean of -log q[i, gold], in nats."""
    known = check_beliefs(gold, beliefs)
    return mean_or_nan(-safe_log(np.clip(_at(beliefs[known], gold[known]), LEAST_BELIEF, 1.0)))


def brier(gold: Ints, beliefs: Beliefs) -> float:
    """Return the mean over units of sum_k (q[i, k] - [gold = k])², from 0 to 2 ([BRIER50]; not halved)."""
    known = check_beliefs(gold, beliefs)
    q = beliefs[known]
    return mean_or_nan((q**2).sum(axis=1) - 2.0 * _at(q, gold[known]) + 1.0)


def calibration_error(gold: Ints, beliefs: Beliefs, *, bins: int = BINS) -> float:
    """Return the expected calibration error ([GUO17] eq. 3).

    This is the mean over units of |accuracy - confidence| in the unit's bin. The confidence of a unit is its highest
    belief; bin b contains the confidences in (b / bins, (b + 1) / bins]. A tie among the best classes counts
    fractionally (`tie_credit`), so that the order of the classes does not matter.
    """
    known = check_beliefs(gold, beliefs)
    return binned_gap(beliefs[known].max(axis=1, initial=0.0), tie_credit(gold[known], beliefs[known]), bins=bins)


def binned_gap(confidence: Floats, right: Floats, *, bins: int = BINS) -> float:
    """Return the mean over answers of |share right - mean confidence| in the answer's bin; right[i] is from 0 to 1."""
    if bins < 1:
        raise OptionError(f"bins must be at least 1, got {bins}.")
    # Only inner edges, so that the last bin has no upper limit; side "left" closes each bin on the right.
    bin_of_unit = np.searchsorted(np.arange(1, bins) / bins, confidence, side="left")
    gap = np.abs(np.bincount(bin_of_unit, weights=right - confidence, minlength=bins))
    return float(gap.sum() / len(bin_of_unit)) if len(bin_of_unit) else float("nan")


def tie_credit(gold: Ints, beliefs: Beliefs) -> Floats:
    """Return credit[i]: 1/t if the gold is one of the t most probable classes, otherwise 0."""
    best = beliefs >= beliefs.max(axis=1, keepdims=True, initial=-np.inf) - TIE_TOLERANCE
    return np.asarray(_at(best, gold) / np.maximum(best.sum(axis=1), 1))


SCORED = (
    "Give arrays of class codes, gold first, then the answers. An estimate is scored by "
    "truth.compare_methods(['ensemble'], labels, gold={'t1': 'billing'})."
)
"""Description of the scored arrays in messages."""


def find_scored(gold: Ints, other: Ints | Beliefs, what: str) -> Bools:
    """Return scored[i], whether unit i has gold; raise an error unless `other` has one entry per unit."""
    for given in (gold, other):
        require_kind(given, np.ndarray, "scores", SCORED)
    if len(gold) != len(other):
        raise DataError(f"{len(gold):,} gold classes and {len(other):,} {what}. Give one of each for every unit.")
    return np.asarray(gold != UNKNOWN)


def check_beliefs(gold: Ints, beliefs: Beliefs) -> Bools:
    """Return scored[i] as in `find_scored`; raise an error if the gold contains a class without a belief."""
    known = find_scored(gold, beliefs, "rows of beliefs")
    if gold.max(initial=-1) >= beliefs.shape[1]:
        raise DataError(f"gold contains the code {gold.max()}, but there are beliefs for {beliefs.shape[1]} classes.")
    return known


def _at(table: Floats | Bools, column: Ints) -> Floats:
    """Return table[i, column[i]]."""
    return np.asarray(np.take_along_axis(table, column[:, None].astype(np.intp), axis=1)[:, 0], dtype=np.float64)


def mean_or_nan(values: Floats) -> float:
    """Return the mean; NaN without a warning if there are no values."""
    return float(values.mean()) if len(values) else float("nan")
