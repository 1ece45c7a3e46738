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
from crowdlogic.learning.choosing import Choice, method_of
from crowdlogic.learning.crf_ma import CRFMA
from crowdlogic.learning.crowd_layer import CrowdLayer
from crowdlogic.learning.doctor_nets import DoctorNets
from crowdlogic.learning.logic_lncl import LogicLNCL
from crowdlogic.learning.special import AggNet, Raykar
from crowdlogic.learning.two_stage import Gold, TwoStage
from crowdlogic.store.options.encode import encode_options

CLASSES = ("neg", "pos")
TAGS = ("B-LOC", "B-MISC", "B-ORG", "B-PER", "I-LOC", "I-MISC", "I-ORG", "I-PER", "O")
needs_torch = pytest.mark.skipif(find_spec("torch") is None, reason="torch is not installed")
VECTORS = WordVectors(("a", "b"), np.ones((2, 3), np.float32))


@pytest.mark.parametrize(
    ("name", "method"),
    [
        ("logic-lncl", LogicLNCL()),
        ("aggnet", AggNet()),
        ("raykar", Raykar()),
        ("two-stage", TwoStage()),
        ("gold", Gold()),
        ("crf-ma", CRFMA()),
    ],
)
def test_a_name_alone_is_the_method_with_its_defaults(name: str, method: Any) -> None:
    assert method_of(Choice(name), CLASSES) == (method, None)


@needs_torch
def test_a_preset_is_the_papers_configuration_with_its_rules() -> None:
    sentiment, but = method_of(Choice(preset="sentiment"), CLASSES)
    ner, _ = method_of(Choice(preset="ner"), TAGS)

    expected = presets.sentiment()
    assert (sentiment, str(but)) == (expected.method, str(expected.rules))
    assert encode_options(ner) == encode_options(presets.ner(TAGS).method)


@needs_torch
def test_a_preset_may_be_the_papers_text_to_the_letter() -> None:
    sentiment, _ = method_of(Choice(preset="sentiment-paper"), CLASSES)
    ner, bio = method_of(Choice(preset="ner-paper"), TAGS)

    assert sentiment == presets.sentiment(reading="paper").method
    assert ner == presets.ner(TAGS, reading="paper").method
    assert bio == presets.ner(TAGS, reading="paper").rules


@needs_torch
def test_a_preset_serves_other_methods_with_what_they_share() -> None:
    gold, rules = method_of(Choice("gold", "ner"), TAGS)
    aggnet, none = method_of(Choice("aggnet", "ner"), TAGS)
    raykar, _ = method_of(Choice("raykar", "sentiment"), CLASSES)

    expected: Any = presets.ner(TAGS).method
    assert isinstance(gold, Gold)
    assert gold.classifier == expected.classifier
    assert rules == presets.ner(TAGS).rules
    assert aggnet == AggNet(
        **{name: getattr(expected, name) for name in ("classifier", "imitation", "start", "preset")}
    )
    layer, nothing = method_of(Choice("crowd-layer", "ner"), TAGS)
    assert layer == CrowdLayer(expected.classifier, start=expected.start)
    assert (none, nothing) == (None, None)
    assert isinstance(raykar, Raykar)
    assert raykar.classifier == Linear()


def test_a_method_with_a_classifier_of_its_own_keeps_its_options_when_that_is_named() -> None:
    assert method_of(Choice("crf-ma", model="crf"), TAGS) == (CRFMA(), None)


@needs_torch
@pytest.mark.parametrize(("name", "weighted"), [("dl-dn", False), ("dl-wdn", True)])
def test_doctor_nets_are_weighted_by_their_name(name: str, weighted: bool) -> None:
    made, _ = method_of(Choice(name, model="kim-cnn"), CLASSES)

    assert made == DoctorNets(presets.CLASSIFIERS.load("kim-cnn")(), weighted)


@needs_torch
def test_changes_vectors_and_device_come_on_top() -> None:
    choice = Choice(model="kim-cnn", vectors=VECTORS, changes={"epochs": 3, "classifier": {"filters": 7}}, device="cpu")

    method: Any = method_of(choice, CLASSES)[0]

    assert (method.epochs, method.classifier.filters, method.classifier.name) == (3, 7, "kim-cnn")
    assert method.classifier.vectors is VECTORS
    assert method.classifier.training.device == "cpu"


@needs_torch
def test_a_model_named_again_keeps_the_presets_options() -> None:
    same: Any = method_of(Choice(preset="sentiment", model="kim-cnn"), CLASSES)[0]
    other: Any = method_of(Choice(preset="sentiment", model="linear"), CLASSES)[0]

    assert same == presets.sentiment().method
    assert other == replace(presets.sentiment().method, classifier=Linear())


@needs_torch
def test_what_does_not_go_together_is_refused() -> None:
    with pytest.raises(OptionError) as vectors:
        method_of(Choice(vectors=VECTORS), CLASSES)
    with pytest.raises(OptionError) as linear:
        method_of(Choice("raykar", model="kim-cnn"), CLASSES)

    assert str(vectors.value) == "--vectors: the linear model takes no word vectors. Choose kim-cnn or cnn-gru."
    assert str(linear.value) == "raykar has a linear classifier, not kim-cnn. Use aggnet for that."
