from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from crowdlogic.data.answers import Answers, align_answers
from crowdlogic.data.corpus import sentences
from crowdlogic.data.frames import from_dict, from_sequences
from crowdlogic.data.reading import read_answers
from crowdlogic.data.writing import write_estimate
from crowdlogic.errors import CrowdLogicError, DataError, OptionError
from crowdlogic.truth.majority import MajorityVote

VOTES = {"u": {"a": "x", "b": "x", "c": "y"}, "v": {"a": "y"}, "w": {"a": None}}


def answers(items: list[object], names: list[str | None], classes: tuple[str, ...] = ("x", "y")) -> Answers:
    codes = np.array([-1 if name is None else classes.index(name) for name in names])
    return Answers(pl.Series(items), classes, codes)


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


def tagged() -> tuple[object, object]:
    labels = from_sequences([("s1", "a", ["B-X", "I-X"]), ("s2", "a", ["O"])])
    corpus = sentences(["s1", "s2"], [["New", "York"], ["is"]])
    return MajorityVote().infer(labels), corpus


def test_tags_are_written_as_conll(tmp_path: Path) -> None:
    estimate, corpus = tagged()

    write_estimate(tmp_path / "o.conll", estimate, corpus=corpus)  # type: ignore[arg-type]

    assert (tmp_path / "o.conll").read_text() == "# id = s1\nNew B-X\nYork I-X\n\n# id = s2\nis O\n"


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

    with pytest.raises(OptionError, match=r"tagged sentences are written as \.conll, \.jsonl or \.parquet"):
        write_estimate(tmp_path / "o.csv", estimate, corpus=corpus)  # type: ignore[arg-type]
    assert list(tmp_path.iterdir()) == []


def test_conll_without_tokens_is_refused(tmp_path: Path) -> None:
    estimate, _ = tagged()

    with pytest.raises(OptionError, match=r"CoNLL needs the tokens"):
        write_estimate(tmp_path / "o.conll", estimate)  # type: ignore[arg-type]


def test_a_folder_that_is_not_there_is_one_clear_line(tmp_path: Path) -> None:
    with pytest.raises(OptionError, match=r"the folder .* does not exist\. Make it first\."):
        write_estimate(tmp_path / "no" / "o.csv", MajorityVote().infer(from_dict(VOTES)))


def test_items_are_matched_by_name_not_by_place() -> None:
    pair = align_answers(answers(["u", "v", "z"], ["x", "y", "x"]), answers(["v", "u"], ["x", "x"]))

    assert [pair.classes[k] for k in pair.predicted] == ["y", "x"]
    assert [pair.classes[k] for k in pair.gold] == ["x", "x"]


def test_names_that_are_numbers_in_one_file_and_text_in_the_other_match() -> None:
    predicted = Answers(pl.Series([1, 2]), (0, 1), np.array([1, 0]))
    gold = Answers(pl.Series(["2", "1"]), ("0", "1"), np.array([0, 1]))

    pair = align_answers(predicted, gold)

    assert pair.predicted.tolist() == pair.gold.tolist() == [0, 1]


def test_a_missing_prediction_is_no_answer() -> None:
    pair = align_answers(answers(["u"], ["x"]), answers(["u", "v"], ["x", "y"]))

    assert pair.predicted.tolist() == [0, -1]


def test_classes_only_one_side_knows_are_joined() -> None:
    predicted = Answers(pl.Series(["u"]), ("x", "z"), np.array([1]), beliefs=np.array([[0.2, 0.8]]))

    pair = align_answers(predicted, answers(["u"], ["y"]))

    assert pair.classes == ("x", "y", "z")
    assert pair.beliefs is not None
    assert pair.beliefs.tolist() == [[0.2, 0.0, 0.8]]


