"""The network of methods that add something of their own to one: a classifier of another kind is refused."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from crowdlogic.classifiers.protocol import Architecture
from crowdlogic.errors import OptionError
from crowdlogic.learning.task import Task

if TYPE_CHECKING:
    from crowdlogic.classifiers.neural import NeuralClassifier


def build_network(method: str, architecture: Architecture, task: Task, *, seed: int) -> NeuralClassifier:
    """A new network for a task; a classifier of another kind is refused."""
    made = architecture.build(task.corpus, task.labels.classes, seed=seed)
    if not hasattr(made, "network"):
        raise OptionError(
            f"{method} adds to a network, and {architecture.name} is none. Choose a model that is: kim-cnn, cnn-gru, "
            f"mlp or transformer."
        )
    return cast("NeuralClassifier", made)
