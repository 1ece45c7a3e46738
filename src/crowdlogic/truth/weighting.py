"""Weighted votes: annotators who agree with the answers weigh more, and the answers follow the weights.

[CRH14] Li, Li, Gao, Zhao, Fan and Han, "Resolving conflicts in heterogeneous data by truth discovery and source
reliability estimation", 2014, and Aydin et al., "Crowdsourcing for multiple-choice question answering", 2014: PM.
[CATD15] Li, Li, Gao, Su, Zhao, Demirbas, Fan and Han, "A confidence-aware approach for truth discovery on long-tail
data", 2015.
[WAWA] Appen's "worker agreement with aggregate": one round of weighting by agreement with the majority.

The answers are classes, not distributions; where several classes are equally good each gets an equal part, so that
the order of classes and items does not matter. The beliefs are shares of the weights, not calibrated probabilities.

Axes: i unit, j annotator, k class.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from crowdlogic.data.corpus import Corpus
from crowdlogic.data.estimate import Estimate, make_estimate, vote_shares
from crowdlogic.data.labels import CrowdLabels, require_whole_labels
from crowdlogic.errors import ConvergenceWarning, OptionError
from crowdlogic.numerics.arrays import Floats
from crowdlogic.numerics.convergence import Convergence
from crowdlogic.numerics.sums import sum_by
from crowdlogic.truth.accepting import takes_frames
from crowdlogic.truth.fitting import (
    DEFAULT_FIT,
    Fitting,
    empty_estimate,
    refuse_anchors,
    starting_beliefs,
)
from crowdlogic.truth.ties import best_classes

Weigh = Callable[[Floats, Floats], Floats]
"""weight[j] from distance[j], how many labels of j differ from the answers, and given[j], how many there are."""

UNCHANGED = Convergence(max_iterations=100, tolerance=None)
"""At most a hundred rounds, until no answer changes: there is no tolerance."""


@dataclass(frozen=True)
class PM:
    """Weights -log(distance / largest distance), in turn with weighted votes ([CRH14] eq. 5 with its "max" variant).

    Attributes:
        least: The distance of an annotator who agrees with every answer, as a share of the largest distance.
        convergence: Maximum number of rounds of weighting; it stops when no answer changes.
    """

    least: float = 1e-7
    convergence: Convergence = UNCHANGED

    name = "pm"
    uses_anchors: ClassVar[bool] = False
    gives_shares: ClassVar[bool] = True

    @takes_frames
    def infer(self, labels: CrowdLabels, corpus: Corpus | None = None, *, fitting: Fitting = DEFAULT_FIT) -> Estimate:  # noqa: ARG002 (no text needed)
        """Alternate between weights and weighted votes until no answer changes."""
        return _iterate_weights(self.name, labels, self._weigh, convergence=self.convergence, fitting=fitting)

    def _weigh(self, distance: Floats, given: Floats) -> Floats:  # noqa: ARG002 (counts do not matter here)
        largest = distance.max(initial=0.0)
        scaled = distance / (largest if largest > 0 else 1.0)
        return np.asarray(self.least + np.log1p(self.least) - np.log(scaled + self.least))


@dataclass(frozen=True)
class CATD:
    """Weights chi2(1 - alpha / 2; labels given) / distance: the more labels, the surer the weight ([CATD15] eq. 7).

    Attributes:
        alpha: One minus the confidence level.
        least: Added to every distance: half a label, so that the weight of an annotator who agrees with every answer
            is bounded (1e-9 in the implementation that the survey of Zheng et al., 2017, used).
        convergence: Maximum number of rounds of weighting; it stops when no answer changes.
    """

    alpha: float = 0.05
    least: float = 0.5
    convergence: Convergence = UNCHANGED

    name = "catd"
    uses_anchors: ClassVar[bool] = False
    gives_shares: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if not 0 < self.alpha < 1:
            raise OptionError(f"catd: alpha must lie between 0 and 1, not at {self.alpha}.")

    @takes_frames
    def infer(self, labels: CrowdLabels, corpus: Corpus | None = None, *, fitting: Fitting = DEFAULT_FIT) -> Estimate:  # noqa: ARG002 (no text needed)
        """Alternate between weights and weighted votes until no answer changes."""
        return _iterate_weights(self.name, labels, self._weigh, convergence=self.convergence, fitting=fitting)

    def _weigh(self, distance: Floats, given: Floats) -> Floats:
        from scipy.special import chdtri

        return np.asarray(chdtri(np.maximum(given, 1.0), self.alpha / 2) / (distance + self.least))


@dataclass(frozen=True)
class Wawa:
    """One round: votes weighted by each annotator's agreement with the majority ([WAWA])."""

    name = "wawa"
    uses_anchors: ClassVar[bool] = False
    gives_shares: ClassVar[bool] = True

    @takes_frames
    def infer(self, labels: CrowdLabels, corpus: Corpus | None = None, *, fitting: Fitting = DEFAULT_FIT) -> Estimate:  # noqa: ARG002 (no text needed)
        """Vote, weigh, vote again."""
        refuse_anchors(self.name, fitting)
        require_whole_labels(labels, self.name)
        if not labels.n_labels:
            return empty_estimate(labels, self.name)
        distance, given = distances(labels, labels.votes())
        weight = 1.0 - distance / np.maximum(given, 1e-300)
        return _answer(labels, self.name, weight, reliability=weight, fitting=fitting)


