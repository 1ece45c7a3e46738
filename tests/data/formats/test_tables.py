from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from crowdlogic.data.corpus import sentences
from crowdlogic.data.frames import from_dict, from_sequences
from crowdlogic.data.reading import read_answers, read_corpus, write_estimate
from crowdlogic.errors import CrowdLogicError, DataError, OptionError
from crowdlogic.truth.majority import MajorityVote


def write(folder: Path, name: str, content: str | bytes) -> Path:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


VOTES = {"u": {"a": "x", "b": "x", "c": "y"}, "v": {"a": "y"}, "w": {"a": None}}


def tagged() -> tuple[object, object]:
    labels = from_sequences([("s1", "a", ["B-X", "I-X"]), ("s2", "a", ["O"])])
    corpus = sentences(["s1", "s2"], [["New", "York"], ["is"]])
    return MajorityVote().infer(labels), corpus


def test_a_table_has_item_label_confidence_and_a_column_per_class(tmp_path: Path) -> None:
    write_estimate(tmp_path / "o.csv", MajorityVote().infer(from_dict(VOTES)))

    assert (tmp_path / "o.csv").read_text().splitlines() == [
        "item,label,confidence,p_x,p_y",
        "u,x,0.6666666666666666,0.6666666666666666,0.3333333333333333",
        "v,y,1.0,0.0,1.0",
        "w,,,0.5,0.5",
    ]


@pytest.mark.parametrize("suffix", ["csv", "tsv", "jsonl", "parquet", "csv.gz"])
def test_answers_are_read_as_written(tmp_path: Path, suffix: str) -> None:
    estimate = MajorityVote().infer(from_dict(VOTES))

    write_estimate(tmp_path / f"o.{suffix}", estimate)
    again = read_answers(tmp_path / f"o.{suffix}")

    assert again.items.to_list() == ["u", "v", "w"]
    assert again.answer.tolist() == estimate.answer.tolist()
    assert again.beliefs is not None
    np.testing.assert_array_equal(again.beliefs, estimate.beliefs)


def test_tags_are_written_as_jsonl(tmp_path: Path) -> None:
    estimate, corpus = tagged()

    write_estimate(tmp_path / "o.jsonl", estimate, corpus=corpus)  # type: ignore[arg-type]

    records = [json.loads(line) for line in (tmp_path / "o.jsonl").read_text().splitlines()]
    assert records[0] == {"item": "s1", "tokens": ["New", "York"], "tags": ["B-X", "I-X"], "confidence": [1.0, 1.0]}


@pytest.mark.parametrize("suffix", ["conll", "jsonl", "parquet"])
def test_tags_are_read_as_written(tmp_path: Path, suffix: str) -> None:
    estimate, corpus = tagged()

    write_estimate(tmp_path / f"o.{suffix}", estimate, corpus=corpus)  # type: ignore[arg-type]
    again = read_answers(tmp_path / f"o.{suffix}")

    assert [again.classes[k] for k in again.answer] == ["B-X", "I-X", "O"]
    assert again.offsets is not None
    assert again.offsets.tolist() == [0, 2, 3]


def test_tags_do_not_go_into_a_csv(tmp_path: Path) -> None:
    estimate, corpus = tagged()

    with pytest.raises(OptionError, match=r"sentences cannot be written as csv\. Use \.conll, \.jsonl or \.parquet"):
        write_estimate(tmp_path / "o.csv", estimate, corpus=corpus)  # type: ignore[arg-type]
    assert list(tmp_path.iterdir()) == []


def test_a_label_file_is_not_a_file_of_answers(tmp_path: Path) -> None:
    (tmp_path / "l.csv").write_text("item,annotator,label\nu,a,x\nu,b,y\n")

    with pytest.raises(CrowdLogicError, match=r"row 3: item 'u' appears again\. Give one row per item, or aggregate"):
        read_answers(tmp_path / "l.csv")


