from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

from crowdlogic.data.corpus import documents, sentences
from crowdlogic.data.estimate import (
    Answers,
    KnownTruths,
    align_answers,
    answers_from_crowd,
    drawn_at_random,
    estimate_from_gold,
)
from crowdlogic.data.frames import from_frame, from_sequences
from crowdlogic.data.reading import read_answers
from crowdlogic.errors import DataError
from crowdlogic.truth.majority import MajorityVote

VOTES = {"u": {"a": "x", "b": "x", "c": "y"}, "v": {"a": "y"}, "w": {"a": None}}


def answers(items: list[object], names: list[str | None], classes: tuple[str, ...] = ("x", "y")) -> Answers:
    codes = np.array([-1 if name is None else classes.index(name) for name in names])
    return Answers(pl.Series(items), classes, codes)


def tagged() -> tuple[object, object]:
    labels = from_sequences([("s1", "a", ["B-X", "I-X"]), ("s2", "a", ["O"])])
    corpus = sentences(["s1", "s2"], [["New", "York"], ["is"]])
    return MajorityVote().infer(labels), corpus


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
            "the answers (with u) and the answers (with v) have no item in common. Give two files about the same items.",
        ),
        (
            answers(["u"], ["x"]),
            Answers(pl.Series(["u"]), ("x",), np.array([0]), offsets=np.array([0, 1])),
            "the answers contains documents, but the answers contains tagged sentences. Give files of one kind.",
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
        "1 item of p.csv: not in g.csv, so not scored.",
        "1 answer without gold: not scored.",
        "The files share no class: 1.0 in p.csv, 1 in g.csv.",
    )


def test_tokens_that_differ_are_remarked(tmp_path: Path) -> None:
    (tmp_path / "p.conll").write_text("a O\nb O\n")
    (tmp_path / "g.conll").write_text("a O\nz O\n")

    pair = align_answers(read_answers(tmp_path / "p.conll"), read_answers(tmp_path / "g.conll"))

    assert pair.remarks == ("1 token differs between the files; are they about the same sentences?",)


def test_the_only_annotator_of_a_file_gives_answers_and_several_do_not() -> None:
    labels = from_frame({"item": ["u", "v", "w"], "annotator": ["a", "a", "a"], "label": ["x", None, "y"]})
    several = from_frame({"item": ["u", "u"], "annotator": ["a", "b"], "label": ["x", "y"]})

    assert answers_from_crowd(labels, None, "f").answer.tolist() == [0, -1, 1]
    with pytest.raises(DataError, match="f: labels of 2 annotators, where one answer per item is needed"):
        answers_from_crowd(several, None, "f")


def test_gold_counts_before_the_annotators() -> None:
    labels = from_frame({"item": ["u", "u"], "annotator": ["a", "b"], "label": ["x", "y"]})
    corpus = documents(["u"], ["text"], gold=["y"])

    found = answers_from_crowd(labels, corpus, "f")

    assert [found.classes[code] for code in found.answer] == ["y"]


def test_gold_as_an_estimate_is_sure_where_it_is_known() -> None:
    estimate = estimate_from_gold(documents(["u", "v"], ["one", "two"], gold=["x", None]))

    assert estimate.answer_names() == ["x", None]
    assert estimate.confidence[0] == 1.0


def test_a_sequence_is_unanswered_when_none_of_its_units_is() -> None:
    gold = Answers(pl.Series(["a", "b", "c"]), ("O",), np.array([0, 0, 0, 0, -1]), offsets=np.array([0, 2, 4, 5]))
    predicted = Answers(pl.Series(["a", "b", "c"]), ("O",), np.array([-1, 0, -1, -1, -1]), offsets=gold.offsets)

    pair = align_answers(predicted, gold)

    assert pair.unanswered.tolist() == [False, False, True, True, False]
    assert pair.without(pair.unanswered).gold.tolist() == [0, 0, -1, -1, -1]


def test_known_truths_of_items_drawn_at_random_may_calibrate() -> None:
    truths = KnownTruths({"a": "x", "b": "y", "c": "x"}, at_random=["c", "a"])

    assert dict(truths) == {"a": "x", "b": "y", "c": "x"}
    assert drawn_at_random(truths) == {"a": "x", "c": "x"}
    assert drawn_at_random({"a": "x"}) == {"a": "x"}
    assert drawn_at_random(None) == {}
