"""What commands say, and where."""

from __future__ import annotations

import json

import numpy as np
import pytest

from crowdlogic.cli.console import complain, say, show_json, show_tables
from crowdlogic.workflows.inputs import ResultTable


def test_remarks_are_lines_on_standard_error_without_control_characters(capsys: pytest.CaptureFixture[str]) -> None:
    say("one", "two\nlines", "\x1b[31mred")
    complain("no")

    assert capsys.readouterr() == ("", "one\ntwo lines\n\\u001b[31mred\ncrowdlogic: no\n")


def test_what_is_no_number_is_null_in_json(capsys: pytest.CaptureFixture[str]) -> None:
    show_json({"a": np.float64("nan"), "b": [np.int64(1), float("inf")], 3: ("é", None, True)})

    assert json.loads(capsys.readouterr().out) == {"a": None, "b": [1, None], "3": ["é", None, True]}


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
