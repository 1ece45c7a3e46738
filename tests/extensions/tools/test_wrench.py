"""WRENCH's data sets: documents and sentences with the labels of labelling functions."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.data.formats.exports import write_json

from crowdlogic.data.files import InputFile
from crowdlogic.data.formats.protocol import detect_format
from crowdlogic.data.reading import read_crowd
from crowdlogic.errors import FormatError

DOCUMENTS = {
    "0": {"label": 1, "weak_labels": [1, -1, 0], "data": {"text": "Win a prize"}},
    "1": {"label": 0, "weak_labels": [-1, -1, 0], "data": {"text": "See you"}},
}
SENTENCES = {
    "0": {"label": ["B-PER", "O"], "weak_labels": [["B-PER", "O"], ["O", "O"]], "data": {"text": ["Ann", "sings"]}}
}


def test_documents_have_classes_by_name_and_functions_that_abstain(tmp_path: Path) -> None:
    write_json(tmp_path / "train.json", DOCUMENTS)
    write_json(tmp_path / "label.json", {"0": "ham", "1": "spam"})

    for path in (tmp_path / "train.json", tmp_path):
        crowd = read_crowd(path)
        assert detect_format(InputFile(path)).name == "wrench"
        assert crowd.labels.to_frame().select("item", "annotator", "label").rows() == [
            ("0", "lf_0", "spam"),
            ("0", "lf_2", "ham"),
            ("1", "lf_2", "ham"),
        ]
        assert set(crowd.labels.kind or ()) == {"code"}
        assert crowd.corpus is not None
        assert crowd.corpus.texts == ("Win a prize", "See you")
        assert crowd.corpus.gold is not None
        assert [crowd.corpus.classes[k] for k in crowd.corpus.gold] == ["spam", "ham"]


def test_without_names_the_classes_are_numbers(tmp_path: Path) -> None:
    assert read_crowd(write_json(tmp_path / "x.json", DOCUMENTS)).labels.classes == (0, 1)


def test_sentences_have_a_row_of_weak_tags_per_token(tmp_path: Path) -> None:
    write_json(tmp_path / "meta.json", {"lf": ["names", "capitals"], "entity_types": ["PER"]})
    crowd = read_crowd(write_json(tmp_path / "train.json", SENTENCES))

    assert crowd.labels.annotators.to_list() == ["names", "capitals"]
    assert crowd.labels.to_frame()["label"].to_list() == ["B-PER", "O", "O", "O"]
    assert crowd.corpus is not None
    assert crowd.corpus.tokens == ("Ann", "sings")
    assert crowd.corpus.gold is not None
    assert [crowd.corpus.classes[k] for k in crowd.corpus.gold] == ["B-PER", "O"]


@pytest.mark.parametrize(
    ("examples", "message"),
    [
        ({"0": {"weak_labels": [1]}, "1": {"weak_labels": 3}}, "record 2: no list of weak labels."),
        ({"0": {"weak_labels": [1]}, "1": {"weak_labels": [1, 0]}}, "record 2: the number of weak labels differs from the first record."),
        ({"0": {"weak_labels": [1]}, "1": 5}, "record 2: expected an object, got a JSON int."),
        ({"0": {"weak_labels": [["O"]], "data": {"text": "one"}}}, "record 1: no list of tokens."),
        ({"0": {"weak_labels": [["O"]], "data": {"text": ["one", "two"]}}}, "record 1: 1 row of weak labels for 2 tokens."),
    ],
)  # fmt: skip
def test_a_malformed_example_gets_one_line(examples: Any, message: str, tmp_path: Path) -> None:
    path = write_json(tmp_path / "x.json", examples)

    with pytest.raises(FormatError) as caught:
        read_crowd(path)

    assert str(caught.value).startswith(f"{path}, {message}")
