"""What a review leaves behind, read back."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest
from tests.extensions.review.small_reviews import decision, opened, review, simulated, small_material, tagged

from crowdlogic.data.reading import read_answers
from crowdlogic.extensions.review.decision_log import Cause, Choice, DecisionKind
from crowdlogic.extensions.review.material import ReviewOptions, load_material
from crowdlogic.extensions.review.session import UnknownItemError, export_path, write_exports


def test_anchors_are_there_however_a_review_ends(tmp_path: Path) -> None:
    def interrupted() -> None:
        with opened(small_material(), tmp_path / "r") as session:
            session.record(decision(0, "y"))
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()

    answers = read_answers(tmp_path / "r" / "anchors.csv")
    assert [answers.classes[k] for k in answers.answer] == ["y"]


def test_decisions_stand_in_the_labels(tmp_path: Path) -> None:
    with opened(small_material(), tmp_path / "r") as session:
        session.record(decision(0, "y"))
        session.record(decision(1, "y"))
        session.record(decision(1, "x", reviewer="bob"))  # a conflict: the first stands
        written = write_exports(session, tmp_path / "r")

    answers = read_answers(tmp_path / "r" / "labels.csv")
    assert dict(zip(answers.items, [answers.classes[k] for k in answers.answer], strict=True))["u1"] == "y"
    assert pl.read_parquet(tmp_path / "r" / "labels.parquet")["label"].to_list()[:2] == ["y", "y"]
    assert {one.name for one in written} == {
        "labels.csv", "labels.parquet", "anchors.csv", "decisions.csv", "report.html",
    }  # fmt: skip
    assert "after 2 decisions" in (tmp_path / "r" / "report.html").read_text(encoding="utf-8")


def test_anchors_say_how_each_item_was_chosen_and_leave_conflicts_out(tmp_path: Path) -> None:
    with opened(small_material(), tmp_path / "r") as session:
        session.record(decision(0, "y"))
        session.record(decision(0, "x", reviewer="bob"))
        session.record(decision(2, "y"))
        first = int(session._sample[0])
        session.record(decision(first, "x", chosen=Choice.random, request="random", settles=True, revision=session.view(first).revision))  # fmt: skip
        write_exports(session, tmp_path / "r")

    table = pl.read_csv(tmp_path / "r" / "anchors.csv")
    assert table.columns == ["item", "label", "chosen"]
    chosen = dict(zip(table["item"], table["chosen"], strict=True))
    assert chosen[f"u{first + 1}"] == "random"
    assert "u1" not in chosen or first == 0


def test_the_log_is_a_table(tmp_path: Path) -> None:
    with opened(small_material(), tmp_path / "r") as session:
        session.record(decision(0, "y", seconds=1.5, cause=Cause.wrong_rule, note="=HYPERLINK(1)"))
        session.record(decision(1, kind=DecisionKind.cannot_say))
        session.undo("ann", "u")
        write_exports(session, tmp_path / "r")

    table = pl.read_csv(tmp_path / "r" / "decisions.csv")
    assert table["kind"].to_list() == ["decide", "cannot-say", "undo"]
    assert table["cause"].to_list() == ["wrong rule", None, None]
    assert table["undoes"].to_list() == [None, None, 2]
    assert table["note"][0] == "=HYPERLINK(1)"


def test_an_empty_review_can_be_exported(tmp_path: Path) -> None:
    with opened(small_material(), tmp_path / "r") as session:
        write_exports(session, tmp_path / "r")

    assert (tmp_path / "r" / "anchors.csv").read_text().startswith("item,label,chosen")


def test_sentences_go_out_as_conll_jsonl_and_parquet(tmp_path: Path) -> None:
    material, made = tagged()
    with opened(material, tmp_path / "r") as session:
        done = review(session, made, 3)
        write_exports(session, tmp_path / "r")

    answers, anchors = (read_answers(tmp_path / "r" / name) for name in ("labels.conll", "anchors.csv"))
    assert answers.offsets is not None
    assert len(anchors.items) == 3
    first = done[0]
    begin, end = made.corpus.offsets[first : first + 2]
    gold = [made.corpus.classes[k] for k in made.corpus.gold[begin:end]]
    assert [answers.classes[k] for k in answers.answer[begin:end]] == gold
    assert (tmp_path / "r" / "labels.jsonl").is_file()


def test_labels_of_a_tool_go_back_in_its_own_format(tmp_path: Path) -> None:
    def result(name: str) -> dict[str, object]:
        return {"from_name": "c", "to_name": "t", "type": "choices", "value": {"choices": [name]}}

    tasks = [
        {
            "id": n,
            "data": {"text": f"text {n}"},
            "annotations": [{"completed_by": who, "result": [result("xy"[(n + who) % 2])]} for who in (1, 2, 3)],
        }
        for n in range(4)
    ]
    (tmp_path / "export.json").write_text(json.dumps(tasks))
    material = load_material(ReviewOptions(source=str(tmp_path / "export.json")))
    with opened(material, tmp_path / "r") as session:
        session.record(decision(0, "x"))
        write_exports(session, tmp_path / "r")

    written = json.loads((tmp_path / "r" / "labels.label-studio.json").read_text())
    assert len(written) == 4


def test_only_what_a_review_writes_can_be_asked_for(tmp_path: Path) -> None:
    with opened(small_material(), tmp_path / "r") as session:
        write_exports(session, tmp_path / "r")

    assert export_path(tmp_path / "r", "anchors.csv").is_file()
    for name in ("decisions.sqlite", "../x", "labels.", "nothing", ""):
        with pytest.raises(UnknownItemError):
            export_path(tmp_path / "r", name)


def test_the_random_share_of_anchors_is_the_sample(tmp_path: Path) -> None:
    material, made = simulated()
    with opened(material, tmp_path / "r", share=0.5) as session:
        review(session, made, 40)
        write_exports(session, tmp_path / "r")
        drawn = {session.item_name(int(s)) for s in session.random_items()}

    table = pl.read_csv(tmp_path / "r" / "anchors.csv", schema_overrides={"item": pl.String})
    found = set(table.filter(pl.col("chosen") == "random")["item"])
    assert found == drawn & set(table["item"])
    assert 15 <= len(found) < 40