def test_columns_that_begin_with_p_are_beliefs_only_if_they_name_the_classes(tmp_path: Path) -> None:
    (tmp_path / "g.csv").write_text("item,label,p_note\nu,x,fine\n")
    (tmp_path / "bad.csv").write_text("item,label,p_x,p_y\nu,x,9,-2\n")

    assert read_answers(tmp_path / "g.csv").beliefs is None
    with pytest.raises(
        DataError, match=r"row 2: the p_ columns are not probabilities that sum to 1\. Correct or remove"
    ):
        read_answers(tmp_path / "bad.csv")


@pytest.mark.parametrize("suffix", ["csv", "jsonl", "parquet"])
def test_boolean_answers_are_read_as_written(tmp_path: Path, suffix: str) -> None:
    estimate = MajorityVote().infer(from_dict({"u": {"a": True}, "v": {"a": False}}))

    write_estimate(tmp_path / f"o.{suffix}", estimate)
    again = read_answers(tmp_path / f"o.{suffix}")

    assert [again.classes[k] for k in again.answer] == ["True", "False"]
    assert again.beliefs is not None


def test_tags_written_with_two_spaces_are_the_same_tags(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("item,tags\ns,O  B-X O\n")

    assert read_answers(tmp_path / "t.csv").answer.tolist() == [1, 0, 1]


@pytest.mark.parametrize("tags", ["7", '[["O"]]'])
def test_tags_that_are_no_tags_are_refused(tmp_path: Path, tags: str) -> None:
    (tmp_path / "t.jsonl").write_text(f'{{"item": 1, "tags": {tags}}}\n')

    with pytest.raises(CrowdLogicError, match="the column of tags has type"):
        read_answers(tmp_path / "t.jsonl")


def test_an_item_without_a_name_is_refused(tmp_path: Path) -> None:
    (tmp_path / "g.csv").write_text("item,label\n,x\nv,y\n")

    with pytest.raises(DataError, match=r"row 2: no item is named\. Fill in the item\."):
        read_answers(tmp_path / "g.csv")


def test_items_need_a_text_each_and_a_name_each(tmp_path: Path) -> None:
    with pytest.raises(CrowdLogicError, match=r"i\.csv, row 3: no text\. Fill in the text, or remove the row\."):
        read_corpus(write(tmp_path, "i.csv", "item,text\n1,a\n2,\n"))
    with pytest.raises(CrowdLogicError, match=r"i\.csv, row 3: item '1' appears again\. Give each item once\."):
        read_corpus(write(tmp_path, "i.csv", "item,text\n1,a\n1,b\n"))


def test_a_corpus_carries_gold_where_it_is_known(tmp_path: Path) -> None:
    corpus = read_corpus(write(tmp_path, "i.csv", "id,text,label\n1,a,pos\n2,b,\n3,c,neg\n"))

    assert corpus.classes == ("neg", "pos")
    assert corpus.gold is not None
    assert corpus.gold.tolist() == [1, -1, 0]


@pytest.mark.parametrize(("total", "fine"), [(1.0009, True), (0.9991, True), (1.0011, False), (0.9989, False)])
def test_probabilities_may_be_off_by_a_thousandth(tmp_path: Path, total: float, fine: bool) -> None:
    (tmp_path / "p.csv").write_text(f"item,label,p_x,p_y\nu,x,{total - 0.25:.6f},0.25\n")

    if fine:
        assert read_answers(tmp_path / "p.csv").beliefs is not None
    else:
        with pytest.raises(DataError, match="are not probabilities that sum to 1"):
            read_answers(tmp_path / "p.csv")


def test_a_file_may_say_how_its_items_were_chosen(tmp_path: Path) -> None:
    documents = write(tmp_path, "a.csv", "item,label,chosen\nu,x,random\nv,y,queue\nw,x,\n")
    tags = write(tmp_path, "t.csv", "item,tags,chosen\ns,O O,queue\nt,B-X,random\n")
    other = write(tmp_path, "o.csv", "item,label\nu,x\n")

    assert read_answers(documents).at_random.tolist() == [True, False, False]
    assert read_answers(tags).at_random.tolist() == [False, True]
    assert read_answers(other).at_random is None
