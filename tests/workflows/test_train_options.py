"""Options of a training over a TOML file over a run that is resumed."""

from __future__ import annotations

import inspect
from dataclasses import fields

import pytest

from crowdlogic.cli.options import input_options
from crowdlogic.data.intake.contract import Duplicates
from crowdlogic.errors import OptionError
from crowdlogic.workflows.inputs import InputOptions
from crowdlogic.workflows.train import TrainOptions


def test_options_that_were_given_come_first() -> None:
    asked = TrainOptions(labels="l.csv", vectors=("v.txt",), set={"strength": 2, "classifier": {"ridge": 1.0}})

    merged = asked.override({"labels": "other.csv", "seed": 4, "set": {"classifier": {"steps": 3}}}, where="x: ")

    assert asked.plain() == {
        "labels": "l.csv",
        "vectors": ["v.txt"],
        "set": {"strength": 2, "classifier": {"ridge": 1.0}},
    }
    assert merged == TrainOptions(
        labels="l.csv", vectors=("v.txt",), seed=4, set={"strength": 2, "classifier": {"ridge": 1.0, "steps": 3}}
    )
    assert merged.changes == {"strength": 2, "classifier": {"ridge": 1.0, "steps": 3}, "limits": {"seed": 4}}


def test_an_option_that_is_not_there_is_named_with_its_source() -> None:
    with pytest.raises(OptionError, match=r"x\.toml: label: unknown option\. Did you mean 'labels'\?"):
        TrainOptions().override({"label": "l.csv"}, where="x.toml: ")


def test_how_labels_are_read_is_asked_for_as_in_every_other_command() -> None:
    asked = TrainOptions(classes="y, x", column=("item=task",), format="csv", wide=True, abstain="-1")

    assert asked.input == InputOptions(
        classes=("y", "x"), columns={"item": "task"}, format="csv", wide=True, abstain="-1", single=True
    )
    assert TrainOptions().input.duplicates is Duplicates.error
    assert set(inspect.signature(input_options).parameters) <= {one.name for one in fields(TrainOptions)}
