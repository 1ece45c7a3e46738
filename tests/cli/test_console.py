"""What commands say, and where."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.cli.conftest import Result

from crowdlogic.cli.console import Output, complain, merged, say, show_output, show_tables
from crowdlogic.workflows.inputs import ResultTable


def test_remarks_are_lines_on_standard_error_without_control_characters(capsys: pytest.CaptureFixture[str]) -> None:
    say("one", "two\nlines", "\x1b[31mred")
    complain("no")

    assert capsys.readouterr() == ("", "one\ntwo lines\n\\u001b[31mred\ncrowdlogic: no\n")


@dataclass(frozen=True, kw_only=True)
class Figures(Output):
    """Numbers and texts."""

    figures: Mapping[str, Any] = merged()


def test_what_is_no_number_is_null_in_json(capsys: pytest.CaptureFixture[str]) -> None:
    figures = {"a": np.float64("nan"), "b": [np.int64(1), float("inf")], "c": {3: ("é", None, True)}}

    show_output(Figures(command="x", figures=figures))

    shown = json.loads(capsys.readouterr().out)
    assert {name: shown[name] for name in figures} == {"a": None, "b": [1, None], "c": {"3": ["é", None, True]}}


def test_a_table_shows_counts_shares_and_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    show_tables(ResultTable(title="[t]", columns=["name", "[n]"], rows=[("a", 12345), ("b", 0.5), ("[c]", None)]))

    shown = capsys.readouterr().out
    assert shown.startswith("[t]\n")
    assert [line.split("│")[1:3] for line in shown.splitlines() if "│" in line] == [
        [" a    ", " 12,345 "],
        [" b    ", "  0.500 "],
        [" [c]  ", "      - "],
    ]
    assert "[n]" in shown


HOSTILE = "\x1b[31mred\x07\x9b2J"
"""A class name that would change a terminal's colour, ring its bell, and clear it."""


@pytest.mark.parametrize(
    "words",
    ["explain model u0", "rules check r.rules --labels l.csv", "rules check r.rules --labels l.csv --show", "doctor l.csv",
     "agreement l.csv"],
)  # fmt: skip
def test_no_command_writes_control_characters_from_names(run: Callable[..., Result], words: str) -> None:
    rows = [f'u{i},"w{j}{HOSTILE}","{HOSTILE if (i + j) % 3 else "x"}"' for i in range(12) for j in range(3)]
    Path("l.csv").write_text("item,annotator,label\n" + "\n".join(rows) + "\n")
    Path("items.csv").write_text("item,text\n" + "".join(f"u{i},good text {i}\n" for i in range(12)))
    Path("r.rules").write_text(
        f"1.0: Label(S, '{HOSTILE}') -> Label(S, 'x')\n1.0: Label(S, '{HOSTILE}y') -> Label(S, 'x')\n"
    )
    if "explain" in words:
        trained = run(
            *["train", "--labels", "l.csv", "--items", "items.csv", "--model", "linear", "--epochs", "1", "-o", "model"]
        )
        assert trained.code == 0, trained.err

    done = run(*words.split())

    assert done.code in (0, 1), done.err
    assert not set("\x1b\x07\x9b") & set(done.out + done.err)
