"""Protocol for learning methods: options and a fit from crowd labels. See `registry.LEARNING_METHODS`."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, Protocol

from crowdlogic.classifiers.protocol import Architecture
from crowdlogic.data.corpus import Corpus
from crowdlogic.data.frames import (
    FRAME,
    as_labels,
    corpus_from_frame,
    from_frame,
    has_names,
    texts_beside_labels,
    to_corpus,
)
from crowdlogic.data.intake.columns import add_unnamed_annotator
from crowdlogic.data.intake.contract import Duplicates, to_polars
from crowdlogic.data.labels import CrowdLabels, require_whole_labels
from crowdlogic.data.names import sort_naturally
from crowdlogic.data.wording import pluralise
from crowdlogic.errors import CorpusError, CrowdLogicWarning, OptionError, name_list, require_kind
from crowdlogic.learning.learned import Learned
from crowdlogic.learning.posterior import Teacher
from crowdlogic.learning.stopping import TrainingLimits
from crowdlogic.learning.task import Task, prepare_task
from crowdlogic.learning.training import EpochCallback, FitCheckpoint
from crowdlogic.registry import CLASSIFIERS, MODEL_ADAPTERS
from crowdlogic.rules.parser import as_rules
from crowdlogic.rules.predicates import Vocabulary
from crowdlogic.rules.projection.projector import Projector
from crowdlogic.rules.syntax import RuleSet


@dataclass(frozen=True, eq=False, kw_only=True)
class TrainingData:
    """Training data of a method.

    Attributes:
        corpus: The items.
        labels: Their labels.
        rules: The rules.
        vocabulary: Predicates that the rules use in addition to the built-in ones.
        dev: Items with gold for early stopping. Without any, labels are held out instead.
        watched: Items with gold, by name, that are scored after every epoch and never used for training.
        anchors: item -> true class (or the tags of a sentence), for training items whose truth is known.
        inputs: Description of the inputs, for the config of a run.
    """

    corpus: Corpus
    labels: CrowdLabels
    rules: RuleSet | None = None
    vocabulary: Vocabulary | None = None
    dev: Corpus | None = None
    watched: Mapping[str, Corpus] = field(default_factory=dict)
    anchors: Mapping[Any, Any] | None = None
    inputs: Mapping[str, Any] = field(default_factory=dict)

    def task(self, limits: TrainingLimits) -> Task:
        """Return the inputs of a fit: everything aligned, with labels held out where the limits ask for it."""
        return prepare_task(
            self.corpus, self.labels, dev=self.dev, watched=self.watched, anchors=self.anchors, limits=limits
        )


class LearningMethod(Protocol):
    """Protocol for methods that learn from crowd labels: frozen dataclasses of options."""

    @property
    def name(self) -> str:
        """Name of the method on the command line."""

    @property
    def classifier(self) -> Architecture:
        """Classifier for the items."""

    @property
    def limits(self) -> TrainingLimits:
        """Number of epochs, stopping rule and random seed."""

    def learn(
        self, data: TrainingData, *, checkpoint: FitCheckpoint | None = None, callback: EpochCallback | None = None
    ) -> Learned:
        """Fit the method to data.

        Args:
            data: The training data.
            checkpoint: Checkpoint to save after each epoch and to resume from.
            callback: Function called after each epoch.
        """


class FitMixin:
    """Mixin that provides `fit(corpus, labels, ...)` for methods with `learn(data)`."""

    def __post_init__(self: Any) -> None:
        """Replace the name of a classifier by the classifier, so that a wrong name raises an error here."""
        if isinstance(self.classifier, str):
            object.__setattr__(self, "classifier", as_architecture(self.classifier))

    def fit(
        self: LearningMethod,
        corpus: Any,
        labels: Any = None,
        *,
        rules: RuleSet | str | Path | Sequence[str] | None = None,
        vocabulary: Vocabulary | None = None,
        dev: Any = None,
        watched: Mapping[str, Any] | None = None,
        anchors: Any = None,
        save: str | Path | None = None,
        checkpoint: FitCheckpoint | None = None,
        callback: EpochCallback | None = None,
        columns: Mapping[str, str] | None = None,
        classes: Sequence[Any] | None = None,
        duplicates: Duplicates | str = Duplicates.error,
        empty_label: str | None = None,
    ) -> Learned:
        """Learn from crowd labels and rules.

        Args:
            corpus: The items: a Corpus, a frame, a dictionary item -> text, a series of texts with the items as its
                index, or a list of texts in the order of the labels' items. A single frame with a row per label and a
                column of texts contains items and labels.
            labels: Their labels: CrowdLabels or a frame; None if the frame of items contains them.
            rules: The rules: the result of `parse_rules` or `read_rules`, a text, or a list of texts.
            vocabulary: Predicates that the rules use in addition to the built-in ones.
            dev: Items with gold for early stopping. Without any, labels are held out instead (`limits.held_out`).
            watched: Items with gold that are scored after every epoch and never used for training.
            anchors: item -> true class (or the tags of a sentence), for training items whose truth is known.
            save: A new folder to save the run to, for `load_run` and for the commands.
            checkpoint: Checkpoint to save after each epoch and to resume from.
            callback: Function called after each epoch.
            columns: For a frame of labels, as in `from_frame`: role -> column.
            classes: For a frame of labels: the classes, in the order used to break ties.
            duplicates: For a frame of labels: what to do when an annotator labels an item twice.
            empty_label: For a frame of labels: the class that an empty cell stands for.
        """
        reading = {"columns": columns, "classes": classes, "duplicates": duplicates, "empty_label": empty_label}
        items, labels = to_training_set(corpus, labels, reading)
        data = TrainingData(
            corpus=items,
            labels=labels,
            rules=as_rules(rules),
            vocabulary=vocabulary,
            dev=_as_scored(dev, "dev"),
            watched={name: _as_scored(one, "watched") for name, one in (watched or {}).items()},
            anchors=_as_known(anchors),
        )
        require_kind(save or "", (str, Path), "fit: save", "Name a new folder: save='run'.")
        require_kind(self.limits, TrainingLimits, "limits", "Write limits=TrainingLimits(epochs=5).")
        require_kind(vocabulary or Vocabulary(), Vocabulary, "vocabulary", OWN_PREDICATE)
        method: LearningMethod = with_named_classifier(self)
        if save is None:
            learned = method.learn(data, checkpoint=checkpoint, callback=callback)
        else:
            from crowdlogic.learning.saved_run import train_run  # saved_run imports this module

            learned = train_run(save, method, data, callback=callback).learned
        for one in learned.teacher.notices(learned.task.corpus):
            warnings.warn(one.line, CrowdLogicWarning, stacklevel=2)
        return learned


OWN_PREDICATE = "Create one: words = Vocabulary(); words.predicate('Shouting')(function); then pass vocabulary=words."
"""Advice on how to define predicates, used in error messages."""


def _as_scored(items: Any, what: str) -> Any:
    """Convert items with gold to a corpus: a corpus, or a frame of item, text and label."""
    if items is None or isinstance(items, Corpus):
        return items
    if hasattr(items, "columns") and not isinstance(items, type):
        return corpus_from_frame(items)
    raise CorpusError(
        f"fit: {what} is a {type(items).__name__}. Pass a frame of item, text and label (the truth), or a Corpus with "
        f"gold."
    )


def _as_known(anchors: Any) -> Mapping[Any, Any] | None:
    """Convert anchors to a mapping from item to true class; they may be a dictionary, or a series indexed by item."""
    if anchors is None or isinstance(anchors, Mapping):
        return anchors
    if hasattr(anchors, "index") and hasattr(anchors, "to_dict") and not hasattr(anchors, "columns"):
        found: dict[Any, Any] = anchors.to_dict()
        return found
    raise OptionError(
        f"fit: anchors are a {type(anchors).__name__}. Pass a dictionary item -> true class: {{'t1': 'billing'}}."
    )


def to_training_set(
    corpus: Any, labels: Any, reading: Mapping[str, Any] = MappingProxyType({})
) -> tuple[Corpus, CrowdLabels]:
    """Convert the arguments of `fit` to items and labels; ambiguous input raises an error.

    Args:
        corpus: The items, or one frame that contains items and labels.
        labels: The labels; None if the frame of items contains them.
        reading: Keyword arguments of `from_frame`, for labels in a frame.
    """
    if isinstance(corpus, CrowdLabels) or isinstance(labels, Corpus):
        raise CorpusError("fit: got labels instead of items, or items instead of labels. Write fit(corpus, labels).")
    if labels is None and not hasattr(corpus, "columns"):
        raise CorpusError(
            "fit: no labels. Write fit(corpus, labels), or pass one frame with item, annotator, label, text."
        )
    if labels is None:
        corpus = add_unnamed_annotator(to_polars(corpus, FRAME), reading.get("columns"))
    source = corpus if labels is None else labels
    if isinstance(source, CrowdLabels) and any(one not in (None, Duplicates.error) for one in reading.values()):
        raise OptionError(
            f"fit: {', '.join(reading)} only apply to a frame of labels, but these are CrowdLabels. Pass the options "
            f"to from_frame or read_labels instead."
        )
    if isinstance(source, CrowdLabels) or not hasattr(source, "columns") or isinstance(source, type):
        given = as_labels(source, "fit")
    else:
        given = from_frame(source, **reading)
    columns = reading.get("columns")
    if labels is None and columns:  # the column of texts is found by its name
        table = to_polars(corpus, FRAME)
        renamed = {column: role for role, column in columns.items()}
        corpus = table.drop(set(renamed.values()) & set(table.columns) - set(renamed)).rename(renamed)
    beside = texts_beside_labels(corpus) if hasattr(corpus, "columns") else None
    if labels is None and beside is None:
        raise CorpusError(
            "fit: the frame of labels has no column of texts, or several texts for one item. Pass the items as well: "
            "fit(items, labels)."
        )
    if beside is None and not has_names(corpus) and sort_naturally(given.items) != given.items.to_list():
        raise CorpusError(
            f"fit: the texts have no names, and the labels are not in the order of their items "
            f"({name_list(given.items[:3])}, ...), so texts cannot be matched to items. Pass a frame with item and "
            f"text, or a dictionary item -> text, such as dict(zip(labels.items, texts))."
        )
    return (to_training_items(corpus, given) if beside is None else beside), given


def to_training_items(corpus: Any, labels: CrowdLabels) -> Corpus:
    """Return the training items; texts without names are matched to the labels' items in their order."""
    made = to_corpus(corpus, sequential=labels.is_sequential)
    if has_names(corpus):
        return made
    if len(made.items) != len(labels.items):
        raise CorpusError(
            f"fit: {pluralise(len(made.items), 'text')} for {pluralise(len(labels.items), 'labelled item')}. Pass one "
            f"text per item, in the order of labels.items, or a frame with the names of the items."
        )
    return replace(made, items=labels.items)


