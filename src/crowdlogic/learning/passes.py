"""One pass or two: labels kept apart tell when enough is learnt, then all labels are learnt anew.

What is kept apart to stop by is lost to learning. So a second pass begins as the first did, with the same seed and
nothing kept apart. The likelihood of the labels kept apart tells when a fit has come to its plateau, but hardly one
epoch there from another. So the second pass answers with none of them, but with the mean of the classifier's weights
over the plateau ([ASGD]), which does better than most of its epochs; and over a few epochs where it is short.

[ASGD] Polyak and Juditsky, "Acceleration of stochastic approximation by averaging", 1992; begun when a score no longer
grows, as in Merity et al., "Regularizing and optimizing LSTM language models", 2018.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from crowdlogic.classifiers.protocol import supports_averaging
from crowdlogic.errors import OptionError
from crowdlogic.learning.course import Course, Epoch, Keeper, Progress, Row, Step
from crowdlogic.learning.stopping import Limits
from crowdlogic.learning.task import Task
from crowdlogic.numerics.arrays import Floats

Begin: TypeAlias = Callable[[Task, Floats | None], tuple[Course, Step]]
"""A course that has not begun and its epochs, from a task and the factors of the rules' weights if they are known."""


@dataclass(frozen=True, eq=False)
class Trained:
    """What the passes left.

    Attributes:
        course: The one that answers: of the second pass, or of the only one.
        best: Its epoch, or what the mean of several believes.
        chosen: The epoch that was chosen: with labels kept apart, the latest as good as the best.
        history: The epochs of the pass that chose.
        again: Those of the second pass; empty without one.
    """

    course: Course
    best: Epoch
    chosen: int
    history: tuple[Row, ...]
    again: tuple[Row, ...] = ()


def trained(task: Task, begin: Begin, limits: Limits, *, keeper: Keeper | None, progress: Progress | None) -> Trained:
    """Run the first pass and, where the task asks for it, the second one. Each keeps a checkpoint of its own."""
    first = _run(*begin(task, None), limits, keeper, progress)
    if not task.refits:
        return first
    second = None if keeper is None else keeper.second()
    course, step = begin(task.whole(), first.best.factors)
    course.since, length = _averaged(task, course, first, limits)
    again = _run(course, step, Limits(length, length), second, progress)
    return Trained(again.course, again.best, first.chosen, first.history, again.history)


def _averaged(task: Task, course: Course, first: Trained, limits: Limits) -> tuple[int | None, int]:
    """Since which epoch the second pass averages weights, if it does, and how many epochs it has."""
    best = max(first.history, key=lambda row: row.stopping).epoch
    most = max(limits.epochs, len(first.history))  # a run that is gone on with for shorter may have had more
    length = min(max(first.chosen, best + task.averaged - 1), most)
    can = course.look is not None and supports_averaging(course.classifier)
    return (best, length) if can and task.averaged > 1 and length > best else (None, first.chosen)


def _run(course: Course, step: Step, limits: Limits, keeper: Keeper | None, progress: Progress | None) -> Trained:
    course.run(step, limits, keeper=keeper, progress=progress)
    if course.best is None:
        raise OptionError("No epoch was run.")
    return Trained(course, course.best, course.best_epoch, tuple(course.history))
