"""`crowdlogic explain`: why an item got its answer."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from tests.cli.conftest import WORDS, Result, write_simulated

from crowdlogic.data.simulate import Simulation, simulate_ner, simulate_sentiment

Run = Callable[..., Result]


def test_the_explanation_of_a_review_adds_up(run: Run, trained: Simulation) -> None:
    item = next(i for i, t in zip(trained.corpus.items, trained.corpus.texts, strict=True) if " but " in t)

    found = json.loads(run("explain", "model", item, "--json", "--raw").out)

    (unit,) = found["units"]
    kept = pl.read_parquet("model/labels.parquet").filter(pl.col("item") == item).row(0, named=True)
    log_a = np.array(unit["classifier"]) - unit["normaliser"] + sum(np.array(a["bits"]) for a in unit["annotators"])
    rules = unit["rules"]
    log_b = np.array(rules["base"]) - rules["normaliser"] + sum(np.array(r["bits"]) for r in rules["rules"])
    np.testing.assert_allclose(np.exp2(log_a), [kept["crowd_negative"], kept["crowd_positive"]], rtol=1e-9)
    np.testing.assert_allclose(np.exp2(log_b), [kept["rules_negative"], kept["rules_positive"]], rtol=1e-9)
    q_f = (1 - found["k"]) * np.exp2(log_a) + found["k"] * np.exp2(log_b)
    np.testing.assert_allclose(q_f, [kept["mixed_negative"], kept["mixed_positive"]], rtol=1e-9)
    assert unit["answer"] == kept["answer"]
    assert rules["rules"][0]["rule"] == "1.0: Label(S, C) & After(S, 'but', B) -> Predicted(B, C)"
    labels = pl.read_csv("labels.csv").filter(pl.col("item") == item)
    assert sorted((a["annotator"], a["label"]) for a in unit["annotators"]) == sorted(
        zip(labels["annotator"], labels["label"], strict=True)
    )


def test_the_bits_of_a_review_add_up_to_its_stated_confidence(run: Run) -> None:
    made = simulate_sentiment(3, items=80, annotators=10, test_items=5)
    write_simulated(made)
    run(*WORDS, "--rules", "but.rules", "--epochs", 2, "-o", "model")
    item = next(i for i, t in zip(made.corpus.items, made.corpus.texts, strict=True) if " but " in t)

    found = json.loads(run("explain", "model", item, "--json").out)
    told, raw = run("explain", "model", item), run("explain", "model", item, "--raw")

    (unit,) = found["units"]
    kept = pl.read_parquet("model/labels.parquet").filter(pl.col("item") == item).row(0, named=True)
    rules = unit["rules"]
    log_q = np.array(unit["classifier"]) - unit["normaliser"] + sum(np.array(a["bits"]) for a in unit["annotators"])
    np.testing.assert_allclose(log_q, rules["base"], rtol=0, atol=1e-9)  # the rules start from classifier and crowd
    log_q += sum(np.array(r["bits"]) for r in rules["rules"]) - rules["normaliser"]
    log_q += np.array(unit["mixture"]) + np.array(unit["doubt"])
    np.testing.assert_allclose(log_q, np.log2([kept["p_negative"], kept["p_positive"]]), rtol=0, atol=1e-9)
    assert (unit["answer"], unit["confidence"]) == (kept["answer"], kept["confidence"])
    assert unit["sharpness"] < 1
    assert told.err.splitlines()[1:] == [
        f"Everything counts for {100 * unit['sharpness']:.0f}% of its face value, because annotators often make the same "
        f"mistake on an item; --raw shows the full value."
    ]
    assert len(raw.err.splitlines()) == 1
    names = [line.split("│")[1].strip() for line in told.out.splitlines() if line.startswith("│")]
    assert names[-5] == "= with the rules"
    assert names[-4].startswith("mixed: 0.")
    assert names[-3:] == ["= mixed", "uniform doubt", "= calibrated"]


def test_the_explanation_is_a_table_people_can_read(run: Run, trained: Simulation) -> None:
    item, text = next((i, t) for i, t in zip(trained.corpus.items, trained.corpus.texts, strict=True) if " but " in t)

    done = run("explain", "model", item)

    names = [line.split("│")[1].strip() for line in done.out.splitlines() if line.startswith("│")]
    assert names[0] == "classifier"
    assert "= classifier and crowd" in names
    assert names[-5:-3] == ["normalisation to sum 1", "= with the rules"]
    assert names[-3].startswith("answer: 0.")
    assert names[-2:] == ["uniform doubt", "= calibrated"]
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
    assert "the change when it is left out" in one.err
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
    assert (done.code, done.out, done.err) == (0, "", "empty has no tokens, so there is nothing to explain.\n")


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (["explain", "model", "r0001"], "No item is called 'r0001'. Did you mean 'r001'?"),
        (
            ["explain", "model", "r001", "--token", "2"],
            "--token 2: r001 is a text with one answer, not a sentence. Leave --token out.",
        ),
    ],
)
def test_bad_input_is_one_line(run: Run, trained: Simulation, words: list[str], line: str) -> None:
    before = sorted(Path().iterdir())

    done = run(*words)

    assert (done.code, done.out) == (2, "")
    assert done.err.startswith(f"crowdlogic: {line}")
    assert len(done.err.splitlines()) == 1
    assert sorted(Path().iterdir()) == before
