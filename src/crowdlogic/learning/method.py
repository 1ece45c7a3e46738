"""What a learning method is: options, and a fit from crowd labels. `registry.LEARNING_METHODS` lists them by name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from crowdlogic.classifiers.protocol import Architecture
from crowdlogic.data.corpus import Corpus
from crowdlogic.data.labels import CrowdLabels
from crowdlogic.learning.checkpoint import FitCheckpoint
from crowdlogic.learning.epoch import EpochCallback
from crowdlogic.learning.learned import Learned
from crowdlogic.learning.stopping.protocol import TrainingLimits
from crowdlogic.rules.predicates import Vocabulary
from crowdlogic.rules.syntax import RuleSet


@dataclass(frozen=True, eq=False, kw_only=True)
class TrainingData:
    """What a method learns from.

    Attributes:
        corpus: The items.
        labels: Their labels.
        rules: Rules that hold for them.
        vocabulary: Predicates that the rules use beyond the built-in ones.
        dev: Items with gold for early stopping. Without any, labels are held out instead.
        watched: Items with gold, by name, that are scored after every epoch and never learnt from.
        anchors: item -> true class (or the tags of a sentence), for training items whose truth is known.
        inputs: Where all this came from, for the config of a run.
    """

    corpus: Corpus
    labels: CrowdLabels
    rules: RuleSet | None = None
    vocabulary: Vocabulary | None = None
    dev: Corpus | None = None
    watched: Mapping[str, Corpus] = field(default_factory=dict)
    anchors: Mapping[Any, Any] | None = None
    inputs: Mapping[str, Any] = field(default_factory=dict)


class LearningMethod(Protocol):
    """A method that learns from crowd labels: a frozen dataclass of options."""

    @property
    def name(self) -> str:
        """The method's name, as the command line knows it."""

    @property
    def classifier(self) -> Architecture:
        """What learns from the items."""

    @property
    def limits(self) -> TrainingLimits:
        """How long a fit goes on, what stops it, and its random seed."""

    def learn(
        self, data: TrainingData, *, checkpoint: FitCheckpoint | None = None, callback: EpochCallback | None = None
    ) -> Learned:
        """Fit to data.

        Args:
            data: What to learn from.
            checkpoint: Where the state is kept after each epoch, and resumed from.
            callback: Callback, called after each epoch.
        """


class FitMixin:
    """`fit(corpus, labels, ...)` for methods that have `learn(data)`: the arguments are declared here, once."""

    def fit(
        self: LearningMethod,
        corpus: Corpus,
        labels: CrowdLabels,
        *,
        rules: RuleSet | None = None,
        vocabulary: Vocabulary | None = None,
        dev: Corpus | None = None,
        watched: Mapping[str, Corpus] | None = None,
        anchors: Mapping[Any, Any] | None = None,
        checkpoint: FitCheckpoint | None = None,
        callback: EpochCallback | None = None,
    ) -> Learned:
        """Learn from crowd labels and rules.

        Args:
            corpus: The items.
            labels: Their labels.
            rules: Rules that hold for them.
            vocabulary: Predicates that the rules use beyond the built-in ones.
            dev: Items with gold for early stopping. Without any, labels are held out instead (`limits.held_out`).
            watched: Items with gold that are scored after every epoch and never learnt from.
            anchors: item -> true class (or the tags of a sentence), for training items whose truth is known.
            checkpoint: Where the state is kept after each epoch, and resumed from.
            callback: Callback, called after each epoch.
        """
        data = TrainingData(
            corpus=corpus,
            labels=labels,
            rules=rules,
            vocabulary=vocabulary,
            dev=dev,
            watched=watched or {},
            anchors=anchors,
        )
        return self.learn(data, checkpoint=checkpoint, callback=callback)
