"""Language-model judges on civil comments, which nothing was fitted to: confidence, accuracy and warning."""

from __future__ import annotations

import numpy as np
import polars as pl

from crowdlogic.confidence.expected_accuracy import warning_signs
from crowdlogic.data.frames import from_frame
from crowdlogic.data.labels import CrowdLabels
from crowdlogic.extensions.paper.benchmarks import data_folder
from crowdlogic.numerics.arrays import Ints
from crowdlogic.truth.pool import Ensemble

CUT = 4.5
"""Scores above this threshold are "toxic"."""


def load_judges() -> tuple[CrowdLabels, Ints]:
    """Return the judges' labels, and the truth of every comment."""
    home = data_folder() / "judges" / "civilcomments"
    scores = pl.read_csv(home / "scores.csv", infer_schema_length=None)
    gold = dict(pl.read_csv(home / "gold.csv").iter_rows())
    table = scores.select("item", "annotator", (pl.col("label") > CUT).cast(pl.Int64).alias("label"))
    labels = from_frame(table, duplicates="keep")
    return labels, np.array([gold[item] for item in labels.items.to_list()])


def panel_paragraph() -> str:
    """Describe the result of the default method on the panel."""
    labels, truth = load_judges()
    estimate = Ensemble().infer(labels)
    right = float(np.mean(estimate.answer == truth))
    said = " ".join(warning_signs(labels, estimate))
    return (
        f"{len(labels.annotators)} judges, {len(labels.items):,} comments: {100 * right:.1f} % of the answers are "
        f"right, mean confidence {100 * float(np.nanmean(estimate.confidence)):.1f} %. `aggregate` says:\n\n> {said}"
    )
