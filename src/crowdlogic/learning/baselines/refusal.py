"""Methods that have no place for rules or anchors refuse them."""

from __future__ import annotations

from crowdlogic.data.labels import require_whole_labels
from crowdlogic.errors import OptionError
from crowdlogic.learning.method import TrainingData
from crowdlogic.learning.task import Task
from crowdlogic.learning.teacher import Teacher
from crowdlogic.rules.projection.projector import Projector


def refuse_rules(method: str, data: TrainingData) -> None:
    """Raise when there are rules."""
    if data.rules is not None and data.rules.statements:
        raise OptionError(f"{method} has no place for rules. Use logic-lncl, or leave them out.")


def refuse_partial_labels(method: str, data: TrainingData) -> None:
    """Raise when some labels say only which class it is not: such methods have no confusion matrix."""
    require_whole_labels(data.labels, method)


def refuse_anchors(method: str, data: TrainingData) -> None:
    """Raise when the truth of some items is given."""
    if data.anchors:
        raise OptionError(
            f"{method} cannot use anchors. Use logic-lncl, aggnet, raykar or two-stage, or leave them out."
        )


def idle_teacher(task: Task) -> Teacher:
    """No rules: such methods predict as their classifier does."""
    return Teacher(task.labels.classes, Projector())
