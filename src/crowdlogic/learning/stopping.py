"""When a fit stops, and which epoch is kept: by a dev score, by held-out labels, or after fixed epochs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Protocol

import numpy as np

from crowdlogic.annotators.protocol import AnnotatorModel, Annotators
from crowdlogic.classifiers.protocol import Arrays
from crowdlogic.data.blocks import Shards
from crowdlogic.data.estimate import Beliefs
from crowdlogic.data.labels import CrowdLabels
from crowdlogic.data.wording import pluralise
from crowdlogic.errors import OptionError
from crowdlogic.numerics.arrays import Bools, Floats, sum_by
from crowdlogic.numerics.logspace import normalise, safe_log

if TYPE_CHECKING:
    from crowdlogic.learning.epoch import Epoch


# Run a fixed number of epochs and keep the last one.


class FixedEpochs:
    """Keeps every epoch until the next one; the stopping score only counts them."""

    def __init__(self, epochs: int) -> None:
        self.epochs = self.patience = epochs
        self._done = 0

    def judge(self, epoch: Epoch, scores: Mapping[str, float]) -> tuple[float, bool]:  # noqa: ARG002
        """How many epochs came before, and that this one is kept."""
        self._done += 1
        return float(self._done - 1), True

    def arrays(self) -> Arrays:
        """Nothing: the history says how many epochs are done."""
        return {}

    def restore(self, arrays: Arrays, kept: float, done: int) -> None:  # noqa: ARG002
        """Resume after some epochs."""
        self._done = done


# Stop by the student's score on a dev set with gold: the first epoch with the best score is kept.

DEV_STUDENT = "dev student"
"""The name of the score that decides."""


class DevScore:
    """Keeps the first epoch with the best dev score."""

    def __init__(self, epochs: int, patience: int) -> None:
        self.epochs, self.patience = epochs, patience
        self._best: float | None = None

    def judge(self, epoch: Epoch, scores: Mapping[str, float]) -> tuple[float, bool]:  # noqa: ARG002 (scores decide)
        """The dev score, and whether none was as good before."""
        score = scores[DEV_STUDENT]
        is_kept = self._best is None or score > self._best
        if is_kept:
            self._best = score
        return score, is_kept

    def arrays(self) -> Arrays:
        """Nothing: the history has the scores."""
        return {}

    def restore(self, arrays: Arrays, kept: float, done: int) -> None:  # noqa: ARG002
        """Resume with the best score so far."""
        self._best = kept


# Stop without any gold: by the likelihood of crowd labels that were held out.
#
# Held-out labels are scored by how well the classifier's view of an item, seen through the annotator model, predicts
# what
# each annotator said. On a plateau the position of the maximum is noise, so the latest epoch that is statistically
# indistinguishable from the highest is kept: the one-standard-error rule.
#
# Axes: i unit, k class, s item.


class HeldOutUnit(StrEnum):
    """What is held out as a whole."""

    items = "items"
    """All labels of some items: the classifier learns nothing about them, as about new data."""
    annotations = "annotations"
    """Some of the labels of many items: (item, annotator) pairs."""


@dataclass(frozen=True)
class HeldOut:
    """Crowd labels that are held out for early stopping.

    Attributes:
        share: The share of the labels that is held out.
        unit: Whether whole items or single annotations are held out.
        patience: Consecutive epochs that are significantly worse than the best before stopping.
        refit: Whether, once an epoch is chosen, the model is refit on all labels up to that epoch.
        errors: How many standard errors an epoch may be behind the best and still count as indistinguishable from it.
        average: A refit averages the classifier's weights from the best epoch to the latest one indistinguishable from
            it, over at least this many epochs (fewer where `epochs` ends first); 1 keeps the last epoch's weights.
    """

    share: float = 0.1
    unit: HeldOutUnit | str = HeldOutUnit.items
    patience: int = 10
    refit: bool = True
    errors: float = 1.0
    average: int = 5

    def __post_init__(self) -> None:
        if not 0 < self.share < 1:
            raise OptionError(f"held-out share: {self.share} does not lie between 0 and 1.")
        if self.unit not in list(HeldOutUnit):
            raise OptionError(f"held-out unit: expected one of {', '.join(HeldOutUnit)}; got {self.unit!r}.")
        if self.patience < 1:
            raise OptionError(f"held-out patience must be 1 or more, not {self.patience}.")
        if not self.errors >= 0:
            raise OptionError(f"held-out errors: {self.errors} is less than 0.")
        if not (isinstance(self.average, int) and self.average >= 1):
            raise OptionError(f"held-out average: {self.average} is not a number of epochs. Give 1 for no average.")

    def split(self, labels: CrowdLabels, *, seed: int) -> tuple[CrowdLabels, CrowdLabels]:
        """The labels to learn from, and those held out. Every annotation is in one of them."""
        held = self._draw(labels, np.random.default_rng(seed))
        if not held.any() or held.all():
            raise OptionError(
                f"{pluralise(labels.n_labels, 'label is', 'labels are')} too few to hold out {self.share:.0%}. Give "
                f"a dev set with gold, "
                f"or run all epochs (held_out = none)."
            )
        return labels.take(~held), labels.take(held)

    def _draw(self, labels: CrowdLabels, rng: np.random.Generator) -> Bools:
        """Which labels are held out."""
        item, _, pair_of_label = labels.annotations()
        # group[pair]: what is drawn as a whole, an item or a single (item, annotator) pair
        group = np.unique(item, return_inverse=True)[1] if self.unit == HeldOutUnit.items else np.arange(len(item))
        drawn = np.zeros(int(group.max(initial=-1)) + 1, dtype=bool)
        drawn[rng.choice(len(drawn), round(self.share * len(drawn)), replace=False)] = True
        return np.asarray(drawn[group][pair_of_label])


class HeldOutLikelihood:
    """Keeps the latest epoch whose likelihood of the held-out labels is as good as the best.

    Attributes:
        epochs: Maximum number of epochs.
        patience: Consecutive epochs that are significantly worse than the best before stopping.
        held: The held-out labels.
        unit: What was held out as a whole.
    """

    def __init__(self, epochs: int, options: HeldOut, held: CrowdLabels, model: AnnotatorModel) -> None:
        self.epochs, self.patience, self._errors = epochs, options.patience, options.errors
        self.held, self.unit, self._shards = held, options.unit, model.observe(held)
        self._n_items = len(np.unique(held.item_of_unit[held.unit]))
        self._highest: Floats | None = None

    def judge(self, epoch: Epoch, scores: Mapping[str, float]) -> tuple[float, bool]:  # noqa: ARG002 (labels decide)
        """The mean log-likelihood per held-out label, and whether it is as good as the best so far."""
        found = log_likelihood_by_item(self.held, self._shards, epoch.annotators, epoch.p)
        score = float(found.sum()) / self.held.n_labels
        if self._highest is None or found.sum() > self._highest.sum():
            self._highest = found
            return score, True
        return score, is_indistinguishable(found, self._highest, self._n_items, errors=self._errors)

    def evidence(self, annotators: Annotators) -> Floats:
        """evidence[i, k], the log-likelihood of a unit's held-out labels if it is of class k."""
        return annotators.evidence(self._shards)

    def arrays(self) -> Arrays:
        """highest[s], the log-likelihood by item of the epoch that has the best in total."""
        return {} if self._highest is None else {"highest": self._highest}

    def restore(self, arrays: Arrays, kept: float, done: int) -> None:  # noqa: ARG002
        """Resume with the log-likelihood of the best epoch."""
        self._highest = arrays.get("highest")


