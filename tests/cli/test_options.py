"""Options that every command that reads labels offers."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any

import pytest

from crowdlogic.cli import aggregate, agreement, convert, report, train
from crowdlogic.cli.options import input_options, may_read_labels, reads_labels
from crowdlogic.data.intake.contract import Duplicates
from crowdlogic.workflows.inputs import InputOptions


def test_options_become_one_object() -> None:
    made = input_options(classes="y,x", column=["item=task"], format="csv", duplicates=Duplicates.last)

    assert made == InputOptions(classes=("y", "x"), columns={"item": "task"}, format="csv", duplicates=Duplicates.last)


@pytest.mark.parametrize("module", [aggregate, agreement, convert, report, train], ids=lambda module: module.__name__)
def test_every_command_that_reads_labels_has_them_all(module: object) -> None:
    parameters = inspect.signature(module.command).parameters  # type: ignore[attr-defined]

    assert set(inspect.signature(input_options).parameters) <= set(parameters)
    assert "input" not in parameters


def test_a_command_is_handed_the_object() -> None:
    seen = []

    @reads_labels
    def command(labels: str, *, input: InputOptions, json: bool = False) -> None:
        """Read."""
        seen.append((labels, input, json))

    given = {name: one.default for name, one in inspect.signature(command).parameters.items()}
    command(**{**given, "labels": "l.csv", "wide": True})

    assert seen == [("l.csv", InputOptions(columns={}, wide=True), False)]
    assert list(given)[-1] == "json"
    assert command.__doc__ == "Read."


def test_options_that_a_file_may_give_have_no_default_of_their_own() -> None:
    seen = []

    @may_read_labels
    def command(out: str, *, reading: Mapping[str, Any], json: bool = False) -> None:
        """Learn."""
        seen.append((out, dict(reading), json))

    given = {name: one.default for name, one in inspect.signature(command).parameters.items()}
    command(**{**given, "out": "run", "duplicates": Duplicates.last})

    (out, reading, json) = seen[0]
    assert (out, json) == ("run", False)
    assert reading.pop("duplicates") is Duplicates.last
    assert reading.pop("wide") is False
    assert set(reading.values()) == {None}
    assert reading.keys() | {"duplicates", "wide"} == inspect.signature(input_options).parameters.keys()
