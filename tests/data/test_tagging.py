"""Tags and spans against a reader that walks token by token."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crowdlogic.data.tagging import Spans, is_span_tag_set, parse_tags, sequence_starts, spans_to_tags, tags_to_spans
from crowdlogic.errors import DataError, OptionError
from crowdlogic.numerics.arrays import Ints

BIO = ("O", "B-PER", "I-PER", "B-LOC", "I-LOC")
BIOES = (*BIO, "E-PER", "S-PER", "E-LOC", "S-LOC")

Triples = list[tuple[int, int, str]]


def walk(sentence: list[str | None], scheme: str, ends: bool) -> Triples:
    """The spans of one sentence, the way one would explain them: token by token."""
    spans: list[list[str]] = []
    starts: list[int] = []
    open_kind: str | None = None
    for i, tag in enumerate(sentence):
        head, _, kind = (tag or "O").partition("-")
        if head == "O":
            open_kind = None
            continue
        if head in "BS" or kind != open_kind:
            spans.append([])
            starts.append(i)
        spans[-1].append(head)
        open_kind = None if head in "ES" else kind
    kinds = [(sentence[start] or "").partition("-")[2] for start in starts]
    found = zip(starts, spans, kinds, strict=True)
    return [(i, i + len(heads), kind) for i, heads, kind in found if scheme == "conll" or well_formed(heads, ends)]


def well_formed(heads: list[str], ends: bool) -> bool:
    text = "".join(heads)
    if ends:
        return text == "S" or (text[0] == "B" and text[-1] == "E")
    return text[0] == "B"


def laid_out(sentences: list[list[str | None]], classes: tuple[str, ...]) -> tuple[Ints, Ints]:
    code = {name: k for k, name in enumerate(classes)} | {None: -1}
    tags = np.array([code[tag] for sentence in sentences for tag in sentence], dtype=np.int32)
    return tags, np.concatenate([[0], np.cumsum([len(sentence) for sentence in sentences], dtype=np.int64)])


def triples(spans: Spans, types: tuple[str, ...]) -> Triples:
    return [(int(s), int(e), types[k]) for s, e, k in zip(spans.start, spans.end, spans.kind, strict=True)]


@pytest.mark.parametrize("scheme", ["conll", "strict"])
@pytest.mark.parametrize("classes", [BIO, BIOES], ids=["BIO", "BIOES"])
@settings(deadline=None)
@given(data=st.data())
def test_spans_are_those_of_walking_through_each_sentence(
    classes: tuple[str, ...], scheme: str, data: st.DataObject
) -> None:
    sentences = data.draw(st.lists(st.lists(st.sampled_from([*classes, None]), max_size=8), max_size=6))
    tags, offsets = laid_out(sentences, classes)
    expected = [
        (int(start) + first, int(start) + last, kind)
        for start, sentence in zip(offsets, sentences, strict=False)
        for first, last, kind in walk(sentence, scheme, classes is BIOES)
    ]

    known = parse_tags(classes)

    assert triples(tags_to_spans(tags, offsets, known, scheme), known.types) == expected


@pytest.mark.parametrize("classes", [BIO, BIOES], ids=["BIO", "BIOES"])
@settings(deadline=None)
@given(data=st.data())
def test_spans_written_as_tags_read_back_the_same_in_both_readings(
    classes: tuple[str, ...], data: st.DataObject
) -> None:
    tags, offsets = laid_out(data.draw(st.lists(st.lists(st.sampled_from(classes), max_size=8), max_size=6)), classes)
    known = parse_tags(classes)
    spans = tags_to_spans(tags, offsets, known)

    written = spans_to_tags(spans, len(tags), known)

    for scheme in ("conll", "strict"):
        assert triples(tags_to_spans(written, offsets, known, scheme), known.types) == triples(spans, known.types)


def test_spans_are_written_with_the_prefixes_that_the_tag_set_has() -> None:
    spans = Spans(np.array([0, 3, 5]), np.array([3, 4, 7]), np.array([1, 1, 0]))

    def names(classes: tuple[str, ...]) -> list[str]:
        return [classes[code] for code in spans_to_tags(spans, 8, parse_tags(classes))]

    assert names(BIO) == ["B-PER", "I-PER", "I-PER", "B-PER", "O", "B-LOC", "I-LOC", "O"]
    assert names(BIOES) == ["B-PER", "I-PER", "E-PER", "S-PER", "O", "B-LOC", "E-LOC", "O"]


def test_a_tag_set_is_split_into_prefix_and_type() -> None:
    known = parse_tags(("I-b-x", "O", "B-b-x", "U-a"))

    assert known.types == ("a", "b-x")
    assert known.kind.tolist() == [1, -1, 1, 0]
    assert known.prefix.tolist() == [2, 0, 1, 4]


def test_only_span_tags_are_a_span_tag_set() -> None:
    assert is_span_tag_set(["O", "B-PER"])
    assert is_span_tag_set(["O"])
    assert not is_span_tag_set([])
    assert not is_span_tag_set(["NOUN", "VERB"])
    assert not is_span_tag_set(["B-PER", "X-PER"])
    assert not is_span_tag_set(["B-", "O"])
    assert not is_span_tag_set([True, False])


def test_no_answer_over_no_classes_is_no_span() -> None:
    assert len(tags_to_spans(np.array([-1, -1]), np.array([0, 2]), parse_tags(()))) == 0


def test_empty_sequences_begin_nowhere() -> None:
    assert sequence_starts(3, np.array([0, 0, 2, 2, 3, 3])).tolist() == [True, False, True]


def test_what_is_no_span_tag_is_refused() -> None:
    with pytest.raises(
        DataError, match=r"^'NOUN' is not a span tag. Spans require O and tags such as B-PER and I-PER\.$"
    ):
        parse_tags(("O", "NOUN"))


def test_an_unknown_reading_is_refused() -> None:
    with pytest.raises(OptionError, match=r"^scheme: expected one of conll, strict; got 'loose'\.$"):
        tags_to_spans(np.array([0]), np.array([0, 1]), parse_tags(("O",)), "loose")


def test_spans_that_have_no_tag_are_refused() -> None:
    spans = Spans(np.array([0]), np.array([1]), np.array([0]))

    with pytest.raises(DataError, match=r"^Spans of type 'PER' cannot be written as tags: B-PER is not among"):
        spans_to_tags(spans, 1, parse_tags(("O", "I-PER")))
    with pytest.raises(DataError, match=r"^Spans cannot be written as tags: O is not among the classes\.$"):
        spans_to_tags(spans, 1, parse_tags(("B-PER", "I-PER")))
