"""Plain data as options again, by the types of the fields."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from crowdlogic.classifiers.linear import Linear
from crowdlogic.errors import OptionError
from crowdlogic.learning.algorithm import ConstantImitation, GrowingImitation, LogicLNCL, Loss
from crowdlogic.learning.baselines import AggNet, Gold, TwoStage
from crowdlogic.learning.stopping import HeldOut, TrainingLimits
from crowdlogic.registry import CLASSIFIERS
from crowdlogic.rules.potentials import PerUnit
from crowdlogic.rules.projection.projector import Preset, Projector, Result, Start
from crowdlogic.rules.transitions import transition_table
from crowdlogic.store.options import decode_options, encode_options
from crowdlogic.truth.dawid_skene import DawidSkene
from crowdlogic.truth.majority import MajorityVote

TABLE = transition_table({("O", "B"): 0.25, ("B", "O"): 1.0}, ("O", "B"), start={"O": 1.0}, strength=0.3)

OPTIONS = ", ".join(one.name for one in fields(LogicLNCL))

METHODS = [
    LogicLNCL(),
    LogicLNCL(classifier=Linear(ridge=0.25, max_ngram=3), imitation=GrowingImitation(0.9, maximum=0.8), loss=Loss.annotators, start=MajorityVote(ties="order", order=("b", "a")), learn_weights=True, projector=Projector(strength=2.5, preset="released", per_unit=PerUnit.mean), limits=TrainingLimits(epochs=7, held_out=HeldOut(0.25, unit="annotations"), seed=11)),
    LogicLNCL(imitation=ConstantImitation(0.5), projector=Projector(transitions="estimated", preset=Preset(Start.classifier, Result.path)), limits=TrainingLimits(held_out=None)),
    AggNet(limits=TrainingLimits(epochs=3)),
    TwoStage(truth=DawidSkene(smoothing=0.5, trust=2.0), hard=True),
    Gold(limits=TrainingLimits(patience=2)),
]  # fmt: skip


@pytest.mark.parametrize("method", METHODS, ids=range(len(METHODS)))
def test_options_survive_json(method: Any) -> None:
    plain = json.loads(json.dumps(encode_options(method)))

    assert decode_options(type(method)(), plain) == method


def test_a_table_of_transitions_survives_json() -> None:
    plain = json.loads(json.dumps(encode_options(LogicLNCL(projector=Projector(transitions=TABLE)))))

    found = decode_options(LogicLNCL(), plain).projector.transitions

    assert found.classes == TABLE.classes
    np.testing.assert_array_equal(found.probability, TABLE.probability)
    np.testing.assert_array_equal(found.start, TABLE.start)
    assert (found.strength, found.floor) == (0.3, TABLE.floor)


def test_a_table_of_transitions_may_be_changed_in_part_or_as_a_whole() -> None:
    base = LogicLNCL(projector=Projector(transitions=TABLE))

    def change(given: Any) -> Any:
        return decode_options(base, {"projector": {"transitions": given}}).projector.transitions

    stronger = change({"strength": 1})
    other = change(encode_options(TABLE) | {"start": [0.5, 0.5]})
    none = change("none")

    assert stronger.strength == 1.0
    np.testing.assert_array_equal(stronger.probability, TABLE.probability)
    np.testing.assert_array_equal(other.start, [0.5, 0.5])
    assert none is None


def test_every_truth_method_can_be_the_first_stage() -> None:
    found = decode_options(TwoStage(), {"truth": {"name": "glad"}, "classifier": "prior"})

    assert found.name == "glad + prior"


def test_what_is_nested_is_changed_in_place_and_another_name_starts_anew() -> None:
    base = LogicLNCL(classifier=Linear(ridge=0.5), imitation=GrowingImitation(0.8, maximum=0.7))

    kept = decode_options(base, {"classifier": {"steps": 3}, "imitation": {"base": 0.5}})
    new = decode_options(base, {"imitation": {"name": "constant", "k": 1}, "limits": {"held_out": {"share": 0.5}}})

    assert (kept.classifier, kept.imitation) == (Linear(ridge=0.5, steps=3), GrowingImitation(0.5, maximum=0.7))
    assert (new.imitation, new.limits.held_out) == (ConstantImitation(1.0), HeldOut(0.5))
    assert base.classifier == Linear(ridge=0.5)


@pytest.mark.parametrize(
    ("changes", "line"),
    [
        ({"epoch": 3}, f"epoch: unknown option. Did you mean 'limits.epochs'? There are {OPTIONS}."),
        (
            {"strength": 3},
            f"strength: unknown option. Did you mean 'projector.strength'? There are {OPTIONS}.",
        ),
        ({"los": "plain"}, f"los: unknown option. Did you mean 'loss'? There are {OPTIONS}."),
        (
            {"classifier": {"ridges": 3}},
            "classifier.ridges: unknown option. Did you mean 'ridge'? There are ridge, steps, max_ngram, hash_bits, idf_power, ngram_weight.",
        ),
        ({"classifier": {"ridge": "much"}}, "classifier.ridge: expected a number, got 'much'."),
        ({"projector": {"strength": True}}, "projector.strength: expected a number, got True."),
        ({"classifier": {"steps": 1.5}}, "classifier.steps: expected an integer, got 1.5."),
        ({"classifier": {"steps": True}}, "classifier.steps: expected an integer, got True."),
        ({"classifier": 3}, "classifier: expected a name, or a table with a name; got 3."),
        (
            {"classifier": "liner"},
            f"No classifier is called 'liner'. Did you mean 'linear'? There are {', '.join(CLASSIFIERS)}.",
        ),
        ({"loss": "annotator"}, "loss: expected one of plain, annotators; got 'annotator'. Did you mean 'annotators'?"),
        ({"learn_weights": "yes"}, "learn_weights: expected true or false, got 'yes'."),
        ({"limits": {"held_out": 0.1}}, "limits.held_out: expected a table or none, got 0.1."),
        ({"projector": {"strength": None}}, "projector.strength: expected a number, got None."),
        (
            {"projector": {"transitions": {"classes": ["a"]}}},
            "projector.transitions: probability is missing. Required are classes, probability, start.",
        ),
        ({"limits": {"held_out": {"share": 2.0}}}, "held-out share must lie between 0 and 1, got 2.0."),
    ],
)
def test_a_wrong_option_is_named_with_its_path(changes: dict[str, Any], line: str) -> None:
    with pytest.raises(OptionError) as refused:
        decode_options(LogicLNCL(), changes)

    assert str(refused.value) == line


def test_every_classifier_can_be_asked_for_by_name() -> None:
    pytest.importorskip("torch")

    for name in CLASSIFIERS:
        assert CLASSIFIERS.create(name).name == name


@dataclass(frozen=True)
class Grid:
    corners: NDArray[np.float64]
    names: tuple[str | int, ...]
    size: int = 2
    more: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Holder:
    grid: Grid | None = None


def test_a_nested_dataclass_that_is_not_there_yet_is_made() -> None:
    made = decode_options(Holder(), {"grid": {"corners": [[1, 2], [3, 4.5]], "names": ["a", 1]}}).grid

    assert made is not None
    np.testing.assert_array_equal(made.corners, [[1, 2], [3, 4.5]])
    assert (made.names, made.size, made.more) == (("a", 1), 2, {})


@pytest.mark.parametrize(
    ("grid", "line"),
    [
        ({"corners": [[1.0]]}, "grid: names is missing. Required are corners, names."),
        ({"corners": [[1.0], [1.0, 2.0]], "names": []}, "grid.corners: expected a list, got [[1.0], [1.0, 2.0]]."),
        ({"corners": [["x"]], "names": []}, "grid.corners: expected a list, got [['x']]."),
        ({"corners": 3, "names": []}, "grid.corners: expected a list, got 3."),
        ({"corners": [1.0], "names": [1.5]}, "grid.names: expected a list, got [1.5]."),
        ({"corners": [1.0], "names": [], "sizes": 3}, "grid.sizes: unknown option. Did you mean 'size'?"),
    ],
)  # fmt: skip
def test_a_nested_dataclass_that_cannot_be_made_is_refused(grid: dict[str, Any], line: str) -> None:
    with pytest.raises(OptionError) as refused:
        decode_options(Holder(), {"grid": grid})

    assert str(refused.value).startswith(line)


def test_a_name_that_is_no_text_is_refused() -> None:
    with pytest.raises(OptionError) as refused:
        decode_options(LogicLNCL(), {"classifier": {"name": 3}})

    assert str(refused.value) == "classifier: expected a name, or a table with a name; got {'name': 3}."
