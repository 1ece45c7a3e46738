"""The eleven public data sets, the beliefs of the ensemble's members, and the dependence fitted to some of the sets.

The only fitted parameter is the strength of the dependence, by the mean log loss over the data sets.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.optimize import minimize_scalar
from sklearn.metrics import roc_auc_score

from benchmarks.truth_accuracy import SETS
from crowdlogic.confidence.calibration import fit_sharpness
from crowdlogic.data.estimate import Beliefs, Calibration
from crowdlogic.data.labels import CrowdLabels
from crowdlogic.extensions.paper.benchmarks import load_benchmark
from crowdlogic.metrics.calibration import (
    calibration_error,
    log_loss,
    mean_or_nan,
    tie_credit,
)
from crowdlogic.numerics.arrays import Bools, Floats, Ints
from crowdlogic.truth.dependence import PUBLIC_CROWDS, Dependence, alpha_of_pairs, pair_sums
from crowdlogic.truth.pool import Ensemble, Member, pool

FLAT_PRIOR = 1e3
"""Large standard deviation, so that the best sharpness of a data set is not shrunk towards 1."""


def confidence_brier(gold: Ints, beliefs: Beliefs) -> float:
    """The mean of (confidence - right)², right being 1 or 0 (1/t in a tie): the Brier score of the answer alone."""
    return float(((beliefs.max(axis=1) - tie_credit(gold, beliefs)) ** 2).mean())


def confidence_auroc(gold: Ints, beliefs: Beliefs) -> float:
    """How often a right answer is more confident than a wrong one, equal ones counted half."""
    return float(roc_auc_score(beliefs.argmax(axis=1) == gold, beliefs.max(axis=1)))


@dataclass(frozen=True, eq=False, kw_only=True)
class CrowdSet:
    """Data set, reduced to its items with gold.

    Attributes:
        name: Name of the data set.
        labels: All its labels.
        truth: truth[i] over all items, -1 if unknown.
        gold: gold[i] of the items with gold.
        votes: votes[i, k] of these items.
        alpha: Krippendorff's alpha of all labels.
        members: The ensemble's members on these items.
    """

    name: str
    labels: CrowdLabels
    truth: Ints
    gold: Ints
    votes: Floats
    alpha: float
    members: Sequence[Member]

    @property
    def dawid_skene(self) -> Beliefs:
        """Return the classical posterior of Dawid-Skene."""
        return self.members[0].posterior

    def calibration(self, dependence: Dependence) -> Calibration:
        """Return the calibration of all labels of the data set under a dependence."""
        root = float(np.sqrt(max(self.alpha, 0.0)))
        return replace(dependence.calibration(self.votes), correlation=dependence.strength * root)

    def state(self, dependence: Dependence) -> Beliefs:
        """Return the calibrated beliefs of the ensemble for the items with gold."""
        return pool(self.members, self.votes, self.calibration(dependence))


def load_sets() -> list[CrowdSet]:
    """Load all eleven data sets and fit the members of each once."""
    return [load_set(name) for name in SETS]


def load_set(name: str) -> CrowdSet:
    """Load one data set and fit the members of the ensemble."""
    data = load_benchmark(name)
    truth = np.asarray(data.corpus.gold)
    known: Bools = truth >= 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = Ensemble().members(data.labels, lambda method: method.infer(data.labels))
        members = [Member(one.weight, one.posterior[known]) for one in found]
    votes = data.labels.votes()
    return CrowdSet(
        name=name,
        labels=data.labels,
        truth=truth,
        gold=truth[known],
        votes=votes[known],
        alpha=alpha_of_pairs(pair_sums(votes)),
        members=members,
    )


def fit_strength(sets: Sequence[CrowdSet]) -> float:
    """Return the strength of the dependence with the lowest mean log loss over some data sets."""

    def cost(strength: float) -> float:
        dependence = replace(PUBLIC_CROWDS, strength=strength)
        return float(np.mean([log_loss(one.gold, one.state(dependence)) for one in sets]))

    return float(minimize_scalar(cost, bounds=(0.0, 1.0), method="bounded", options={"xatol": 1e-4}).x)


def fit_dependence(sets: Sequence[CrowdSet]) -> Dependence:
    """Return the dependence of some data sets: its strength, and the variation when each set is left out in turn."""
    sharpness = []
    for one in sets:
        others = replace(PUBLIC_CROWDS, strength=fit_strength([other for other in sets if other is not one]))
        stated = one.state(others)
        sharpness.append(math.log(fit_sharpness(stated, one.gold, spread=FLAT_PRIOR)))
    return replace(
        PUBLIC_CROWDS,
        strength=fit_strength(sets),
        sharpness_spread=float(np.sqrt(np.mean(np.square(sharpness)))),
    )


def score_beliefs(gold: Ints, beliefs: Beliefs) -> dict[str, float]:
    """Return every score of the table for one data set."""
    right = tie_credit(gold, beliefs)
    return {
        "log loss": log_loss(gold, beliefs),
        "Brier": confidence_brier(gold, beliefs),
        "AUROC": confidence_auroc(gold, beliefs),
        "calibration error": 100 * calibration_error(gold, beliefs),
        "gap": 100 * (mean_or_nan(beliefs.max(axis=1)) - mean_or_nan(right)),
        "accuracy": 100 * mean_or_nan(right),
    }
