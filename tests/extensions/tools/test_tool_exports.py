"""`aggregate` and `train` straight from the exports of annotation tools."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.data.formats.exports import annotation, choice, span, task, write_json

Run = Callable[..., Any]

NAMES = ["Ann", "Bob", "Carl"]


def write_spans(path: str, sentences: int = 24) -> None:
    tasks = []
    for n in range(sentences):
        name = NAMES[n % 3]
        text = f"Yesterday {name} went home with {n} friends."
        found = span(10, 10 + len(name), "PER", name)
        tasks.append(task(n, text, *(annotation(who, *([found] if who != n % 4 else [])) for who in range(4))))
    write_json(Path(path), tasks)


def test_one_command_from_an_export_to_a_consensus(run: Run) -> None:
    write_json(
        Path("e.json"),
        [task(n, f"Text {n}", *(annotation(w, choice("x" if n % 2 else "y")) for w in range(3))) for n in range(10)],
    )

    result = run("aggregate", "e.json", "-o", "consensus.json", "-m", "dawid-skene")

    assert result.code == 0, result.err
    answers = json.loads(Path("consensus.json").read_text())
    found = [one["predictions"][0]["result"][0]["value"]["choices"] for one in answers]
    assert found == [["y"], ["x"]] * 5


def test_one_command_from_marked_spans_to_tags(run: Run) -> None:
    write_spans("e.json")

    result = run("aggregate", "e.json", "-o", "consensus.jsonl")

    assert result.code == 0, result.err
    answers = [json.loads(line) for line in Path("consensus.jsonl").read_text().splitlines()]
    assert all(one["tags"][1] == "B-PER" for one in answers)


def test_the_question_is_an_option(run: Run) -> None:
    write_json(Path("e.json"), [task(1, "Ann", annotation(1, choice("x"), span(0, 3, "PER")))])

    refused = run("aggregate", "e.json", "-o", "c.csv")
    taken = run("aggregate", "e.json", "-o", "c.csv", "--question", "sentiment")

    assert refused.code == 2
    assert taken.code == 0, taken.err


def test_train_needs_nothing_but_the_export(run: Run) -> None:
    write_spans("e.json")

    result = run("train", "--labels", "e.json", "-o", "run", "--model", "crf", "--epochs", "2")

    assert result.code == 0, result.err
    assert (Path("run") / "items.parquet").exists()


def test_a_span_boundary_policy_is_an_option(run: Run) -> None:
    write_json(Path("e.json"), [task(1, "Annabel sings", annotation(1, span(0, 3, "PER", "Ann")), annotation(2))])

    widened = run("aggregate", "e.json", "-o", "c.jsonl", "-m", "majority", "--ties", "first")
    refused = run("aggregate", "e.json", "-o", "c.jsonl", "--boundaries", "error")

    assert "1 span with a bound inside a token: widened to whole tokens (first: record 1)." in widened.err
    assert refused.code == 2
