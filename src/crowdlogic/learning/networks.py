"""What methods have in common that add something of their own to a network: only networks will do, and no rules."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from crowdlogic.classifiers.protocol import Architecture
from crowdlogic.errors import OptionError
from crowdlogic.learning.task import Task
from crowdlogic.learning.teacher import Teacher
from crowdlogic.rules.predicates import Vocabulary
from crowdlogic.rules.projection.projector import Projector
from crowdlogic.rules.syntax import RuleSet

if TYPE_CHECKING:
    from crowdlogic.classifiers.neural import NeuralClassifier


def network_for(method: str, architecture: Architecture, task: Task, *, seed: int) -> NeuralClassifier:
    """A new network for a task; a classifier of another kind is refused."""
    made = architecture.build(task.corpus, task.labels.classes, seed=seed)
    if not hasattr(made, "network"):
        raise OptionError(
            f"{method} adds to a network, and {architecture.name} is none. Choose a model that is: kim-cnn, cnn-gru, "
            f"mlp or transformer."
        )
    return cast("NeuralClassifier", made)


def idle_teacher(method: str, task: Task, rules: RuleSet | None, vocabulary: Vocabulary | None) -> Teacher:
    """No rules: these methods predict as their network does."""
    made = Teacher(task.labels.classes, Projector(rules=rules, vocabulary=vocabulary))
    if not made.is_idle:
        raise OptionError(f"{method} has no place for rules. Use logic-lncl, or leave them out.")
    return made
