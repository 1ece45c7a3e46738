"""The one figure: accuracy, or the F1 of spans."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from crowdlogic.data.corpus import documents, sentences
from crowdlogic.learning.task import is_scorable, score, score_answers, score_name

TAGS = ("B-X", "I-X", "O")
PARTS = ("NOUN", "VERB", "ADJ")
GOLD = np.array([0, 1, 2, 0])


def test_documents_are_scored_by_the_share_of_right_answers_where_gold_is_known() -> None:
    corpus = replace(documents(range(4), ["x"] * 4), gold=np.array([0, 1, 1, -1]), classes=("no", "yes"))

    assert score_answers(corpus, np.array([0, 1, 0, 0])) == 2 / 3
    assert score(corpus, np.array([[0.6, 0.4], [0.1, 0.9], [0.9, 0.1], [0.5, 0.5]])) == 2 / 3


def test_spans_are_scored_as_a_whole() -> None:
    corpus = replace(sentences(["s"], [["New", "York", "and", "Rome"]]), gold=GOLD, classes=TAGS)

    # of two spans one is found, and another has a wrong end: precision and recall are 1/2
    assert score_answers(corpus, np.array([0, 2, 2, 0])) == 0.5
    assert score_answers(corpus, GOLD) == 1.0


def test_tags_that_are_no_spans_are_scored_by_accuracy() -> None:
    corpus = replace(sentences(["s"], [["New", "York", "and", "Rome"]]), gold=GOLD, classes=PARTS)

    assert score_answers(corpus, np.array([0, 2, 2, 0])) == 0.75


def test_the_score_is_called_by_what_it_measures() -> None:
    assert score_name(TAGS, sequential=True) == "span F1"
    assert score_name(TAGS, sequential=False) == "accuracy"
    assert score_name(PARTS, sequential=True) == "accuracy"


def test_items_without_gold_cannot_be_scored() -> None:
    corpus = documents(range(2), ["x"] * 2)

    assert not is_scorable(corpus)
    assert not is_scorable(replace(corpus, gold=np.array([-1, -1]), classes=("no", "yes")))
    assert is_scorable(replace(corpus, gold=np.array([-1, 0]), classes=("no", "yes")))
