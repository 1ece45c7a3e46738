"""`crowdlogic doctor` as a newcomer would call it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

from tests.cli.conftest import CSV, Result

Run = Callable[..., Result]


def test_doctor_says_what_the_file_is_holds_and_allows(run: Run) -> None:
    Path("l.csv").write_text(CSV)

    done = run("doctor", "l.csv")

    assert done.code == 0
    assert done.out.startswith("l.csv: csv, labels of documents by 3 annotators.\n")
    assert "  annotators  3\n" in done.out
    assert "Do first:\n  crowdlogic agreement l.csv\n" in done.out


def test_the_commands_that_doctor_names_work(run: Run) -> None:
    Path("l.csv").write_text(CSV)
    steps = json.loads(run("doctor", "l.csv", "--json").out)["first"]

    codes = [run(*step.split()[1:]).code for step in steps]

    assert len(codes) == 3
    assert codes == [0] * len(codes)
    assert Path("report.html").is_file()


def test_doctor_ends_with_1_where_the_file_has_a_problem(run: Run) -> None:
    Path("l.csv").write_text(CSV + "u,a,y\n")

    done = run("doctor", "l.csv", "--json")
    figures = json.loads(done.out)

    assert done.code == 1
    assert "labels item 'u' again, with another label than in row 2" in figures["problem"]
    assert figures["holds"]["annotators"] == 3


def test_doctor_names_what_was_left_out(run: Run) -> None:
    Path("l.csv").write_text(CSV + "w,a,\n")

    assert "What was left out, or looks like a mistake:\n  1 of 6 rows has no label" in run("doctor", "l.csv").out


def test_a_file_that_is_not_there_is_one_line(run: Run) -> None:
    done = run("doctor", "absent.csv")

    assert done.code == 2
    assert done.err == "crowdlogic: absent.csv: no such file.\n"
