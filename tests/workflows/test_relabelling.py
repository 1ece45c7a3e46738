"""The list of items to label again."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl

from crowdlogic.confidence.calibration import take_items
from crowdlogic.data.corpus import documents
from crowdlogic.data.frames import from_dict, from_sequences
from crowdlogic.truth.majority import MajorityVote
from crowdlogic.workflows.aggregate import relabel_table, write_relabel_list

LABELS = from_dict(
    {"u": {"ann": "x", "bob": "x", "cat": "x"}, "v": {"ann": "x", "bob": "y", "cat": "y"}, "w": {"ann": None}}
)


def test_items_have_their_text_and_votes_and_the_least_sure_come_first() -> None:
    corpus = documents(["u", "v", "w"], ["one", "two", "three"])

    table = relabel_table(MajorityVote().infer(LABELS), LABELS, corpus)

    assert table.columns == ["item", "text", "label", "confidence", "votes", "chosen", "p_x", "p_y"]
    assert table.select("item", "text", "votes").rows() == [
        ("w", "three", ""),
        ("v", "two", "ann: x; bob: y; cat: y"),
        ("u", "one", "ann: x; bob: x; cat: x"),
    ]


def test_votes_stay_with_their_items_when_some_are_left_out(tmp_path: Path) -> None:
    some = take_items(MajorityVote().infer(LABELS), np.array([1]))

    write_relabel_list(tmp_path / "r.csv", some, LABELS, None)

    assert pl.read_csv(tmp_path / "r.csv")["votes"].to_list() == ["ann: x; bob: y; cat: y"]


def test_sentences_are_written_as_answers(tmp_path: Path) -> None:
    labels = from_sequences([("s", "a", ["B-X", "O"])])

    write_relabel_list(tmp_path / "r.jsonl", MajorityVote().infer(labels), labels, None)

    assert '"tags":["B-X","O"]' in (tmp_path / "r.jsonl").read_text()
