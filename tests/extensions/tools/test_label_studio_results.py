"""Results of Label Studio: answers and spans, and places that are counted in UTF-16 units."""

from __future__ import annotations

from typing import Any

import pytest

from crowdlogic.data.formats.protocol import ReadOptions
from crowdlogic.errors import FormatError
from crowdlogic.extensions.tools.collector import Collector
from crowdlogic.extensions.tools.label_studio import parse_answers, parse_spans

TEXT = "😀😀 Ann e\u0301tait à Paris"


@pytest.fixture
def collector() -> Collector:
    return Collector("e.json", ReadOptions())


def test_a_place_in_utf16_units_is_repaired_by_its_quote(collector: Collector) -> None:
    in_units = parse_spans({"start": 5, "end": 8, "labels": ["PER"], "text": "Ann"}, TEXT, collector, 1)
    in_characters = parse_spans({"start": 3, "end": 6, "labels": ["PER"], "text": "Ann"}, TEXT, collector, 1)

    assert in_units == in_characters == [(3, 6, "PER")]
    assert [one.reason for one in collector._left_out_summary()] == [
        "with offsets in UTF-16 units: repaired by the quoted text"
    ]


def test_a_place_without_a_quote_is_taken_as_it_is(collector: Collector) -> None:
    assert parse_spans({"start": 5, "end": 8, "labels": ["PER"]}, TEXT, collector, 1) == [(5, 8, "PER")]


def test_white_space_that_browsers_change_is_no_difference(collector: Collector) -> None:
    assert parse_spans({"start": 0, "end": 5, "labels": ["X"], "text": "a \\nb"}, "a \r\nb", collector, 1) == [
        (0, 5, "X")
    ]
    assert not collector._left_out_summary()


def test_a_span_whose_quote_is_elsewhere_is_left_out_and_counted(collector: Collector) -> None:
    assert parse_spans({"start": 0, "end": 3, "labels": ["X"], "text": "Rome"}, TEXT, collector, 4) == []
    assert str(collector._left_out_summary()[0]) == (
        "1 span whose quoted text is not at the given offsets: left out (first: record 4)."
    )


def test_hypertext_has_its_places_over_the_whole_text(collector: Collector) -> None:
    value = {
        "start": "/p[1]/text()[1]",
        "end": "/p[1]/text()[1]",
        "startOffset": 0,
        "endOffset": 3,
        "hypertextlabels": ["X"],
    }

    assert parse_spans(value | {"globalOffsets": {"start": 2, "end": 5}}, "xxAnn", collector, 1) == [(2, 5, "X")]
    assert parse_spans(value, "xxAnn", collector, 1) == []


def test_a_region_with_two_labels_is_two_spans(collector: Collector) -> None:
    assert parse_spans({"start": 0, "end": 1, "labels": ["X", "Y"]}, "a", collector, 1) == [(0, 1, "X"), (0, 1, "Y")]


@pytest.mark.parametrize(
    ("value", "kind", "expected"),
    [
        ({"choices": ["a", "b"]}, "choices", ["a", "b"]),
        ({"rating": 4}, "rating", [4]),
        ({"number": 3.0}, "number", [3]),
        ({"selected": "left"}, "pairwise", ["left"]),
        ({"taxonomy": [["Animal", "Cat"]]}, "taxonomy", ["Animal / Cat"]),
    ],
)
def test_answers_by_kind_of_question(value: Any, kind: str, expected: list[Any], collector: Collector) -> None:
    assert parse_answers(value, kind, collector, 1) == expected


@pytest.mark.parametrize(
    ("value", "text", "message"),
    [
        (None, "t", "e.json, record 3: a result without a value. Export the project again."),
        ({"start": 0, "end": 1}, "t", "e.json, record 3: a span without a list of labels. Export the project again."),
        ({"start": 0, "end": 1, "labels": [1]}, "t", "e.json, record 3: a span without a list of labels. Export the project again."),
        ({"start": 0, "end": 1, "labels": ["X"]}, None, "e.json, record 3: a marked span without a text. Include the texts in the export."),
    ],
)  # fmt: skip
def test_a_malformed_span_is_refused(value: Any, text: str | None, message: str, collector: Collector) -> None:
    with pytest.raises(FormatError) as caught:
        parse_spans(value, text, collector, 3)

    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("value", "kind"), [({}, "rating"), ({"rating": True}, "rating"), ("x", "pairwise"), ({"choices": "a"}, "choices")]
)
def test_a_malformed_answer_is_refused(value: Any, kind: str, collector: Collector) -> None:
    with pytest.raises(FormatError, match=r"e\.json, record 2: a result whose value has no"):
        parse_answers(value, kind, collector, 2)
