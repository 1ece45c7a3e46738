"""Inspect's logs: scorers are judges, samples are items."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.data.formats.evaluation_exports import Json, inspect_log, inspect_sample, write_eval, write_json

from crowdlogic.data.files import InputFile
from crowdlogic.data.formats.protocol import detect_format
from crowdlogic.data.reading import read_corpus, read_crowd
from crowdlogic.errors import FormatError


def write_log(path: Path, *samples: Json) -> Path:
    return write_json(path.with_suffix(".json"), inspect_log(*samples))


WRITERS = pytest.mark.parametrize("write", [write_log, write_eval], ids=["json", "eval"])
Write = Callable[..., Path]


@WRITERS
def test_scorers_are_judges_and_samples_are_items(tmp_path: Path, write: Write) -> None:
    asked = inspect_sample("q1", {"includes": "C", "graded": "I"}, text="yes 😀")
    asked["scores"]["graded"]["metadata"] = {"grading": [{"role": "user"}]}
    path = write(tmp_path / "log.eval", asked, inspect_sample("q2", {"includes": "N", "graded": "P"}))

    crowd = read_crowd(path)

    assert detect_format(InputFile(path)).name == "inspect"
    assert crowd.labels.to_frame().select("item", "annotator", "label").rows() == [
        ("q1", "includes", "C"),
        ("q1", "graded", "I"),
        ("q2", "includes", "N"),
        ("q2", "graded", "P"),
    ]
    assert crowd.labels.kind == ("code", "llm")
    assert read_corpus(path).texts == ("yes 😀", "an answer")


@WRITERS
def test_epochs_are_items_of_their_own(tmp_path: Path, write: Write) -> None:
    path = write(tmp_path / "log.eval", inspect_sample(1, {"s": "C"}), inspect_sample(1, {"s": "I"}, epoch=2))

    assert read_crowd(path).labels.items.to_list() == ["1 (epoch 1)", "1 (epoch 2)"]


def test_truth_and_zero_or_one_are_correct_and_incorrect(tmp_path: Path) -> None:
    sample = inspect_sample("q", {"letters": "C", "truth": False, "number": 1.0, "rubric": {"a": 0, "b": True}})

    labels = read_crowd(write_log(tmp_path / "log", sample)).labels

    assert dict(labels.to_frame().select("annotator", "label").rows()) == {
        "letters": "C",
        "truth": "I",
        "number": "C",
        "rubric/a": "I",
        "rubric/b": "C",
    }


def test_samples_without_scores_are_left_out_and_counted(tmp_path: Path) -> None:
    path = write_log(
        tmp_path / "log",
        inspect_sample("q1", {"s": "C"}),
        inspect_sample("q2", {}),
        inspect_sample("q3", {}, error={"message": "timeout"}),
    )

    assert read_crowd(path).labels.intake.messages() == [
        "1 sample without scores: left out (first: record 2).",
        "1 sample with an error instead of scores: left out (first: record 3).",
    ]


@pytest.mark.parametrize(
    ("sample", "problem"),
    [
        (
            {"id": None, "epoch": 1},
            "a sample without an id, or with an epoch that is not a number. Write the log again.",
        ),
        (
            {"id": "q", "epoch": "2"},
            "a sample without an id, or with an epoch that is not a number. Write the log again.",
        ),
        ("text", "expected an object, got a JSON str. Export the file again."),
    ],
)
def test_malformed_samples_are_named(tmp_path: Path, sample: Any, problem: str) -> None:
    path = write_log(tmp_path / "log", inspect_sample("q1", {"s": "C"}), sample)

    with pytest.raises(FormatError) as raised:
        read_crowd(path)

    assert str(raised.value) == f"{path}, record 2: {problem}"


def test_a_damaged_sample_in_a_zip_file_is_named(tmp_path: Path) -> None:
    path = write_eval(tmp_path / "log.eval", inspect_sample("q1", {"s": "C"}))
    with zipfile.ZipFile(path, "a") as packed:
        packed.writestr("samples/q2_epoch_1.json", json.dumps({"id": "q2"})[:-3])

    with pytest.raises(FormatError, match=r"log.eval, samples/q2_epoch_1.json: not JSON .* Export the file again\."):
        read_crowd(path)


def test_a_log_without_samples_says_so(tmp_path: Path) -> None:
    path = write_log(tmp_path / "log")

    with pytest.raises(FormatError) as raised:
        read_crowd(path)

    assert str(raised.value) == f"{path}: no records. Export the project again."
