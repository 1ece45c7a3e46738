"""Hugging Face datasets on disk. What the package itself makes of our folders is tested in tests/tools."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from crowdlogic.data.corpus import documents, sentences
from crowdlogic.data.files import InputFile
from crowdlogic.data.formats.protocol import detect_format
from crowdlogic.data.frames import from_frame, from_sequences
from crowdlogic.data.reading import read_answers, read_crowd, read_labels, write_estimate, write_labels
from crowdlogic.errors import FormatError, OptionError
from crowdlogic.truth.majority import MajorityVote

LABELS = from_frame({"item": ["u", "u", "v"], "annotator": ["a", "b", "a"], "label": ["pos", "neg", "pos"]})
CORPUS = documents(["u", "v"], ["one 😀\r\n", "שלום e\u0301"])


def test_labels_and_texts_come_back(tmp_path: Path) -> None:
    write_labels(tmp_path / "d.hf", LABELS, corpus=CORPUS)

    found = read_crowd(tmp_path / "d.hf")

    assert detect_format(InputFile(tmp_path / "d.hf")).name == "huggingface"
    assert found.labels.to_frame().equals(LABELS.to_frame())
    assert found.corpus is not None
    assert found.corpus.texts == CORPUS.texts


def test_classes_are_class_labels(tmp_path: Path) -> None:
    write_labels(tmp_path / "d", LABELS, format="huggingface")

    info = json.loads((tmp_path / "d" / "dataset_info.json").read_text())
    rows = pl.read_ipc_stream(tmp_path / "d" / "data-00000-of-00001.arrow")

    assert info["features"]["label"] == {"names": ["neg", "pos"], "_type": "ClassLabel"}
    assert info["features"]["item"] == {"dtype": "large_string", "_type": "Value"}
    assert rows["label"].to_list() == [1, 0, 1]


def test_tagged_sentences_come_back_with_the_same_answers(tmp_path: Path) -> None:
    labels = from_sequences([("s", "a", ["B-X", "O"]), ("s", "b", ["O", "O"]), ("t", "a", ["O"])])
    corpus = sentences(["s", "t"], [["Ann", "😀"], ["hi"]])
    estimate = MajorityVote(seed=1).infer(labels)

    write_labels(tmp_path / "l.hf", labels)
    write_estimate(tmp_path / "e.hf", estimate, corpus=corpus)
    answers = read_answers(tmp_path / "e.hf")

    assert read_labels(tmp_path / "l.hf").to_frame().equals(labels.to_frame())
    assert [answers.classes[code] for code in answers.answer] == estimate.answer_names()


def test_answers_come_back_with_beliefs(tmp_path: Path) -> None:
    estimate = MajorityVote(seed=1).infer(LABELS)
    write_estimate(tmp_path / "e.hf", estimate, corpus=CORPUS)

    answers = read_answers(tmp_path / "e.hf")

    assert [answers.classes[code] for code in answers.answer] == estimate.answer_names()
    assert answers.beliefs is not None
    np.testing.assert_allclose(answers.beliefs, estimate.beliefs)


def test_several_splits_must_be_chosen_from(tmp_path: Path) -> None:
    folder = tmp_path / "d"
    folder.mkdir()
    write_labels(folder / "train", LABELS, format="huggingface")
    (folder / "dataset_dict.json").write_text(json.dumps({"splits": ["train"]}))
    assert read_labels(folder).n_labels == 3

    (folder / "dataset_dict.json").write_text(json.dumps({"splits": ["train", "test"]}))
    with pytest.raises(FormatError) as raised:
        read_labels(folder)
    assert (
        str(raised.value)
        == f"{folder}: contains the splits train, test. Give the folder of one split, such as {folder}/train."
    )


@pytest.mark.parametrize(
    ("file", "content", "problem"),
    [
        ("state.json", {}, "state.json lists no data files. Save the dataset again."),
        ("state.json", {"_data_files": [{"filename": "../x.arrow"}]}, "state.json: '../x.arrow' is not a file in this folder. Save the dataset again."),
        ("state.json", {"_data_files": [{"filename": "x.arrow"}]}, "x.arrow is missing. Save the dataset again."),
        ("state.json", [], "state.json is not a JSON object. Save the dataset again."),
    ],
)  # fmt: skip
def test_malformed_folders_are_named(tmp_path: Path, file: str, content: Any, problem: str) -> None:
    write_labels(tmp_path / "d", LABELS, format="huggingface")
    (tmp_path / "d" / file).write_text(json.dumps(content))

    with pytest.raises(FormatError) as raised:
        read_labels(tmp_path / "d")

    assert str(raised.value) == f"{tmp_path / 'd'}: {problem}"


def test_damaged_rows_are_named(tmp_path: Path) -> None:
    write_labels(tmp_path / "d", LABELS, format="huggingface")
    rows = tmp_path / "d" / "data-00000-of-00001.arrow"
    rows.write_bytes(rows.read_bytes()[:100])

    with pytest.raises(FormatError, match=r"data-00000-of-00001\.arrow cannot be read as an Arrow stream"):
        read_labels(tmp_path / "d")


def test_a_folder_is_not_written_over_and_not_to_standard_output(tmp_path: Path) -> None:
    write_labels(tmp_path / "d.hf", LABELS)

    with pytest.raises(OptionError, match="already exists"):
        write_labels(tmp_path / "d.hf", LABELS)
    with pytest.raises(OptionError, match="A folder cannot be written to standard output"):
        write_labels("-", LABELS, format="huggingface")
