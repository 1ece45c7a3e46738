"""Sentences with everybody's spans, and where they are cut."""

from __future__ import annotations

import numpy as np
from tests.report.small_crowds import context_of, estimate_with, inputs_by

from crowdlogic.data.corpus import sentences
from crowdlogic.data.frames import from_sequences
from crowdlogic.reporting.inputs import inputs_from_estimate
from crowdlogic.reporting.pages.labels import (
    MOST_READINGS,
    MOST_TOKENS,
    Span,
    compute_labels,
    cut_windows,
    show_sentences,
)


def test_everybodys_spans_of_a_sentence_are_shown() -> None:
    corpus = sentences(["s"], [["Ann", "met", "New", "York"]], gold=[["B-PER", "O", "B-LOC", "I-LOC"]])
    labels = from_sequences(
        [("s", "a", ["B-PER", "O", "B-LOC", "I-LOC"]), ("s", "b", ["O", "O", "O", "B-LOC"])],
        classes=["B-LOC", "B-PER", "I-LOC", "O"],
    )
    beliefs = np.eye(4)[[1, 3, 0, 2]] * 0.7 + 0.075
    made = inputs_from_estimate(estimate_with(labels, beliefs), labels, corpus)

    (one,) = compute_labels(context_of(made)).doubts

    assert one.sentence.tokens == ("Ann", "met", "New", "York")
    assert (
        one.sentence.consensus
        == one.sentence.gold
        == (Span(start=0, end=1, kind="PER"), Span(start=2, end=4, kind="LOC"))
    )
    assert [(r.annotator, r.spans) for r in one.sentence.readings] == [
        ("a", (Span(start=0, end=1, kind="PER"), Span(start=2, end=4, kind="LOC"))),
        ("b", (Span(start=3, end=4, kind="LOC"),)),
    ]
    assert one.sentence.confidence == (0.775, 0.775, 0.775, 0.775)


def test_a_long_sentence_is_cut_but_never_before_the_token_in_question() -> None:
    windows = cut_windows(np.array([0, 500, 505]), np.array([1, 0, 0]), np.array([2, 7, 450]))

    assert np.diff(windows.offsets).tolist() == [5, MOST_TOKENS, 451]
    assert windows.length.tolist() == [5, 500, 500]
    assert windows.unit[:5].tolist() == [500, 501, 502, 503, 504]
    assert windows.unit[5:8].tolist() == [0, 1, 2]


def test_the_first_annotators_are_shown_and_all_are_counted() -> None:
    labels = from_sequences([("s", f"w{n:02}", ["B-X", "O"]) for n in range(MOST_READINGS + 3)])

    (found,) = show_sentences(inputs_by("majority", labels), np.array([0]), np.array([0]), np.full(33, np.nan))

    assert (len(found.readings), found.n_readings) == (MOST_READINGS, MOST_READINGS + 3)
    assert found.readings[0].annotator == "w00"
    assert found.readings[0].reliability is None
    assert found.gold is None
