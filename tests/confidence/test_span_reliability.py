"""Reliability of annotators who mark spans: the expected F1 of whole spans."""

from __future__ import annotations

import numpy as np
import pytest

from crowdlogic.confidence.annotator_figures import span_reliability
from crowdlogic.confidence.annotator_verdicts import annotator_table
from crowdlogic.data.corpus import align
from crowdlogic.data.frames import from_sequences
from crowdlogic.data.simulate import simulate_ner
from crowdlogic.metrics.spans import count_span_errors
from crowdlogic.truth.bsc_seq import BSCSeq

BIO = ("O", "B-PER", "I-PER", "B-ORG", "I-ORG")


def certain(*sentences: str) -> np.ndarray:
    """Beliefs that hold these tags for certain."""
    return np.eye(len(BIO))[[BIO.index(tag) for sentence in sentences for tag in sentence.split()]]


def test_with_certain_beliefs_it_is_the_f1_of_evaluation() -> None:
    made = simulate_ner(4, items=120, annotators=10, labels_per_item=4)
    labels, corpus = align(made.labels, made.corpus)
    assert corpus.gold is not None

    found = span_reliability(labels, np.eye(labels.n_classes)[corpus.gold])

    np.testing.assert_allclose(found.f1, count_span_errors(labels, corpus.gold).f1, rtol=1e-9)
    assert (found.low < found.f1).all()
    assert (found.f1 < found.high).all()


def test_a_span_is_as_probable_as_the_least_that_it_needs() -> None:
    labels = from_sequences([("s", "a", ["B-PER", "I-PER", "O"])], classes=BIO)
    beliefs = np.zeros((3, len(BIO)))
    beliefs[0, [1, 0]] = 0.9, 0.1
    beliefs[1, [2, 0]] = 0.7, 0.3
    beliefs[2, [2, 0]] = 0.2, 0.8

    found = span_reliability(labels, beliefs)

    # One span is marked; it is right with 0.7, the least of 0.9, 0.7 and 0.8; 0.9 spans are expected.
    assert found.n_marked.tolist() == [1.0]
    np.testing.assert_allclose(found.n_true, [0.9], rtol=1e-12)
    np.testing.assert_allclose(found.f1, [2 * 0.7 / 1.9], rtol=1e-12)


def test_an_i_tag_after_another_type_begins_a_span() -> None:
    labels = from_sequences([("s", "a", ["B-ORG", "I-PER"])], classes=BIO)

    found = span_reliability(labels, certain("B-ORG I-PER"))

    assert (found.n_marked.tolist(), found.n_true.tolist(), found.f1.tolist()) == ([2.0], [2.0], [1.0])


def test_where_there_is_nothing_to_mark_nothing_is_said() -> None:
    labels = from_sequences([("s", "a", ["O", "O"])], classes=BIO)

    assert np.isnan(span_reliability(labels, certain("O O")).f1).all()


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_intervals_hold_the_f1_by_gold_of_most_annotators(seed: int) -> None:
    made = simulate_ner(seed, items=200, annotators=12, labels_per_item=5)
    labels, corpus = align(made.labels, made.corpus)
    assert corpus.gold is not None

    found = span_reliability(labels, BSCSeq().infer(labels, corpus).beliefs)

    real = count_span_errors(labels, corpus.gold).f1
    assert np.mean((found.low <= real) & (real <= found.high)) >= 0.75
    assert np.abs(found.f1 - real).max() < 0.1


def test_an_annotator_who_misses_and_mistypes_spans_is_unreliable_though_most_tokens_are_right() -> None:
    outside = " ".join(["O"] * 16)
    truth = [f"B-PER I-PER {outside} B-ORG"] * 20
    seen = [(f"s{n}", "good", tags.split()) for n, tags in enumerate(truth)]
    poor = [
        tags.replace("B-PER I-PER", "O O") if n % 2 else tags.replace("B-ORG", "B-PER") for n, tags in enumerate(truth)
    ]
    seen += [(f"s{n}", "poor", tags.split()) for n, tags in enumerate(poor)]
    labels = from_sequences(seen, classes=BIO)

    table = annotator_table(labels, make_certain(labels, certain(*truth)))

    good, bad = table.rows(named=True)
    assert good["reliability"] == 1.0
    assert bad["reliability"] == pytest.approx(2 * 20 / (30 + 40))
    assert bad["token_reliability"] > 0.9


def make_certain(labels, beliefs):  # type: ignore[no-untyped-def]
    from crowdlogic.data.estimate import make_estimate

    return make_estimate(labels, "planted", beliefs)
