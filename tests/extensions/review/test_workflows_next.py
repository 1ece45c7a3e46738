"""The plan of the next labels, called from Python."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from crowdlogic.data.reading import read_labels, write_labels
from crowdlogic.data.simulate.crowds import simulate_crowd
from crowdlogic.errors import OptionError
from crowdlogic.extensions.review.next import NextOptions, plan_next, whom_to_ask
from crowdlogic.truth.pool import Ensemble


@pytest.fixture
def labels(tmp_path: Path) -> str:
    made = simulate_crowd(np.random.default_rng(0), units=120, annotators=12, classes=("no", "yes"), labels_per_unit=3)
    write_labels(tmp_path / "labels.csv", made.labels)
    items = pl.DataFrame({"item": made.labels.items, "text": [f"text {n}" for n in range(120)]})
    items.write_csv(tmp_path / "items.csv")
    return str(tmp_path / "labels.csv")


def test_the_plan_is_a_row_for_each_label_to_buy(labels: str, tmp_path: Path) -> None:
    out = str(tmp_path / "next.csv")

    planned = plan_next(NextOptions(labels=labels, out=out, count=40, items=str(tmp_path / "items.csv")))

    table = pl.read_csv(out)
    assert table.columns == ["item", "annotator", "gain", "label", "confidence", "labels", "text"]
    assert len(table) == 40
    assert table["text"][0].startswith("text ")
    assert table["gain"].sum() == pytest.approx(planned.batch.total, abs=1e-4)
    assert planned.messages[0].startswith("pool: 40 labels of ")
    assert planned.messages[0].endswith(f"annotators -> {out}")
    assert planned.messages[1].startswith("40 more labels bring the right answers from about ")


def test_only_those_who_are_named_are_asked(labels: str, tmp_path: Path) -> None:
    out = str(tmp_path / "next.jsonl")

    plan_next(NextOptions(labels=labels, out=out, count=20, annotators=("w03", "w07"), load=50))

    assert set(pl.read_ndjson(out)["annotator"]) <= {"w03", "w07"}


def test_a_plan_with_fewer_labels_than_asked_for_says_why(labels: str, tmp_path: Path) -> None:
    options = {"labels": labels, "count": 20, "annotators": ("w03",)}

    few = plan_next(NextOptions(out=str(tmp_path / "few.csv"), load=0.1, **options))
    all_of_them = plan_next(NextOptions(out=str(tmp_path / "all.csv"), load=50, **options))

    missing = 20 - len(few.batch.item)
    assert missing > 0
    assert few.messages[1] == (
        f"{missing} of the 20 labels requested are not in the plan, because every annotator has labelled the item or "
        f"reached their share of the work. Increase --load to allow more labels per annotator."
    )
    assert len(all_of_them.batch.item) == 20
    assert not any("requested" in message for message in all_of_them.messages)


def test_tasks_for_label_studio_and_prodigy_are_in_the_order_of_the_plan(labels: str, tmp_path: Path) -> None:
    items = str(tmp_path / "items.csv")
    plan_next(NextOptions(labels=labels, out=str(tmp_path / "plan.csv"), count=30, items=items))
    plan_next(NextOptions(labels=labels, out=str(tmp_path / "t.json"), count=30, items=items, format="label-studio"))
    plan_next(NextOptions(labels=labels, out=str(tmp_path / "t.jsonl"), count=30, items=items, format="prodigy"))

    order = list(dict.fromkeys(pl.read_csv(tmp_path / "plan.csv")["item"].to_list()))
    tasks = json.loads((tmp_path / "t.json").read_text())
    lines = [json.loads(line) for line in (tmp_path / "t.jsonl").read_text().splitlines()]
    assert [task["id"] for task in tasks] == order
    assert [line["meta"]["item"] for line in lines] == order
    assert "predictions" not in tasks[0]
    assert "accept" not in lines[0]


def test_the_forecast_is_a_table_and_plain_data(labels: str, tmp_path: Path) -> None:
    planned = plan_next(NextOptions(labels=labels, out=str(tmp_path / "next.csv"), count=10))

    assert planned.table().columns == ["further labels", "expected accuracy"]
    assert [row[0] for row in planned.table().rows] == [0, 100, 300]
    figures = planned.figures()
    assert figures["expected_accuracy"] < figures["expected_accuracy_after"] < 1


def test_as_many_labels_as_are_worth_it_are_planned_unless_told(labels: str, tmp_path: Path) -> None:
    planned = plan_next(NextOptions(labels=labels, out=str(tmp_path / "next.csv")))

    assert 0 < planned.forecast.worth_buying < 300
    assert len(pl.read_csv(tmp_path / "next.csv")) == planned.forecast.worth_buying
    assert "if annotators err independently" in planned.messages[2]
    assert planned.messages[3].startswith("Stop there: ")


def test_an_unknown_annotator_is_refused(labels: str, tmp_path: Path) -> None:
    with pytest.raises(Exception, match=r"No annotator is called 'w99'\."):
        plan_next(NextOptions(labels=labels, out=str(tmp_path / "next.csv"), annotators=("w99",)))

    assert not (tmp_path / "next.csv").exists()


def test_tasks_need_texts(labels: str, tmp_path: Path) -> None:
    out = str(tmp_path / "t.json")

    with pytest.raises(OptionError) as caught:
        plan_next(NextOptions(labels=labels, out=out, format="label-studio"))

    assert str(caught.value) == (
        f"{out}: Label Studio needs the texts, which are unknown. Write .csv or .jsonl instead."
    )


@pytest.fixture
def with_spammer(tmp_path: Path) -> str:
    """Six who are mostly right, and "noise", who answers at random."""
    rng = np.random.default_rng(1)
    truth = rng.integers(0, 2, 200)
    rows = []
    for j in range(7):
        said = np.where(rng.random(200) < (0.5 if j == 6 else 0.85), truth, 1 - truth)
        name = "noise" if j == 6 else f"w{j}"
        rows += [(f"i{i}", name, str(said[i])) for i in range(200) if (i + j) % 7 < 4 or name == "noise"]
    pl.DataFrame(rows, schema=["item", "annotator", "label"], orient="row").write_csv(tmp_path / "spam.csv")
    return str(tmp_path / "spam.csv")


def test_a_flagged_annotator_is_not_asked_and_that_is_said(with_spammer: str, tmp_path: Path) -> None:
    out = str(tmp_path / "next.csv")

    planned = plan_next(NextOptions(labels=with_spammer, out=out, count=40))

    assert "noise" not in set(pl.read_csv(out)["annotator"])
    assert planned.notices[-1] == (
        "noise is not asked: flagged as random, constant or worse than chance. To ask them "
        "nevertheless, list all available annotators: --annotators NAMES."
    )


def test_whoever_is_named_is_asked_flagged_or_not(with_spammer: str) -> None:
    labels = read_labels(with_spammer)

    available, said = whom_to_ask(labels, Ensemble().infer(labels), ["noise", "w1"])

    assert available is not None
    assert set(labels.annotators.filter(pl.Series(available))) == {"noise", "w1"}
    assert said == ()
