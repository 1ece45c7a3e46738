"""Methods by name, preset, model and vectors."""

from __future__ import annotations

from dataclasses import replace
from importlib.util import find_spec
from typing import Any

import numpy as np
import pytest

from crowdlogic.classifiers.linear import Linear
from crowdlogic.data.vectors import WordVectors
from crowdlogic.errors import OptionError
from crowdlogic.learning import presets
from crowdlogic.registry import CLASSIFIERS, LEARNING_METHODS, PRESETS
from crowdlogic.store.options import encode_options
from crowdlogic.workflows.train import MethodChoice, configure_method

CLASSES = ("neg", "pos")
TAGS = ("B-LOC", "B-MISC", "B-ORG", "B-PER", "I-LOC", "I-MISC", "I-ORG", "I-PER", "O")
needs_torch = pytest.mark.skipif(find_spec("torch") is None, reason="torch is not installed")
VECTORS = WordVectors(("a", "b"), np.ones((2, 3), np.float32))


@pytest.mark.extension("networks", "paper")
@needs_torch
def test_a_preset_is_the_papers_configuration_with_its_rules() -> None:
    sentiment, but = configure_method(MethodChoice(preset="sentiment"), CLASSES)
    ner, _ = configure_method(MethodChoice(preset="ner"), TAGS)

    expected = PRESETS.load("sentiment")(CLASSES)
    assert (sentiment, str(but)) == (expected.method, str(expected.rules))
    assert encode_options(ner) == encode_options(PRESETS.load("ner")(TAGS).method)


@pytest.mark.extension("networks", "paper")
@needs_torch
def test_a_preset_may_be_the_papers_text_to_the_letter() -> None:
    sentiment, _ = configure_method(MethodChoice(preset="sentiment-paper"), CLASSES)
    ner, bio = configure_method(MethodChoice(preset="ner-paper"), TAGS)

    tagged = presets.ner(CLASSIFIERS.create("cnn-gru"), TAGS, reading="paper")
    assert sentiment == presets.sentiment(CLASSIFIERS.create("kim-cnn"), reading="paper").method
    assert (ner, bio) == (tagged.method, tagged.rules)


@pytest.mark.extension("networks", "paper")
@needs_torch
def test_changes_vectors_and_device_come_on_top() -> None:
    choice = MethodChoice(
        model="kim-cnn", vectors=VECTORS, changes={"limits": {"epochs": 3}, "classifier": {"filters": 7}}, device="cpu"
    )

    method: Any = configure_method(choice, CLASSES)[0]

    assert (method.limits.epochs, method.classifier.filters, method.classifier.name) == (3, 7, "kim-cnn")
    assert method.classifier.vectors is VECTORS
    assert method.classifier.training.device == "cpu"


@pytest.mark.extension("networks", "paper")
@needs_torch
def test_a_model_named_again_keeps_the_presets_options() -> None:
    same: Any = configure_method(MethodChoice(preset="sentiment", model="kim-cnn"), CLASSES)[0]
    other: Any = configure_method(MethodChoice(preset="sentiment", model="linear"), CLASSES)[0]

    expected = PRESETS.load("sentiment")(CLASSES).method
    assert same == expected
    assert other == replace(expected, classifier=Linear())


@pytest.mark.extension("networks", "paper")
@needs_torch
def test_what_does_not_go_together_is_refused() -> None:
    with pytest.raises(OptionError) as vectors:
        configure_method(MethodChoice(vectors=VECTORS), CLASSES)
    with pytest.raises(OptionError) as linear:
        configure_method(MethodChoice(method="raykar", model="kim-cnn"), CLASSES)

    assert str(vectors.value) == "--vectors: the model linear does not use word vectors. Choose kim-cnn or cnn-gru."
    assert str(linear.value) == "raykar has a linear classifier, not kim-cnn. Use aggnet for that."


@pytest.mark.extension("networks", "paper")
@needs_torch
@pytest.mark.parametrize("name", LEARNING_METHODS)
def test_rules_of_a_preset_come_only_with_methods_that_take_rules(name: str) -> None:
    method, rules = configure_method(MethodChoice(method=name, preset="sentiment"), CLASSES)

    assert isinstance(method, LEARNING_METHODS.load(name))
    assert (rules is not None) == (name in ("logic-lncl", "two-stage", "fixed-truth", "gold"))
    assert method.limits.epochs == 30


def test_an_unknown_method_is_named_with_the_nearest() -> None:
    with pytest.raises(
        OptionError, match=r"^No learning method is called 'agnet'\. Did you mean 'aggnet'\? There are "
    ):
        configure_method(MethodChoice(method="agnet"), CLASSES)
