"""One noisy label per item, without a column for the annotator."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import crowdlogic
from crowdlogic.data.simulate import simulate_sentiment
from crowdlogic.errors import LabelError
from crowdlogic.learning import find_label_issues
from crowdlogic.workflows.doctor import DoctorOptions, diagnose
from crowdlogic.workflows.train import TrainOptions, read_training_inputs

MADE = simulate_sentiment(0, items=200, annotators=8)


@pytest.fixture
def table() -> pl.DataFrame:
    """Reviews of which one label in five is wrong."""
    gold = np.asarray(MADE.corpus.gold)
    given = np.where(np.random.default_rng(0).random(200) < 0.2, 1 - gold, gold)
    classes = MADE.corpus.classes
    return pl.DataFrame(
        {"item": MADE.corpus.items, "text": MADE.corpus.texts, "label": [str(classes[k]) for k in given]}
    )


def test_a_file_a_frame_and_a_list_give_the_same_ranking_and_answers(table: pl.DataFrame, tmp_path: Path) -> None:
    table.write_csv(tmp_path / "single.csv")
    texts, labels = table["text"].to_list(), table["label"].to_list()

    by_file = crowdlogic.train(tmp_path / "single.csv", epochs=2)
    by_frame = crowdlogic.train(table, epochs=2)
    by_list = find_label_issues(texts, labels)
    ranked = find_label_issues(table, table.select("item", "label"))

    np.testing.assert_array_equal(by_file.estimate.beliefs, by_frame.estimate.beliefs)
    assert ranked["probability"].to_list() == pytest.approx(by_list["probability"].to_list())
    wrong = table["label"] != pl.Series([str(MADE.corpus.classes[k]) for k in np.asarray(MADE.corpus.gold)])
    first = ranked.head(20)["item"]
    assert wrong.filter(table["item"].is_in(first.implode())).mean() >= 0.4  # twice the share among all labels


def test_train_says_that_the_labels_have_no_annotator(table: pl.DataFrame, tmp_path: Path) -> None:
    table.write_csv(tmp_path / "single.csv")

    notices = read_training_inputs(TrainOptions(labels=str(tmp_path / "single.csv"))).notices

    assert any(line.startswith("The labels have no annotator: each is assumed to be right") for line in notices)


def test_doctor_names_the_command(table: pl.DataFrame, tmp_path: Path) -> None:
    table.write_csv(tmp_path / "single.csv")

    first = diagnose(DoctorOptions(file=str(tmp_path / "single.csv"))).first

    assert any("crowdlogic train --labels" in line and "crowdlogic report run" in line for line in first)


def test_a_file_that_repeats_items_still_needs_an_annotator(table: pl.DataFrame, tmp_path: Path) -> None:
    pl.concat([table, table.head(1)]).write_csv(tmp_path / "twice.csv")

    with pytest.raises(LabelError, match="no column for the annotator"):
        crowdlogic.train(tmp_path / "twice.csv", epochs=1)
    with pytest.raises(LabelError, match="no column for the annotator"):
        crowdlogic.read_labels(tmp_path / "twice.csv")


def test_the_example_of_the_guide_runs(table: pl.DataFrame, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table.write_csv(tmp_path / "dataset.csv")
    monkeypatch.chdir(tmp_path)
    page = (Path(__file__).parents[2] / "docs" / "how-to" / "single-labels.md").read_text(encoding="utf-8")
    (example,) = re.findall(r"```python\n(.*?)```", page, flags=re.DOTALL)
    names: dict[str, Any] = {}

    exec(compile(example, "single-labels.md", "exec"), names)  # noqa: S102 (our own page)

    assert len(names["issues"]) == 200
    assert names["issues"]["probability"].is_sorted()
