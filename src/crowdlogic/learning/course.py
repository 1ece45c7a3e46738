"""The course of a fit: epoch after epoch until none has been worth keeping for a while; the best epoch is kept.

What an epoch does is the method's business (`step`): Algorithm 1 for Logic-LNCL, fixed targets for two stages. Here is
what all have in common: scores, patience, progress, and a checkpoint after every epoch.

Axes: i unit, j annotator, k class, m true class, n given label, s item.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from crowdlogic.classifiers.protocol import Arrays, Classifier, averageable_weights
from crowdlogic.data.estimate import Beliefs
from crowdlogic.learning.scoring import is_scorable, score
from crowdlogic.learning.stopping import Limits, is_level, n_items, told_by_item
from crowdlogic.learning.task import Task
from crowdlogic.learning.teacher import Teacher
from crowdlogic.numerics.arrays import Floats


@dataclass(frozen=True, eq=False)
class Epoch:
    """What an epoch leaves behind, on the training items.

    Attributes:
        loss: The classifier's mean loss.
        k: The imitation.
        p: p[i, k], the classifier.
        q_a: q_a[i, k], classifier and crowd (eq. 13).
        q_b: q_b[i, k], what the rules make of it (eq. 15).
        q_f: q_f[i, k], both mixed (eq. 9): the next epoch's targets.
        confusion: confusion[j, m, n] (eq. 12).
        objective: The log evidence of the labels under classifier and annotators, per label; NaN when not computed.
        factors: factors[l], what the weights of the rules were multiplied with; None when they are not learnt.
    """

    loss: float
    k: float
    p: Beliefs
    q_a: Beliefs
    q_b: Beliefs
    q_f: Beliefs
    confusion: Floats
    objective: float = float("nan")
    factors: Floats | None = None


BELIEFS = ("p", "q_a", "q_b", "q_f", "confusion")

Step: TypeAlias = Callable[[int, Beliefs, Floats | None], Epoch]
"""An epoch, counted from 1, from the q_f before it and the factors of the rules' weights."""

Look: TypeAlias = Callable[[Epoch], Epoch]
"""What the round after an epoch would leave behind if the classifier stayed as it is: all of it but the learning."""


@dataclass(frozen=True)
class Row:
    """A line of the history.

    Attributes:
        epoch: Counted from 1.
        loss: The classifier's mean loss.
        k: The imitation.
        stopping: The stopping score.
        change: The share of training units whose answer changed.
        objective: The log evidence of the labels, per label.
        seconds: How long it took.
        scores: Other scores by name: inference, dev student, test teacher, ... In the last line of a pass that answers
            with a mean of weights they are that mean's, as nothing else in the line is.
        kept: Whether the epoch was the one to keep when it was over.
        again: Whether it is of the second pass, with all labels; its stopping score is a mere counter.
    """

    epoch: int
    loss: float
    k: float
    stopping: float
    change: float
    objective: float
    seconds: float
    scores: Mapping[str, float] = field(default_factory=dict)
    kept: bool = False
    again: bool = False


Progress: TypeAlias = Callable[[Row, int], None]
"""Hears of every epoch, and of how many there can be."""


class Keeper(Protocol):
    """Keeps a fit on disk while it runs."""

    def save(self, last: Arrays, best: Arrays, note: Mapping[str, Any]) -> None:
        """Replace the checkpoint."""

    def load(self) -> tuple[Arrays, Arrays, Mapping[str, Any]] | None:
        """The last epoch, the best one and what was noted; None when there is nothing yet."""

    def second(self) -> Keeper:
        """One for the second pass, beside this."""


