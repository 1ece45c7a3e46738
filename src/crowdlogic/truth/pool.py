"""Pools of Dawid-Skene, MACE and majority vote. The default methods for single items and for tags that are not spans.

Dawid-Skene learns a confusion matrix for every annotator, which is better than counting votes if there are many labels,
and worse if there are few. MACE learns one number per annotator, and the vote learns nothing. The posteriors are
calibrated with the dependence of the labels (`dependence`), and the pool is their weighted mean, a linear opinion pool
[STONE61]. If the members disagree, its confidence is low. Dawid-Skene has weight w = c² / (c² + half²) for c labels per
annotator and class, since few labels do not determine a matrix.

- `MethodPool` is the default for labels of single items. If annotators share mistakes, like language-model judges,
  confusion matrices can converge to something other than the classes. The vote limits this: MACE and the uncalibrated
  vote shares have weight 1. Near-copies among the annotators are merged first (in memory only, not on engines).
- `Ensemble` is the default for tags that are not spans. MACE has weight 1 - 0.3 w, and the posterior of the vote
  1 - w.

[STONE61] Stone, "The opinion pool", 1961.
Axes: i unit, j annotator, k class.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from crowdlogic.annotators.label_sums import MOST_CELLS
from crowdlogic.data.blocks import Engine
from crowdlogic.data.corpus import Corpus
from crowdlogic.data.estimate import Beliefs, Calibration, Estimate, make_estimate, vote_shares
from crowdlogic.data.labels import CrowdLabels, require_whole_labels
from crowdlogic.numerics.arrays import Floats, Ints, check_amounts, row_sums, sum_by
from crowdlogic.numerics.convergence import Convergence
from crowdlogic.numerics.logspace import temper
from crowdlogic.truth.dawid_skene import DawidSkene
from crowdlogic.truth.dependence import (
    PUBLIC_CROWDS,
    Dependence,
    StatedMember,
    keep_known,
    label_sharpness,
    open_units,
    posterior_of_votes,
    probability_wrong,
    state_members,
    sum_votes,
    with_range,
)
from crowdlogic.truth.fitting import DEFAULT_FIT, BeliefPass, EngineFit, Fitting, empty_estimate, own_checkpoint
from crowdlogic.truth.mace import MACE
from crowdlogic.truth.methods import takes_frames
from crowdlogic.truth.near_copies import find_similar, merge_groups

TEAMS_CROWDS_PANELS = replace(PUBLIC_CROWDS, strength=0.5, doubt=0.05)
"""Scale of the confidences, chosen by the mean log loss over teams, crowds and panels, which is flat around it. It is a
compromise: underconfident for independent teams, overconfident for panels of judges."""

BESIDE_CONFUSION = 0.3
"""Weight that MACE loses in the ensemble if confusion matrices are well estimated, because it cannot model adversarial
annotators."""

Infer = Callable[[DawidSkene | MACE], Estimate]
"""Function that fits a member."""


@dataclass(frozen=True)
class Member:
    """Beliefs of one member of a pool.

    Attributes:
        weight: Weight of the member.
        posterior: Uncalibrated beliefs q[i, k].
        estimate: Estimate of the member; None for the vote.
        is_share: Whether the beliefs are vote shares, pooled without calibration, instead of a posterior.
    """

    weight: float
    posterior: Beliefs
    estimate: Estimate | None = None
    is_share: bool = False


@dataclass(frozen=True, eq=False, kw_only=True)
class Members:
    """Members of a pool. Iteration yields those with a weight.

    Attributes:
        dawid_skene: Dawid-Skene; MACE with weight 0 if confusion matrices have no weight.
        mace: MACE.
        vote: The vote.
    """

    dawid_skene: Member
    mace: Member
    vote: Member

    def __iter__(self) -> Iterator[Member]:
        return (one for one in (self.dawid_skene, self.mace, self.vote) if one.weight > 0)


def pool(members: Sequence[Member], votes: Floats, calibration: Calibration | None) -> Beliefs:
    """Return the weighted mean of the members' calibrated beliefs, or of their own beliefs without a calibration."""
    total = sum(member.weight for member in members)
    if calibration is None:
        return np.asarray(sum(member.weight / total * member.posterior for member in members))
    sharpness = label_sharpness(votes, calibration.correlation)
    beliefs = np.full_like(members[0].posterior, calibration.doubt / max(votes.shape[1], 1))
    for member in members:
        stated = member.posterior if member.is_share else temper(member.posterior, sharpness)
        beliefs += (1.0 - calibration.doubt) * member.weight / total * stated
    return beliefs


