"""One pass or two: labels kept apart choose the number of epochs, then all labels are learnt anew for so many.

What is kept apart to stop by is lost to learning. So when the number is known, a second pass begins as the first did,
with the same seed and nothing kept apart: it is what a fit of so many epochs without stopping would have been.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

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
        best: Its epoch.
        chosen: The number of epochs that was chosen.
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
    limits = Limits(first.chosen, first.chosen)
    again = _run(*begin(task.whole(), first.best.factors), limits, second, progress)
    return Trained(again.course, again.best, first.chosen, first.history, again.history)


def _run(course: Course, step: Step, limits: Limits, keeper: Keeper | None, progress: Progress | None) -> Trained:
    course.run(step, limits, keeper=keeper, progress=progress)
    if course.best is None:
        raise OptionError("No epoch was run.")
    return Trained(course, course.best, course.best_epoch, tuple(course.history))
