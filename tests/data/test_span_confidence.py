"""How sure a span is, against enumeration and by hand."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from crowdlogic.data.character_spans import scale_odds, span_confidence
from crowdlogic.data.corpus import UNKNOWN
from crowdlogic.data.estimate import Calibration, Estimate, make_estimate
from crowdlogic.data.frames import from_dict, from_sequences
from crowdlogic.data.tagging import parse_tags, tags_to_spans
from crowdlogic.errors import CorpusError

TAGS = ("B-X", "B-Y", "I-X", "I-Y", "O")


def estimate(answers: list[list[str]], beliefs: np.ndarray) -> Estimate:
    labels = from_sequences([(s, "a", tags) for s, tags in enumerate(answers)], classes=TAGS)
    answer = np.array([TAGS.index(tag) for tags in answers for tag in tags], dtype=np.int32)
    return make_estimate(labels, "test", beliefs, answer=answer)


@pytest.mark.parametrize("seed", range(4))
def test_it_is_the_probability_of_the_very_span_where_tokens_are_independent(seed: int) -> None:
    """All taggings of a sentence of four tokens, each with the product of its tags' beliefs."""
    beliefs = np.random.default_rng(seed).dirichlet(np.ones(5), 4)
    answer = ["B-X", "I-X", "O", "B-Y"]
    tag_set, offsets = parse_tags(TAGS), np.array([0, 4])
    wanted = {(0, 2, 0): 0.0, (3, 4, 1): 0.0}
    for codes in product(range(5), repeat=4):
        chance = np.prod(beliefs[range(4), codes])
        # exactly these tags, and no continuation of the type after the span
        if codes[:2] == (0, 2) and codes[2] != 2:
            wanted[0, 2, 0] += chance
        if codes[3] == 1:
            wanted[3, 4, 1] += chance

    spans, confidence = span_confidence(estimate([answer], beliefs))

    found = dict(zip(zip(spans.start, spans.end, spans.kind, strict=True), confidence, strict=True))
    assert found == {key: pytest.approx(value, rel=1e-9) for key, value in wanted.items()}
    assert len(spans) == len(tags_to_spans(np.array([0, 2, 4, 1]), offsets, tag_set))


def test_the_next_sentence_never_continues_a_span() -> None:
    beliefs = np.array([[0.9, 0, 0.1, 0, 0], [0, 0, 0.8, 0, 0.2]])

    _, together = span_confidence(estimate([["B-X", "O"]], beliefs))
    _, apart = span_confidence(estimate([["B-X"], ["O"]], beliefs))

    assert together[0] == pytest.approx(0.9 * 0.2)
    assert apart[0] == pytest.approx(0.9)


def test_the_calibration_moves_the_log_odds_along_a_line() -> None:
    beliefs = np.array([[0.9, 0, 0.05, 0, 0.05]])
    calibration = Calibration(source="x", correlation=0.5, doubt=0.02, span_shift=-0.77, span_slope=0.79)

    _, own = span_confidence(estimate([["B-X"]], beliefs))
    _, stated = span_confidence(replace(estimate([["B-X"]], beliefs), calibration=calibration))

    odds = -0.77 + 0.79 * np.log(0.9 / 0.1)
    assert (own[0], stated[0]) == (pytest.approx(0.9), pytest.approx(1 / (1 + np.exp(-odds))))


def test_certain_and_impossible_tags_stay_finite() -> None:
    beliefs = np.array([[1.0, 0, 0, 0, 0], [0, 1.0, 0, 0, 0]])

    _, confidence = span_confidence(estimate([["B-X"], ["B-X"]], beliefs))

    assert confidence[0] == pytest.approx(1.0)
    assert confidence[1] == pytest.approx(0.0, abs=1e-5)
    assert np.isfinite(scale_odds(np.array([0.0, 1.0]), shift=-1, slope=0.5)).all()


def test_no_spans_and_tokens_without_an_answer() -> None:
    found = estimate([["O", "O"]], np.full((2, 5), 0.2))

    assert len(span_confidence(found)[1]) == 0
    assert len(span_confidence(replace(found, answer=np.full(2, UNKNOWN, dtype=np.int32)))[1]) == 0


def test_documents_have_no_spans() -> None:
    labels = from_dict({"u": {"a": "x"}})

    with pytest.raises(CorpusError, match=r"Spans require tagged sentences, but these items are documents\."):
        span_confidence(make_estimate(labels, "test", np.ones((1, 1))))
