"""Span scores against seqeval, hand-made cases and the published figures of a majority vote."""

from __future__ import annotations

from itertools import chain
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from seqeval import metrics as seqeval
from seqeval.scheme import BILOU, IOB2, IOBES

from crowdlogic.data.names import sort_classes
from crowdlogic.errors import DataError
from crowdlogic.metrics.spans import SpanScores, TypeScores, span_scores

BIO = ("O", "B-PER", "I-PER", "B-LOC", "I-LOC")
BIOES = (*BIO, "E-PER", "S-PER", "E-LOC", "S-LOC")
BILOU_TAGS = (*BIO, "L-PER", "U-PER", "L-LOC", "U-LOC")

Tags = list[list[str]]


def pairs_of_sentences(tags: tuple[str, ...]) -> st.SearchStrategy[list[tuple[list[str], list[str]]]]:
    """Gold and answer for some sentences, empty ones among them; answers are often copied so that spans agree."""

    def pair(gold: list[str]) -> st.SearchStrategy[tuple[list[str], list[str]]]:
        answer = st.tuples(*(st.one_of(st.just(tag), st.just(tag), st.sampled_from(tags)) for tag in gold)).map(list)
        return st.tuples(st.just(gold), answer)

    return st.lists(st.lists(st.sampled_from(tags), max_size=8).flatmap(pair), min_size=1, max_size=6)


def scored(gold: Tags, answer: Tags, scheme: str, classes: tuple[str, ...] | None = None) -> SpanScores:
    names = sort_classes(chain("O", *gold, *answer)) if classes is None else classes
    code = {name: k for k, name in enumerate(names)} | {"?": -1}
    flat = [np.array([code[tag] for tag in chain(*tags)], dtype=np.int32) for tags in (gold, answer)]
    offsets = np.concatenate([[0], np.cumsum([len(sentence) for sentence in gold], dtype=np.int64)])
    return span_scores(*flat, offsets, names, scheme=scheme)


def assert_equals_seqeval(ours: SpanScores, gold: Tags, answer: Tags, **mode: object) -> None:
    """Overall and per type. seqeval cannot divide when there is no span at all, where conlleval says 0."""
    if not ours.n_gold + ours.n_predicted:
        assert (ours.precision, ours.recall, ours.f1) == (0, 0, 0)
        return
    report = seqeval.classification_report(gold, answer, output_dict=True, zero_division=0, **mode)
    theirs = {name: tuple(row.values()) for name, row in report.items()}
    mine = {
        name: (one.precision, one.recall, one.f1, one.n_gold)
        for name, one in ours.per_type.items()
        if one.n_gold + one.n_predicted
    }
    assert ours.precision == pytest.approx(theirs["micro avg"][0], abs=1e-12)
    assert ours.recall == pytest.approx(theirs["micro avg"][1], abs=1e-12)
    assert ours.f1 == pytest.approx(theirs["micro avg"][2], abs=1e-12)
    assert set(mine) == set(theirs) - {"micro avg", "macro avg", "weighted avg"}
    for name, figures in mine.items():
        assert figures == pytest.approx(theirs[name], abs=1e-12)


@settings(max_examples=60)
@given(st.sampled_from([BIO, BIOES]).flatmap(pairs_of_sentences))
def test_the_conll_reading_is_seqevals_default(sentences: list[tuple[list[str], list[str]]]) -> None:
    gold, answer = (list(side) for side in zip(*sentences, strict=True))

    assert_equals_seqeval(scored(gold, answer, "conll", BIOES), gold, answer)


@settings(max_examples=60)
@given(pairs_of_sentences(BIO))
def test_the_strict_reading_is_seqevals_strict_iob2(sentences: list[tuple[list[str], list[str]]]) -> None:
    gold, answer = (list(side) for side in zip(*sentences, strict=True))

    assert_equals_seqeval(scored(gold, answer, "strict", BIO), gold, answer, mode="strict", scheme=IOB2)


@pytest.mark.parametrize(("tags", "scheme"), [(BIOES, IOBES), (BILOU_TAGS, BILOU)], ids=["BIOES", "BILOU"])
@settings(max_examples=60)
@given(data=st.data())
def test_the_strict_reading_of_ends_and_singles_is_seqevals(
    tags: tuple[str, ...], scheme: type, data: st.DataObject
) -> None:
    sentences = data.draw(pairs_of_sentences(tags))
    gold, answer = (list(side) for side in zip(*sentences, strict=True))

    assert_equals_seqeval(scored(gold, answer, "strict", tags), gold, answer, mode="strict", scheme=scheme)


