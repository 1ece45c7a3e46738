"""Help texts for people."""

from __future__ import annotations

import re

import pytest

from crowdlogic.cli.app import OPTION_PANELS, commands, load_command
from crowdlogic.registry import FORMATS


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


def test_the_common_options_come_first_and_the_others_in_panels(capsys: pytest.CaptureFixture[str]) -> None:
    command = load_command("aggregate")
    command.main(["--help"], standalone_mode=False)
    lines = capsys.readouterr().out.splitlines()

    titles = [line.rstrip(":") for line in lines if re.fullmatch(r"[A-Z][a-z ]+:", line)]
    common = lines[: lines.index("Reading labels:")]
    assert titles == ["Arguments", "Options", *OPTION_PANELS]
    assert len(common) <= 50  # one screen
    assert any("--method " in line for line in common)
    assert not any("--threads" in line or "--boundaries" in line for line in common)


@pytest.mark.parametrize("name", ["aggregate", "train", "doctor"])
def test_formats_are_listed_once_by_convert(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    load_command(name).main(["--help"], standalone_mode=False)
    assert "conll2003" not in capsys.readouterr().out

    load_command("convert").main(["--formats"], standalone_mode=False)
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()] == list(FORMATS)
