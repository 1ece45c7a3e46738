"""A committee: what several methods believe of the same items, weighed by how well each foretold the decisions so far.

Which answers are wrong is often better seen by another method than by the one that gave them: a method is sure of its
own mistakes. Members are the ensemble, MACE, the vote and GLAD. Their weights are those of Bayesian model averaging
[HOETING99]: a prior, times the probability that the member, before the first decision, gave to every outcome of a
decision: that the answer was wrong, or that it was right. So the first items follow the ensemble, and later ones
whichever member knows best where these answers are wrong.

[HOETING99] Hoeting, Madigan, Raftery and Volinsky, "Bayesian model averaging: a tutorial", 1999.
Axes: i unit, k class, e member.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from crowdlogic.data.estimate import Beliefs, Estimate, vote_shares
from crowdlogic.data.labels import CrowdLabels
from crowdlogic.engines.shard import UNKNOWN
from crowdlogic.errors import ConvergenceWarning
from crowdlogic.numerics.arrays import Floats, Ints
from crowdlogic.numerics.convergence import Convergence
from crowdlogic.numerics.logspace import normalise, safe_log
from crowdlogic.numerics.tempering import temper
from crowdlogic.planning.decisions import Decisions
from crowdlogic.planning.warm_refit import POOLED, own_posterior
from crowdlogic.registry import TRUTH_METHODS
from crowdlogic.truth.dawid_skene import DawidSkene
from crowdlogic.truth.dependence import PUBLIC_CROWDS, label_sharpness, state_confidence
from crowdlogic.truth.ensemble import BESIDE_CONFUSION, Ensemble, Member, pool
from crowdlogic.truth.fitting import Fitting
from crowdlogic.truth.glad import GLAD
from crowdlogic.truth.mace import MACE
from crowdlogic.truth.methods import TruthMethod
from crowdlogic.truth.vote_posterior import posterior_of_votes

OTHERS_WEIGHT = 0.3
"""Prior weight of every other member, beside 1 for the ensemble."""

LEAST = 0.01
"""No member is taken to be surer than this of an answer being right or wrong, so that none is ruled out by one item."""

FEW_STEPS = Convergence(max_iterations=8)
"""Fits that go on from the present beliefs stop after so many iterations."""
OPINION = Convergence(max_iterations=100, tolerance=1e-5)
"""When GLAD's fit stops: an opinion need not be exact."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Committee:
    """What several methods stated of the same units before the first decision.

    Attributes:
        labels: The labels.
        answer: answer[i], the answers before the first decision.
        own: q[i, k], what the method that gave these answers stated of them.
        beliefs: Member -> q[i, k]; the first is the ensemble, or the only one.
    """

    labels: CrowdLabels
    answer: Ints
    own: Beliefs
    beliefs: Mapping[str, Beliefs]

    def weights(self, decided: Ints) -> Floats:
        """weight[e]: the prior, times the probability that the member gave to the answers being right or wrong.

        Args:
            decided: decided[i], the class that unit i was decided to be of, UNKNOWN for the others.
        """
        units = np.flatnonzero((decided != UNKNOWN) & (self.answer >= 0))
        answer = self.answer[units]
        is_right = decided[units] == answer
        prior = np.array([1.0, *[OTHERS_WEIGHT] * (len(self.beliefs) - 1)])
        right = [np.clip(q[units, answer], LEAST, 1.0 - LEAST) for q in self.beliefs.values()]
        log_score = [float(np.log(np.where(is_right, p, 1.0 - p)).sum()) for p in right]
        return normalise(safe_log(prior) + np.array(log_score))[0]

    def pool(self, present: Estimate, decisions: Decisions) -> Beliefs:
        """q[i, k], the weighted mean of what the members state now.

        Args:
            present: The present estimate, with stated beliefs.
            decisions: What was decided so far.
        """
        now = dict(self.beliefs) | (
            {present.method: present.beliefs} if len(self.beliefs) == 1 else opinions(self.labels, present, decisions)
        )
        return self._mix(now, decisions)

    def pool_first(self, decisions: Decisions) -> Beliefs:
        """q[i, k], the mean of what the members stated before the first decision, weighted as they are now."""
        return self._mix(self.beliefs, decisions)

    def _mix(self, beliefs: Mapping[str, Beliefs], decisions: Decisions) -> Beliefs:
        weights = self.weights(decisions.classes(self.labels))
        return np.asarray(sum(weight * beliefs[name] for name, weight in zip(self.beliefs, weights, strict=True)))


def make_committee(labels: CrowdLabels, before: Estimate) -> Committee:
    """Ask the members, once for a table of labels.

    Tags of sentences, partial labels, and runs (which know the items) have a committee of one: the estimate itself.

    Args:
        labels: The labels.
        before: The estimate before the first decision.
    """
    own = state_confidence(labels, before)
    alone = labels.is_sequential or labels.negated is not None or own.method not in TRUTH_METHODS
    if alone or not labels.n_labels:
        return Committee(labels=labels, answer=own.answer, own=own.beliefs, beliefs={own.method: own.beliefs})
    found = opinions(labels, own, Decisions())
    found["glad"] = state_confidence(labels, _infer(GLAD(convergence=OPINION), labels, Fitting())).beliefs
    return Committee(labels=labels, answer=own.answer, own=own.beliefs, beliefs=found)


def opinions(labels: CrowdLabels, present: Estimate, decisions: Decisions) -> dict[str, Beliefs]:
    """What the ensemble, MACE and the vote state, from the present estimate on: a few iterations each."""
    votes = labels.votes()
    calibration = PUBLIC_CROWDS.calibration(votes)
    sharpness = label_sharpness(votes, calibration.correlation)
    fitting = Fitting(start=replace(present, beliefs=own_posterior(labels, present)), anchors=dict(decisions.truth))
    mace = _infer(MACE(convergence=FEW_STEPS), labels, fitting).beliefs
    vote = posterior_of_votes(vote_shares(votes), votes)
    return {
        POOLED: _pooled(labels, present, fitting, mace=mace, vote=vote),
        "mace": temper(mace, sharpness, calibration.doubt),
        "majority": temper(vote, sharpness, calibration.doubt),
    }


def _pooled(labels: CrowdLabels, present: Estimate, fitting: Fitting, *, mace: Beliefs, vote: Beliefs) -> Beliefs:
    """What the ensemble states: the present estimate if it is the ensemble's, else pooled from its members."""
    if present.method == POOLED:
        return present.beliefs
    weight = Ensemble().confusion_weight(labels)
    members = [Member(1.0 - BESIDE_CONFUSION * weight, mace), Member(1.0 - weight, vote)]
    if weight > 0:
        members.append(Member(weight, _confusion_posterior(labels, present, fitting)))
    votes = labels.votes()
    return pool(members, votes, PUBLIC_CROWDS.calibration(votes))


def _confusion_posterior(labels: CrowdLabels, present: Estimate, fitting: Fitting) -> Beliefs:
    """The posterior of Dawid-Skene: the present one if it is that, else some iterations from it on."""
    if present.method == DawidSkene.name and fitting.start is not None:
        return fitting.start.beliefs
    return _infer(DawidSkene(convergence=FEW_STEPS), labels, fitting).beliefs


def _infer(method: TruthMethod, labels: CrowdLabels, fitting: Fitting) -> Estimate:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # few iterations are meant
        return method.infer(labels, fitting=fitting)
