"""Zero-based skill: votes weighted by one skill per annotator, which tracks the share of labels that agree.

[CK24] Ustalov, Pavlichenko and Tseitlin, "Learning from crowds with Crowd-Kit", 2024, describes the method: gradient
steps on the squared difference between a skill and that share, with a decreasing learning rate.

The beliefs are normalised weights, not calibrated probabilities. A tie counts fractionally, so the order of the classes
does not matter.

Axes: i unit, j annotator, k class.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from crowdlogic.data.blocks import make_shards
from crowdlogic.data.corpus import Corpus
from crowdlogic.data.estimate import Estimate, make_estimate, vote_shares
from crowdlogic.data.labels import CrowdLabels, require_whole_labels
from crowdlogic.errors import OptionError
from crowdlogic.numerics.arrays import Floats
from crowdlogic.truth.fitting import DEFAULT_FIT, Fitting, empty_estimate, refuse_anchors
from crowdlogic.truth.methods import takes_frames
from crowdlogic.truth.weighting import distances, weighted_votes


@dataclass(frozen=True)
class LearningRate:
    """Learning rate schedule of the steps towards the share of agreeing labels.

    Attributes:
        first: Initial learning rate.
        factor: Factor applied at every decay.
        every: Number of steps between decays.
    """

    first: float = 1.0
    factor: float = 0.5
    every: int = 20


@dataclass(frozen=True)
class ZeroBasedSkill:
    """Voting weighted by skills that are learnt iteratively ([CK24]).

    Attributes:
        iterations: Maximum number of steps; iteration stops early once the skills no longer change.
        rate: Learning rate schedule.
        margin: Amount by which the initial skills exceed the accuracy of a random guess.
    """

    iterations: int = 100
    rate: LearningRate = LearningRate()
    margin: float = 1e-5

    name = "zero-based-skill"
    uses_anchors: ClassVar[bool] = False
    gives_shares: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if self.iterations < 0 or self.rate.every < 1 or not self.margin > 0:
            raise OptionError(f"{self.name}: iterations must be 0 or more, rate.every 1 or more, margin above 0.")

    @takes_frames
    def infer(self, labels: CrowdLabels, corpus: Corpus | None = None, *, fitting: Fitting = DEFAULT_FIT) -> Estimate:  # noqa: ARG002 (no text needed)
        """Alternate between voting and moving each skill towards its share of agreeing labels."""
        refuse_anchors(self.name, fitting)
        require_whole_labels(labels, self.name)
        if not labels.n_labels:
            return empty_estimate(labels, self.name)

        block, n_annotators = make_shards(labels, threads=1).parts[0], len(labels.annotators)

        def agreeing(skill: Floats) -> Floats:
            distance, given = distances(block, n_annotators, weighted_votes(block, labels.n_classes, skill))
            return np.asarray(1.0 - distance / np.maximum(given, 1e-300))

        start = np.full(n_annotators, 1.0 / labels.n_classes + self.margin)
        skill = learn_skills(agreeing, start, iterations=self.iterations, rate=self.rate)
        votes = weighted_votes(block, labels.n_classes, skill)
        silent = votes.sum(axis=1) <= 0  # units whose annotators all have skill 0: use plain votes
        votes[silent] = labels.votes()[silent]
        return make_estimate(labels, self.name, vote_shares(votes), reliability=skill, answer_all=fitting.answer_all)


def learn_skills(agreeing: Callable[[Floats], Floats], start: Floats, *, iterations: int, rate: LearningRate) -> Floats:
    """Return skill[j] after steps towards agreeing(skill)[j], the share of j's labels that agree with the votes.

    Stops once a step changes nothing, since further steps would not change anything either.
    """
    skill, size = start, rate.first
    for step in range(1, iterations + 1):
        if step % rate.every == 0:
            size *= rate.factor
        moved = skill + size * (agreeing(skill) - skill)
        if np.array_equal(moved, skill):
            break
        skill = moved
    return skill