def independent_posterior(members: Iterable[Member], votes: Floats) -> Beliefs:
    """Return q[i, k] under independent errors: the weighted mean of the posteriors, without vote shares."""
    return pool([one for one in members if not one.is_share], votes, None)


@dataclass(frozen=True)
class LinearPool:
    """Base class of pools: the weighted mean of Dawid-Skene, MACE and the vote.

    Attributes:
        half: Number of labels per annotator and class at which Dawid-Skene has half its weight.
        dependence: Dependence of labels on one item; None averages the members' uncalibrated beliefs.
        convergence: Stopping criterion of Dawid-Skene and MACE.
    """

    half: float = 3.0
    dependence: Dependence | None = PUBLIC_CROWDS
    convergence: Convergence = Convergence()

    name: ClassVar[str]
    pools_shares: ClassVar[bool] = False

    def __post_init__(self) -> None:
        check_amounts(self, positive=("half",))

    def weights(self, confusion: float) -> tuple[float, float, float]:
        """Return the weights of Dawid-Skene, MACE and the vote, given the weight of Dawid-Skene."""
        raise NotImplementedError

    @takes_frames
    def infer(self, labels: CrowdLabels, corpus: Corpus | None = None, *, fitting: Fitting = DEFAULT_FIT) -> Estimate:
        """Fit the members and pool their calibrated beliefs."""
        require_whole_labels(labels, self.name)
        if not labels.n_labels:
            return empty_estimate(labels, self.name)
        return self.pooled(labels, self.fit_members(labels, corpus, fitting=fitting), fitting=fitting)

    def confusion_weight(self, labels: CrowdLabels, times: Floats | None = None) -> float:
        """Return the weight of Dawid-Skene; times[i], if given, is the number of units represented by unit i."""
        often = None if times is None else times[labels.unit]
        return self._confusion_weight(sum_by(labels.annotator, len(labels.annotators), often), labels.n_classes)

    def _confusion_weight(self, given: Floats, n_classes: int) -> float:
        """Return the weight of Dawid-Skene if annotator j gave given[j] labels; 0 if it would need too much memory."""
        if len(given) * n_classes**2 > MOST_CELLS:
            return 0.0
        each = float(given.sum()) / max(int(np.count_nonzero(given)) * n_classes, 1)
        return each**2 / (each**2 + self.half**2)

    def fit_members(
        self, labels: CrowdLabels, corpus: Corpus | None = None, *, fitting: Fitting = DEFAULT_FIT
    ) -> Members:
        """Fit Dawid-Skene and MACE, and count the votes."""
        return self.members(labels, lambda one: one.infer(labels, corpus, fitting=own_checkpoint(fitting, one.name)))

    def members(self, labels: CrowdLabels, infer: Infer, *, times: Floats | None = None) -> Members:
        """Fit the members and return them.

        Args:
            labels: The labels.
            infer: Function that fits a member.
            times: times[i], the number of units with the labels of unit i; None if all are 1.
        """
        of_confusion, of_mace, of_vote = self.weights(self.confusion_weight(labels, times))
        fitted = infer(DawidSkene(convergence=self.convergence)) if of_confusion > 0 else None
        known, votes = infer(MACE(convergence=self.convergence)), labels.votes()
        shares = vote_shares(votes)
        return Members(
            dawid_skene=Member(of_confusion, (fitted or known).beliefs, fitted),
            mace=Member(of_mace, known.beliefs, known),
            vote=Member(of_vote, shares, is_share=True)
            if self.pools_shares
            else Member(of_vote, posterior_of_votes(shares, votes, times)),
        )

    def pooled(
        self, labels: CrowdLabels, members: Iterable[Member], *, fitting: Fitting, times: Floats | None = None
    ) -> Estimate:
        """Return the pooled beliefs of the members; times[i], if given, is the number of units represented by i."""
        members, votes = list(members), labels.votes()
        calibration = None if self.dependence is None else self.dependence.calibration(votes, times)
        fits = [member.estimate for member in members if member.estimate is not None]
        found = make_estimate(
            labels,
            self.name,
            keep_known(pool(members, votes, calibration), labels, fitting.anchors),
            answer_all=fitting.answer_all,
            confusion=fits[0].confusion,
            prior=fits[0].prior,
            reliability=fits[-1].reliability,
            trace=fits[0].trace,
            converged=all(fit.converged for fit in fits),
        )
        if calibration is not None:
            is_open = open_units(found, labels, fitting.anchors)
            own = independent_posterior(members, votes)[is_open]
            wrong = probability_wrong(own, row_sums(votes)[is_open], found.answer[is_open])
            calibration = with_range(calibration, wrong, None if times is None else times[is_open])
        return replace(found, calibration=calibration)

    def fit_over(
        self, engine: Engine, *, labels: CrowdLabels | None = None, fitting: Fitting = DEFAULT_FIT
    ) -> EngineFit:
        """Fit the members over an engine and pool their calibrated beliefs."""
        from crowdlogic.truth.majority import VoteStep

        votes = sum_votes(engine)
        weights = self.weights(self._confusion_weight(votes["given"].sum(axis=1), engine.n_classes))
        methods: tuple[DawidSkene | MACE, ...] = (
            DawidSkene(convergence=self.convergence),
            MACE(convergence=self.convergence),
        )
        fits: list[EngineFit] = []
        members = []
        for method, weight in zip(methods, weights[:2], strict=True):
            if weight > 0:
                own = own_checkpoint(fitting, method.name)
                fits.append(method.fit_over(engine, labels=labels, fitting=own))
                members.append(StatedMember(beliefs=fits[-1].beliefs, weight=weight))
        if weights[2] > 0:
            counted = BeliefPass(step=VoteStep(engine.n_classes), parameters={})
            members.append(StatedMember(beliefs=counted, weight=weights[2], shares=True))
        beliefs, calibration = state_members(members, engine, votes, self.dependence, raw_shares=self.pools_shares)
        return replace(
            fits[0],
            method=self.name,
            beliefs=beliefs,
            reliability=fits[-1].reliability,
            parameters={},
            converged=all(fit.converged for fit in fits),
            calibration=calibration,
        )


