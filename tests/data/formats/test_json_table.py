"""json: an array of objects as a table, and as sentences."""

from __future__ import annotations

from pathlib import Path

import pytest

from crowdlogic.data.corpus import documents
from crowdlogic.data.formats.protocol import ReadOptions
from crowdlogic.data.frames import from_dict
from crowdlogic.data.reading import read_corpus, read_crowd, read_labels, write_corpus, write_labels
from crowdlogic.errors import FormatError, LabelError


def test_labels_are_written_and_read_again(tmp_path: Path) -> None:
    labels = from_dict({"u": {"a": "x", "b": 'é "😀"\n'}, "v": {"a": "x"}})

    write_labels(tmp_path / "l.json", labels)

    assert read_labels(tmp_path / "l.json").to_frame().equals(labels.to_frame())
    assert (tmp_path / "l.json").read_text().startswith('[\n{"item":"u"')


def test_items_are_written_and_read_again(tmp_path: Path) -> None:
    corpus = documents(["u", "v"], ["text", "more"], gold=["x", None])

    write_corpus(tmp_path / "c.json", corpus)

    assert read_corpus(tmp_path / "c.json").to_frame().equals(corpus.to_frame())


def test_sentences_with_the_tags_of_every_annotator(tmp_path: Path) -> None:
    (tmp_path / "s.json").write_text('[{"item": "s", "tokens": ["a", "b"], "crowd": {"w": ["O", "B-X"]}}]')

    crowd = read_crowd(tmp_path / "s.json")

    assert crowd.labels.n_labels == 2
    assert read_corpus(tmp_path / "s.json").tokens == ("a", "b")


def test_problems_name_the_record(tmp_path: Path) -> None:
    (tmp_path / "l.json").write_text(
        '[{"item": 1, "annotator": "a", "label": "x"}, {"item": 1, "annotator": "a", "label": "y"}]'
    )
    (tmp_path / "e.json").write_text("[]")

    with pytest.raises(
        LabelError, match=r"l\.json, record 2: annotator 'a' labels item 1 again, with another label than in record 1"
    ):
        read_labels(tmp_path / "l.json")
    with pytest.raises(FormatError, match=r"e\.json: an empty array"):
        read_labels(tmp_path / "e.json")


def test_named_fields_are_the_tokens_and_names_of_sentences(tmp_path: Path) -> None:
    (tmp_path / "s.json").write_text('[{"ref": "s", "pieces": ["a", "b"], "crowd": {"w": ["O", "B-X"]}}]')
    columns = {"item": "ref", "tokens": "pieces"}

    crowd = read_crowd(tmp_path / "s.json", ReadOptions(columns=columns))

    assert crowd.labels.items.to_list() == ["s"]
    assert read_corpus(tmp_path / "s.json", columns=columns).tokens == ("a", "b")
