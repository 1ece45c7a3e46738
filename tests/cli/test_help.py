"""Help texts for people."""

from __future__ import annotations

import re

import pytest

from crowdlogic.cli.app import commands, load_command


def option_values(command: object) -> list[str]:
    """What the options of a command take, as its help shows it."""
    shown = [command, *getattr(command, "commands", {}).values()]
    return [str(one.metavar) for part in shown for one in part.params if one.metavar is not None]  # type: ignore[attr-defined]


@pytest.mark.parametrize("name", commands())
def test_what_an_option_takes_is_a_word_and_no_type(name: str) -> None:
    assert all(re.fullmatch(r"\[?[A-Z][A-Z=,]*\]?", value) for value in option_values(load_command(name)))


def test_the_usual_options_are_named_for_what_they_take() -> None:
    values = {one.name: one.metavar for one in load_command("train").params}

    assert values["labels"] == "FILE"
    assert values["table"] == "NAME=FILE"
    assert values["column"] == "ROLE=NAME"
    assert values["epochs"] == "N"
    assert values["duplicates"] is None  # a choice, which shows what there is


def test_a_number_of_items_is_no_file() -> None:
    assert [{one.name: one.metavar for one in load_command(name).params}["items"] for name in ("demo", "simulate")] == [
        "N",
        "N",
    ]