@dataclass(frozen=True)
class MethodPool(LinearPool):
    """Pool of vote shares, MACE and Dawid-Skene.

    Attributes:
        half: Number of labels per annotator and class at which Dawid-Skene has half its weight.
        dependence: Dependence of labels on one item; None averages the members' uncalibrated posteriors.
        convergence: Stopping criterion of Dawid-Skene and MACE.
    """

    dependence: Dependence | None = TEAMS_CROWDS_PANELS

    name = "pool"
    pools_shares = True

    def weights(self, confusion: float) -> tuple[float, float, float]:
        """Return the weights of Dawid-Skene, MACE and the vote."""
        return confusion, 1.0, 1.0

    @takes_frames
    def infer(self, labels: CrowdLabels, corpus: Corpus | None = None, *, fitting: Fitting = DEFAULT_FIT) -> Estimate:
        """Merge near-copies among the annotators, fit the members and pool them."""
        require_whole_labels(labels, self.name)
        if not labels.n_labels:
            return empty_estimate(labels, self.name)
        group = find_similar(labels).group
        return split_groups(super().infer(merge_groups(labels, group), corpus, fitting=fitting), labels, group)


@dataclass(frozen=True)
class Ensemble(LinearPool):
    """Pool of Dawid-Skene, MACE and majority vote, weighted by the number of labels.

    Attributes:
        half: Number of labels per annotator and class at which Dawid-Skene has half its weight.
        dependence: Dependence of labels on one item; None assumes independence, as the members do.
        convergence: Stopping criterion of Dawid-Skene and MACE.
    """

    name = "ensemble"

    def weights(self, confusion: float) -> tuple[float, float, float]:
        """Return the weights of Dawid-Skene, MACE and the vote."""
        return confusion, 1.0 - BESIDE_CONFUSION * confusion, 1.0 - confusion


def split_groups(estimate: Estimate, labels: CrowdLabels, group: Ints) -> Estimate:
    """Convert the estimate of merged annotators to one of all annotators; members of a group get equal parameters.

    Args:
        estimate: An estimate of `merge_groups(labels, group)`.
        labels: The labels of all annotators.
        group: group[j], equal for annotators who were merged.
    """
    _, code = np.unique(group, return_inverse=True)  # code[j], the merged annotator of annotator j
    return replace(
        estimate,
        annotators=labels.annotators,
        confusion=None if estimate.confusion is None else estimate.confusion[code],
        reliability=None if estimate.reliability is None else estimate.reliability[code],
    )
