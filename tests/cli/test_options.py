"""Options that every command that reads labels offers."""

from __future__ import annotations

import inspect

import pytest

from crowdlogic.cli import aggregate, agreement, convert, report
from crowdlogic.cli.options import input_options, reads_labels
from crowdlogic.data.intake.contract import Duplicates
from crowdlogic.workflows.inputs import InputOptions


def test_options_become_one_object() -> None:
    made = input_options(classes="y,x", column=["item=task"], format="csv", duplicates=Duplicates.last)

    assert made == InputOptions(classes=("y", "x"), columns={"item": "task"}, format="csv", duplicates=Duplicates.last)


@pytest.mark.parametrize("module", [aggregate, agreement, convert, report], ids=lambda module: module.__name__)
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
