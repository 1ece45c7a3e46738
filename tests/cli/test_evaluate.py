"""`crowdlogic evaluate` as a user would call it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.cli.conftest import CSV, Result

Run = Callable[..., Result]


def test_evaluate_prints_one_object_for_documents(run: Run) -> None:
    Path("p.csv").write_text("item,label\nu,x\nv,y\nw,x\n")
    Path("g.csv").write_text("item,label\nw,x\nv,x\nu,x\nz,y\n")

    done = run("evaluate", "p.csv", "g.csv", "--json")

    assert done.code == 0
    figures = json.loads(done.out)
    assert (figures["n"], figures["coverage"]) == (3, 0.75)
    assert figures["accuracy"] == pytest.approx(2 / 3, abs=1e-12)
    assert figures["accuracy_all"] == 0.5
    assert figures["macro_f1"] == pytest.approx((2 * 2 / (2 * 2 + 1 + 0) + 0) / 2, abs=1e-12)
    assert done.err == (
        "1 of 4 items with gold have no answer: the scores are of the other 3. accuracy_all counts them as wrong.\n"
    )


def test_unanswered_items_count_as_wrong_where_that_is_asked_for(run: Run) -> None:
    Path("p.csv").write_text("item,label\nu,x\nv,y\nw,x\n")
    Path("g.csv").write_text("item,label\nw,x\nv,x\nu,x\nz,y\n")

    done = run("evaluate", "p.csv", "g.csv", "--json", "--unanswered", "wrong")

    figures = json.loads(done.out)
    assert (figures["n"], figures["accuracy"], figures["coverage"]) == (4, 0.5, 0.75)
    assert done.err == "1 of 4 items with gold have no answer and count as wrong.\n"


def test_the_sure_part_of_an_aggregation_is_scored_by_what_it_answers(run: Run) -> None:
    rows = [f"i{n},{who},{'y' if n < 30 and who == 'c' else 'x'}" for n in range(60) for who in "abc"]
    Path("l.csv").write_text("\n".join(["item,annotator,label", *rows, ""]))
    Path("g.csv").write_text("\n".join(["item,label", *(f"i{n},x" for n in range(60)), ""]))

    run("aggregate", "l.csv", "-m", "majority", "-o", "truth.csv", "--min-confidence", "0.9", "--dependence", "none")
    figures = json.loads(run("evaluate", "truth.csv", "g.csv", "--json").out)

    assert (figures["n"], figures["coverage"], figures["accuracy"]) == (30, 0.5, 1.0)


def test_a_run_is_scored_by_a_file_or_by_the_gold_that_it_keeps(run: Run) -> None:
    rows = [f"i{n},{who},{'good' if n % 2 else 'bad'}" for n in range(40) for who in "ab"]
    Path("l.csv").write_text("\n".join(["item,annotator,label", *rows, ""]))
    texts = [f"i{n},{'fine film' if n % 2 else 'dull film'}" for n in range(40)]
    Path("items.csv").write_text("\n".join(["item,text", *texts, ""]))
    gold = [f"{row},{'good' if n % 2 or n < 4 else 'bad'}" for n, row in enumerate(texts)]
    Path("known.csv").write_text("\n".join(["item,text,gold", *gold, ""]))
    run("train", "--labels", "l.csv", "--items", "items.csv", "-o", "bare", "--epochs", "2")
    run("train", "--labels", "l.csv", "--items", "known.csv", "-o", "kept", "--epochs", "2")

    by_file = run("evaluate", "bare", "known.csv", "--json")
    by_itself = run("evaluate", "kept", "--json")
    refused = run("evaluate", "bare")

    assert json.loads(by_file.out)["accuracy"] == json.loads(by_itself.out)["accuracy"] == 38 / 40
    assert refused.code == 2
    assert refused.err == (
        "crowdlogic: bare: this does not contain gold to compare the answers with. Pass a file of gold: crowdlogic evaluate bare gold.csv\n"
    )


def test_ties_count_half_when_asked(run: Run) -> None:
    Path("l.csv").write_text(CSV)
    Path("g.csv").write_text("item,label\nu,x\nv,y\n")
    run("aggregate", "l.csv", "--ties", "soft", "-o", "o.csv")

    figures = json.loads(run("evaluate", "o.csv", "g.csv", "--ties", "half", "--json").out)

    assert figures["accuracy_ties_half"] == 0.75
    assert figures["accuracy"] == 0.5  # v is a tie, and the file answers x


@pytest.mark.parametrize(("scheme", "expected"), [("conll", (0.5, 0.5, 0.5)), ("strict", (1.0, 0.5, 2 / 3))])
def test_evaluate_prints_one_object_for_tags(run: Run, scheme: str, expected: tuple[float, float, float]) -> None:
    Path("p.conll").write_text("Ann B-PER\nLee O\n\nof O\nParis I-LOC\n")
    Path("g.conll").write_text("Ann B-PER\nLee O\n\nof O\nParis B-ORG\n")

    figures = json.loads(run("evaluate", "p.conll", "g.conll", "--scheme", scheme, "--json").out)

    assert (figures["precision"], figures["recall"], figures["f1"]) == pytest.approx(expected)
    assert figures["accuracy"] == 0.75


def test_tags_that_are_no_spans_are_scored_by_accuracy(run: Run) -> None:
    Path("p.conll").write_text("a DET\nb NOUN\n")
    Path("g.conll").write_text("a DET\nb VERB\n")

    figures = json.loads(run("evaluate", "p.conll", "g.conll", "--json").out)

    assert figures["accuracy"] == 0.5
    assert "f1" not in figures


def test_files_of_nothing_but_o_are_still_scored_as_spans(run: Run) -> None:
    Path("g.conll").write_text("a O\n")

    assert json.loads(run("evaluate", "g.conll", "g.conll", "--json").out)["f1"] == 0.0


@pytest.mark.data
@pytest.mark.parametrize(("scheme", "expected"), [("conll", [79.12, 58.50, 67.27]), ("strict", [81.49, 58.64, 68.20])])
def test_the_papers_majority_vote_gets_the_papers_scores(
    run: Run, data_root: Path, scheme: str, expected: list[float]
) -> None:
    ner = data_root / "ner_conll_mturk"

    figures = json.loads(
        run("evaluate", ner / "train.mv.conll", ner / "train.gold.conll", "--scheme", scheme, "--json").out
    )

    assert [round(100 * figures[name], 2) for name in ("precision", "recall", "f1")] == expected