SHARPNESS = (0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.85, 1.0, 1.25, 1.5, 2.0)
"""Powers that a view is raised to: below 1 it becomes less confident, above 1 more."""


def held_out_log_likelihood(held: CrowdLabels, shards: Shards, annotators: Annotators, view: Beliefs) -> float:
    """The mean log-likelihood of held-out labels, given a view[i, k] of their units."""
    return float(log_likelihood_by_item(held, shards, annotators, view).sum()) / max(held.n_labels, 1)


def log_likelihood_by_item(held: CrowdLabels, shards: Shards, annotators: Annotators, view: Beliefs) -> Floats:
    """The log-likelihood of each item's held-out labels, [s]; 0 for an item without any.

    The view is first calibrated (one power for all units, the one with the highest likelihood): a network grows
    overconfident long before its answers get worse, and stopping is about the answers.

    Args:
        held: The held-out labels.
        shards: The same, as the annotator model counts them.
        annotators: The annotators' parameters.
        view: view[i, k].
    """
    units = np.unique(held.unit)
    evidence = annotators.evidence(shards)[units]
    log_view = safe_log(view[units])
    # log sum_k of evidence[i, k] view[i, k]^power, normalised, for each power; the best in total is taken
    tried = (normalise(evidence + safe_log(normalise(power * log_view)[0]))[1] for power in SHARPNESS)
    best = max(tried, key=lambda by_unit: float(by_unit.sum()))
    return sum_by(held.item_of_unit[units], len(held.items), best)


def is_indistinguishable(found: Floats, highest: Floats, count: int, *, errors: float = 1.0) -> bool:
    """Whether an epoch is within standard errors of the paired difference to the highest.

    Args:
        found: The log-likelihood by item of the epoch, [s].
        highest: That of the epoch with the highest likelihood, [s].
        count: How many items there are; all others have zeros in both.
        errors: How many standard errors.
    """
    behind = highest - found
    total = float(behind.sum())
    if count < 2:
        return total <= 0
    spread = float((behind**2).sum()) - total**2 / count  # zeros add nothing, so other items need not be left out
    return total <= errors * float(np.sqrt(max(spread, 0.0) * count / (count - 1)))


# What a stopping rule is, and the limits that all of them share.


@dataclass(frozen=True, kw_only=True)
class TrainingLimits:
    """How long a fit goes on, what stops it, and its random seed.

    Attributes:
        epochs: Maximum number of epochs.
        patience: Epochs without a better dev score before stopping; held-out labels have their own (`held_out`).
        held_out: The labels to hold out for early stopping when there is no dev gold; None runs all epochs and keeps
            the last.
        seed: Random seed.
    """

    epochs: int = 30
    patience: int = 5
    held_out: HeldOut | None = HeldOut()
    seed: int = 0

    def __post_init__(self) -> None:
        if self.epochs < 1 or self.patience < 1:
            raise OptionError(f"epochs and patience must be 1 or more, not {self.epochs} and {self.patience}.")
        if self.seed < 0:
            raise OptionError(f"seed must be 0 or more, not {self.seed}.")


class StoppingRule(Protocol):
    """Scores every epoch of a pass and decides whether it replaces the best one."""

    @property
    def epochs(self) -> int:
        """Maximum number of epochs."""

    @property
    def patience(self) -> int:
        """Epochs in a row that are not kept before the pass ends."""

    def judge(self, epoch: Epoch, scores: Mapping[str, float]) -> tuple[float, bool]:
        """The stopping score of an epoch, and whether it is the one to keep from now on."""

    def arrays(self) -> Arrays:
        """Its state, for a checkpoint."""

    def restore(self, arrays: Arrays, kept: float, done: int) -> None:
        """Go on after `done` epochs, of which the one that is kept has the score `kept`."""