def _iterate_weights(
    name: str, labels: CrowdLabels, weigh: Weigh, *, convergence: Convergence, fitting: Fitting
) -> Estimate:
    """Alternate between weights and weighted votes until the best classes of no unit change."""
    refuse_anchors(name, fitting)
    require_whole_labels(labels, name)
    if not labels.n_labels:
        return empty_estimate(labels, name)
    started = starting_beliefs(labels, fitting)
    votes = labels.votes() if started is None else started
    trace: list[float] = []
    converged = False
    while not converged and len(trace) < convergence.max_iterations:
        distance, given = distances(labels, votes)
        weight = weigh(distance, given)
        weighted = weighted_votes(labels, weight)
        converged = bool((best_classes(_unit_scale(weighted)) == best_classes(_unit_scale(votes))).all())
        votes = weighted
        trace.append(-float(distance.sum()))
    if not converged:
        warnings.warn(
            f"{name} stopped after {len(trace)} iterations, while answers still changed. Raise max_iterations.",
            ConvergenceWarning,
            stacklevel=4,
        )
    estimate = _answer(labels, name, weight, reliability=weight / weight.sum(), fitting=fitting)
    return replace(estimate, trace=np.array(trace), converged=converged)


def _answer(labels: CrowdLabels, name: str, weight: Floats, *, reliability: Floats, fitting: Fitting) -> Estimate:
    votes = weighted_votes(labels, weight)
    return make_estimate(labels, name, vote_shares(votes), reliability=reliability, answer_all=fitting.answer_all)


def weighted_votes(labels: CrowdLabels, weight: Floats) -> Floats:
    """votes[i, k], the sum of the weights of the annotators who gave k, times the weights of their labels."""
    # over the flat index i * K + k
    cell = labels.unit.astype(np.int64) * labels.n_classes + labels.label
    each = weight[labels.annotator] if labels.weight is None else weight[labels.annotator] * labels.weight
    return sum_by(cell, labels.n_units * labels.n_classes, each).reshape(-1, labels.n_classes)


def distances(labels: CrowdLabels, votes: Floats) -> tuple[Floats, Floats]:
    """distance[j], how many labels of j differ from the answer (a tie counts in parts), and given[j]."""
    best = best_classes(_unit_scale(votes))
    answers = best / best.sum(axis=1, keepdims=True)
    # differs[row], 0 where the label is the answer, 1 - 1/r where it is one of r tied answers, else 1
    differs = 1.0 - answers[labels.unit, labels.label]
    size = len(labels.annotators)
    weight = labels.weights
    return (
        sum_by(labels.annotator, size, weight * differs),
        sum_by(labels.annotator, size, weight),
    )


def _unit_scale(votes: Floats) -> Floats:
    """Votes scaled to a maximum of one per unit, so that ties do not depend on the scale of the weights."""
    peak = votes.max(axis=1, keepdims=True, initial=0.0)
    return votes / np.where(peak > 0, peak, 1.0)
