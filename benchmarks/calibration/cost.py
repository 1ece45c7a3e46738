"""Time for calibrating a posterior, in percent of a fit of ten iterations."""

from __future__ import annotations

import warnings

import numpy as np

from benchmarks.figures_file import Figures
from benchmarks.machine import best_seconds
from crowdlogic.data.simulate.crowds import simulate_crowd
from crowdlogic.numerics.convergence import Convergence
from crowdlogic.truth.dawid_skene import DawidSkene
from crowdlogic.truth.dependence import state_confidence
from crowdlogic.truth.pool import Ensemble

TEN = Convergence(max_iterations=10, tolerance=0)
REPEATS = 12


def measure_cost() -> Figures:
    """Return the best times of fit and calibration for a million labels of 200,000 items, in seconds."""
    labels = simulate_crowd(
        np.random.default_rng(0), units=200_000, annotators=1000, classes=5, labels_per_unit=5
    ).labels
    method = DawidSkene(convergence=TEN)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        estimate = method.infer(labels)
        fit = best_seconds(lambda: method.infer(labels), repeats=REPEATS)
        stated = best_seconds(lambda: state_confidence(labels, estimate), repeats=REPEATS)
        ensemble = best_seconds(lambda: Ensemble(convergence=TEN).infer(labels), repeats=REPEATS)
        classical = best_seconds(lambda: Ensemble(convergence=TEN, dependence=None).infer(labels), repeats=REPEATS)
    return {
        "labels": labels.n_labels,
        "dawid-skene, ten iterations (s)": round(fit, 4),
        "calibration (s)": round(stated, 4),
        "calibration (% of the fit)": round(100 * stated / fit, 1),
        "ensemble, ten iterations each (s)": round(ensemble, 4),
        "ensemble without dependence (s)": round(classical, 4),
    }
