"""Reliability over time: who gets worse.

The observations are annotations, (item, annotator) pairs, each with the mean belief in its labels: the tokens of a
sentence are tagged at one time and are not independent. The trend is the slope of that over the order of time, tested
by Student's t. Of many annotators some fall by chance, so a fall counts where Benjamini and Hochberg's procedure [BH95]
keeps the false discovery rate below FALSE_DISCOVERY_RATE, and where it is at least LEAST_FALL.

Axes: j annotator, p annotation, b bin of time.

[BH95] Benjamini, Hochberg: Controlling the false discovery rate. JRSS B 57, 1995.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from crowdlogic.data.estimate import Beliefs
from crowdlogic.data.labels import CrowdLabels
from crowdlogic.numerics.arrays import Bools, Floats, Ints
from crowdlogic.numerics.sums import sum_by

BINS = 5
"""Equal parts of an annotator's annotations, in the order of time."""
LEAST_ANNOTATIONS = 40
"""Annotations from which on a trend is looked for: eight in each bin."""
FALSE_DISCOVERY_RATE = 0.05
"""The share of detected falls that may be chance."""
LEAST_FALL = 0.1
"""A smaller fall from the first to the last bin is not worth a flag, however certain."""


@dataclass(frozen=True, eq=False, kw_only=True)
class DriftStatistics:
    """The trend of every annotator.

    Attributes:
        is_tested: is_tested[j], whether there are enough annotations with times.
        n: n[j, b], annotations in each bin.
        right: right[j, b], the expected number of right ones.
        begin: begin[j, b], the first time in the bin.
        end: end[j, b], the last.
        change: change[j], the last bin's share less the first one's.
        p_value: p_value[j], one-sided, of a fall; NaN where undefined.
        falls: falls[j].
        level: The level of the intervals.
    """

    is_tested: Bools
    n: Ints
    right: Floats
    begin: Floats
    end: Floats
    change: Floats
    p_value: Floats
    falls: Bools
    level: float


def measure_drift(labels: CrowdLabels, beliefs: Beliefs, level: float) -> DriftStatistics | None:
    """Measure and test every annotator's trend; None when labels have no times."""
    if labels.time is None or not np.isfinite(labels.time).any():
        return None
    size, shape = len(labels.annotators), (len(labels.annotators), BINS)
    annotator, time, right = _sort_by_time(labels, beliefs)
    count = np.bincount(annotator, minlength=size)
    # place[p], the position of annotation p among those of its annotator; cell[p], its annotator and bin in one number.
    place = np.arange(len(annotator)) - (np.cumsum(count) - count)[annotator]
    cell = annotator.astype(np.int64) * BINS + place * BINS // np.maximum(count, 1)[annotator]
    n = np.bincount(cell, minlength=size * BINS).reshape(shape)
    hits = sum_by(cell, size * BINS, right).reshape(shape)
    begin, end = np.full(size * BINS, np.inf), np.full(size * BINS, -np.inf)
    np.minimum.at(begin, cell, time)
    np.maximum.at(end, cell, time)
    share = hits / np.maximum(n, 1)
    change = share[:, -1] - share[:, 0]
    is_tested = count >= LEAST_ANNOTATIONS
    p_value = np.where(is_tested, falling_trend_p_values(annotator, place.astype(np.float64), right, size), np.nan)
    return DriftStatistics(
        is_tested=is_tested,
        n=n,
        right=hits,
        begin=begin.reshape(shape),
        end=end.reshape(shape),
        change=change,
        p_value=p_value,
        falls=control_false_discoveries(p_value) & (change <= -LEAST_FALL),
        level=level,
    )


def _sort_by_time(labels: CrowdLabels, beliefs: Beliefs) -> tuple[Ints, Floats, Floats]:
    """annotator[p], time[p] and right[p] of the annotations with a time, by annotator and in the order of time."""
    _, annotator, pair = labels.annotations()
    given = np.asarray(labels.time, dtype=np.float64)
    count = sum_by(pair, len(annotator))
    right = sum_by(pair, len(annotator), beliefs[labels.unit, labels.label]) / np.maximum(count, 1)
    time = sum_by(pair, len(annotator), given) / np.maximum(count, 1)
    known = np.isfinite(time)
    annotator, time, right = annotator[known], time[known], right[known]
    order = np.lexsort((time, annotator))
    return annotator[order], time[order], right[order]


def falling_trend_p_values(annotator: Ints, x: Floats, y: Floats, size: int) -> Floats:
    """p[j] of the one-sided t-test that y falls with x among each annotator's annotations; NaN where it cannot be."""
    from scipy.special import stdtr

    n = sum_by(annotator, size)
    some = np.maximum(n, 1)
    dx = x - (sum_by(annotator, size, x) / some)[annotator]
    dy = y - (sum_by(annotator, size, y) / some)[annotator]
    xx, xy, yy = (sum_by(annotator, size, product) for product in (dx * dx, dx * dy, dy * dy))
    fine = (n > 2) & (xx > 0) & (yy > 1e-12)
    r = np.where(fine, xy / np.sqrt(np.where(fine, xx * yy, 1.0)), 0.0)
    free = np.maximum(n - 2, 1)
    t = r * np.sqrt(free / np.maximum(1 - r**2, 1e-300))
    return np.where(fine, stdtr(free, t), np.nan)


def control_false_discoveries(p_value: Floats) -> Bools:
    """Which tests are significant ([BH95]): in the order of p, up to the last p(i) <= FALSE_DISCOVERY_RATE i / n."""
    known = np.flatnonzero(np.isfinite(p_value))
    order = known[np.argsort(p_value[known], kind="stable")]
    passing = np.flatnonzero(p_value[order] <= FALSE_DISCOVERY_RATE * np.arange(1, len(order) + 1) / max(len(order), 1))
    found = np.zeros(len(p_value), dtype=bool)
    found[order[: passing.max(initial=-1) + 1]] = True
    return found