@dataclass(eq=False)
class Course:
    """A fit under way: what the last epoch left, the best one, and the history.

    The best epoch is the one with the best stopping score; where labels are kept apart, the latest that cannot be told
    from it. `highest` is what is compared with then: told[s] of the epoch that foretold them best.

    A course may answer with the mean of its classifier's weights `since` an epoch instead, and look at the items anew.
    """

    task: Task
    teacher: Teacher
    classifier: Classifier
    q_f: Beliefs
    factors: Floats | None = None
    history: list[Row] = field(default_factory=list)
    best: Epoch | None = None
    best_arrays: Arrays = field(default_factory=dict)
    best_epoch: int = 0
    highest: Floats | None = None
    look: Look | None = None
    since: int | None = None
    mean: Arrays = field(default_factory=dict)

    def run(self, step: Step, limits: Limits, *, keeper: Keeper | None, progress: Progress | None) -> None:
        """Epochs until the limits; afterwards the classifier is that of the best one, or the mean of several."""
        self._resume(keeper, limits)
        while len(self.history) < limits.epochs and not self._is_stale(limits.patience):
            self._advance(step)
            if keeper is not None:
                keeper.save(self._last(), self._best(), self._note())
            if progress is not None:
                progress(self.history[-1], limits.epochs)
        self.classifier.restore(self.best_arrays | self.mean)
        if self.mean and self.look is not None and self.best is not None:
            self.best = self.look(self.best)
            self.history[-1] = replace(self.history[-1], scores=self._scores(self.best))

    def _advance(self, step: Step) -> None:
        begin = time.perf_counter()
        epoch = step(len(self.history) + 1, self.q_f, self.factors)
        told, scores = self._told(epoch), self._scores(epoch)
        stopping = self._stopping(told, scores)
        changed = float((epoch.q_f.argmax(axis=1) != self.q_f.argmax(axis=1)).mean())
        self.q_f, self.factors = epoch.q_f, epoch.factors
        seconds = time.perf_counter() - begin
        kept = self._is_kept(stopping, told)
        row = Row(
            len(self.history) + 1,
            epoch.loss,
            epoch.k,
            stopping,
            changed,
            epoch.objective,
            seconds,
            scores,
            kept,
            self.task.again,
        )
        if kept:
            self.best, self.best_epoch, self.best_arrays = epoch, row.epoch, self.classifier.arrays()
        self.history.append(row)
        self._average()

    def _average(self) -> None:
        """Take the weights that the last epoch left into their mean."""
        if self.since is not None and len(self.history) >= self.since:
            count, weights = (
                len(self.history) - self.since + 1,
                averageable_weights(self.best_arrays),
            )  # the last is the best
            self.mean = {name: _moved(self.mean.get(name, new), new, count) for name, new in weights.items()}

    def _is_kept(self, stopping: float, told: Floats | None) -> bool:
        """Whether an epoch takes the place of the best one."""
        if told is None:
            return self.best is None or stopping > self.history[self.best_epoch - 1].stopping
        if self.highest is None or told.sum() > self.highest.sum():
            self.highest = told
            return True
        held, how = self.task.held, self.task.held_out
        return held is not None and how is not None and is_level(told, self.highest, n_items(held), errors=how.errors)

    def _is_stale(self, patience: int) -> bool:
        return self.best is not None and len(self.history) - self.best_epoch >= patience

    def _told(self, epoch: Epoch) -> Floats | None:
        """told[s] of the labels kept apart; None when it is not they that decide."""
        if self.task.dev is not None or self.task.held is None:
            return None
        return told_by_item(self.task.held, epoch.confusion, epoch.p)

    def _stopping(self, told: Floats | None, scores: Mapping[str, float]) -> float:
        if self.task.dev is not None:
            return scores["dev student"]
        if told is not None and self.task.held is not None:
            return float(told.sum()) / self.task.held.n_labels
        return float(len(self.history))

    def _scores(self, epoch: Epoch) -> dict[str, float]:
        """All other scores: but for that of the dev items they are only looked at."""
        scores = {} if not is_scorable(self.task.corpus) else {"inference": score(self.task.corpus, epoch.q_f)}
        teacher = self.teacher.weighted(epoch.factors)
        watched = dict(self.task.watched) | ({} if self.task.dev is None else {"dev": self.task.dev})
        for name, corpus in watched.items():
            student = self.classifier.predict_proba(corpus)
            scores[f"{name} student"] = score(corpus, student)
            if name != "dev" and not teacher.is_idle:
                scores[f"{name} teacher"] = score(corpus, teacher.predict(corpus, self.classifier, student))
        return scores

    def _last(self) -> Arrays:
        kept = {"q_f": self.q_f} | ({} if self.factors is None else {"factors": self.factors})
        return {f"classifier.{name}": array for name, array in self.classifier.arrays().items()} | kept

    def _best(self) -> Arrays:
        left = {} if self.best is None else {name: getattr(self.best, name) for name in BELIEFS}
        left |= {} if self.best is None or self.best.factors is None else {"factors": self.best.factors}
        left |= {} if self.highest is None else {"highest": self.highest}  # a higher epoch is a new best one, too
        left |= {f"mean.{name}": array for name, array in self.mean.items()}  # of a pass whose last epoch is its best
        return {f"classifier.{name}": array for name, array in self.best_arrays.items()} | left

    def _note(self) -> dict[str, Any]:
        best = {} if self.best is None else {name: getattr(self.best, name) for name in ("loss", "k", "objective")}
        history = [asdict(row) for row in self.history]
        return {"best_epoch": self.best_epoch, "best": best, "history": history, "since": self.since}

    def _resume(self, keeper: Keeper | None, limits: Limits) -> None:
        """Go on from a checkpoint, when there is one; not from one whose mean is of other epochs."""
        found = None if keeper is None else keeper.load()
        if found is None:
            return
        last, best, note = found
        too_far = self.task.again and len(note["history"]) > limits.epochs
        if too_far or note.get("since") != self.since:
            return
        self.classifier.restore(_named(last, "classifier."))
        self.q_f, self.factors = np.asarray(last["q_f"]), last.get("factors")
        self.history = [Row(**row) for row in note["history"]]
        self.best_epoch, self.best_arrays = note["best_epoch"], _named(best, "classifier.")
        left: dict[str, Any] = {name: np.asarray(best[name]) for name in BELIEFS}
        self.best, self.highest = Epoch(**note["best"], **left, factors=best.get("factors")), best.get("highest")
        self.mean = _named(best, "mean.")


def _moved(mean: NDArray[Any], new: NDArray[Any], count: int) -> NDArray[Any]:
    """The mean of `count` arrays, from that of all but the new one."""
    return np.asarray(mean + (new - mean) / np.asarray(count, dtype=new.dtype))


def _named(arrays: Arrays, mark: str) -> Arrays:
    """Those whose names begin with a mark, without it."""
    return {name.removeprefix(mark): array for name, array in arrays.items() if name.startswith(mark)}
