"""Effect of 50 randomly checked items on the confidence of the others."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from functools import partial

import numpy as np

from benchmarks.calibration.sets import CrowdSet, score_beliefs
from benchmarks.figures_file import Figures, FiguresFile
from crowdlogic.confidence.calibration import infer_calibrated
from crowdlogic.extensions.paper.results import format_table
from crowdlogic.truth.dependence import Dependence
from crowdlogic.truth.fitting import Fitting
from crowdlogic.truth.pool import Ensemble

CHECKED = 50
DRAWS = 40


def measure(one: CrowdSet, dependence: Dependence) -> Figures:
    """Return the scores on the other items with gold, with and without the known items: means over the draws."""
    method = Ensemble(dependence=dependence)
    plain = method.infer(one.labels).beliefs
    found = []
    for draw in range(DRAWS):
        has_gold = np.flatnonzero(one.truth >= 0)
        order = np.random.default_rng(draw).permutation(has_gold)
        known, rest = order[:CHECKED], order[CHECKED:]
        names = one.labels.items.gather(known).to_list()
        anchors = dict(zip(names, (one.labels.classes[k] for k in one.truth[known]), strict=True))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            estimate = infer_calibrated(method, one.labels, fitting=Fitting(anchors=anchors), dependence=dependence)
        after = score_beliefs(one.truth[rest], estimate.beliefs[rest])
        before = score_beliefs(one.truth[rest], plain[rest])
        found.append([after["Brier"], after["calibration error"], before["Brier"], before["calibration error"]])
    names_of_scores = ("Brier", "calibration error", "Brier without", "calibration error without")
    return dict(zip(names_of_scores, np.mean(found, axis=0).round(5).tolist(), strict=True))


def known_items_table(sets: Sequence[CrowdSet], left_out: Sequence[Dependence], file: FiguresFile) -> str:
    """Return a row per data set, and the mean."""
    figures = [
        file.get(f"known items {one.name}", partial(measure, one, dependence))
        for one, dependence in zip(sets, left_out, strict=True)
    ]
    columns = ["Brier without", "Brier", "calibration error without", "calibration error"]
    mean = {name: float(np.mean([row[name] for row in figures])) for name in columns}
    named = [
        *((one.name.removeprefix("truth/"), row) for one, row in zip(sets, figures, strict=True)),
        ("**mean**", mean),
    ]
    lines = [
        (name, f"{row[columns[0]]:.4f}", f"{row[columns[1]]:.4f}", f"{row[columns[2]]:.1f}", f"{row[columns[3]]:.1f}")
        for name, row in named
    ]
    return format_table(["set", *columns[:2], "calibration error (%) without", "calibration error (%)"], lines)
