"""Answers of reviewers: classes, tags and spans, and what is none."""

from __future__ import annotations

import numpy as np
import pytest

from crowdlogic.data.frames import from_dict, from_sequences
from crowdlogic.errors import DataError
from crowdlogic.extensions.review.evidence import AnswerForm, item_units

CLASSES = AnswerForm(from_dict({"u1": {"ann": 1}, "u2": {"ann": 2}}))
SPANS = AnswerForm(
    from_sequences([("s1", "ann", ["B-PER", "I-PER", "O"]), ("s2", "ann", ["B-LOC", "I-LOC", "B-PER", "O"])])
)
PARTS = AnswerForm(from_sequences([("s1", "ann", ["NOUN", "VERB"])]))


def test_a_class_is_compared_as_text_and_comes_back() -> None:
    assert CLASSES.encode(0, "2").tolist() == [1]
    assert CLASSES.decode(np.array([1])) == "2"
    assert CLASSES.types == ("1", "2")


def test_spans_and_tags_are_each_others_inverse() -> None:
    spans = [{"start": 2, "end": 4, "type": "LOC"}, {"start": 0, "end": 1, "type": "PER"}]

    tags = SPANS.tags_of_spans(1, spans)

    assert tags == ["B-PER", "O", "B-LOC", "I-LOC"]
    assert SPANS.spans(SPANS.encode(1, tags)) == [spans[1], spans[0]]
    assert SPANS.types == ("LOC", "PER")
    assert SPANS.tags_of_spans(0, []) == ["O", "O", "O"]


def test_every_token_of_other_tags_is_a_span_of_its_own() -> None:
    assert PARTS.spans(np.array([0, 1])) == [
        {"start": 0, "end": 1, "type": "NOUN"},
        {"start": 1, "end": 2, "type": "VERB"},
    ]
    assert PARTS.tags_of_spans(0, [{"start": 0, "end": 2, "type": "VERB"}]) == ["VERB", "VERB"]


@pytest.mark.parametrize(
    ("form", "item", "answer", "message"),
    [
        (CLASSES, 0, "3", "'3' is not a class. Choose one of 1, 2."),
        (CLASSES, 0, ["1"], "An answer is a class, or one tag for each token of a sentence."),
        (CLASSES, 0, None, "An answer is a class, or one tag for each token of a sentence."),
        (SPANS, 0, "O", "An answer is a class, or one tag for each token of a sentence."),
        (SPANS, 0, ["O"], "1 tag for 3 tokens. Give one for each token."),
        (SPANS, 0, ["O", "O", "B-PRE"], "'B-PRE' is not a class. Did you mean 'B-PER'? Choose one of B-LOC, B-PER, I-LOC, I-PER, O."),
    ],
)  # fmt: skip
def test_what_is_no_answer_is_refused(form: AnswerForm, item: int, answer: object, message: str) -> None:
    with pytest.raises(DataError) as caught:
        form.encode(item, answer)

    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("spans", "message"),
    [
        (
            [(0, 2, "PER"), (1, 3, "LOC")],
            "The span 1 to 3 overlaps another, or does not fit 4 tokens. Correct its ends.",
        ),
        ([(3, 5, "PER")], "The span 3 to 5 overlaps another, or does not fit 4 tokens. Correct its ends."),
        ([(1, 1, "PER")], "The span 1 to 1 overlaps another, or does not fit 4 tokens. Correct its ends."),
        ([(-1, 1, "PER")], "The span -1 to 1 overlaps another, or does not fit 4 tokens. Correct its ends."),
        ([(0, 1, "ORG")], "'ORG' is not a type. Choose one of LOC, PER."),
    ],
)
def test_spans_that_do_not_fit_are_refused(spans: list[tuple[int, int, str]], message: str) -> None:
    with pytest.raises(DataError) as caught:
        SPANS.tags_of_spans(1, [{"start": a, "end": b, "type": kind} for a, b, kind in spans])

    assert str(caught.value) == message


def test_documents_have_no_spans() -> None:
    with pytest.raises(DataError, match="Answer a document with its class"):
        CLASSES.tags_of_spans(0, [])


def test_a_token_without_a_tag_is_refused() -> None:
    with pytest.raises(DataError, match=r"^Token 2 has no tag"):
        PARTS.tags_of_spans(0, [{"start": 0, "end": 1, "type": "NOUN"}])


def test_the_units_of_items() -> None:
    assert item_units(None, np.array([3, 1])).tolist() == [3, 1]
    assert item_units(np.array([0, 2, 2, 5]), np.array([2, 0, 1])).tolist() == [2, 3, 4, 0, 1]
    assert item_units(np.array([0, 2]), np.array([], dtype=np.int64)).tolist() == []


def test_a_span_that_the_tags_cannot_hold_is_refused() -> None:
    form = AnswerForm(from_sequences([("s1", "ann", ["B-PER", "O", "O"])]))

    assert form.tags_of_spans(0, [{"start": 1, "end": 2, "type": "PER"}]) == ["O", "B-PER", "O"]
    with pytest.raises(DataError) as caught:
        form.tags_of_spans(0, [{"start": 0, "end": 2, "type": "PER"}])

    assert (
        str(caught.value)
        == "These spans cannot be represented: the tags B-PER, O lack one that they need, such as I-. Mark other spans."
    )
