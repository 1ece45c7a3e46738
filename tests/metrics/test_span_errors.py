"""Annotators' mistakes: hand-made cases, a slow reader of the definition, and the figures known of 47 people."""

from __future__ import annotations

import csv
import gzip
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crowdlogic.data.frames import from_arrays, from_sequences
from crowdlogic.errors import CorpusError
from crowdlogic.metrics.spans import SpanErrors, count_span_errors, span_scores

BIO = ("O", "B-PER", "I-PER", "B-LOC", "I-LOC")
CODE = {tag: k for k, tag in enumerate(BIO)} | {"?": -1}
KINDS = ("correct", "boundary", "wrong_type", "ignored", "spurious")


def found(gold: dict[str, str], rows: list[tuple[str, str, str]], **options: str) -> SpanErrors:
    """Mistakes of (sentence, annotator, tags) rows; the gold lists the sentences in their order of appearance."""
    labels = from_sequences([(item, who, tags.split()) for item, who, tags in rows], classes=BIO, duplicates="keep")
    codes = np.array([CODE[tag] for item in labels.items for tag in gold[item].split()])
    return count_span_errors(labels, codes, **options)


def counts(result: SpanErrors, j: int = 0) -> tuple[int, ...]:
    return tuple(int(getattr(result, kind)[j]) for kind in KINDS)


@pytest.mark.parametrize(
    ("gold", "tags", "expected"),
    [
        ("B-PER I-PER O", "B-PER I-PER O", (1, 0, 0, 0, 0)),
        ("B-PER I-PER O", "B-PER O O", (0, 1, 0, 0, 0)),
        ("B-PER I-PER O", "O I-PER I-PER", (0, 1, 0, 0, 0)),
        ("B-PER I-PER O", "B-LOC I-LOC O", (0, 0, 1, 0, 0)),
        ("B-PER I-PER O", "O B-LOC I-LOC", (0, 0, 1, 0, 0)),
        ("B-PER I-PER O", "O O B-PER", (0, 0, 0, 1, 1)),
        ("B-PER I-PER O", "O O O", (0, 0, 0, 1, 0)),
        ("B-PER I-PER O", "B-LOC B-PER O", (0, 1, 0, 0, 0)),
        ("B-PER I-PER I-PER", "B-LOC B-LOC B-LOC", (0, 0, 1, 0, 0)),
        ("B-PER B-PER O", "B-PER I-PER O", (0, 2, 0, 0, 0)),
        ("B-PER B-LOC O", "B-PER I-PER O", (0, 1, 1, 0, 0)),
        ("B-PER O B-LOC", "O B-LOC O", (0, 0, 0, 2, 1)),
        ("O O O", "B-PER O B-LOC", (0, 0, 0, 0, 2)),
        ("B-PER ? B-LOC", "B-PER I-PER O", (1, 0, 0, 1, 0)),
    ],
)
def test_every_entity_has_one_fate(gold: str, tags: str, expected: tuple[int, ...]) -> None:
    assert counts(found({"s": gold}, [("s", "w", tags)])) == expected


def test_only_sequences_that_were_seen_count() -> None:
    gold = {"s": "B-PER O", "t": "B-LOC B-PER"}

    result = found(gold, [("s", "v", "O O"), ("s", "w", "B-PER O"), ("t", "w", "O B-PER")])

    assert result.n_sequences.tolist() == [1, 2]
    assert result.n_gold.tolist() == [1, 3]
    assert (counts(result, 0), counts(result, 1)) == ((0, 0, 0, 1, 0), (2, 0, 0, 1, 0))
    np.testing.assert_allclose(result.recall, [0, 2 / 3], rtol=1e-12)
    np.testing.assert_allclose(result.precision, [0, 1], rtol=1e-12)
    np.testing.assert_allclose(result.f1, [0, 0.8], rtol=1e-12)


