"""Answers against gold, called from Python."""

from __future__ import annotations

from pathlib import Path

from crowdlogic.data.tagging import Scheme
from crowdlogic.workflows.evaluate import EvaluateOptions, evaluate


def test_spans_have_scores_by_type_and_items_do_not(tmp_path: Path) -> None:
    gold, predicted = tmp_path / "g.conll", tmp_path / "p.conll"
    gold.write_text("Ann B-PER\nin O\nRome B-LOC\n")
    predicted.write_text("Ann B-PER\nin O\nRome B-PER\n")
    plain_gold, plain = tmp_path / "g.csv", tmp_path / "p.csv"
    plain_gold.write_text("item,label\nu,x\nv,y\n")
    plain.write_text("item,label\nu,x\nv,x\n")

    spans = evaluate(EvaluateOptions(predicted=str(predicted), gold=str(gold), scheme=Scheme.strict))
    items = evaluate(EvaluateOptions(predicted=str(plain), gold=str(plain_gold)))

    assert (spans.scores["precision"], spans.scores["recall"], spans.scores["accuracy"]) == (0.5, 0.5, 2 / 3)
    assert {kind: one["n_gold"] for kind, one in spans.by_type.items()} == {"LOC": 1, "PER": 1}
    overall, by_type = spans.tables()
    assert ("precision", "50.00 %") in overall.rows
    assert by_type.title == "by type (strict)"
    assert by_type.rows == [("LOC", "0.00 %", "0.00 %", "0.00 %", 1), ("PER", "50.00 %", "100.00 %", "66.67 %", 1)]
    assert items.scores["accuracy"] == 0.5
    assert len(items.tables()) == 1
    assert "per_type" in spans.figures()
    assert "per_type" not in items.figures()
