"""Majority vote: the class with the most labels.

Axes: i unit, k class.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import polars as pl

from crowdlogic.annotators.label_sums import Q, count_votes
from crowdlogic.data.blocks import Arrays, Engine, Shard
from crowdlogic.data.corpus import Corpus
from crowdlogic.data.estimate import NO_ANSWER, Estimate, make_estimate, vote_shares
from crowdlogic.data.labels import CrowdLabels, require_whole_labels
from crowdlogic.data.names import as_text
from crowdlogic.errors import parse_choice
from crowdlogic.numerics.arrays import Ints, row_sums
from crowdlogic.truth.fitting import DEFAULT_FIT, BeliefPass, EngineFit, Fitting, refuse_anchors
from crowdlogic.truth.methods import takes_frames
from crowdlogic.truth.ties import Ties, best_classes, count_best, winners


@dataclass(frozen=True)
class MajorityVote:
    """Majority vote: the class with the most votes; the beliefs are the vote shares.

    Attributes:
        ties: Policy for ties: random (by seed), first, order (of classes, given) or soft.
        order: With ties = order, the classes, in decreasing order of preference.
        seed: Random seed of random ties.
        weighted: Whether votes are weighted, if the labels have weights.
    """

    ties: Ties | str = Ties.random
    order: Sequence[Any] | None = None
    seed: int = 0
    weighted: bool = True

    name = "majority"
    uses_anchors: ClassVar[bool] = False
    gives_shares: ClassVar[bool] = True

    @takes_frames
    def infer(self, labels: CrowdLabels, corpus: Corpus | None = None, *, fitting: Fitting = DEFAULT_FIT) -> Estimate:  # noqa: ARG002 (votes need no text)
        """Count the votes."""
        refuse_anchors(self.name, fitting)
        require_whole_labels(labels, self.name)
        votes = labels.votes(weighted=self.weighted)
        best = best_classes(votes)

        def unit_names(units: Ints) -> pl.Series:
            """Return the item of each unit, followed by its position in a sequence."""
            item = labels.item_of_unit[units]
            names = as_text(labels.items.gather(item))
            return names if labels.offsets is None else names + pl.Series(units - labels.offsets[item]).cast(pl.String)

        answer = winners(
            best,
            parse_choice(Ties, self.ties, "ties"),
            classes=labels.classes,
            order=self.order,
            seed=self.seed,
            unit_names=unit_names,
        )
        counted = row_sums(votes) > 0
        if not fitting.answer_all:
            answer = np.where(counted, answer, NO_ANSWER).astype(np.int32)
        tied = (count_best(best) > 1) & counted
        return make_estimate(
            labels,
            self.name,
            vote_shares(votes),
            answer=answer,
            answer_all=fitting.answer_all,
            tied=int(np.count_nonzero(tied)),
        )

    def fit_over(
        self,
        engine: Engine,
        *,
        labels: CrowdLabels | None = None,  # noqa: ARG002 (their names do not matter)
        fitting: Fitting = DEFAULT_FIT,  # noqa: ARG002
    ) -> EngineFit:
        """Count the votes of an engine; the shares do not depend on the policy for ties."""
        votes = BeliefPass(step=VoteStep(engine.n_classes, self.weighted), parameters={})
        return EngineFit(
            method=self.name,
            engine=engine,
            state={},
            trace=np.empty(0),
            converged=True,
            beliefs=votes,
        )


@dataclass(frozen=True)
class VoteStep:
    """Step that computes vote shares: the new state is q[i, k].

    Attributes:
        n_classes: Number of classes.
        weighted: Whether votes are weighted.
    """

    n_classes: int
    weighted: bool = True

    def __call__(self, shard: Shard, parameters: Arrays, state: Arrays) -> tuple[Arrays, Arrays]:  # noqa: ARG002
        """Return the number of units with more than one best class."""
        votes = count_votes(shard if self.weighted else replace(shard, weight=np.empty(0)), self.n_classes)
        tied = (count_best(best_classes(votes)) > 1) & (row_sums(votes) > 0)
        return {"tied": shard.unit_sum(tied.astype(np.float64))}, {Q: vote_shares(votes)}