def with_named_classifier(method: Any) -> Any:
    """Return the method with its classifier built from a name or a scikit-learn estimator, if it is one of these."""
    made = as_architecture(method.classifier)
    return method if made is method.classifier else replace(method, classifier=made)


def as_architecture(given: Any) -> Architecture:
    """Convert an argument to a classifier's hyper-parameters.

    Args:
        given: A name, one of crowdlogic's classifiers or a similar object, a scikit-learn estimator, an object that an
            extension adapts (a `torch.nn.Module`, a Hugging Face folder), or a function from items to probabilities.
    """
    made: Architecture
    if isinstance(given, type):
        raise OptionError(f"classifier: {given.__name__} is a class. Pass an instance: {given.__name__}(...).")
    if hasattr(given, "build") and hasattr(given, "load"):
        if not isinstance(getattr(given, "name", None), str):
            raise OptionError(
                f"classifier: a {type(given).__name__} has no attribute `name`. A classifier is {OWN_CLASSIFIER}."
            )
        for verb, positional, named in (("build", 2, {"seed": 0}), ("load", 2, {})):
            signature = inspect.signature(getattr(given, verb))
            try:
                signature.bind(*[None] * positional, **named)
            except TypeError:
                raise OptionError(
                    f"classifier: a {type(given).__name__} has {verb}{signature}. A classifier is {OWN_CLASSIFIER}."
                ) from None
        made = given
        return made
    if isinstance(given, str) and given in CLASSIFIERS:
        made = CLASSIFIERS.create(given)
        return made
    if hasattr(given, "fit") and hasattr(given, "get_params"):
        made = CLASSIFIERS.load("scikit")(given)
        return made
    for name in MODEL_ADAPTERS:
        made = MODEL_ADAPTERS.load(name)(given)
        if made is not None:
            return made
    if isinstance(given, str):
        CLASSIFIERS.check(given)
    if callable(given):
        from crowdlogic.classifiers.function import Function

        return Function(given)
    raise OptionError(
        f"classifier: a {type(given).__name__} is not a classifier. Pass a name ({name_list(CLASSIFIERS)}), one of "
        f"crowdlogic's classifiers such as Linear(), a scikit-learn estimator, a torch.nn.Module, a function from "
        f"items to probabilities, or {OWN_CLASSIFIER}."
    )


OWN_CLASSIFIER = (
    "an object with a name, build(corpus, classes, *, seed) and load(arrays, classes), "
    "as docs/how-to/extending.md shows"
)
"""Description of a classifier for error messages."""


# Methods that do not support rules or anchors raise an error if there are any.


def refuse_rules(method: str, data: TrainingData) -> None:
    """Raise an error if there are rules."""
    if data.rules is not None and data.rules.statements:
        raise OptionError(f"{method} does not support rules. Use logic-lncl, or leave the rules out.")


def prepare_plain_task(method: str, data: TrainingData, limits: TrainingLimits) -> Task:
    """Prepare the task of a method that supports neither rules nor anchors nor labels that only exclude classes."""
    refuse_rules(method, data)
    require_whole_labels(data.labels, method)
    if data.anchors:
        raise OptionError(
            f"{method} does not support anchors. Use logic-lncl, aggnet, raykar or two-stage, or leave the anchors out."
        )
    return data.task(limits)


def idle_teacher(task: Task) -> Teacher:
    """Return a teacher without rules, whose predictions are the classifier's."""
    return Teacher(task.labels.classes, Projector())
