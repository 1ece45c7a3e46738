"""Estimated reliability of annotators by each posterior, compared with their share of right labels on gold items."""

from __future__ import annotations

import warnings
from collections.abc import Sequence

import numpy as np

from benchmarks.calibration.sets import CrowdSet
from benchmarks.figures_file import Figures, FiguresFile
from crowdlogic.confidence.annotator_verdicts import annotator_table
from crowdlogic.extensions.paper.results import format_table
from crowdlogic.numerics.arrays import sum_by
from crowdlogic.truth.dawid_skene import DawidSkene
from crowdlogic.truth.pool import Ensemble

ENOUGH = 15
"""Minimum number of labels on gold items for an annotator to be compared."""


def measure_reliability(sets: Sequence[CrowdSet]) -> Figures:
    """Return means over the data sets of correlation, bias and absolute error, in points."""
    found: Figures = {}
    for name, method in (("dawid-skene, posterior of the model", DawidSkene()), ("ensemble, calibrated", Ensemble())):
        rows = []
        for one in sets:
            labels, size = one.labels, len(one.labels.annotators)
            has_gold = one.truth[labels.unit] >= 0
            given = sum_by(labels.annotator[has_gold], size)
            right = sum_by(labels.annotator[has_gold], size, (labels.label == one.truth[labels.unit])[has_gold] * 1.0)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                table = annotator_table(labels, method.infer(labels))
            compared = given >= ENOUGH
            share, claimed = right[compared] / given[compared], table["reliability"].to_numpy()[compared]
            rows.append([np.corrcoef(share, claimed)[0, 1], (claimed - share).mean(), np.abs(claimed - share).mean()])
        found[name] = np.mean(rows, axis=0).round(4).tolist()
    return found


def reliability_table(sets: Sequence[CrowdSet], file: FiguresFile) -> str:
    """Return a row per posterior."""
    found = file.get("reliability", lambda: measure_reliability(sets))
    rows = [(name, f"{r:.2f}", f"{100 * bias:+.1f}", f"{100 * error:.1f}") for name, (r, bias, error) in found.items()]
    return format_table(["reliability by", "correlation with gold", "bias (points)", "mean error (points)"], rows)
