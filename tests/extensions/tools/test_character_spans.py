"""Spans of characters to tags and back: policies at token boundaries, overlaps, and places in every script."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crowdlogic.data.character_spans import consensus_spans, texts_and_bounds
from crowdlogic.data.corpus import Corpus, documents, sentences
from crowdlogic.data.estimate import Estimate, make_estimate
from crowdlogic.data.intake.contract import Boundaries
from crowdlogic.data.labels import CrowdLabels
from crowdlogic.data.text_tokens import tokenize_texts
from crowdlogic.errors import CorpusError, OptionError
from crowdlogic.extensions.tools.marked_spans import CharacterSpans, align_spans, span_tag_classes, tag_annotations


def spans(*rows: tuple[int, int, int, str]) -> CharacterSpans:
    annotation, start, end = (np.array([row[c] for row in rows], dtype=np.int64) for c in range(3))
    return CharacterSpans(
        annotation=annotation, start=start, end=end, kind=pl.Series([row[3] for row in rows], dtype=pl.String)
    )


def tags(marked: CharacterSpans, texts: list[str], item: list[int], boundaries: str = "widen") -> list[list[str]]:
    tokenized, of = tokenize_texts(texts), np.array(item)
    aligned = align_spans(marked, of, tokenized, boundaries)
    classes = span_tag_classes(marked.kind)
    annotation, _, label = tag_annotations(aligned.spans, of, tokenized.offsets, classes)
    return [[str(classes[k]) for k in label[annotation == a]] for a in range(len(item))]


def test_spans_of_several_annotators_over_several_texts() -> None:
    marked = spans((0, 0, 7, "PER"), (0, 17, 22, "LOC"), (2, 0, 5, "LOC"))

    assert tags(marked, ["Ann Lee lives in Paris", "Paris"], [0, 0, 1]) == [
        ["B-PER", "I-PER", "O", "O", "B-LOC"],
        ["O", "O", "O", "O", "O"],
        ["B-LOC"],
    ]


@pytest.mark.parametrize(
    ("boundaries", "expected"),
    [("widen", ["B-X", "I-X", "I-X"]), ("shrink", ["O", "B-X", "O"]), ("drop", ["O", "O", "O"])],
)
def test_a_bound_inside_a_token_is_settled_by_the_policy(boundaries: str, expected: list[str]) -> None:
    assert tags(spans((0, 1, 8, "X")), ["aaa bb cc"], [0], boundaries) == [expected]


def test_what_the_policies_did_is_reported() -> None:
    marked = spans((0, 1, 2, "X"), (0, 3, 4, "X"), (0, 4, 6, "X"), (0, 4, 9, "Y"))

    aligned = align_spans(marked, np.array([0]), tokenize_texts(["aaa bb cc"]), Boundaries.widen)

    assert aligned.inside.tolist() == [0]
    assert aligned.empty.tolist() == [1], "white space alone"
    assert aligned.overlapping.tolist() == [2], "the longer one is kept"
    assert aligned.spans.start.tolist() == [0, 1]


def test_of_equally_long_overlapping_spans_the_first_is_kept() -> None:
    marked = spans((0, 3, 8, "Z"), (0, 0, 5, "X"), (0, 0, 5, "Y"), (1, 0, 5, "Y"))

    assert tags(marked, ["aa bb cc"], [0, 0]) == [["O", "B-Z", "I-Z"], ["B-Y", "I-Y", "O"]]


def test_neighbours_of_one_type_stay_two_spans() -> None:
    assert tags(spans((0, 0, 1, "X"), (0, 2, 3, "X")), ["a b"], [0]) == [["B-X", "B-X"]]


def test_an_unknown_policy_is_refused() -> None:
    with pytest.raises(OptionError, match=r"boundaries: expected one of widen, shrink, drop, error; got 'grow'."):
        align_spans(spans(), np.array([0]), tokenize_texts(["a"]), "grow")


def estimate(corpus: Corpus, answer: list[str], beliefs: list[float]) -> Estimate:
    classes = tuple(sorted({*answer, "O"}))
    q = np.zeros((len(answer), len(classes)))
    given = np.array([classes.index(tag) for tag in answer])
    q[np.arange(len(answer)), (given + 1) % len(classes)] = 1.0 - np.array(beliefs)  # the rest goes to another tag
    q[np.arange(len(answer)), given] += beliefs
    nothing = np.empty(0, dtype=np.int32)
    labels = CrowdLabels(
        unit=nothing,
        annotator=nothing,
        label=nothing,
        items=corpus.items,
        annotators=pl.Series(["a"]),
        classes=classes,
        offsets=corpus.offsets,
    )
    return make_estimate(labels, "test", q, answer_all=True)


def test_consensus_spans_have_places_and_a_confidence_of_the_whole_span() -> None:
    text = "👩‍👩‍👧 Ann\r\nLee in Paris"
    tokenized = tokenize_texts(["", text])
    corpus = Corpus(
        pl.Series(["e", "t"]),
        texts=("", text),
        tokens=tuple(tokenized.tokens),
        offsets=tokenized.offsets,
        bounds=tokenized.bounds,
    )

    none, found = consensus_spans(
        estimate(corpus, ["O", "B-PER", "I-PER", "O", "B-LOC"], [0.9, 0.8, 0.6, 1, 0.7]), corpus
    )

    assert none == []
    assert [(one.kind, one.text) for one in found] == [("PER", "Ann\r\nLee"), ("LOC", "Paris")]
    assert [one.confidence for one in found] == [pytest.approx(0.8 * 0.6), pytest.approx(0.7)]
    assert [text[one.start : one.end] for one in found] == ["Ann\r\nLee", "Paris"]


def test_without_texts_tokens_are_joined_by_spaces() -> None:
    corpus = sentences(["s", "t"], [["Ann", "Lee"], ["in", "Rome"]])

    texts, bounds = texts_and_bounds(corpus)
    found = consensus_spans(estimate(corpus, ["B-P", "I-P", "O", "B-L"], [1, 1, 1, 1]), corpus)

    assert texts == ("Ann Lee", "in Rome")
    assert bounds.tolist() == [[0, 3], [4, 7], [0, 2], [3, 7]]
    assert [(one.start, one.end) for own in found for one in own] == [(0, 7), (3, 7)]


def test_documents_have_no_spans() -> None:
    corpus = documents(["d"], ["text"])

    with pytest.raises(CorpusError, match="Spans require tagged sentences"):
        consensus_spans(estimate(sentences(["s"], [["a"]]), ["O"], [1]), corpus)


@given(st.data())
def test_spans_on_token_bounds_survive_the_way_to_tags_and_back(data: st.DataObject) -> None:
    text = data.draw(st.text(min_size=1, max_size=30))
    tokenized = tokenize_texts([text])
    n = len(tokenized.tokens)
    cuts = sorted(data.draw(st.sets(st.integers(0, n), max_size=6)))
    marked = [
        (0, int(tokenized.bounds[a, 0]), int(tokenized.bounds[b - 1, 1]), data.draw(st.sampled_from(["X", "Y"])))
        for a, b in zip(cuts[::2], cuts[1::2], strict=False)
    ]
    corpus = Corpus(
        pl.Series([0]),
        texts=(text,),
        tokens=tuple(tokenized.tokens),
        offsets=tokenized.offsets,
        bounds=tokenized.bounds,
    )

    answer = tags(spans(*marked), [text], [0])[0]
    found = consensus_spans(estimate(corpus, answer, [1.0] * n), corpus)[0] if n else []

    assert [(0, one.start, one.end, one.kind) for one in found] == marked
