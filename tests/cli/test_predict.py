"""`predict` and `explain`: what a run says of new items, and why it said what it said."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from tests.cli.conftest import Result
from tests.cli.test_train import WORDS, written

from crowdlogic.data.simulate import Simulation, simulate_ner, simulate_sentiment
from crowdlogic.learning.saved_run import load_run

Run = Callable[..., Result]


@pytest.fixture
def trained(run: Run) -> Simulation:
    made = simulate_sentiment(2, items=150, test_items=40, annotators=12, labels_per_item=3)
    written(made)
    run(*WORDS, "--rules", "but.rules", "--epochs", 3, "-o", "model")
    return made


@pytest.fixture
def tagged(run: Run) -> Simulation:
    made = simulate_ner(2, items=40, test_items=10, annotators=8, labels_per_item=3)
    written(made)
    run("train", "--labels", "labels.conll", "--rules", "bio.rules", "-o", "model", "--epochs", 2)
    return made


@pytest.mark.parametrize("who", ["student", "teacher"])
def test_predictions_are_the_runs_own(run: Run, trained: Simulation, who: str) -> None:
    done = run("predict", "model", "test.csv", f"--{who}", "-o", "p.csv")

    table = pl.read_csv("p.csv")
    expected = load_run("model").predict(trained.test, student=who == "student")
    right = 100 * (expected.argmax(axis=1) == trained.test.gold).mean()
    assert table.columns == ["item", "label", "confidence", "p_negative", "p_positive"]
    assert table["item"].to_list() == trained.test.items.to_list()
    np.testing.assert_allclose(table.select("p_negative", "p_positive").to_numpy(), expected, rtol=0, atol=1e-12)
    assert done.err == f"logic-lncl, {who}: 40 items, accuracy {right:.2f} % by its gold -> p.csv\n"


def test_a_moved_run_predicts_the_same_without_its_inputs(run: Run, trained: Simulation) -> None:
    run("predict", "model", "test.csv", "-o", "before.csv")
    Path("elsewhere").mkdir()
    shutil.move("model", "elsewhere/renamed")
    for file in ("labels.csv", "items.csv", "but.rules"):
        Path(file).unlink()

    done = run("predict", "elsewhere/renamed", "test.csv", "-o", "after.csv")

    assert done.code == 0
    assert Path("after.csv").read_bytes() == Path("before.csv").read_bytes()
    assert run("explain", "elsewhere/renamed", trained.corpus.items[0]).code == 0


@pytest.mark.parametrize("out", ["p.conll", "p.jsonl", "p.parquet"])
def test_sentences_are_written_by_suffix(run: Run, tagged: Simulation, out: str) -> None:
    done = run("predict", "model", "test.conll", "-o", out)
    scored = run("evaluate", out, "test.conll", "--json")

    assert (done.code, scored.code) == (0, 0)
    assert json.loads(scored.out)["n"] == tagged.test.n_units
    assert "span F1" in done.err


def test_facts_about_new_items_come_with_them(run: Run) -> None:
    made = simulate_sentiment(2, items=100, test_items=20, annotators=8, labels_per_item=3)
    written(made)
    Path("near.rules").write_text("2: Near(A, B) & Label(A, C) -> Label(B, C)\n")
    Path("train.csv").write_text("a,b\nr001,r002\n")
    Path("new.csv").write_text("a,b\nt01,t02\n")
    run(*WORDS, "--rules", "near.rules", "--table", "Near=train.csv", "--epochs", 2, "-o", "model")

    run("predict", "model", "test.csv", "-o", "own.csv")
    run("predict", "model", "test.csv", "--table", "Near=new.csv", "-o", "new.csv")

    own, new = (pl.read_csv(file)["p_positive"].to_numpy() for file in ("own.csv", "new.csv"))
    assert np.abs(own[:2] - new[:2]).max() > 1e-3
    np.testing.assert_array_equal(own[2:], new[2:])


def test_gold_of_other_classes_is_not_scored_and_the_items_are_answered(run: Run, trained: Simulation) -> None:
    pl.read_csv("test.csv").with_columns(label=pl.lit("odd")).write_csv("odd.csv")

    done = run("predict", "model", "odd.csv", "-o", "p.csv")
    run("predict", "model", "test.csv", "-o", "same.csv")

    assert done.code == 0
    assert done.err.splitlines() == [
        "odd.csv: its gold has the class 'odd', which the run does not know, so nothing is scored.",
        "logic-lncl, teacher: 40 items -> p.csv",
    ]
    assert Path("p.csv").read_bytes() == Path("same.csv").read_bytes()


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (
            ["predict", "no", "test.csv", "-o", "p.csv"],
            "no: no config.json in it, so it is no run. Name a folder that `train` wrote.",
        ),
        (
            ["predict", "model", "no.csv", "-o", "p.csv"],
            "no.csv: no such file. Beside it are: bio.rules, but.rules, gold.csv, items.csv, labels.csv, test.csv.",
        ),
        (["predict", "model", "test.csv", "-o", "/proc/p.csv"], "/proc/p.csv: "),
        (["predict", "model", "test.csv", "-o", "p.xyz"], "p.xyz: the suffix '.xyz' says no format."),
        (["explain", "model", "r0001"], "No item is called 'r0001'. Did you mean 'r001'?"),
        (["explain", "model", "r001", "--token", "2"], "--token 2: item r001 has 1 tokens."),
    ],
)
def test_bad_input_is_one_line(run: Run, trained: Simulation, words: list[str], line: str) -> None:
    before = sorted(Path().iterdir())

    done = run(*words)

    assert (done.code, done.out) == (2, "")
    assert done.err.startswith(f"crowdlogic: {line}")
    assert len(done.err.splitlines()) == 1
    assert sorted(Path().iterdir()) == before


def test_the_explanation_of_a_review_adds_up(run: Run, trained: Simulation) -> None:
    item = next(i for i, t in zip(trained.corpus.items, trained.corpus.texts, strict=True) if " but " in t)

    found = json.loads(run("explain", "model", item, "--json").out)

    (unit,) = found["units"]
    kept = pl.read_parquet("model/labels.parquet").filter(pl.col("item") == item).row(0, named=True)
    log_a = np.array(unit["classifier"]) - unit["normaliser"] + sum(np.array(a["bits"]) for a in unit["annotators"])
    rules = unit["rules"]
    log_b = np.array(rules["base"]) - rules["normaliser"] + sum(np.array(r["bits"]) for r in rules["rules"])
    np.testing.assert_allclose(np.exp2(log_a), [kept["crowd_negative"], kept["crowd_positive"]], rtol=1e-9)
    np.testing.assert_allclose(np.exp2(log_b), [kept["rules_negative"], kept["rules_positive"]], rtol=1e-9)
    q_f = (1 - found["k"]) * np.exp2(log_a) + found["k"] * np.exp2(log_b)
    np.testing.assert_allclose(q_f, [kept["p_negative"], kept["p_positive"]], rtol=1e-9)
    assert (unit["answer"], unit["confidence"]) == (kept["answer"], kept["confidence"])
    assert rules["rules"][0]["rule"] == "1.0: Label(S, C) & After(S, 'but', B) -> Predicted(B, C)"
    labels = pl.read_csv("labels.csv").filter(pl.col("item") == item)
    assert sorted((a["annotator"], a["label"]) for a in unit["annotators"]) == sorted(
        zip(labels["annotator"], labels["label"], strict=True)
    )


def test_the_explanation_is_a_table_people_can_read(run: Run, trained: Simulation) -> None:
    item, text = next((i, t) for i, t in zip(trained.corpus.items, trained.corpus.texts, strict=True) if " but " in t)

    done = run("explain", "model", item)

    names = [line.split("│")[1].strip() for line in done.out.splitlines() if line.startswith("│")]
    assert names[0] == "classifier"
    assert "= classifier and crowd" in names
    assert names[-3:-1] == ["to make it add up to 1", "= with the rules"]
    assert names[-1].startswith("answer: 0.")
    assert sum(" said " in name for name in names) == int(
        (trained.labels.unit == trained.corpus.items.to_list().index(item)).sum()
    )
    assert done.err == f"{item}: {text}\n"


def test_a_sentence_is_shown_token_by_token_and_one_token_in_full(run: Run, tagged: Simulation) -> None:
    item = tagged.corpus.items[3]
    words = tagged.corpus.sentence(3)

    whole = run("explain", "model", item)
    one = run("explain", "model", item, "--token", 2)
    figures = json.loads(run("explain", "model", item, "--json").out)

    rows = [line.split("│") for line in whole.out.splitlines() if line.startswith("│")]
    assert [row[2].strip() for row in rows] == list(words)
    assert whole.err == "The evidence of one token: --token N.\n"
    assert one.err.splitlines()[0] == f"{item}: {words[1]}"
    assert "what is lost without it" in one.err
    assert [unit["word"] for unit in figures["units"]] == list(words)
    assert figures["exact"] is False


def test_a_sentence_without_tokens_is_told_of(run: Run) -> None:
    made = simulate_ner(2, items=10, test_items=2, annotators=4, labels_per_item=2)
    records = [
        {"id": f"s{s}", "tokens": list(made.corpus.sentence(s)), "crowd": {"ann": ["O"] * len(made.corpus.sentence(s))}}
        for s in range(10)
    ]
    records[0]["crowd"] = {"ann": ["B-PER"] * len(records[0]["tokens"])}
    records.append({"id": "empty", "tokens": [], "crowd": {}})
    Path("l.jsonl").write_text("".join(json.dumps(one) + "\n" for one in records))
    trained = run("train", "--labels", "l.jsonl", "-o", "model", "--epochs", 1)

    done = run("explain", "model", "empty")

    assert trained.code == 0
    assert (done.code, done.out, done.err) == (0, "", "empty: has no tokens, so there is nothing to explain.\n")
