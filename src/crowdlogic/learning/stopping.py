"""Stopping rules: when a fit stops and which epoch is kept.

A rule uses the score on a dev set (`DevScore`), the likelihood of held-out crowd labels (`HeldOutLikelihood`), a fixed
number of epochs (`FixedEpochs`), or stops when the answers no longer change (`SettledAnswers`).

Axes: i unit, k class, s item.
"""

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
from crowdlogic.numerics.arrays import Floats, Ints, sum_by
from crowdlogic.numerics.logspace import normalise, safe_log
from crowdlogic.registry import STOPPING_RULES

if TYPE_CHECKING:
    from crowdlogic.learning.task import Task
    from crowdlogic.learning.training import Epoch


class StoppingRule(Protocol):
    """Protocol for stopping rules: score each epoch of a pass and decide whether it replaces the best one so far.

    `registry.STOPPING_RULES` lists them. A registered rule is a class with a class method `for_task`.
    """

    @classmethod
    def for_task(cls, task: Task, limits: TrainingLimits, model: AnnotatorModel) -> StoppingRule:
        """Return the rule for one pass. Raise OptionError if the task lacks what the rule needs."""

    @property
    def epochs(self) -> int:
        """Maximum number of epochs."""

    @property
    def patience(self) -> int:
        """Number of consecutive epochs that are not kept before the pass ends."""

    def judge(self, epoch: Epoch, scores: Mapping[str, float]) -> tuple[float, bool]:
        """Return the stopping score of an epoch, and whether this epoch replaces the best one."""

    def arrays(self) -> Arrays:
        """Return the state of the rule for a checkpoint."""

    def restore(self, arrays: Arrays, kept: float, done: int) -> None:
        """Resume after `done` epochs; `kept` is the score of the best one."""


class FixedEpochs:
    """Run a fixed number of epochs and keep the last one. The stopping score is the number of earlier epochs."""

    def __init__(self, epochs: int) -> None:
        self.epochs = self.patience = epochs
        self._done = 0

    @classmethod
    def for_task(cls, task: Task, limits: TrainingLimits, model: AnnotatorModel) -> FixedEpochs:  # noqa: ARG003
        """Return the rule for one pass; it needs neither gold nor held-out labels."""
        return cls(limits.epochs)

    def judge(self, epoch: Epoch, scores: Mapping[str, float]) -> tuple[float, bool]:  # noqa: ARG002
        """Return the number of earlier epochs, and True: every epoch is kept until the next one."""
        self._done += 1
        return float(self._done - 1), True

    def arrays(self) -> Arrays:
        """Return an empty dictionary, since the history contains the number of epochs."""
        return {}

    def restore(self, arrays: Arrays, kept: float, done: int) -> None:  # noqa: ARG002
        """Resume after `done` epochs."""
        self._done = done


MIN_CHANGE = 0.001
"""Answers have settled once a smaller share of them changes in an epoch."""


class SettledAnswers(FixedEpochs):
    """Stop as soon as the answers of the training items have settled.

    With labelling functions, longer training only makes the classifier more confident of their labels, until it
    outvotes them. Held-out labels do not reveal this, because they follow from the items, too.
    """

    def __init__(self, epochs: int) -> None:
        super().__init__(epochs)
        self.patience = 1
        self._answer: Ints | None = None

    def judge(self, epoch: Epoch, scores: Mapping[str, float]) -> tuple[float, bool]:
        """Return the number of earlier epochs, and whether answers still change."""
        answer, last = epoch.q_f.argmax(axis=1), self._answer
        self._answer = answer
        changes = last is None or bool(np.mean(answer != last) >= MIN_CHANGE)
        return super().judge(epoch, scores)[0], changes

    def arrays(self) -> Arrays:
        """Return answer[i] of the last epoch."""
        return {} if self._answer is None else {"answer": self._answer.astype(np.float64)}

    def restore(self, arrays: Arrays, kept: float, done: int) -> None:
        """Resume after `done` epochs."""
        super().restore(arrays, kept, done)
        if "answer" in arrays:
            self._answer = arrays["answer"].astype(np.int64)


DEV_STUDENT = "dev student"
"""Name of the score that `DevScore` uses."""


