"""The ensemble: Dawid-Skene, MACE and the vote, pooled. The default where labels are of single items.

Dawid-Skene learns a confusion matrix for every annotator, which pays off with many labels and loses to counting votes
with few; MACE learns one number; the vote learns nothing. Each states its posterior with the dependence of the labels
taken into account (`dependence`), and the ensemble is their weighted mean, a linear opinion pool [STONE61]: where the
members disagree, it is unsure. Dawid-Skene weighs w = c² / (c² + half²) for c labels per annotator and class, MACE
1 - 0.3 w and the vote 1 - w.

[STONE61] Stone, "The opinion pool", 1961.
Axes: i unit, j annotator, k class.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from crowdlogic.annotators.label_sums import MOST_CELLS
from crowdlogic.data.blocks import Engine
from crowdlogic.data.corpus import Corpus
from crowdlogic.data.estimate import Beliefs, Calibration, Estimate, make_estimate, vote_shares
from crowdlogic.data.labels import CrowdLabels, require_whole_labels
from crowdlogic.numerics.arrays import Floats, check_amounts, row_sums, sum_by
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

BESIDE_CONFUSION = 0.3
"""Weight that MACE loses if confusion matrices are well estimated, because it cannot model adversarial annotators."""


@dataclass(frozen=True)
class Member:
    """Beliefs of one member of the ensemble: its weight, its own posterior, and its estimate (None for the vote)."""

    weight: float
    posterior: Beliefs
    estimate: Estimate | None = None


@dataclass(frozen=True)
class Ensemble:
    """Pool of Dawid-Skene, MACE and majority vote, weighted by the number of labels.

    Attributes:
        half: Labels per annotator and class with which Dawid-Skene has half its weight.
        dependence: Dependence of labels on one item; None assumes independence, as the members do.
        convergence: When Dawid-Skene and MACE stop.
    """

    half: float = 3.0
    dependence: Dependence | None = PUBLIC_CROWDS
    convergence: Convergence = Convergence()

    name = "ensemble"

    def __post_init__(self) -> None:
        check_amounts(self, positive=("half",))

    @takes_frames
    def infer(self, labels: CrowdLabels, corpus: Corpus | None = None, *, fitting: Fitting = DEFAULT_FIT) -> Estimate:
        """Fit the members and pool their calibrated beliefs."""
        require_whole_labels(labels, self.name)
        if not labels.n_labels:
            return empty_estimate(labels, self.name)
        members = self.members(
            labels, lambda method: method.infer(labels, corpus, fitting=own_checkpoint(fitting, method.name))
        )
        return self.pooled(labels, list(members), fitting=fitting)

    def pooled(
        self, labels: CrowdLabels, members: Sequence[Member], *, fitting: Fitting, times: Floats | None = None
    ) -> Estimate:
        """Return the pooled beliefs of the members; times[i], if given, is the number of units like unit i."""
        votes = labels.votes()
        calibration = None if self.dependence is None else self.dependence.calibration(votes, times)
        beliefs = pool(members, votes, calibration)
        fitted = [member.estimate for member in members if member.estimate is not None]
        pooled = make_estimate(
            labels,
            self.name,
            keep_known(beliefs, labels, fitting.anchors),
            answer_all=fitting.answer_all,
            confusion=fitted[0].confusion,
            prior=fitted[0].prior,
            reliability=fitted[-1].reliability,
            trace=fitted[0].trace,
            converged=all(estimate.converged for estimate in fitted),
        )
        if calibration is not None:
            is_open = open_units(pooled, labels, fitting.anchors)
            own = pool(members, votes, None)[is_open]
            wrong = probability_wrong(own, row_sums(votes)[is_open], pooled.answer[is_open])
            calibration = with_range(calibration, wrong, None if times is None else times[is_open])
        return replace(pooled, calibration=calibration)

    def members(self, labels: CrowdLabels, infer: Infer, *, times: Floats | None = None) -> Iterator[Member]:
        """The members that have a weight, each fitted; confusion matrices that would not fit into memory have none.

        Args:
            labels: The labels.
            infer: Function that fits a member.
            times: times[i], the number of units with the labels of unit i; None if each stands for one.
        """
        weight = self.confusion_weight(labels, times)
        if weight > 0:
            found = infer(DawidSkene(convergence=self.convergence))
            yield Member(weight, found.beliefs, found)
        found = infer(MACE(convergence=self.convergence))
        yield Member(1.0 - BESIDE_CONFUSION * weight, found.beliefs, found)
        if weight < 1:
            votes = labels.votes()
            yield Member(1.0 - weight, posterior_of_votes(vote_shares(votes), votes, times))

    def confusion_weight(self, labels: CrowdLabels, times: Floats | None = None) -> float:
        """Return the weight of Dawid-Skene, by the labels per annotator and class."""
        often = None if times is None else times[labels.unit]
        return self._weight(sum_by(labels.annotator, len(labels.annotators), often), labels.n_classes)

    def _weight(self, given: Floats, n_classes: int) -> float:
        """Return the weight of Dawid-Skene where each annotator gave given[j] labels."""
        if len(given) * n_classes**2 > MOST_CELLS:
            return 0.0
        each = float(given.sum()) / max(int(np.count_nonzero(given)) * n_classes, 1)
        return each**2 / (each**2 + self.half**2)

    def fit_over(
        self, engine: Engine, *, labels: CrowdLabels | None = None, fitting: Fitting = DEFAULT_FIT
    ) -> EngineFit:
        """Fit the members over an engine and pool their calibrated beliefs."""
        from crowdlogic.truth.majority import VoteStep

        votes = sum_votes(engine)
        weight = self._weight(votes["given"].sum(axis=1), engine.n_classes)
        fits: list[EngineFit] = []
        if weight > 0:
            method = DawidSkene(convergence=self.convergence)
            fits.append(method.fit_over(engine, labels=labels, fitting=own_checkpoint(fitting, "dawid-skene")))
        known = MACE(convergence=self.convergence).fit_over(
            engine, labels=labels, fitting=own_checkpoint(fitting, "mace")
        )
        members = [StatedMember(beliefs=fit.beliefs, weight=weight) for fit in fits]
        members.append(StatedMember(beliefs=known.beliefs, weight=1.0 - BESIDE_CONFUSION * weight))
        if weight < 1:
            counted = BeliefPass(step=VoteStep(engine.n_classes), parameters={})
            members.append(StatedMember(beliefs=counted, weight=1.0 - weight, shares=True))
        beliefs, calibration = state_members(members, engine, votes, self.dependence)
        first = [*fits, known][0]
        return replace(
            first,
            method=self.name,
            beliefs=beliefs,
            summary=replace(first.summary, reliability=known.summary.reliability, parameters={}),
            converged=all(fit.converged for fit in (*fits, known)),
            calibration=calibration,
        )


Infer = Callable[[DawidSkene | MACE], Estimate]
"""Function that fits a member."""


def pool(members: Sequence[Member], votes: Floats, calibration: Calibration | None) -> Beliefs:
    """Return the weighted mean of the members' calibrated beliefs, or of their own posteriors without a calibration."""
    total = sum(member.weight for member in members)
    if calibration is None:
        return np.asarray(sum(member.weight / total * member.posterior for member in members))
    sharpness = label_sharpness(votes, calibration.correlation)
    beliefs = np.full_like(members[0].posterior, calibration.doubt / max(votes.shape[1], 1))
    for member in members:
        beliefs += (1.0 - calibration.doubt) * member.weight / total * temper(member.posterior, sharpness)
    return beliefs
