"""Weighted votes: annotators who agree with the answers get higher weights, and the weights determine the answers.

[CRH14] Li, Li, Gao, Zhao, Fan and Han, "Resolving conflicts in heterogeneous data by truth discovery and source
reliability estimation", 2014, and Aydin et al., "Crowdsourcing for multiple-choice question answering", 2014: PM.
[CATD15] Li, Li, Gao, Su, Zhao, Demirbas, Fan and Han, "A confidence-aware approach for truth discovery on long-tail
data", 2015.
[WAWA] Appen's "worker agreement with aggregate": one round of weighting by agreement with the majority.

The answers are classes, not distributions. Tied classes get equal parts, so that the order of classes and items does
not matter. The beliefs are shares of the weights, not calibrated probabilities.

Axes: i unit, j annotator, k class.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from crowdlogic.annotators.label_sums import Q
from crowdlogic.data.blocks import Arrays, Engine, Shard, State
from crowdlogic.data.estimate import vote_shares
from crowdlogic.data.labels import CrowdLabels
from crowdlogic.errors import OptionError
from crowdlogic.numerics.arrays import Floats, sum_by
from crowdlogic.numerics.convergence import Convergence
from crowdlogic.truth.fitting import (
    DEFAULT_FIT,
    BeliefPass,
    EngineFit,
    Fitting,
    Iterations,
    starting_beliefs,
)
from crowdlogic.truth.methods import FitsBlocks
from crowdlogic.truth.ties import best_classes

Weigh = Callable[[Floats, Floats], Floats]
"""Function that returns weight[j] from distance[j], the number of labels of j that differ from the answers, and from
given[j], the number of labels of j."""

UNCHANGED = Convergence(max_iterations=100, tolerance=None)
"""Default: at most a hundred rounds, until no answer changes."""


@dataclass(frozen=True)
class PM(FitsBlocks):
    """PM: weights -log(distance / largest distance), alternating with weighted votes ([CRH14] eq. 5, "max" variant).

    Attributes:
        least: Distance of an annotator who agrees with every answer, as a share of the largest distance.
        convergence: Maximum number of rounds; iteration stops if no answer changes.
    """

    least: float = 1e-7
    convergence: Convergence = UNCHANGED

    name = "pm"
    uses_anchors: ClassVar[bool] = False
    gives_shares: ClassVar[bool] = True

    def fit_over(
        self, blocks: Engine, *, labels: CrowdLabels | None = None, fitting: Fitting = DEFAULT_FIT
    ) -> EngineFit:
        """Fit to blocks of labels, in memory or elsewhere."""
        return fit_weights(self, self._weigh, blocks, labels, fitting)

    def _weigh(self, distance: Floats, given: Floats) -> Floats:  # noqa: ARG002 (counts do not matter here)
        largest = distance.max(initial=0.0)
        scaled = distance / (largest if largest > 0 else 1.0)
        return np.asarray(self.least + np.log1p(self.least) - np.log(scaled + self.least))


@dataclass(frozen=True)
class CATD(FitsBlocks):
    """CATD: weights chi2(1 - alpha / 2; labels given) / distance, larger with more labels ([CATD15] eq. 7).

    Attributes:
        alpha: One minus the confidence level.
        least: Number added to every distance, by default half a label, so that the weight of an annotator who agrees
            with every answer is bounded (1e-9 in the implementation used by the survey of Zheng et al., 2017).
        convergence: Maximum number of rounds; iteration stops if no answer changes.
    """

    alpha: float = 0.05
    least: float = 0.5
    convergence: Convergence = UNCHANGED

    name = "catd"
    uses_anchors: ClassVar[bool] = False
    gives_shares: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if not 0 < self.alpha < 1:
            raise OptionError(f"catd: alpha must be between 0 and 1, got {self.alpha}.")

    def fit_over(
        self, blocks: Engine, *, labels: CrowdLabels | None = None, fitting: Fitting = DEFAULT_FIT
    ) -> EngineFit:
        """Fit to blocks of labels, in memory or elsewhere."""
        return fit_weights(self, self._weigh, blocks, labels, fitting)

    def _weigh(self, distance: Floats, given: Floats) -> Floats:
        from scipy.special import chdtri

        return np.asarray(chdtri(np.maximum(given, 1.0), self.alpha / 2) / (distance + self.least))


@dataclass(frozen=True)
class Wawa(FitsBlocks):
    """Wawa: one round of votes weighted by each annotator's agreement with the majority ([WAWA])."""

    name = "wawa"
    uses_anchors: ClassVar[bool] = False
    gives_shares: ClassVar[bool] = True

    def fit_over(
        self,
        blocks: Engine,
        *,
        labels: CrowdLabels | None = None,  # noqa: ARG002 (their names do not matter)
        fitting: Fitting = DEFAULT_FIT,  # noqa: ARG002
    ) -> EngineFit:
        """Fit to blocks of labels with one round, for any start."""
        step = DistanceStep(n_annotators=blocks.n_annotators, n_classes=blocks.n_classes)
        ones = np.ones(blocks.n_annotators)
        s, _ = blocks.sum(step, {"weight": ones, "previous": ones})
        weight = np.asarray(1.0 - s["distance"] / np.maximum(s["given"], 1e-300))
        parameters = {"weight": weight, "previous": weight}
        return EngineFit(
            method=self.name,
            engine=blocks,
            state={"weight": weight},
            trace=np.empty(0),
            converged=True,
            beliefs=BeliefPass(step=replace(step, keep=True), parameters=parameters),
            reliability=weight,
        )


