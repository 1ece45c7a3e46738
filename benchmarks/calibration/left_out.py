"""Leave one data set out: calibration of confidences, and width of intervals, on data that nothing was fitted to."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from benchmarks.calibration.sets import CrowdSet, fit_dependence, fit_strength, score_beliefs
from crowdlogic.data.estimate import Beliefs
from crowdlogic.extensions.paper.results import format_table
from crowdlogic.truth.dependence import PUBLIC_CROWDS, Dependence

CAP = 0.2
"""Share of the uniform distribution in the simple cap on confidence."""
MISS = 40
"""Penalty, in points of width, for each point by which an interval misses: 2 / (1 - level)."""


def leave_one_out(sets: Sequence[CrowdSet]) -> list[Dependence]:
    """Return the dependence of every data set, fitted to the others."""
    return [fit_dependence([other for other in sets if other is not one]) for one in sets]


def scores_table(sets: Sequence[CrowdSet], left_out: Sequence[Dependence]) -> str:
    """Return the means over the data sets: calibrated, classical posterior, a constant and a simple cap."""
    stated = {id(one): one.state(dependence) for one, dependence in zip(sets, left_out, strict=True)}
    rows: dict[str, Callable[[CrowdSet], Beliefs]] = {
        "dawid-skene, posterior of the model": lambda one: one.dawid_skene,
        "the same, mixed with 20 % uniform": lambda one: (1 - CAP) * one.dawid_skene + CAP / one.votes.shape[1],
        "a constant (mean accuracy of the other sets)": lambda one: constant(one, sets),
        "**ensemble, calibrated**": lambda one: stated[id(one)],
    }
    lines = []
    for name, believe in rows.items():
        found = [score_beliefs(one.gold, believe(one)) for one in sets]
        mean = {score: float(np.mean([row[score] for row in found])) for score in found[0]}
        gap = float(np.mean([abs(row["gap"]) for row in found]))
        lines.append(_row(name, mean, gap, worst=max(row["calibration error"] for row in found)))
    columns = [
        "",
        "log loss",
        "Brier",
        "AUROC",
        "calibration error (%)",
        "worst set",
        "gap",
        "mean absolute gap",
        "accuracy",
    ]
    return format_table(columns, lines)


def _row(name: str, mean: dict[str, float], gap: float, *, worst: float) -> tuple[object, ...]:
    figures = [f"{mean['log loss']:.3f}", f"{mean['Brier']:.4f}", f"{mean['AUROC']:.3f}"]
    figures += [f"{mean['calibration error']:.1f}", f"{worst:.1f}"]
    return (name, *figures, f"{mean['gap']:+.1f}", f"{gap:.1f}", f"{mean['accuracy']:.2f}")


def constant(one: CrowdSet, sets: Sequence[CrowdSet]) -> Beliefs:
    """Return Dawid-Skene's answers, all with the mean accuracy of the other data sets as their confidence."""
    others = [float(np.mean(other.dawid_skene.argmax(axis=1) == other.gold)) for other in sets if other is not one]
    sure, n_classes = float(np.mean(others)), one.votes.shape[1]
    beliefs = np.full(one.votes.shape, (1 - sure) / max(n_classes - 1, 1))
    beliefs[np.arange(len(beliefs)), one.dawid_skene.argmax(axis=1)] = sure
    return beliefs


def sets_table(sets: Sequence[CrowdSet], left_out: Sequence[Dependence]) -> str:
    """Return a row per data set with its scores; its dependence was fitted to the other data sets."""
    rows = []
    for one, dependence in zip(sets, left_out, strict=True):
        stated = one.state(dependence)
        scores = score_beliefs(one.gold, stated)
        rows.append(
            (
                one.name.removeprefix("truth/"),
                f"{one.alpha:.2f}",
                f"{one.votes.sum() / len(one.votes):.1f}",
                f"{scores['calibration error']:.1f}",
                f"{100 * float(stated.max(axis=1).mean()):.1f}",
                f"{scores['accuracy']:.1f}",
            )
        )
    columns = ["set", "alpha", "labels per item", "calibration error (%)", "mean confidence", "right (%)"]
    return format_table(columns, rows)


def check_parameters(sets: Sequence[CrowdSet]) -> str:
    """Compare the parameters fitted to all data sets with those in the package."""
    found = fit_dependence(sets)
    strengths = [fit_strength([other for other in sets if other is not one]) for one in sets]
    return (
        f"Fitted on all eleven: strength {found.strength:.3f} ({min(strengths):.2f} to {max(strengths):.2f} with one "
        f"set left out), spread of the log sharpness {found.sharpness_spread:.2f}; the package has "
        f"{PUBLIC_CROWDS.strength:g} and {PUBLIC_CROWDS.sharpness_spread:g}. "
        f"Doubt is {PUBLIC_CROWDS.doubt:g}, set by hand."
    )
