"""`--json` of every command: the object validates against the schema of docs/reference/json.md, also together with -o."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from tests.cli.conftest import Result
from tests.tools.json_page import outputs, write_page

from crowdlogic.cli.app import commands
from crowdlogic.data.reading import write_corpus, write_labels
from crowdlogic.data.simulate import simulate_sentiment

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "json.md"
CALLS: dict[str, list[list[str]]] = {
    "simulate": [["simulate", "labels", "-o", "made", "--items", "20", "--annotators", "5"]],
    "demo": [["demo", "--items", "80", "-o", "demo"]],
    "doctor": [["doctor", "labels.csv"], ["doctor", "test.csv"]],
    "aggregate": [
        ["aggregate", "labels.csv"],
        ["aggregate", "labels.csv", "-o", "truth.csv", "--gold", "gold.csv", "--annotators", "people.csv"],
        ["aggregate", "labels.csv", "-o", "sure.csv", "--min-confidence", "0.9", "-m", "majority"],
        ["aggregate", "labels.csv", "-o", "shards.csv", "--memory", "1GiB"],
    ],
    "aggregate --methods": [["aggregate", "labels.csv", "--methods", "majority,glad", "--gold", "gold.csv"]],
    "rules suggest": [["rules", "suggest", "labels.csv", "--items", "items.csv", "-o", "suggested.rules"]],
    "panel": [["panel", "labels.csv"], ["panel", "labels.csv", "--gold", "gold.csv", "-o", "panel.csv"]],
    "agreement": [["agreement", "labels.csv", "--replicates", "20"]],
    "evaluate": [["evaluate", "gold.csv", "gold.csv"]],
    "convert": [["convert", "labels.csv", "labels.jsonl"], ["convert", "items.csv", "items.jsonl", "--items"]],
    "patterns": [["patterns", "labels.csv", "-o", "patterns.parquet"], ["patterns", "labels.csv", "--sql"]],
    "train": [
        ["train", "--labels", "labels.csv", "--items", "items.csv", "--rules", "my.rules", "--epochs", "2", "-o", "run"]
    ],
    "predict": [["predict", "run", "test.csv", "-o", "answers.csv"], ["predict", "run", "items.csv", "-o", "more.csv"]],
    "explain": [["explain", "run", "ITEM"]],
    "rules check": [["rules", "check", "my.rules", "--labels", "labels.csv", "--items", "items.csv"]],
    "rules audit": [["rules", "audit", "my.rules", "labels.csv", "--items", "items.csv"]],
    "report": [["report", "run", "-o", "report.html"]],
    "next": [["next", "labels.csv", "-o", "plan.csv", "-n", "5"]],
    "datasets": [["datasets", "--root", "."]],
}
"""The words of a command -> calls in this order, on the files of `folder`; `export` and `reproduce` need torch."""
WITH_TORCH: dict[str, list[list[str]]] = {
    "reproduce": [
        ["reproduce", "sentiment", "--quick", "--seeds", "1", "--jobs", "1", "-o", "paper", "--methods", "truth pm"]
    ],
}
IN_OWN_TESTS = {"review", "export"}
"""Commands with a test of their own below."""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Labels, items, gold, new items and a rule in an empty folder."""
    monkeypatch.chdir(tmp_path)
    made = simulate_sentiment(2, items=60, test_items=10, annotators=8, labels_per_item=4)
    write_labels("labels.csv", made.labels)
    write_corpus("gold.csv", made.corpus)
    write_corpus("test.csv", made.test)
    made.corpus.to_frame().drop("label").write_csv("items.csv")
    Path("my.rules").write_text("1.0: Label(S, C) & After(S, 'but', B) -> Predicted(B, C)\n")
    return tmp_path


def printed(run: Callable[..., Result], words: list[str]) -> Any:
    item = Path("items.csv").read_text().splitlines()[1].partition(",")[0]
    done = run(*(item if word == "ITEM" else word for word in words), "--json")
    assert done.code in (0, 1), (words, done.err)
    return json.loads(done.out)


def schemas() -> dict[str, Any]:
    """The words of each command -> the schema in docs/reference/json.md."""
    found = re.findall(r"^## crowdlogic (.+?)$.*?```json\n(.*?)\n```", PAGE.read_text(), flags=re.DOTALL | re.MULTILINE)
    return {words: json.loads(text) for words, text in found}


def validate(words: str, found: Any) -> None:
    jsonschema = pytest.importorskip("jsonschema")
    jsonschema.Draft202012Validator(schemas()[words]).validate(found)
    assert found["command"] == words
    assert all(Path(path).exists() for path in found["written"])


@pytest.mark.extension("review", "scale")
def test_what_every_command_prints_is_valid_and_names_what_was_written(
    folder: Path, run: Callable[..., Result]
) -> None:
    for words, calls in CALLS.items():
        for call in calls:
            found = printed(run, call)
            validate(words, found)
            if "-o" in call:
                assert call[call.index("-o") + 1] in found["written"]


@pytest.mark.extension("networks", "paper")
@pytest.mark.parametrize("words", WITH_TORCH)
def test_what_commands_of_networks_print_is_valid(words: str, folder: Path, run: Callable[..., Result]) -> None:
    pytest.importorskip("torch")
    for call in WITH_TORCH[words]:
        validate(words, printed(run, call))


@pytest.mark.extension("networks")
def test_what_export_prints_is_valid(folder: Path, run: Callable[..., Result]) -> None:
    pytest.importorskip("onnx")
    assert run("train", "--labels", "labels.csv", "--items", "items.csv", "-o", "run", "--epochs", "2").code == 0

    found = printed(run, ["export", "run", "--to", "onnx", "-o", "model"])

    validate("export", found)
    assert set(found["files"]) == {path.name for path in Path("model").iterdir()}


@pytest.mark.extension("review")
def test_what_review_prints_when_it_ends_is_valid(folder: Path) -> None:
    pytest.importorskip("fastapi")
    from tests.extensions.review.served import serving

    with serving("labels.csv", "--json") as served:
        said = served.stop()

    found = json.loads(next(line for line in said.splitlines() if line.startswith("{")))
    validate("review", found)
    assert (found["items"], found["decided"]) == (60, 0)


def test_aggregate_gives_the_counts_and_the_expected_accuracy_with_its_interval(
    folder: Path, run: Callable[..., Result]
) -> None:
    found = printed(run, ["aggregate", "labels.csv", "-o", "truth.csv"])

    assert found["counts"]["items"] == 60
    assert found["counts"]["annotators"] == 8
    expected = found["expected_accuracy"]
    assert 0 < expected["low"] < expected["mean"] < expected["high"] <= 1
    assert found["written"] == ["truth.csv"]


@pytest.mark.extension("review")
@pytest.mark.parametrize("call", [["aggregate", "labels.csv"], ["convert", "labels.csv"], ["next", "labels.csv"]])
def test_a_result_on_standard_output_excludes_json(call: list[str], folder: Path, run: Callable[..., Result]) -> None:
    done = run(*call, "-o", "-", "--json")

    assert (done.code, done.out) == (2, "")
    assert "--json and -o - both print to standard output" in done.err


@pytest.mark.extension("networks", "paper", "review", "scale")
def test_the_page_is_generated_and_covers_every_command() -> None:
    pytest.importorskip("torch")  # the commands of networks are imported

    assert PAGE.read_text() == write_page()
    known = {words.split(" ")[0] for words in outputs()}
    assert known == set(commands())
    assert {*CALLS, *WITH_TORCH, *IN_OWN_TESTS} == set(outputs())
    for command in commands().values():
        assert import_module(command.module).OUTPUTS
