"""`crowdlogic doctor` as a newcomer would call it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
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


@pytest.mark.parametrize("label", ["score", "grade", "rating", "verdict"])
@pytest.mark.parametrize("annotator", ["judge", "model", "grader"])
def test_judged_answers_are_read_at_the_first_attempt(run: Run, annotator: str, label: str) -> None:
    rows = [f"a{i},m{j},{1 + (i + (j == 2)) % 3}" for i in range(6) for j in range(3)]
    Path("l.csv").write_text("\n".join([f"answer_id,{annotator},{label}", *rows]))

    done = run("doctor", "l.csv", "--json")

    assert done.code == 0
    assert json.loads(done.out)["columns"] == {"item": "answer_id", "annotator": annotator, "label": label}
    assert run("aggregate", "l.csv", "-o", "t.csv").code == 0


def test_a_score_is_not_the_gold_of_items(run: Run) -> None:
    Path("items.csv").write_text("item,text,score,gold\nu,good film,0.5,x\nv,bad film,0.25,y\n")

    assert "answer" in run("doctor", "items.csv").out
    assert run("evaluate", "items.csv", "items.csv").code == 0


def test_two_columns_of_something_are_not_two_annotators(run: Run) -> None:
    Path("t.csv").write_text("foo,bar\n1,2\n")

    done = run("doctor", "t.csv")

    assert done.code == 1
    assert "labels" not in done.out.splitlines()[0]


def test_guessed_columns_of_rows_that_repeat_are_what_to_do_first(run: Run) -> None:
    rows = [f"V{i},W{j},U{(i + (j == 2 and i % 4 == 0)) % 3}" for i in range(20) for j in range(3)]
    Path("t.csv").write_text("\n".join(["Vorgang,Wer,Urteil", *rows, *rows[:7]]))

    done = run("doctor", "t.csv")

    assert "--column item=Vorgang --column annotator=Wer --column label=Urteil" in done.out
    assert "Correct the problem above" not in done.out
