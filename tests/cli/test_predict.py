"""`crowdlogic predict`: what a run says of new items."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from tests.cli.conftest import WORDS, Result, write_simulated

from crowdlogic.data.simulate import Simulation, simulate_sentiment
from crowdlogic.learning.saved_run import load_run
from crowdlogic.workflows.predict import PREDICTORS

Run = Callable[..., Result]


@pytest.mark.parametrize("who", ["student", "teacher"])
def test_predictions_are_the_runs_own(run: Run, trained: Simulation, who: str) -> None:
    done = run("predict", "model", "test.csv", f"--{who}", "-o", "p.csv")

    table = pl.read_csv("p.csv")
    expected = load_run("model").predict(trained.test, student=who == "student")
    right = 100 * (expected.argmax(axis=1) == trained.test.gold).mean()
    assert table.columns == ["item", "label", "confidence", "p_negative", "p_positive"]
    assert table["item"].to_list() == trained.test.items.to_list()
    np.testing.assert_allclose(table.select("p_negative", "p_positive").to_numpy(), expected, rtol=0, atol=1e-12)
    assert done.err == f"logic-lncl, {PREDICTORS[who]}: 40 items, accuracy {right:.2f} % by its gold -> p.csv\n"


def test_the_confidence_is_calibrated_unless_it_is_wanted_as_learnt(run: Run, trained: Simulation) -> None:
    run("predict", "model", "test.csv", "-o", "stated.csv")
    done = run("predict", "model", "test.csv", "--raw", "-o", "raw.csv")

    stated, raw = pl.read_csv("stated.csv"), pl.read_csv("raw.csv")
    learnt = load_run("model").predict(trained.test, calibrated=False)
    assert done.code == 0
    np.testing.assert_allclose(raw.select("p_negative", "p_positive").to_numpy(), learnt, rtol=0, atol=1e-12)
    assert stated["label"].to_list() == raw["label"].to_list()
    assert np.abs(stated["confidence"].to_numpy() - raw["confidence"].to_numpy()).max() > 1e-3


def test_a_run_without_new_items_says_that_its_confidence_is_not_calibrated(run: Run) -> None:
    write_simulated(simulate_sentiment(2, items=60, test_items=20, annotators=8))
    trained = run(*WORDS, "--epochs", 1, "--set", "limits.held_out=none", "-o", "bare")

    done = run("predict", "bare", "test.csv", "-o", "p.csv")

    assert (
        "On new items the confidence is not calibrated: give items with gold (--dev), or hold items out." in trained.err
    )
    assert (
        done.err.splitlines()[0]
        == "The confidence is not calibrated: bare was trained without dev items or held-out labels."
    )


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


@pytest.mark.usefixtures("tagged")
def test_sentences_need_no_tags_to_be_predicted(run: Run) -> None:
    tagged_lines = Path("test.conll").read_text().splitlines()
    bare = [line if line.startswith("# id") else line.split(" ")[0] for line in tagged_lines]
    Path("bare.conll").write_text("\n".join(bare) + "\n")

    with_tags = run("predict", "model", "test.conll", "-o", "p.conll")
    without = run("predict", "model", "bare.conll", "-o", "q.conll")

    assert (with_tags.code, without.code) == (0, 0)
    assert Path("q.conll").read_text() == Path("p.conll").read_text()
    assert "span F1" not in without.err


def test_facts_about_new_items_come_with_them(run: Run) -> None:
    made = simulate_sentiment(2, items=100, test_items=20, annotators=8, labels_per_item=3)
    write_simulated(made)
    Path("near.rules").write_text("2: Near(A, B) & Label(A, C) -> Label(B, C)\n")
    Path("train.csv").write_text("a,b\nr001,r002\n")
    Path("facts.csv").write_text("a,b\nt01,t02\n")
    run(*WORDS, "--rules", "near.rules", "--table", "Near=train.csv", "--keep-weights", "--epochs", 2, "-o", "model")

    run("predict", "model", "test.csv", "-o", "own.csv")
    run("predict", "model", "test.csv", "--table", "Near=facts.csv", "-o", "new.csv")

    own, new = (pl.read_csv(file)["p_positive"].to_numpy() for file in ("own.csv", "new.csv"))
    assert np.abs(own[:2] - new[:2]).max() > 1e-3
    np.testing.assert_array_equal(own[2:], new[2:])


def test_facts_about_training_items_are_not_applied_to_namesakes(run: Run) -> None:
    write_simulated(simulate_sentiment(2, items=100, test_items=20, annotators=8, labels_per_item=3))
    Path("near.rules").write_text("2: Near(A, B) & Label(A, C) -> Label(B, C)\n")
    Path("train.csv").write_text("a,b\nr001,r002\n")
    run(*WORDS, "--rules", "near.rules", "--table", "Near=train.csv", "--keep-weights", "--epochs", 2, "-o", "model")
    Path("others.csv").write_text("item,text\nr001,a fine plot\nr002,quite dull\n")

    refused = run("predict", "model", "others.csv", "-o", "p.csv")
    renewed = run("predict", "model", "others.csv", "--table", "Near=train.csv", "-o", "p.csv")

    assert (refused.code, renewed.code) == (2, 0)
    assert "train.csv: these facts were given for other items, one of which is called 'r001'" in refused.err
    assert "--table Near=FILE" in refused.err


def test_gold_of_other_classes_is_not_scored_and_the_items_are_answered(run: Run, trained: Simulation) -> None:
    pl.read_csv("test.csv").with_columns(label=pl.lit("odd")).write_csv("odd.csv")

    done = run("predict", "model", "odd.csv", "-o", "p.csv")
    run("predict", "model", "test.csv", "-o", "same.csv")

    assert done.code == 0
    assert done.err.splitlines() == [
        "odd.csv: the gold contains the class 'odd', which the run does not know, so the predictions are not scored.",
        "logic-lncl, the classifier with the rules (teacher): 40 items -> p.csv",
    ]
    assert Path("p.csv").read_bytes() == Path("same.csv").read_bytes()


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (
            ["predict", "no", "test.csv", "-o", "p.csv"],
            "no: contains no config.json, so it is not a run. Name a folder written by `train`.",
        ),
        (
            ["predict", "model", "no.csv", "-o", "p.csv"],
            "no.csv: no such file. The folder contains: gold.csv, items.csv, labels.csv, test.csv.",
        ),
        (["predict", "model", "test.csv", "-o", "/proc/p.csv"], "/proc/p.csv: "),
        (["predict", "model", "test.csv", "-o", "p.xyz"], "p.xyz: no format has the suffix '.xyz'."),
    ],
)
def test_bad_input_is_one_line(run: Run, trained: Simulation, words: list[str], line: str) -> None:
    before = sorted(Path().iterdir())

    done = run(*words)

    assert (done.code, done.out) == (2, "")
    assert done.err.startswith(f"crowdlogic: {line}")
    assert len(done.err.splitlines()) == 1
    assert sorted(Path().iterdir()) == before


def test_a_tagger_splits_plain_texts_into_words_and_marks_and_says_so(run: Run, tagged: Simulation) -> None:
    Path("texts.csv").write_text('item,text\nx,"Paris, and Rome."\ny,No\n')

    done = run("predict", "model", "texts.csv", "-o", "p.conll")

    assert done.code == 0
    assert done.err.splitlines()[0] == (
        "texts.csv: model tags tokens, so the texts were split into words and punctuation marks, 6 in all: "
        "Paris , and Rome . ..."
    )
    tokens = [line.split()[0] for line in Path("p.conll").read_text().splitlines() if line and line[0] != "#"]
    assert tokens == ["Paris", ",", "and", "Rome", ".", "No"]


def test_tagged_texts_do_not_fit_into_a_csv(run: Run, tagged: Simulation) -> None:
    Path("texts.csv").write_text("item,text\nx,Paris and Rome\n")

    done = run("predict", "model", "texts.csv", "-o", "p.csv")

    assert done.code == 2
    assert done.err == "crowdlogic: p.csv: sentences cannot be written as csv. Use .conll, .jsonl or .parquet.\n"
    assert not Path("p.csv").exists()


def test_a_classifier_of_documents_refuses_sentences(run: Run, trained: Simulation) -> None:
    Path("s.conll").write_text("EU B-ORG\nrejects O\n")

    done = run("predict", "model", "s.conll", "-o", "p.csv")

    assert done.code == 2
    assert done.err == (
        "crowdlogic: s.conll: expected items with one text each, as in the training of model, found tokenised sentences. Supply documents.\n"
    )


def test_student_and_teacher_together_are_refused(run: Run, trained: Simulation) -> None:
    done = run("predict", "model", "test.csv", "--teacher", "--student", "-o", "p.csv")

    assert done.code == 2
    assert done.err == "crowdlogic: --student and --teacher exclude each other. Pass one of them.\n"


def test_tags_in_a_field_of_any_name_of_a_jsonl_file_score_the_predictions(run: Run, tagged: Simulation) -> None:
    words = [list(tagged.test.sentence(s)) for s in range(2)]
    lines = [json.dumps({"item": s, "tokens": w, "truth": ["O"] * len(w)}) for s, w in enumerate(words)]
    Path("new.jsonl").write_text("\n".join(lines) + "\n")

    plain = run("predict", "model", "new.jsonl", "-o", "p.conll")
    scored = run("predict", "model", "new.jsonl", "-o", "q.conll", "--column", "tags=truth")

    assert "by its gold" not in plain.err
    assert "span F1 0.00 % by its gold" in scored.err