def fit_weights(
    method: PM | CATD, weigh: Weigh, blocks: Engine, labels: CrowdLabels | None, fitting: Fitting
) -> EngineFit:
    """Alternate between weights and weighted votes until no answer changes.

    The objective is minus the distance of all labels from the answers from which the weights were computed.
    """
    step = DistanceStep(n_annotators=blocks.n_annotators, n_classes=blocks.n_classes)
    ones = np.ones(blocks.n_annotators)

    def next_parameters(s: Arrays, previous: Floats) -> State:
        weight = weigh(s["distance"], s["given"])
        return {"weight": weight, "previous": previous, "distance": s["distance"], "changed": s["changed"]}

    # Initialise with weights from the distance to the votes, or to the beliefs of an earlier estimate
    start = starting_beliefs(labels, fitting)
    votes = None if start is None else blocks.scatter({VOTES: start})
    first = next_parameters(blocks.sum(step, {"weight": ones, "previous": ones}, votes)[0], ones)
    fit = Iterations(method, blocks, first, labels=labels, fitting=fitting)
    for p in fit:
        # Answers are compared with those of the previous round; in the first round, with the start
        before = None if start is None or p["previous"] is not ones else blocks.scatter({PREVIOUS: start})
        s, _ = blocks.sum(step, {"weight": p["weight"], "previous": p["previous"]}, before)
        following = next_parameters(s, p["weight"])
        fit.update(following, objective=-float(p["distance"].sum()), converged=float(s["changed"]) == 0.0)
    weight = fit.state["weight"]
    parameters = {"weight": weight, "previous": weight}
    return fit.result(replace(step, keep=True), parameters, reliability=weight / weight.sum())


VOTES, PREVIOUS = "votes", "previous_votes"
"""Key in the state of a shard of votes[i, k], which replace weighted votes in the first round."""


@dataclass(frozen=True, kw_only=True)
class DistanceStep:
    """Step that computes the distance of each annotator's labels from the answers of the weighted vote.

    Parameters: weight[j], and previous[j], the weights of the previous round. State: the initial votes, if they are not
    weighted.

    Attributes:
        n_annotators: Number of annotators.
        n_classes: Number of classes.
        keep: Whether the new state contains q[i, k], the shares of the weights.
    """

    n_annotators: int
    n_classes: int
    keep: bool = False

    def __call__(self, shard: Shard, parameters: Arrays, state: Arrays) -> tuple[Arrays, Arrays]:
        """Return distance[j], given[j] labels, and the number of answers that the new weights changed."""
        votes, before = (
            state[name] if name in state else weighted_votes(shard, self.n_classes, parameters[weight])
            for name, weight in ((VOTES, "weight"), (PREVIOUS, "previous"))
        )
        changed = (best_classes(_unit_scale(votes)) != best_classes(_unit_scale(before))).any(axis=1)
        distance, given = distances(shard, self.n_annotators, votes)
        counts = {"distance": distance, "given": given, "changed": shard.unit_sum(changed.astype(np.float64))}
        return counts, {Q: vote_shares(votes)} if self.keep else {}


def weighted_votes(shard: Shard, n_classes: int, weight: Floats) -> Floats:
    """Return votes[i, k], the sum of the weights of the annotators who gave k, times the weights of their labels."""
    each = weight[shard.annotator]
    if len(shard.weight):
        each = each * shard.weight
    cell = shard.unit * n_classes + shard.label
    return sum_by(cell, shard.n_units * n_classes, each).reshape(-1, n_classes)


def distances(shard: Shard, n_annotators: int, votes: Floats) -> tuple[Floats, Floats]:
    """Return distance[j], the number of labels of j that differ from the answer (ties in part), and given[j]."""
    best = best_classes(_unit_scale(votes))
    answers = best / best.sum(axis=1, keepdims=True)
    # differs[row], 0 if the label is the answer, 1 - 1/r if it is one of r tied answers, otherwise 1
    differs, weight = 1.0 - answers[shard.unit, shard.label], shard.row_weights()
    distance = sum_by(shard.annotator, n_annotators, differs if weight is None else weight * differs)
    return distance, sum_by(shard.annotator, n_annotators, weight)


def _unit_scale(votes: Floats) -> Floats:
    """Return votes scaled to a maximum of one per unit and rounded, so that ties do not depend on rounding errors.

    The weight of the worst annotator is a difference of nearly equal numbers, of which few digits are certain.
    """
    peak = votes.max(axis=1, keepdims=True, initial=0.0)
    return np.asarray(np.round(votes / np.where(peak > 0, peak, 1.0), 6))
