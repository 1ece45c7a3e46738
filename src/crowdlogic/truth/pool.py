"""The pool: the mean of vote shares, MACE and Dawid-Skene. The default for labels of single items.

Near-copies among the annotators are merged first (in memory; engines take annotators as they are).

Dawid-Skene learns a confusion matrix for every annotator, MACE one number, the vote nothing. Where annotators share
mistakes, as language-model judges do, confusion matrices can settle on something else than the classes; the vote then
holds them back. The members count equally, except that Dawid-Skene weighs w = c² / (c² + half²) for c labels per
annotator and class, since few labels do not determine a matrix. It is a linear opinion pool [STONE61] of the shares and
of the two posteriors with the dependence of the labels taken into account (`dependence`).

[STONE61] Stone, "The opinion pool", 1961.
Axes: i unit, j annotator, k class.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from crowdlogic.annotators.label_sums import MOST_CELLS
from crowdlogic.data.blocks import Engine
from crowdlogic.data.corpus import Corpus
from crowdlogic.data.estimate import Beliefs, Estimate, make_estimate, vote_shares
from crowdlogic.data.labels import CrowdLabels, require_whole_labels
from crowdlogic.numerics.arrays import Floats, Ints, check_amounts, row_sums
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
"""Scale of single confidences, a compromise between independent teams, for which it is underconfident, and panels of
judges, for which it is overconfident; chosen by the mean log loss over teams, crowds and panels, which is flat around
it."""


@dataclass(frozen=True, eq=False, kw_only=True)
class PoolMembers:
    """Beliefs of the members of the pool.

    Attributes:
        shares: shares[i, k] of the votes.
        mace: q[i, k] of MACE.
        dawid_skene: q[i, k] of Dawid-Skene; those of MACE where confusion matrices have no weight.
        weight: Weight of Dawid-Skene, from 0 to 1; the others have 1.
        fits: The estimates of Dawid-Skene, if it has a weight, and MACE.
    """

    shares: Beliefs
    mace: Beliefs
    dawid_skene: Beliefs
    weight: float
    fits: tuple[Estimate, ...]

    @property
    def independent(self) -> Beliefs:
        """q[i, k] if annotators err independently: the weighted mean of MACE and Dawid-Skene."""
        return (self.mace + self.weight * self.dawid_skene) / (1.0 + self.weight)


@dataclass(frozen=True)
class MethodPool:
    """Mean of vote shares, MACE and Dawid-Skene.

    Attributes:
        half: Labels per annotator and class with which Dawid-Skene has half its weight.
        dependence: Dependence of labels on one item; None averages the members' uncalibrated posteriors.
        convergence: When Dawid-Skene and MACE stop.
    """

    half: float = 3.0
    dependence: Dependence | None = TEAMS_CROWDS_PANELS
    convergence: Convergence = Convergence()

    name = "pool"

    def __post_init__(self) -> None:
        check_amounts(self, positive=("half",))

    @takes_frames
    def infer(self, labels: CrowdLabels, corpus: Corpus | None = None, *, fitting: Fitting = DEFAULT_FIT) -> Estimate:
        """Merge near-copies among the annotators, fit the members and pool them."""
        require_whole_labels(labels, self.name)
        if not labels.n_labels:
            return empty_estimate(labels, self.name)
        group = find_similar(labels).group
        merged = merge_groups(labels, group)
        found = self.pooled(merged, self.members(merged, corpus, fitting=fitting), fitting=fitting)
        return split_groups(found, labels, group)

    def members(
        self, labels: CrowdLabels, corpus: Corpus | None = None, *, fitting: Fitting = DEFAULT_FIT
    ) -> PoolMembers:
        """Fit Dawid-Skene and MACE, and count the votes."""
        methods: list[DawidSkene | MACE] = [MACE(convergence=self.convergence)]
        weight = self.confusion_weight(labels)
        if weight > 0:
            methods.insert(0, DawidSkene(convergence=self.convergence))
        fits = tuple(one.infer(labels, corpus, fitting=own_checkpoint(fitting, one.name)) for one in methods)
        return PoolMembers(
            shares=vote_shares(labels.votes()),
            mace=fits[-1].beliefs,
            dawid_skene=fits[0].beliefs,
            weight=weight,
            fits=fits,
        )

    def pooled(self, labels: CrowdLabels, members: PoolMembers, *, fitting: Fitting = DEFAULT_FIT) -> Estimate:
        """Return the weighted mean of the members, calibrated with the dependence of the labels."""
        votes, calibration = labels.votes(), None
        mace, dawid_skene, doubt = members.mace, members.dawid_skene, 0.0
        if self.dependence is not None:
            calibration = self.dependence.calibration(votes)
            sharpness, doubt = label_sharpness(votes, calibration.correlation), calibration.doubt
            mace, dawid_skene = temper(mace, sharpness), temper(dawid_skene, sharpness)
        mean = (members.shares + mace + members.weight * dawid_skene) / (2.0 + members.weight)
        beliefs = (1.0 - doubt) * mean + doubt / max(labels.n_classes, 1)
        first, last = members.fits[0], members.fits[-1]
        found = make_estimate(
            labels,
            self.name,
            keep_known(beliefs, labels, fitting.anchors),
            answer_all=fitting.answer_all,
            confusion=first.confusion,
            prior=first.prior,
            reliability=last.reliability,
            trace=first.trace,
            converged=all(fit.converged for fit in members.fits),
        )
        if calibration is not None:
            is_open = open_units(found, labels, fitting.anchors)
            wrong = probability_wrong(members.independent[is_open], row_sums(votes)[is_open], found.answer[is_open])
            calibration = with_range(calibration, wrong)
        return replace(found, calibration=calibration)

    def confusion_weight(self, labels: CrowdLabels) -> float:
        """Return the weight of Dawid-Skene, by the labels per annotator and class."""
        return self._weight(labels.labels_per_annotator(), labels.n_classes)

    def _weight(self, given: Ints | Floats, n_classes: int) -> float:
        """Return the weight of Dawid-Skene where each annotator gave given[j] labels."""
        if len(given) * n_classes**2 > MOST_CELLS:
            return 0.0
        each = float(given.sum()) / max(int(np.count_nonzero(given)) * n_classes, 1)
        return each**2 / (each**2 + self.half**2)

    def fit_over(
        self, engine: Engine, *, labels: CrowdLabels | None = None, fitting: Fitting = DEFAULT_FIT
    ) -> EngineFit:
        """Fit the members over an engine and pool them."""
        from crowdlogic.truth.majority import VoteStep

        votes = sum_votes(engine)
        weight = self._weight(votes["given"].sum(axis=1), engine.n_classes)
        methods: list[DawidSkene | MACE] = [MACE(convergence=self.convergence)]
        if weight > 0:
            methods.insert(0, DawidSkene(convergence=self.convergence))
        fits = [one.fit_over(engine, labels=labels, fitting=own_checkpoint(fitting, one.name)) for one in methods]
        counted = BeliefPass(step=VoteStep(engine.n_classes), parameters={})
        members = [
            *(StatedMember(beliefs=fit.beliefs, weight=weight) for fit in fits[:-1]),
            StatedMember(beliefs=fits[-1].beliefs),
            StatedMember(beliefs=counted, shares=True),
        ]
        beliefs, calibration = state_members(members, engine, votes, self.dependence, raw_shares=True)
        return replace(
            fits[0],
            method=self.name,
            beliefs=beliefs,
            summary=replace(fits[0].summary, reliability=fits[-1].summary.reliability, parameters={}),
            converged=all(fit.converged for fit in fits),
            calibration=calibration,
        )


def split_groups(estimate: Estimate, labels: CrowdLabels, group: Ints) -> Estimate:
    """Return the estimate of merged annotators as one of all annotators: those of a group have the same parameters.

    Args:
        estimate: An estimate of `merge_groups(labels, group)`.
        labels: The labels of all annotators.
        group: group[j], the same number for annotators who were merged.
    """
    _, code = np.unique(group, return_inverse=True)  # code[j], the merged annotator of annotator j
    return replace(
        estimate,
        annotators=labels.annotators,
        confusion=None if estimate.confusion is None else estimate.confusion[code],
        reliability=None if estimate.reliability is None else estimate.reliability[code],
    )