@settings(max_examples=60)
@given(pairs_of_sentences(BIO).filter(lambda pairs: any(gold for gold, _ in pairs)))
def test_token_accuracy_is_seqevals(sentences: list[tuple[list[str], list[str]]]) -> None:
    gold, answer = (list(side) for side in zip(*sentences, strict=True))

    assert scored(gold, answer, "conll").accuracy == pytest.approx(seqeval.accuracy_score(gold, answer), abs=1e-12)


@pytest.mark.parametrize(
    ("gold", "answer", "conll", "strict"),
    [
        ("B-PER I-PER O", "B-PER I-PER O", (1, 1, 1), (1, 1, 1)),
        ("B-PER I-PER O", "I-PER I-PER O", (1, 1, 1), (0, 0, 1)),
        ("B-PER I-PER O", "B-PER O O", (0, 1, 1), (0, 1, 1)),
        ("B-PER I-LOC O", "B-PER I-LOC O", (2, 2, 2), (1, 1, 1)),
        ("B-PER I-PER | I-PER", "B-PER I-PER | O", (1, 1, 2), (1, 1, 1)),
        ("B-PER | B-PER", "B-PER | I-PER", (2, 2, 2), (1, 1, 2)),
        ("B-PER B-PER", "B-PER I-PER", (0, 1, 2), (0, 1, 2)),
        ("| B-PER | |", "| B-PER | |", (1, 1, 1), (1, 1, 1)),
        ("O O | O", "O O | O", (0, 0, 0), (0, 0, 0)),
        ("O O O", "B-PER O B-LOC", (0, 2, 0), (0, 2, 0)),
        ("B-PER O B-LOC", "O O O", (0, 0, 2), (0, 0, 2)),
        ("B-PER I-PER O", "B-PER ? O", (0, 1, 1), (0, 1, 1)),
        ("B-PER ? B-LOC", "B-PER I-PER B-LOC", (2, 2, 2), (2, 2, 2)),
        ("? ? | B-LOC", "B-PER I-PER | B-LOC", (1, 1, 1), (1, 1, 1)),
    ],
)
def test_hand_made_sentences_count_as_they_should(
    gold: str, answer: str, conll: tuple[int, int, int], strict: tuple[int, int, int]
) -> None:
    sides = [[part.split() for part in text.split("|")] for text in (gold, answer)]

    for scheme, expected in (("conll", conll), ("strict", strict)):
        found = scored(*sides, scheme, BIO)

        assert (found.n_correct, found.n_predicted, found.n_gold) == expected


def test_types_are_scored_apart() -> None:
    found = scored([["B-PER", "O", "B-LOC", "B-LOC"]], [["B-PER", "B-PER", "O", "B-LOC"]], "conll")

    assert dict(found.per_type) == {
        "LOC": TypeScores(precision=1.0, recall=0.5, f1=pytest.approx(2 / 3), n_gold=2, n_predicted=1, n_correct=1),
        "PER": TypeScores(precision=0.5, recall=1.0, f1=pytest.approx(2 / 3), n_gold=1, n_predicted=2, n_correct=1),
    }
    assert found.f1 == pytest.approx(2 / 3)
    assert found.accuracy == 0.5


def test_no_sequence_at_all_is_no_span() -> None:
    found = span_scores(np.empty(0, int), np.empty(0, int), np.array([0]), ())

    assert (found.n_gold, found.n_predicted, found.f1, dict(found.per_type)) == (0, 0, 0.0, {})


def test_tags_that_do_not_fit_are_refused() -> None:
    with pytest.raises(DataError, match=r"^2 gold tags and 1 answer for sequences of 2 units in all\."):
        span_scores(np.array([0, 0]), np.array([0]), np.array([0, 2]), ("O",))


def read_conll(path: Path) -> Tags:
    """Sentences of tags from a two-column file."""
    blocks = path.read_text(encoding="utf-8").strip("\n").split("\n\n")
    return [[line.rsplit(" ", 1)[1] for line in block.split("\n")] for block in blocks]


@pytest.mark.data
@pytest.mark.parametrize(("scheme", "expected"), [("conll", (79.12, 58.50, 67.27)), ("strict", (81.49, 58.64, 68.20))])
def test_the_papers_majority_vote_scores_as_published(
    data_root: Path, scheme: str, expected: tuple[float, float, float]
) -> None:
    folder = data_root / "ner_conll_mturk"
    gold, votes = read_conll(folder / "train.gold.conll"), read_conll(folder / "train.mv.conll")

    found = scored(gold, votes, scheme)

    figures = tuple(round(100 * value, 2) for value in (found.precision, found.recall, found.f1))
    assert figures == expected