def test_spans_do_not_run_on_into_the_next_sequence() -> None:
    result = found({"s": "O B-PER", "t": "B-PER O"}, [("s", "w", "O I-PER"), ("t", "w", "I-PER O")])

    assert counts(result) == (2, 0, 0, 0, 0)


def test_a_sequence_tagged_twice_counts_twice() -> None:
    rows = [("s", "w", "B-PER I-PER"), ("s", "w", "B-PER O"), ("s", "v", "O O")]

    result = found({"s": "B-PER I-PER"}, rows)

    assert result.n_sequences.tolist() == [2, 1]
    assert (counts(result, 0), counts(result, 1)) == ((1, 1, 0, 0, 0), (0, 0, 0, 1, 0))


def test_the_strict_reading_does_not_see_a_span_without_a_beginning() -> None:
    result = found({"s": "B-PER O"}, [("s", "w", "I-PER O")], scheme="strict")

    assert counts(result) == (0, 0, 0, 1, 0)


def test_a_token_without_a_tag_is_outside() -> None:
    labels = from_sequences([("s", "w", ["B-PER", "I-PER"]), ("s", "v", ["O", "O"])], classes=BIO)
    torn = labels.take((labels.annotator == 1) | (labels.unit == 0))

    assert counts(count_span_errors(torn, np.array([1, 2]))) == (0, 1, 0, 0, 0)


def test_rates_are_shares_of_entities_and_of_marks() -> None:
    result = found({"s": "B-PER O B-LOC O", "t": "O"}, [("s", "w", "B-PER B-LOC O O"), ("t", "v", "O")])

    rates = {kind: share.tolist() for kind, share in result.rates().items()}

    assert rates["correct"][0] == 0.5
    assert rates["ignored"][0] == 0.5
    assert rates["spurious"][0] == 0.5
    assert np.isnan([share[1] for share in rates.values()]).all()


sentences = st.lists(st.sampled_from(BIO), min_size=1, max_size=7)


@settings(max_examples=60)
@given(st.data(), st.lists(sentences, min_size=1, max_size=4), st.sampled_from(["conll", "strict"]))
def test_fates_follow_the_definition_word_for_word(st_data: st.DataObject, gold: list[list[str]], scheme: str) -> None:
    rows = [
        (s, j, st_data.draw(st.lists(st.sampled_from(BIO), min_size=len(tags), max_size=len(tags))))
        for s, tags in enumerate(gold)
        for j in st_data.draw(st.sets(st.integers(0, 2), min_size=1))
    ]
    labels = from_sequences(rows, classes=BIO)
    codes = np.array([CODE[tag] for tags in gold for tag in tags])

    result = count_span_errors(labels, codes, scheme=scheme)

    for j, who in enumerate(labels.annotators):
        assert counts(result, j) == by_definition([(gold[s], tags) for s, w, tags in rows if w == who], scheme)
        assert_scores_agree(result, j, [(gold[s], tags) for s, w, tags in rows if w == who], scheme)


def by_definition(pairs: list[tuple[list[str], list[str]]], scheme: str) -> tuple[int, ...]:
    from seqeval.metrics.sequence_labeling import get_entities
    from seqeval.scheme import IOB2, Entities

    def read(tags: list[str]) -> list[tuple[str, set[int]]]:
        if scheme == "conll":
            return [(kind, set(range(first, last + 1))) for kind, first, last in get_entities(tags)]
        return [(one.tag, set(range(one.start, one.end))) for one in Entities([tags], IOB2).entities[0]]

    tally = dict.fromkeys(KINDS, 0)
    for gold, tags in pairs:
        marked = read(tags)
        for entity in read(gold):
            touching = [span for span in marked if span[1] & entity[1]]
            if entity in marked:
                tally["correct"] += 1
            elif any(span[0] == entity[0] for span in touching):
                tally["boundary"] += 1
            elif touching:
                tally["wrong_type"] += 1
            else:
                tally["ignored"] += 1
        tally["spurious"] += sum(not any(span[1] & entity[1] for entity in read(gold)) for span in marked)
    return tuple(tally.values())


