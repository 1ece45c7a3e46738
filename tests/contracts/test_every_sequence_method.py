"""What every truth method must do with the tags of sentences."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from crowdlogic.data.corpus import Corpus
from crowdlogic.data.frames import from_sequences
from crowdlogic.data.labels import CrowdLabels
from crowdlogic.errors import CorpusError
from crowdlogic.registry import TRUTH_METHODS
from crowdlogic.truth.majority import MajorityVote
from crowdlogic.truth.methods import TruthMethod, truth_method
from crowdlogic.truth.word_hmm import tag_grammar

TAGS = ("B-X", "B-Y", "I-X", "I-Y", "O")
ALL = [MajorityVote(ties="first"), *(truth_method(name) for name in TRUTH_METHODS if name != "majority")]


def sentences(seed: int, *, count: int = 30, annotators: int = 5) -> CrowdLabels:
    """Sentences with entities of two types, by annotators who are right 8 times in 10 and skip 3 sentences in 10."""
    rng = np.random.default_rng(seed)
    rows = []
    for s in range(count):
        truth = true_tags(rng, int(rng.integers(2, 9)))
        for j in range(annotators):
            if rng.random() < 0.7:
                wrong = rng.random(len(truth)) > 0.8
                rows.append((s, j, [str(rng.choice(TAGS)) if w else tag for w, tag in zip(wrong, truth, strict=True)]))
    return from_sequences(rows, classes=TAGS)


def true_tags(rng: np.random.Generator, length: int) -> list[str]:
    tags: list[str] = []
    while len(tags) < length:
        if rng.random() < 0.5:
            tags.append("O")
        else:
            kind = rng.choice(["X", "Y"])
            tags += [f"B-{kind}", *[f"I-{kind}"] * int(rng.integers(0, 3))]
    return tags[:length]


@pytest.fixture(params=ALL, ids=lambda method: method.name)
def method(request: pytest.FixtureRequest) -> TruthMethod:
    return request.param


@pytest.fixture(params=["hmm-crowd", "bsc-seq"])
def chain_method(request: pytest.FixtureRequest) -> TruthMethod:
    return truth_method(request.param)


def test_beliefs_are_distributions_over_tokens(method: TruthMethod) -> None:
    labels = sentences(0)

    estimate = method.infer(labels)

    assert estimate.beliefs.shape == (labels.n_units, 5)
    np.testing.assert_allclose(estimate.beliefs.sum(axis=1), 1.0, rtol=0, atol=1e-9)


def test_permuting_annotators_changes_nothing(method: TruthMethod) -> None:
    labels = sentences(1)
    order = np.random.default_rng(0).permutation(len(labels.annotators)).astype(np.int32)

    turned = method.infer(replace(labels, annotator=order[labels.annotator]))

    np.testing.assert_allclose(turned.beliefs, method.infer(labels).beliefs, rtol=0, atol=1e-6)


def test_permuting_sentences_permutes_the_beliefs(method: TruthMethod) -> None:
    labels = sentences(2)
    order = np.random.default_rng(0).permutation(len(labels.items))
    moved = labels.take_items(order)
    units = np.concatenate([np.arange(labels.offsets[s], labels.offsets[s + 1]) for s in order])

    np.testing.assert_allclose(method.infer(moved).beliefs, method.infer(labels).beliefs[units], rtol=0, atol=1e-6)


def test_renaming_tags_permutes_the_columns(method: TruthMethod) -> None:
    labels = sentences(3)
    turned = ("O", "I-Y", "B-X", "I-X", "B-Y")
    columns = [TAGS.index(tag) for tag in turned]

    found = method.infer(labels.with_classes(turned)).beliefs

    np.testing.assert_allclose(found, method.infer(labels).beliefs[:, columns], rtol=0, atol=1e-6)


def test_a_sentence_without_labels_gets_no_answer(method: TruthMethod) -> None:
    labels = sentences(4)
    longer = replace(
        labels,
        items=pl.concat([labels.items, pl.Series([999])]),
        offsets=np.append(labels.offsets, labels.offsets[-1] + 3),
    )

    estimate = method.infer(longer)

    assert estimate.answer[-3:].tolist() == [-1, -1, -1]
    np.testing.assert_allclose(estimate.beliefs[-3:].sum(axis=1), 1.0, rtol=0, atol=1e-9)


def test_a_unanimous_crowd_is_believed(method: TruthMethod) -> None:
    tags = ["O", "B-X", "I-X", "O", "B-Y"]
    labels = from_sequences([(s, j, tags) for s in range(6) for j in range(3)], classes=TAGS)

    assert method.infer(labels).answer_names() == tags * 6


@pytest.mark.parametrize("seed", range(5))
def test_a_decoded_answer_has_no_invalid_transition(chain_method: TruthMethod, seed: int) -> None:
    labels = sentences(seed)
    grammar = tag_grammar(TAGS)

    answer = chain_method.infer(labels).answer

    for begin, end in zip(labels.offsets[:-1], labels.offsets[1:], strict=True):
        assert grammar.may_start[answer[begin]]
        assert grammar.allowed[answer[begin : end - 1], answer[begin + 1 : end]].all()


@pytest.mark.parametrize(
    "tags",
    [["O", "I-PER", "I-PER", "O"], ["I-PER"], ["B-PER", "O", "I-LOC", "I-LOC"]],
    ids=["IO", "one tag", "no B-LOC"],
)
def test_a_type_without_a_beginning_may_begin_with_its_inside(chain_method: TruthMethod, tags: list[str]) -> None:
    labels = from_sequences([(s, who, tags) for s in range(6) for who in "abc"])

    assert chain_method.infer(labels).answer_names() == tags * 6


@pytest.mark.parametrize("seed", range(3))
def test_the_bound_never_falls(chain_method: TruthMethod, seed: int) -> None:
    labels = sentences(seed)
    words = tuple(np.random.default_rng(seed).choice(["a", "B", "c", "1"], size=labels.n_units).tolist())
    corpus = Corpus(labels.items, tokens=words, offsets=labels.offsets)

    for given in (None, corpus):
        trace = chain_method.infer(labels, given).trace

        assert len(trace) > 2
        assert (np.diff(trace) > -1e-8).all()


def test_words_that_mark_entities_help_where_nobody_labelled(chain_method: TruthMethod) -> None:
    """Sentence 0 has one label set by a poor annotator; elsewhere each word has one tag."""
    rng = np.random.default_rng(0)
    rows, tokens = [], []
    for s in range(60):
        truth = true_tags(rng, 6)
        tokens += [tag.lower() for tag in truth]
        rows += [(s, j, truth) for j in range(1 if s == 0 else 3)]
    rows[0] = (0, 9, ["O"] * 6)
    labels = from_sequences(rows, classes=TAGS)
    corpus = Corpus(labels.items, tokens=tuple(tokens), offsets=labels.offsets)

    answer = chain_method.infer(labels, corpus).answer_names()

    assert answer[:6] == [tag.upper() if tag == "o" else tag[:2].upper() + tag[2:].upper() for tag in tokens[:6]]


def test_a_corpus_of_another_length_is_refused(chain_method: TruthMethod) -> None:
    labels = sentences(0)

    with pytest.raises(CorpusError, match="The corpus has 1 token, but the labels have"):
        chain_method.infer(labels, Corpus(pl.Series([0]), tokens=("a",), offsets=np.array([0, 1])))


def test_no_sentences_give_an_empty_estimate(method: TruthMethod) -> None:
    assert method.infer(from_sequences([])).answer_names() == []
