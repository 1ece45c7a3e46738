"""Which method to fit: by name, from a preset of the paper, with a model, word vectors and changes to any option."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, is_dataclass, replace
from typing import Any

from crowdlogic.classifiers.linear import Linear
from crowdlogic.classifiers.protocol import Architecture
from crowdlogic.data.names import Classes
from crowdlogic.data.vectors import WordVectors
from crowdlogic.errors import OptionError
from crowdlogic.learning.crf_ma import CRFMA
from crowdlogic.learning.logic_lncl import LogicLNCL, Loss
from crowdlogic.learning.training_run import LearningMethod
from crowdlogic.registry import CLASSIFIERS, LEARNING_METHODS, PRESETS
from crowdlogic.rules.syntax import RuleSet
from crowdlogic.store.options.decode import decode_options

WITH_RULES = ("logic-lncl", "two-stage", "gold")
OWN_CLASSIFIER: dict[str, Architecture] = {"raykar": Linear(), "crf-ma": CRFMA().classifier}
"""Methods that are what they are by their classifier, whatever a preset has."""


@dataclass(frozen=True, eq=False)
class Choice:
    """What to fit.

    Attributes:
        method: Its name.
        preset: The configuration of the paper to start from; None for the defaults.
        model: The classifier's name; None for the method's or the preset's own.
        vectors: Word vectors for a classifier that takes them.
        changes: Options to change, nested; what `decode_options` takes.
        device: Where a neural classifier is trained.
    """

    method: str = "logic-lncl"
    preset: str | None = None
    model: str | None = None
    vectors: WordVectors | None = None
    changes: Mapping[str, Any] = field(default_factory=dict)
    device: str | None = None


def method_of(choice: Choice, classes: Classes) -> tuple[LearningMethod, RuleSet | None]:
    """The method with all its options, and the rules that a preset brings."""
    base, rules = _from_preset(choice, classes)
    kind = LEARNING_METHODS.load(choice.method)
    known = {one.name for one in fields(kind)}
    options = {one.name: getattr(base, one.name) for one in fields(base) if one.name in known}
    if choice.method not in WITH_RULES:
        rules, plain = None, {"transitions": None, "loss": Loss.plain}
        options |= {name: value for name, value in plain.items() if name in known}
    if choice.method == "dl-wdn":
        options["weighted"] = True
    options["classifier"] = _classifier(choice, options["classifier"])
    made = decode_options(kind(**options), choice.changes)
    return _with_vectors(made, choice), rules


def _from_preset(choice: Choice, classes: Classes) -> tuple[LogicLNCL, RuleSet | None]:
    if choice.preset is None:
        return LogicLNCL(), None
    made = PRESETS.load(choice.preset)(classes)
    return made.method, made.rules


def _classifier(choice: Choice, present: Any) -> Any:
    """The model asked for; the one that is there keeps its options when it is of that name."""
    present = OWN_CLASSIFIER.get(choice.method, present)
    return present if choice.model in (None, present.name) else CLASSIFIERS.create(choice.model)


def _with_vectors(method: Any, choice: Choice) -> LearningMethod:
    """The method with its classifier's vectors and device, which are no plain options."""
    model = method.classifier
    known = {one.name for one in fields(model)} if is_dataclass(model) else set()
    if choice.vectors is not None:
        if "vectors" not in known:
            raise OptionError(f"--vectors: the {model.name} model takes no word vectors. Choose kim-cnn or cnn-gru.")
        model = replace(model, vectors=choice.vectors)
    if choice.device is not None and "training" in known:
        model = replace(model, training=replace(model.training, device=choice.device))
    made: LearningMethod = replace(method, classifier=model)
    return made