@pytest.mark.parametrize(
    ("left", "right", "message"),
    [
        (
            answers(["u"], ["x"]),
            answers(["v"], ["x"]),
            "the answers and the answers have no item in common (items there: u; here: v). Give two files about the same items.",
        ),
        (
            answers(["u"], ["x"]),
            Answers(pl.Series(["u"]), ("x",), np.array([0]), offsets=np.array([0, 1])),
            "the answers holds documents and the answers holds tagged sentences. Give two of one kind.",
        ),
        (
            Answers(pl.Series(["s"]), ("O",), np.array([0, 0]), offsets=np.array([0, 2])),
            Answers(pl.Series(["s"]), ("O",), np.array([0]), offsets=np.array([0, 1])),
            "Sentence 's' has 2 tags in the answers and 1 in the answers (1 such sentences). Give two files about the same tokens.",
        ),
    ],
)
def test_what_cannot_be_compared_is_refused(left: Answers, right: Answers, message: str) -> None:
    with pytest.raises(DataError) as caught:
        align_answers(left, right)

    assert str(caught.value) == message


def test_a_label_file_is_not_a_file_of_answers(tmp_path: Path) -> None:
    (tmp_path / "l.csv").write_text("item,annotator,label\nu,a,x\nu,b,y\n")

    with pytest.raises(CrowdLogicError, match=r"row 3: item 'u' appears again\. Answers have one row per item\."):
        read_answers(tmp_path / "l.csv")


def test_sentences_are_matched_by_name_whatever_their_order() -> None:
    predicted = Answers(pl.Series(["t", "s"]), ("O", "X"), np.array([1, 0, 1, 0]), offsets=np.array([0, 1, 4]))
    gold = Answers(pl.Series(["s", "t"]), ("O", "X"), np.array([0, 1, 0, 1]), offsets=np.array([0, 3, 4]))

    pair = align_answers(predicted, gold)

    assert pair.predicted.tolist() == pair.gold.tolist() == [0, 1, 0, 1]


def test_beliefs_follow_their_items() -> None:
    predicted = Answers(pl.Series(["v", "u"]), ("x", "y"), np.array([0, 1]), beliefs=np.array([[0.9, 0.1], [0.2, 0.8]]))

    pair = align_answers(predicted, answers(["u", "v", "w"], ["x", "y", "x"]))

    assert pair.beliefs is not None
    assert pair.beliefs.tolist() == [[0.2, 0.8], [0.9, 0.1], [0.5, 0.5]]


def test_what_was_not_compared_is_remarked() -> None:
    predicted = Answers(pl.Series(["u", "v"]), ("1.0",), np.array([0, 0]), source="p.csv")
    gold = Answers(pl.Series(["u", "w", "z"]), ("1",), np.array([0, 0, -1]), source="g.csv")

    assert align_answers(predicted, gold).remarks == (
        "1 items of p.csv are not in g.csv and are not scored.",
        "1 units have gold and no answer; they count as wrong.",
        "1 units have no gold and are not scored.",
        "The files share no class: 1.0 here, 1 there.",
    )


def test_tokens_that_differ_are_remarked(tmp_path: Path) -> None:
    (tmp_path / "p.conll").write_text("a O\nb O\n")
    (tmp_path / "g.conll").write_text("a O\nz O\n")

    pair = align_answers(read_answers(tmp_path / "p.conll"), read_answers(tmp_path / "g.conll"))

    assert pair.remarks == ("1 tokens differ between the files; are they about the same sentences?",)


def test_columns_that_begin_with_p_are_beliefs_only_if_they_name_the_classes(tmp_path: Path) -> None:
    (tmp_path / "g.csv").write_text("item,label,p_note\nu,x,fine\n")
    (tmp_path / "bad.csv").write_text("item,label,p_x,p_y\nu,x,9,-2\n")

    assert read_answers(tmp_path / "g.csv").beliefs is None
    with pytest.raises(DataError, match=r"row 2: the p_ columns are not probabilities that add up to 1\. Correct them"):
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

    with pytest.raises(CrowdLogicError, match="the column of tags holds"):
        read_answers(tmp_path / "t.jsonl")


def test_an_item_without_a_name_is_refused(tmp_path: Path) -> None:
    (tmp_path / "g.csv").write_text("item,label\n,x\nv,y\n")

    with pytest.raises(DataError, match=r"row 2: no item is named\. Fill in the item\."):
        read_answers(tmp_path / "g.csv")
