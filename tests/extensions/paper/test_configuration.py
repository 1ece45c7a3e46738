"""Methods by name, preset, model and vectors."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any

import pytest

from crowdlogic.classifiers.linear import Linear
from crowdlogic.extensions.networks.crowd_methods import CrowdLayer, DoctorNets, WeightedDoctorNets
from crowdlogic.extensions.paper.crf_ma import CRFMA
from crowdlogic.learning.algorithm import LogicLNCL
from crowdlogic.learning.baselines import AggNet, Gold, Raykar, TwoStage
from crowdlogic.registry import CLASSIFIERS, PRESETS
from crowdlogic.store.options import encode_options
from crowdlogic.workflows.train import MethodChoice, configure_method

CLASSES = ("neg", "pos")
TAGS = ("B-LOC", "B-MISC", "B-ORG", "B-PER", "I-LOC", "I-MISC", "I-ORG", "I-PER", "O")
needs_torch = pytest.mark.skipif(find_spec("torch") is None, reason="torch is not installed")


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
    assert configure_method(MethodChoice(method=name), CLASSES) == (method, None)


@needs_torch
def test_a_preset_serves_other_methods_with_what_they_share() -> None:
    gold, rules = configure_method(MethodChoice(method="gold", preset="ner-released"), TAGS)
    aggnet, none = configure_method(MethodChoice(method="aggnet", preset="ner-released"), TAGS)
    raykar, _ = configure_method(MethodChoice(method="raykar", preset="sentiment"), CLASSES)

    preset = PRESETS.load("ner-released")(TAGS)
    expected: Any = preset.method
    assert isinstance(gold, Gold)
    assert gold.classifier == expected.classifier
    assert rules == preset.rules
    assert encode_options(gold.projector) == encode_options(expected.projector)
    assert aggnet == AggNet(expected.classifier, start=expected.start)
    layer, nothing = configure_method(MethodChoice(method="crowd-layer", preset="ner-released"), TAGS)
    assert layer == CrowdLayer(expected.classifier, start=expected.start)
    assert (none, nothing) == (None, None)
    assert isinstance(raykar, Raykar)
    assert raykar.classifier == Linear()


def test_a_method_with_a_classifier_of_its_own_keeps_its_options_when_that_is_named() -> None:
    assert configure_method(MethodChoice(method="crf-ma", model="crf"), TAGS) == (CRFMA(), None)


@needs_torch
@pytest.mark.parametrize(("name", "kind"), [("dl-dn", DoctorNets), ("dl-wdn", WeightedDoctorNets)])
def test_doctor_nets_are_weighted_by_their_name(name: str, kind: Any) -> None:
    made, _ = configure_method(MethodChoice(method=name, model="kim-cnn"), CLASSES)

    assert made == kind(CLASSIFIERS.load("kim-cnn")())
    assert made.name == name
