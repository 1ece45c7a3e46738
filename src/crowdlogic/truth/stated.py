"""Stated confidence over any engine: what `dependence` does with a table in memory, shard by shard.

How far labels depend on each other is a matter of sums over units (`VoteSums`); then what an item's labels say is
stated where the item is (`StatedStep`), so that beliefs are written as they are made. The ensemble is several members,
pooled.

Axes: i unit, j annotator, k class, n given label.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from crowdlogic.data.estimate import Calibration
from crowdlogic.engines.engine import Arrays, Engine, Step
from crowdlogic.engines.shard import Shard
from crowdlogic.engines.steps import Q, count_votes
from crowdlogic.numerics.arrays import Floats
from crowdlogic.numerics.logspace import normalise
from crowdlogic.numerics.sums import row_sums, sum_by
from crowdlogic.numerics.tempering import temper
from crowdlogic.truth.dependence import Dependence, alpha_of_sums, gives_shares, label_sharpness
from crowdlogic.truth.over_engines import BeliefPass, EngineFit
from crowdlogic.truth.vote_posterior import accuracy_of_agreement, vote_log_odds


@dataclass(frozen=True, kw_only=True)
class VoteSums:
    """How far the labels of one unit agree, and how many labels of each class each annotator gave.

    Attributes:
        n_annotators: Number of annotators.
        n_classes: Number of classes.
    """

    n_annotators: int
    n_classes: int

    def __call__(self, shard: Shard, parameters: Arrays, state: Arrays) -> tuple[Arrays, Arrays]:  # noqa: ARG002
        """Sums over the units with two labels or more, and given[j, n]."""
        votes = count_votes(shard, self.n_classes)
        n, times = row_sums(votes), shard.times if len(shard.times) else np.ones(shard.n_units)
        pairable = n > 1
        votes, n, times = votes[pairable], n[pairable], times[pairable]
        squares = np.einsum("ik,ik->i", votes, votes)
        size = self.n_annotators * self.n_classes
        rows = replace(shard, weight=np.empty(0)).row_weights()
        return {
            "pairable": np.array(times.sum()),
            "agreement": np.array(times @ ((squares - n) / (n * (n - 1)))),
            "observed": np.array(times @ ((n**2 - squares) / (n - 1))),
            "totals": times @ votes,
            "given": sum_by(shard.cells(self.n_classes), size, rows).reshape(self.n_annotators, self.n_classes),
        }, {}


def sum_votes(engine: Engine) -> Arrays:
    """`VoteSums` over all labels."""
    return engine.sum(VoteSums(n_annotators=engine.n_annotators, n_classes=engine.n_classes), {})[0]


@dataclass(frozen=True, kw_only=True)
class StatedStep:
    """The beliefs of one method, or the weighted mean of several, as they are stated: the new state is q[i, k].

    Parameters: those of each member, with its position and a colon before their names. State: that of its members.

    Attributes:
        members: The steps whose new states hold q[i, k].
        weights: How much each counts; they add up to one.
        shares: Whether the beliefs of each are shares of votes.
        n_classes: Number of classes.
        accuracy: How often an annotator is right, for shares of votes; None takes shares as they are.
        correlation: How far labels of one unit depend on each other; None leaves beliefs as they are.
        doubt: Share of uniform doubt.
        keep_own: Whether the new state holds the beliefs of the first member, too, as `own`.
    """

    members: tuple[Step, ...]
    weights: tuple[float, ...]
    shares: tuple[bool, ...]
    n_classes: int
    accuracy: float | None = None
    correlation: float | None = None
    doubt: float = 0.0
    keep_own: bool = False

    def __call__(self, shard: Shard, parameters: Arrays, state: Arrays) -> tuple[Arrays, Arrays]:
        """The sum of the confidences below one, and how many these are."""
        votes = count_votes(shard, self.n_classes)
        stated, kept = np.full(votes.shape, self.doubt / max(self.n_classes, 1)), {}
        for at, (step, weight, share) in enumerate(zip(self.members, self.weights, self.shares, strict=True)):
            q = step(shard, _own(parameters, at), state)[1][Q]
            if self.keep_own and at == 0:
                kept = {"own": q}
            if share and self.accuracy is not None:
                q = self._posterior_of_votes(q, votes)
            if self.correlation is not None:
                q = temper(q, label_sharpness(votes, self.correlation))
            stated += (1.0 - self.doubt) * weight * q
        confidence = stated.max(axis=1, initial=0.0)
        answered = row_sums(votes) > 0
        unsure = (confidence < 1.0) & answered
        counts = {
            "confidence": shard.unit_sum(np.where(unsure, confidence, 0.0)),
            "unsure": shard.unit_sum(unsure.astype(np.float64)),
        }
        return counts, {Q: stated, "answered": answered, **kept}

    def _posterior_of_votes(self, shares: Floats, votes: Floats) -> Floats:
        if self.n_classes < 2 or self.accuracy is None:
            return np.ones_like(shares)
        log_odds = vote_log_odds(self.accuracy, self.n_classes)
        return normalise(shares * (row_sums(votes) * log_odds)[:, None])[0]


def _own(parameters: Arrays, at: int) -> Arrays:
    """The parameters of one member."""
    prefix = f"{at}:"
    return {name.removeprefix(prefix): array for name, array in parameters.items() if name.startswith(prefix)}


@dataclass(frozen=True, eq=False, kw_only=True)
class StatedMember:
    """A member of what is stated: its pass, how much it counts, and whether its beliefs are shares of votes."""

    beliefs: BeliefPass
    weight: float = 1.0
    shares: bool = False


def state_members(
    members: Sequence[StatedMember],
    engine: Engine,
    votes: Arrays,
    dependence: Dependence | None,
    *,
    posteriors: bool = True,
) -> tuple[BeliefPass, Calibration | None]:
    """The pass that states the weighted mean of some members, and what its confidence rests on.

    Args:
        members: The members.
        engine: Where the labels are.
        votes: What `sum_votes` gives for them.
        dependence: How far labels of one item depend on each other; None states the members' own posteriors.
        posteriors: Whether shares of votes are turned into posteriors.
    """
    total = sum(member.weight for member in members)
    calibration = None if dependence is None else dependence.with_alpha(alpha_of_sums(**_pick(votes)))
    pairs = float(votes["pairable"])
    agreement = float(votes["agreement"]) / pairs if pairs else None
    step = StatedStep(
        members=tuple(member.beliefs.step for member in members),
        weights=tuple(member.weight / total for member in members),
        shares=tuple(member.shares for member in members),
        n_classes=engine.n_classes,
        accuracy=accuracy_of_agreement(agreement, engine.n_classes) if posteriors else None,
        correlation=None if calibration is None else calibration.correlation,
        doubt=0.0 if calibration is None else calibration.doubt,
    )
    parameters = dict(_prefixed(members))
    states = members[0].beliefs.states if len(members) == 1 else None
    return BeliefPass(step=step, parameters=parameters, states=states), calibration


def _pick(votes: Arrays) -> dict[str, Floats]:
    return {"totals": votes["totals"], "observed": votes["observed"]}


def _prefixed(members: Sequence[StatedMember]) -> Iterator[tuple[str, Floats]]:
    for at, member in enumerate(members):
        for name, array in member.beliefs.parameters.items():
            yield f"{at}:{name}", array


def state_fit(fit: EngineFit, dependence: Dependence | None, *, keep_own: bool = False) -> EngineFit:
    """The fit with a confidence that one can act on, for the same answers; one that has it already stays as it is.

    Args:
        fit: What a method believes.
        dependence: How far labels of one item depend on each other; None states the method's own posterior.
        keep_own: Whether that posterior is kept beside what is stated.
    """
    if isinstance(fit.beliefs.step, StatedStep):
        return fit
    member = StatedMember(beliefs=fit.beliefs, shares=gives_shares(fit.method))
    votes, posteriors = sum_votes(fit.engine), dependence is not None
    beliefs, calibration = state_members([member], fit.engine, votes, dependence, posteriors=posteriors)
    if keep_own and isinstance(beliefs.step, StatedStep):
        beliefs = replace(beliefs, step=replace(beliefs.step, keep_own=True))
    return replace(fit, beliefs=beliefs, calibration=calibration)
