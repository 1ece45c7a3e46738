"""Marked spans as tags: what is reported, what is refused, and which classes result."""

from __future__ import annotations

import numpy as np
import pytest

from crowdlogic.data.formats.protocol import ReadOptions
from crowdlogic.data.text_tokens import tokenize_texts
from crowdlogic.errors import FormatError, OptionError
from crowdlogic.extensions.tools.collector import Collector
from crowdlogic.extensions.tools.marked_spans import Annotations, tag_texts

TEXTS = tokenize_texts(["aaa bb cc"])


def annotated(*spans: tuple[int, int, str]) -> Annotations:
    return Annotations(np.array([0]), np.array([7]), [spans])


@pytest.mark.parametrize(
    ("boundaries", "sentence"),
    [
        ("widen", "1 span with a bound inside a token: widened to whole tokens (first: record 7)."),
        ("shrink", "1 span with a bound inside a token: cut down to whole tokens (first: record 7)."),
        ("drop", "1 span with a bound inside a token: left out (first: record 7)."),
    ],
)
def test_every_policy_is_reported(boundaries: str, sentence: str) -> None:
    options = ReadOptions(boundaries=boundaries)
    collector = Collector("e", options)

    tag_texts(annotated((1, 6, "X")), TEXTS, options, collector)

    assert list(map(str, collector._left_out_summary())) == [sentence]


def test_overlaps_and_empty_spans_are_reported() -> None:
    collector = Collector("e", ReadOptions())

    tag_texts(annotated((0, 6, "X"), (4, 6, "Y"), (3, 4, "X")), TEXTS, ReadOptions(), collector)

    assert [one.reason for one in collector._left_out_summary()] == [
        "without any token: left out",
        "overlapping a longer one of the same annotator: left out",
    ]


def test_a_bound_inside_a_token_can_be_refused() -> None:
    options = ReadOptions(boundaries="error")

    with pytest.raises(FormatError) as caught:
        tag_texts(annotated((1, 6, "X")), TEXTS, options, Collector("e", options))

    assert str(caught.value) == (
        "e, record 7: the span 1 to 6 begins or ends inside a token. Choose what to do with the 1 such spans: "
        "--boundaries widen, shrink or drop; or use other tokens: --tokens characters."
    )


def test_classes_are_tags_or_types() -> None:
    collector = Collector("e", ReadOptions())

    def classes(*given: str) -> tuple[object, ...]:
        return tag_texts(annotated((0, 3, "X")), TEXTS, ReadOptions(classes=given or None), collector).classes

    assert classes() == ("B-X", "I-X", "O")
    assert classes("Y", "X") == ("B-X", "B-Y", "I-X", "I-Y", "O")
    assert classes("O", "B-X", "I-X") == ("O", "B-X", "I-X")
    with pytest.raises(OptionError, match="classes: the tags B-X, I-X are used, but missing from"):
        classes("Y")
