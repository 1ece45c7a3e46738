"""Reliability diagrams of all data sets together, before and after calibration: docs/images/reliability-*.svg."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from benchmarks.calibration.sets import CrowdSet
from crowdlogic.data.estimate import Beliefs
from crowdlogic.metrics.calibration import tie_credit
from crowdlogic.numerics.arrays import sum_by
from crowdlogic.numerics.logspace import credible_interval
from crowdlogic.reporting.charts import calibration_chart
from crowdlogic.reporting.figures import write_plots
from crowdlogic.reporting.findings import CalibrationBin
from crowdlogic.truth.dependence import Dependence

BINS = 10
FOLDER = Path("docs/images")


def reliability_bins(sets: Sequence[CrowdSet], beliefs: Sequence[Beliefs]) -> list[CalibrationBin]:
    """Return the answers of all data sets by confidence; at most 500 per data set, so that none dominates."""
    confidence, right = [], []
    for one, q in zip(sets, beliefs, strict=True):
        taken = np.random.default_rng(0).permutation(len(q))[:500]
        confidence.append(q[taken].max(axis=1))
        right.append(tie_credit(one.gold[taken], q[taken]))
    sure, hit = np.concatenate(confidence), np.concatenate(right)
    place = np.minimum((sure * BINS).astype(np.int64), BINS - 1)
    n, total, hits = (sum_by(place, BINS, values) for values in (None, sure, hit))
    low, high = credible_interval(hits, n, 0.95)
    return [
        CalibrationBin(
            low=b / BINS,
            high=(b + 1) / BINS,
            n=int(n[b]),
            confidence=float(total[b] / n[b]),
            accuracy=float(hits[b] / n[b]),
            accuracy_low=float(low[b]),
            accuracy_high=float(high[b]),
        )
        for b in np.flatnonzero(n)
    ]


def draw(sets: Sequence[CrowdSet], left_out: Sequence[Dependence]) -> None:
    """Write both diagrams."""
    stated = [one.state(dependence) for one, dependence in zip(sets, left_out, strict=True)]
    pictures = {
        "reliability-own": ("Posterior of Dawid-Skene", [one.dawid_skene for one in sets]),
        "reliability-stated": ("Calibrated, each set left out in turn", stated),
    }
    plots = [
        calibration_chart(name, title, reliability_bins(sets, beliefs), x="confidence", y="right, with 95% interval")
        for name, (title, beliefs) in pictures.items()
    ]
    write_plots(plots, FOLDER, png=False)
