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

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from crowdlogic.annotators.label_sums import Q
from crowdlogic.data.blocks import Arrays, Engine, Shard, States, make_shards
from crowdlogic.data.corpus import Corpus
from crowdlogic.data.estimate import Beliefs, Estimate, vote_shares
from crowdlogic.data.labels import CrowdLabels, require_whole_labels
from crowdlogic.errors import OptionError
from crowdlogic.numerics.arrays import Floats, sum_by
from crowdlogic.numerics.convergence import Convergence
from crowdlogic.store.checkpoints import State
from crowdlogic.truth.fitting import (
    DEFAULT_FIT,
    BeliefPass,
    EngineFit,
    Fit,
    FitSummary,
    Fitting,
    empty_estimate,
    fit_model,
    infer_over,
    make_fit,
    refuse_anchors,
)
from crowdlogic.truth.methods import takes_frames
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
        return _infer_weights(self, labels, fitting)

    def fit_over(
        self, engine: Engine, *, labels: CrowdLabels | None = None, fitting: Fitting = DEFAULT_FIT
    ) -> EngineFit:
        """Fit over an engine."""
        model = Reweighting(engine, self._weigh)
        return fit_model(self, model, labels=labels, fitting=fitting, is_done=_no_answer_changed)

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
        return _infer_weights(self, labels, fitting)

    def fit_over(
        self, engine: Engine, *, labels: CrowdLabels | None = None, fitting: Fitting = DEFAULT_FIT
    ) -> EngineFit:
        """Fit over an engine."""
        model = Reweighting(engine, self._weigh)
        return fit_model(self, model, labels=labels, fitting=fitting, is_done=_no_answer_changed)

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
        return _infer_weights(self, labels, fitting)

    def fit_over(
        self,
        engine: Engine,
        *,
        labels: CrowdLabels | None = None,  # noqa: ARG002 (their names do not matter)
        fitting: Fitting = DEFAULT_FIT,  # noqa: ARG002
    ) -> EngineFit:
        """Fit over an engine: one round, whatever the start."""
        model = Reweighting(engine, self._weigh)
        state = model.first_state()
        fit = make_fit(self.name, model, Fit(state, np.empty(0), converged=True))
        return replace(fit, summary=FitSummary(reliability=state["weight"]))

    def _weigh(self, distance: Floats, given: Floats) -> Floats:
        return np.asarray(1.0 - distance / np.maximum(given, 1e-300))


def _infer_weights(method: PM | CATD | Wawa, labels: CrowdLabels, fitting: Fitting) -> Estimate:
    refuse_anchors(method.name, fitting)
    require_whole_labels(labels, method.name)
    if not labels.n_labels:
        return empty_estimate(labels, method.name)
    return infer_over(method, labels, make_shards(labels, threads=fitting.threads), fitting)


class Reweighting:
    """Weights in turn with weighted votes, over an engine.

    A state holds the weights, those of the round before, how far the labels were from the answers by these, and how
    many answers the weights changed.
    """

    def __init__(self, engine: Engine, weigh: Weigh) -> None:
        self.engine, self.weigh = engine, weigh
        self._ones: Floats = np.ones(engine.n_annotators)
        self._start: Beliefs | None = None

    def first_state(self, beliefs: Beliefs | None = None) -> State:
        """Weights by the distance from the votes, or from beliefs."""
        self._start = beliefs
        start = None if beliefs is None else self.engine.scatter({VOTES: beliefs})
        return self._following(self._pass(self._ones, self._ones, start), previous=self._ones)

    def step(self, state: State) -> tuple[State, float]:
        """The next weights; and, as the objective, minus the distance of all labels that these weights came from."""
        start = self._start if state["previous"] is self._ones else None
        before = None if start is None else self.engine.scatter({PREVIOUS: start})
        found = self._pass(state["weight"], state["previous"], before)
        return self._following(found, previous=state["weight"]), -float(state["distance"].sum())

    def belief_pass(self, state: State) -> BeliefPass:
        """Shares of the weights."""
        step = DistanceStep(n_annotators=self.engine.n_annotators, n_classes=self.engine.n_classes, keep=True)
        weight = state["weight"]
        return BeliefPass(step=step, parameters={"weight": weight, "previous": weight})

    def summary(self, state: State) -> FitSummary:
        """The weights as shares of their sum."""
        return FitSummary(reliability=state["weight"] / state["weight"].sum())

    def _pass(self, weight: Floats, previous: Floats, states: States) -> Arrays:
        step = DistanceStep(n_annotators=self.engine.n_annotators, n_classes=self.engine.n_classes)
        return self.engine.sum(step, {"weight": weight, "previous": previous}, states)[0]

    def _following(self, found: Arrays, *, previous: Floats) -> State:
        weight = self.weigh(found["distance"], found["given"])
        kept = {"distance": found["distance"], "changed": found["changed"]}
        return {"weight": weight, "previous": previous, **kept}


VOTES, PREVIOUS = "votes", "previous_votes"
"""In the state of a shard: votes[i, k] to answer by instead of weighted ones, and to compare these with."""


def _no_answer_changed(state: State) -> bool:
    return float(state["changed"]) == 0.0


@dataclass(frozen=True, kw_only=True)
class DistanceStep:
    """How far the labels of each annotator are from the answers by weighted votes.

    Parameters: weight[j], and previous[j], the weights of the round before. State: votes to begin with, if they are not
    weighted ones.

    Attributes:
        n_annotators: Number of annotators.
        n_classes: Number of classes.
        keep: Whether the new state holds q[i, k], the shares of the weights.
    """

    n_annotators: int
    n_classes: int
    keep: bool = False

    def __call__(self, shard: Shard, parameters: Arrays, state: Arrays) -> tuple[Arrays, Arrays]:
        """distance[j], given[j] labels, and how many answers differ from those by the weights before."""
        votes = state[VOTES] if VOTES in state else self._votes(shard, parameters["weight"])
        before = state[PREVIOUS] if PREVIOUS in state else self._votes(shard, parameters["previous"])
        best = best_classes(_unit_scale(votes))
        changed = (best != best_classes(_unit_scale(before))).any(axis=1)
        answers = best / best.sum(axis=1, keepdims=True)
        # differs[row], 0 where the label is the answer, 1 - 1/r where it is one of r tied answers, else 1
        differs, weight = 1.0 - answers[shard.unit, shard.label], shard.row_weights()
        counts = {
            "distance": sum_by(shard.annotator, self.n_annotators, differs if weight is None else weight * differs),
            "given": sum_by(shard.annotator, self.n_annotators, weight),
            "changed": shard.unit_sum(changed.astype(np.float64)),
        }
        return counts, {Q: vote_shares(votes)} if self.keep else {}

    def _votes(self, shard: Shard, weight: Floats) -> Floats:
        """votes[i, k], the sum of the weights of the annotators who gave k, times the weights of their labels."""
        each = weight[shard.annotator]
        if len(shard.weight):
            each = each * shard.weight
        cell = shard.unit * self.n_classes + shard.label
        return sum_by(cell, shard.n_units * self.n_classes, each).reshape(-1, self.n_classes)


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