def assert_scores_agree(result: SpanErrors, j: int, pairs: list[tuple[list[str], list[str]]], scheme: str) -> None:
    gold, tags = (np.array([CODE[tag] for pair in pairs for tag in pair[side]]) for side in (0, 1))
    offsets = np.concatenate([[0], np.cumsum([len(pair[0]) for pair in pairs])])
    expected = span_scores(gold, tags, offsets, BIO, scheme=scheme)

    assert (result.n_gold[j], result.n_marked[j]) == (expected.n_gold, expected.n_predicted)
    assert result.precision[j] == pytest.approx(expected.precision, abs=1e-12)
    assert result.recall[j] == pytest.approx(expected.recall, abs=1e-12)
    assert result.f1[j] == pytest.approx(expected.f1, abs=1e-12)


def test_permuting_annotators_permutes_their_mistakes() -> None:
    labels = from_sequences(
        [("s", "u", ["B-PER", "O"]), ("s", "v", ["O", "O"]), ("s", "w", ["B-LOC", "B-LOC"])], classes=BIO
    )
    order = np.array([2, 0, 1])
    gold = np.array([1, 0])
    plain, moved = (
        count_span_errors(labels, gold),
        count_span_errors(replace(labels, annotator=order[labels.annotator]), gold),
    )

    for kind in (*KINDS, "n_sequences", "n_gold", "n_marked"):
        np.testing.assert_array_equal(getattr(moved, kind)[order], getattr(plain, kind))


def test_an_annotator_without_labels_has_made_no_mistakes() -> None:
    labels = from_sequences([("s", "v", ["O", "B-PER"])], classes=BIO)
    none = labels.take(np.zeros(labels.n_labels, dtype=bool))

    result = count_span_errors(none, np.array([0, 1]))

    assert (counts(result), result.n_gold.tolist(), result.f1.tolist()) == ((0, 0, 0, 0, 0), [0], [0.0])


def test_what_has_no_sequences_is_refused() -> None:
    documents = from_arrays(["u"], ["a"], ["O"])
    sequences = from_sequences([("s", "w", ["O", "O"])])

    with pytest.raises(CorpusError, match=r"^Errors in spans need labels of sequences, but these are of documents\."):
        count_span_errors(documents, np.array([0]))
    with pytest.raises(CorpusError, match=r"^1 gold tag for sequences of 2 units in all\. Give one for every unit\.$"):
        count_span_errors(sequences, np.array([0]))


@pytest.mark.data
def test_every_annotator_of_the_ner_crowd_scores_as_known(data_root: Path) -> None:
    folder = data_root / "ner_conll_mturk"
    with gzip.open(folder / "labels.csv.gz", "rt", encoding="utf-8") as file:
        labels = from_sequences([(int(r["sent"]), r["annotator"], r["labels"].split()) for r in csv.DictReader(file)])
    blocks = (folder / "train.gold.conll").read_text(encoding="utf-8").strip("\n").split("\n\n")
    code = {tag: k for k, tag in enumerate(labels.classes)}
    gold = np.array([code[line.rsplit(" ", 1)[1]] for s in labels.items for line in blocks[s].split("\n")])
    expected = json.loads((folder / "annotators.json").read_text(encoding="utf-8"))

    result = count_span_errors(labels, gold)

    assert set(labels.annotators) == set(expected)
    for j, who in enumerate(labels.annotators):
        ours = 100 * np.array([result.precision[j], result.recall[j], result.f1[j]])
        np.testing.assert_allclose(ours, [expected[who][key] for key in ("P", "R", "F1")], rtol=0, atol=0.01)
        assert result.n_sequences[j] == expected[who]["sentences"]
    np.testing.assert_array_equal(result.correct + result.boundary + result.wrong_type + result.ignored, result.n_gold)
