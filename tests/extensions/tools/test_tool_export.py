"""Items and gold of an export of an annotation tool."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.data.formats.exports import annotation, choice, span, task, write_json

from crowdlogic.data.reading import read_answers, read_corpus
from crowdlogic.errors import CorpusError


def test_items_and_gold_are_those_of_the_labels(tmp_path: Path) -> None:
    tasks = [
        task(1, "t", annotation(1, choice("x")), annotation(2, choice("y"), ground_truth=True)),
        task(2, "u", annotation(1, choice("x"))),
    ]
    path = write_json(tmp_path / "e.json", tasks)

    assert read_corpus(path).texts == ("t", "u")
    answers = read_answers(path)
    assert [None if k < 0 else answers.classes[k] for k in answers.answer] == ["y", None]


def test_gold_tags_are_answers(tmp_path: Path) -> None:
    tasks = [task(1, "Ann sings", annotation(1), annotation(2, span(0, 3, "PER"), ground_truth=True))]
    path = write_json(tmp_path / "e.json", tasks)

    answers = read_answers(path)

    assert answers.tokens == ("Ann", "sings")
    assert [answers.classes[k] for k in answers.answer] == ["B-PER", "O"]


def test_an_export_without_gold_or_texts_says_so(tmp_path: Path) -> None:
    path = write_json(tmp_path / "e.json", [task(1, "t", annotation(1, choice("x")), annotation(2, choice("x")))])
    bare = write_json(tmp_path / "b.json", [{"id": 1, "annotations": [annotation(1, choice("x"))], "data": {}}])

    with pytest.raises(CorpusError, match="Label Studio's export contains no gold"):
        read_answers(path)
    with pytest.raises(CorpusError, match="has neither texts nor gold here"):
        read_corpus(bare)


def test_the_only_annotator_of_an_export_gives_answers(tmp_path: Path) -> None:
    path = write_json(tmp_path / "e.json", [task(1, "t", annotation(1, choice("x"))), task(2, "u")])

    found = read_answers(path)

    assert found.items.to_list() == [1, 2]
    assert found.answer.tolist() == [0, -1]