class DevScore:
    """Keep the first epoch with the best score of the student on a dev set with gold."""

    def __init__(self, epochs: int, patience: int) -> None:
        self.epochs, self.patience = epochs, patience
        self._best: float | None = None

    @classmethod
    def for_task(cls, task: Task, limits: TrainingLimits, model: AnnotatorModel) -> DevScore:  # noqa: ARG003
        """Return the rule for one pass of a task with a dev set."""
        if task.dev is None:
            raise OptionError("stopping = dev needs a dev set with gold. Pass one (--dev), or leave the option out.")
        return cls(limits.epochs, limits.patience)

    def judge(self, epoch: Epoch, scores: Mapping[str, float]) -> tuple[float, bool]:  # noqa: ARG002 (scores decide)
        """Return the dev score, and whether it is better than all earlier ones."""
        score = scores[DEV_STUDENT]
        is_kept = self._best is None or score > self._best
        if is_kept:
            self._best = score
        return score, is_kept

    def arrays(self) -> Arrays:
        """Return an empty dictionary, since the history contains the scores."""
        return {}

    def restore(self, arrays: Arrays, kept: float, done: int) -> None:  # noqa: ARG002
        """Resume with the best score so far."""
        self._best = kept


class HeldOutUnit(StrEnum):
    """Unit that is held out as a whole."""

    items = "items"
    """All labels of some items: the classifier learns nothing about them, as about new data."""
    annotations = "annotations"
    """Some of the labels of many items: (item, annotator) pairs."""


