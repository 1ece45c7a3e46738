"""Which method to fit: by name, from a preset, with a model, word vectors and changes to any option."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, is_dataclass, replace
from typing import Any

from crowdlogic.data.names import Classes
from crowdlogic.data.vectors import WordVectors
from crowdlogic.errors import OptionError
from crowdlogic.learning.algorithm import LogicLNCL
from crowdlogic.learning.method import LearningMethod
from crowdlogic.registry import CLASSIFIERS, LEARNING_METHODS, PRESETS
from crowdlogic.rules.syntax import RuleSet
from crowdlogic.store.options.decode import decode_options


@dataclass(frozen=True, eq=False, kw_only=True)
class MethodChoice:
    """What to fit.

    Attributes:
        method: Its name in `registry.LEARNING_METHODS`.
        preset: The name of the preset to start from; None for the defaults.
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


def configure_method(choice: MethodChoice, classes: Classes) -> tuple[LearningMethod, RuleSet | None]:
    """The method with all its options, and the rules that a preset brings, if the method takes rules.

    A method takes over what it has in common with the preset's: its classifier, annotators, projector, limits, ...
    """
    base, rules = _load_preset(choice.preset, classes)
    kind = LEARNING_METHODS.load(choice.method)
    known = {one.name for one in fields(kind)}
    options = {one.name: getattr(base, one.name) for one in fields(base) if one.name in known}
    if getattr(kind, "own_classifier", None) is not None:
        options["classifier"] = kind.own_classifier
    options["classifier"] = _choose_classifier(choice.model, options["classifier"])
    method = decode_options(kind(**options), choice.changes)
    return _with_vectors(method, choice), rules if "projector" in known else None


def _load_preset(name: str | None, classes: Classes) -> tuple[LogicLNCL, RuleSet | None]:
    if name is None:
        return LogicLNCL(), None
    made = PRESETS.load(name)(classes)
    return made.method, made.rules


def _choose_classifier(model: str | None, present: Any) -> Any:
    """The model of that name; the method's own classifier, with its options, if it already has that name."""
    return present if model in (None, present.name) else CLASSIFIERS.create(model)


def _with_vectors(method: Any, choice: MethodChoice) -> LearningMethod:
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
