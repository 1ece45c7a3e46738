"""New items to answers, called from Python."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from tests.workflows.conftest import Trained

from crowdlogic.workflows.predict import PredictOptions, predict
from crowdlogic.workflows.train import prepare_training


@pytest.mark.parametrize("student", [False, True])
def test_answers_are_the_runs_and_are_scored_by_gold(trained: Trained, tmp_path: Path, student: bool) -> None:
    out = tmp_path / "p.csv"

    result = predict(
        PredictOptions(run=trained.file("run"), items=trained.file("test.csv"), out=str(out), student=student)
    )

    table, gold = pl.read_csv(out), pl.read_csv(trained.file("test.csv"))
    beliefs = table.select("p_negative", "p_positive").to_numpy()
    np.testing.assert_allclose(result.estimate.beliefs, beliefs, rtol=0, atol=1e-12)
    assert result.score == ("accuracy", pytest.approx((table["label"] == gold["label"]).mean(), abs=1e-12))
    who = "the classifier alone (student)" if student else "the classifier with the rules (teacher)"
    assert result.message == f"logic-lncl, {who}: 40 items, accuracy {100 * result.score[1]:.2f} % by its gold -> {out}"


def test_gold_of_other_classes_is_not_scored(trained: Trained, tmp_path: Path) -> None:
    pl.read_csv(trained.file("test.csv")).with_columns(label=pl.lit("odd")).write_csv(tmp_path / "odd.csv")
    options = PredictOptions(run=trained.file("run"), items=str(tmp_path / "odd.csv"), out=str(tmp_path / "p.csv"))

    result = predict(options)

    assert result.score is None
    assert result.notices == (
        f"{tmp_path / 'odd.csv'}: the gold contains the class 'odd', which the run does not know, so the predictions are not scored.",
    )


@pytest.mark.parametrize("header", ["text", "sentence", "My words"])
def test_texts_without_names_are_numbered_and_that_is_said(trained: Trained, tmp_path: Path, header: str) -> None:
    path, named, out = tmp_path / "new.csv", tmp_path / "named.csv", tmp_path / "out.csv"
    path.write_text(f"{header}\na fine film\na dull film\n")
    named.write_text("item,text\n0,a fine film\n1,a dull film\n")

    done = predict(PredictOptions(run=trained.file("run"), items=str(path), out=str(out)))
    expected = predict(PredictOptions(run=trained.file("run"), items=str(named), out=str(tmp_path / "e.csv")))

    assert (
        done.notices[0]
        == f"{path}: no column contains names of items, so they are numbered from 0 in the order of the file."
    )
    assert pl.read_csv(out)["item"].to_list() == [0, 1]
    np.testing.assert_array_equal(done.estimate.beliefs, expected.estimate.beliefs)
    assert not any("numbered" in one for one in expected.notices)


def test_without_rules_nobody_is_called_a_student(trained: Trained, tmp_path: Path) -> None:
    run, out = tmp_path / "run", str(tmp_path / "p.csv")
    prepare_training(replace(trained.options, rules=None, test=None, epochs=1), run).train()

    made = predict(PredictOptions(run=str(run), items=trained.file("test.csv"), out=out))

    assert made.predictor == "classifier"
    assert made.message.startswith("logic-lncl, the classifier: ")