@dataclass(frozen=True)
class HeldOut:
    """Crowd labels that are held out for early stopping.

    Attributes:
        share: Share of the labels that is held out.
        unit: Whether whole items or single annotations are held out.
        patience: Consecutive epochs that are significantly worse than the best before stopping.
        refit: Whether the model is refit on all labels up to the chosen epoch.
        errors: Number of standard errors by which an epoch may be worse than the best and still be kept.
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
            raise OptionError(f"held-out share must lie between 0 and 1, got {self.share}.")
        if self.unit not in list(HeldOutUnit):
            raise OptionError(f"held-out unit must be one of {', '.join(HeldOutUnit)}; got {self.unit!r}.")
        if self.patience < 1:
            raise OptionError(f"held-out patience must be at least 1, got {self.patience}.")
        if not self.errors >= 0:
            raise OptionError(f"held-out errors must be at least 0, got {self.errors}.")
        if not (isinstance(self.average, int) and self.average >= 1):
            raise OptionError(f"held-out average must be at least 1, got {self.average}. Use 1 to disable averaging.")

    def split(self, labels: CrowdLabels, *, seed: int) -> tuple[CrowdLabels, CrowdLabels]:
        """Return the labels to learn from and the held-out labels. Each annotation is in exactly one of them."""
        item, _, pair_of_label = labels.annotations()
        # group[pair]: the item of each (item, annotator) pair, or a separate group, depending on the unit
        group = np.unique(item, return_inverse=True)[1] if self.unit == HeldOutUnit.items else np.arange(len(item))
        drawn = np.zeros(int(group.max(initial=-1)) + 1, dtype=bool)
        rng = np.random.default_rng(seed)
        drawn[rng.choice(len(drawn), round(self.share * len(drawn)), replace=False)] = True
        held = drawn[group][pair_of_label]
        if not held.any() or held.all():
            raise OptionError(
                f"{pluralise(labels.n_labels, 'label is', 'labels are')} too few to hold out {self.share:.0%}. Give "
                f"a dev set with gold, "
                f"or run all epochs (held_out = none)."
            )
        return labels.take(~held), labels.take(held)


@dataclass(frozen=True, kw_only=True)
class TrainingLimits:
    """Limits of a fit: number of epochs, stopping rule, random seed.

    Attributes:
        epochs: Maximum number of epochs.
        patience: Number of epochs without a better dev score before stopping. `held_out` has its own patience.
        held_out: Crowd labels to hold out for early stopping if there is no dev set. None runs all epochs and
            keeps the last one.
        stopping: Name of the stopping rule in `registry.STOPPING_RULES`. None uses the dev set if there is one,
            otherwise the held-out labels, otherwise runs all epochs. For labelling functions it runs until the answers
            have settled, instead of holding labels out.
        seed: Random seed.
    """

    epochs: int = 30
    patience: int = 5
    held_out: HeldOut | None = HeldOut()
    stopping: str | None = None
    seed: int = 0

    def __post_init__(self) -> None:
        if self.epochs < 1 or self.patience < 1:
            raise OptionError(f"epochs and patience must be at least 1, got {self.epochs} and {self.patience}.")
        if self.seed < 0:
            raise OptionError(f"seed must be at least 0, got {self.seed}.")
        if self.stopping is not None:
            STOPPING_RULES.check(self.stopping)


class HeldOutLikelihood:
    """Keep the latest epoch whose likelihood of held-out crowd labels is as good as the best.

    Held-out labels are scored by how well the classifier's predictions for an item, passed through the annotator model,
    predict the label that each annotator gave. On a plateau the position of the maximum is noise, so the latest epoch
    that is statistically indistinguishable from the best is kept (the one-standard-error rule).

    Attributes:
        epochs: Maximum number of epochs.
        patience: Consecutive epochs that are significantly worse than the best before stopping.
        held: The held-out labels.
        unit: Unit that was held out as a whole.
    """

    def __init__(self, epochs: int, options: HeldOut, held: CrowdLabels, model: AnnotatorModel) -> None:
        self.epochs, self.patience, self._errors = epochs, options.patience, options.errors
        self.held, self.unit, self._shards = held, options.unit, model.observe(held)
        self._n_items = len(np.unique(held.item_of_unit[held.unit]))
        self._highest: Floats | None = None

    @classmethod
    def for_task(cls, task: Task, limits: TrainingLimits, model: AnnotatorModel) -> HeldOutLikelihood:
        """Return the rule for one pass of a task with held-out labels."""
        if task.held_labels is None or task.held_out is None:
            raise OptionError("stopping = held-out needs held-out labels. Set held_out, or leave the option out.")
        return cls(limits.epochs, task.held_out, task.held_labels, model)

    def judge(self, epoch: Epoch, scores: Mapping[str, float]) -> tuple[float, bool]:  # noqa: ARG002 (labels decide)
        """Return the mean log-likelihood per held-out label, and whether it is as good as the best so far."""
        found = log_likelihood_by_item(self.held, self._shards, epoch.annotators, epoch.p)
        score = float(found.sum()) / self.held.n_labels
        if self._highest is None or found.sum() > self._highest.sum():
            self._highest = found
            return score, True
        return score, is_indistinguishable(found, self._highest, self._n_items, errors=self._errors)

    def evidence(self, annotators: Annotators) -> Floats:
        """Return evidence[i, k], the log-likelihood of the held-out labels of unit i given class k."""
        return annotators.evidence(self._shards)

    def arrays(self) -> Arrays:
        """Return highest[s], the log-likelihood per item of the epoch with the highest total."""
        return {} if self._highest is None else {"highest": self._highest}

    def restore(self, arrays: Arrays, kept: float, done: int) -> None:  # noqa: ARG002
        """Resume with the log-likelihood per item of the best epoch."""
        self._highest = arrays.get("highest")


SHARPNESS = (0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.85, 1.0, 1.25, 1.5, 2.0)
"""Powers that predictions are raised to for calibration: below 1 they become less confident, above 1 more."""


def log_likelihood_by_item(held: CrowdLabels, shards: Shards, annotators: Annotators, view: Beliefs) -> Floats:
    """Return the log-likelihood of the held-out labels of each item, [s]; 0 for items without any.

    The predictions are calibrated first, by the power with the highest likelihood, because a network becomes
    overconfident long before its answers get worse and stopping should depend on the answers.

    Args:
        held: The held-out labels.
        shards: The held-out labels in the form that the annotator model uses.
        annotators: Parameters of the annotators.
        view: Predictions view[i, k].
    """
    units = np.unique(held.unit)
    evidence = annotators.evidence(shards)[units]
    log_view = safe_log(view[units])
    # log sum_k of evidence[i, k] view[i, k]^power, normalised, for each power; the power with the largest total is used
    tried = (normalise(evidence + safe_log(normalise(power * log_view)[0]))[1] for power in SHARPNESS)
    best = max(tried, key=lambda by_unit: float(by_unit.sum()))
    return sum_by(held.item_of_unit[units], len(held.items), best)


def is_indistinguishable(found: Floats, highest: Floats, count: int, *, errors: float = 1.0) -> bool:
    """Return whether an epoch is within `errors` standard errors of the best one (paired differences).

    Args:
        found: Log-likelihood per item of the epoch, [s].
        highest: Log-likelihood per item of the best epoch, [s].
        count: Number of items with held-out labels; all others are 0 in both.
        errors: Number of standard errors.
    """
    behind = highest - found
    total = float(behind.sum())
    if count < 2:
        return total <= 0
    spread = float((behind**2).sum()) - total**2 / count  # zeros add nothing, so other items need not be removed
    return total <= errors * float(np.sqrt(max(spread, 0.0) * count / (count - 1)))
