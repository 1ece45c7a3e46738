"""Answers against gold, called from Python."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from crowdlogic.data.tagging import Scheme
from crowdlogic.errors import OptionError
from crowdlogic.workflows.aggregate import AggregateOptions, aggregate_files
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


def test_gold_that_was_given_as_anchors_is_no_test_and_that_is_said(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    truth = rng.integers(2, size=40)
    given = [(i, j, truth[i] if rng.random() < 0.8 else 1 - truth[i]) for i in range(40) for j in range(5)]
    (tmp_path / "l.csv").write_text("item,annotator,label\n" + "".join(f"i{i},a{j},c{k}\n" for i, j, k in given))
    (tmp_path / "g.csv").write_text("item,label\n" + "".join(f"i{i},c{k}\n" for i, k in enumerate(truth)))
    (tmp_path / "some.csv").write_text("item,label\n" + "".join(f"i{i},c{truth[i]}\n" for i in range(10)))
    labels, gold, some, out = (str(tmp_path / name) for name in ("l.csv", "g.csv", "some.csv", "o.csv"))

    aggregate_files(AggregateOptions(labels=labels, out=out, anchors=some))
    (part,) = evaluate(EvaluateOptions(predicted=out, gold=gold)).notices
    *_, whole = evaluate(EvaluateOptions(predicted=out, gold=some)).notices
    aggregate_files(AggregateOptions(labels=labels, out=out))
    without = evaluate(EvaluateOptions(predicted=out, gold=gold)).notices

    said = "have a confidence of exactly 1 and are right. Their truth was probably given (--anchors), so they do not test the method."
    assert part.startswith(f"10 of 40 scored items {said} Of the other 30, ")
    assert whole.startswith(f"10 of 10 scored items {said} Score other items.")
    assert without == ()


def test_a_column_of_ones_own_is_named_for_the_file_that_has_it(tmp_path: Path) -> None:
    gold, answers = tmp_path / "g.csv", tmp_path / "p.csv"
    gold.write_text("Vorgang;Urteil\nu;x\nv;y\n")
    answers.write_text("item,label\nu,x\nv,x\n")

    found = evaluate(
        EvaluateOptions(predicted=str(answers), gold=str(gold), columns={"item": "Vorgang", "label": "Urteil"})
    )

    assert found.scores["accuracy"] == 0.5


def test_all_columns_may_be_named_at_once_though_scoring_needs_but_two(tmp_path: Path) -> None:
    answers, gold = tmp_path / "truth.csv", tmp_path / "gold.csv"
    answers.write_text("item,label\na,x\nb,y\n")
    gold.write_text("Nr,Topic\na,x\nb,x\n")
    columns = {"item": "Nr", "annotator": "Coder", "label": "Topic", "text": "Message"}

    found = evaluate(EvaluateOptions(predicted=str(answers), gold=str(gold), columns=columns))

    assert found.scores["accuracy"] == 0.5
    with pytest.raises(OptionError, match="--column label=Topc: no column"):
        evaluate(EvaluateOptions(predicted=str(answers), gold=str(gold), columns={**columns, "label": "Topc"}))
