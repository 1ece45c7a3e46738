"""The default method compared with majority vote and Dawid-Skene: whole data sets, thinned copies, simulated crowds."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from functools import partial

import numpy as np

from benchmarks.calibration.sets import CrowdSet, score_beliefs
from benchmarks.calibration.simulated import DEPENDENT, INDEPENDENT, THIN, Draw
from benchmarks.figures_file import Figures, FiguresFile
from crowdlogic.data.labels import CrowdLabels
from crowdlogic.extensions.paper.results import format_table
from crowdlogic.metrics.scores import accuracy_ties_half
from crowdlogic.numerics.arrays import Ints
from crowdlogic.truth.dawid_skene import DawidSkene
from crowdlogic.truth.majority import MajorityVote
from crowdlogic.truth.methods import TruthMethod
from crowdlogic.truth.pool import Ensemble

METHODS: dict[str, TruthMethod] = {
    "majority": MajorityVote(ties="soft"),
    "dawid-skene": DawidSkene(),
    "ensemble": Ensemble(),
}
THINNED = (2, 3, 5)
DRAWS = 10
SEEDS = 20


def thin(labels: CrowdLabels, most: int, rng: np.random.Generator) -> CrowdLabels:
    """Return at most the given number of labels of each item, drawn at random."""
    order = np.lexsort((rng.random(labels.n_labels), labels.unit))
    starts = np.concatenate([[0], np.cumsum(labels.labels_per_unit())])
    rank = np.arange(labels.n_labels) - starts[labels.unit[order]]
    return labels.take(np.sort(order[rank < most]))


def accuracies(labels: CrowdLabels, truth: Ints) -> dict[str, float]:
    """Return the accuracy of each method in percent, with ties counted half."""
    found = {}
    for name, method in METHODS.items():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            estimate = method.infer(labels)
        right = accuracy_ties_half(truth, estimate.answer, estimate.beliefs)
        found[name] = 100 * right
    return found


def measure_whole(one: CrowdSet) -> Figures:
    """Return the scores on the whole data set."""
    return _means([accuracies(one.labels, one.truth)])


def measure_thinned(one: CrowdSet, most: int) -> Figures:
    """Return means over random copies with at most the given number of labels per item."""
    rows = [accuracies(thin(one.labels, most, np.random.default_rng([most, draw])), one.truth) for draw in range(DRAWS)]
    return _means(rows)


def measure_simulated(draw: Draw) -> Figures:
    """Return means over seeds: accuracies, and calibration errors of the classical posterior and the ensemble."""
    rows = []
    for seed in range(SEEDS):
        labels, truth = draw(np.random.default_rng(seed))
        row = accuracies(labels, truth)
        for name in ("dawid-skene", "ensemble"):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                row[f"{name} error"] = score_beliefs(truth, METHODS[name].infer(labels).beliefs)["calibration error"]
        rows.append(row)
    return _means(rows)


def _means(rows: Sequence[dict[str, float]]) -> Figures:
    return {name: round(float(np.mean([row[name] for row in rows])), 3) for name in rows[0]}


def whole_sets_table(sets: Sequence[CrowdSet], file: FiguresFile) -> str:
    """Return the accuracy on the whole data sets."""
    rows = [file.get(f"whole {one.name}", partial(measure_whole, one)) for one in sets]
    named = [
        *((one.name.removeprefix("truth/"), row) for one, row in zip(sets, rows, strict=True)),
        ("**mean**", _means(rows)),
    ]
    return format_table(
        ["set", *METHODS], [(name, *(f"{row[method]:.2f}" for method in METHODS)) for name, row in named]
    )


def thinned_table(sets: Sequence[CrowdSet], file: FiguresFile) -> str:
    """Return the gain of the ensemble over majority vote on copies with few labels per item."""
    lines = []
    for one in sets:
        found = [file.get(f"thin {one.name} {most}", partial(measure_thinned, one, most)) for most in THINNED]
        cells = [
            f"{row['majority']:.1f} → {row['ensemble']:.1f} ({row['ensemble'] - row['majority']:+.2f})" for row in found
        ]
        lines.append((one.name.removeprefix("truth/"), *cells))
    return format_table(["set", *(f"{most} labels per item" for most in THINNED)], lines)


def simulated_table(file: FiguresFile) -> str:
    """Return the accuracy and the calibration errors on simulated crowds."""
    lines = []
    for name, draw in {**INDEPENDENT, **THIN, **DEPENDENT}.items():
        row = file.get(f"simulated {name}", partial(measure_simulated, draw))
        scores = [f"{row[method]:.2f}" for method in METHODS]
        lines.append((name, *scores, f"{row['dawid-skene error']:.1f}", f"{row['ensemble error']:.1f}"))
    columns = ["crowd", *METHODS, "calibration error (%), posterior of Dawid-Skene", "ensemble, calibrated"]
    return format_table(columns, lines)
