"""Simulated sentences: valid tags, names that are not given away by their words, parts of speech."""

from __future__ import annotations

from collections import defaultdict
from itertools import pairwise

import numpy as np
import pytest
from tests.data.simulate.tagged_words import WORDS as TAG_WORDS
from tests.data.simulate.tagged_words import simulate_tags

from crowdlogic.data.corpus import Corpus
from crowdlogic.data.simulate import simulate_sentences
from crowdlogic.errors import OptionError


def tagged(corpus: Corpus) -> list[list[tuple[str, str]]]:
    """The sentences as lists of (token, tag)."""
    assert corpus.gold is not None
    assert corpus.offsets is not None
    assert corpus.tokens is not None
    tags = [str(corpus.classes[k]) for k in corpus.gold]
    pairs = list(zip(corpus.tokens, tags, strict=True))
    return [pairs[a:b] for a, b in zip(corpus.offsets[:-1], corpus.offsets[1:], strict=True)]


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    return simulate_sentences(np.random.default_rng(0), sentences=600)


def test_every_i_tag_goes_on_an_entity_of_its_type(corpus: Corpus) -> None:
    for sentence in tagged(corpus):
        before = "O"
        for _, tag in sentence:
            assert not tag.startswith("I-") or before[2:] == tag[2:]
            before = tag


def test_all_types_and_some_long_entities_occur(corpus: Corpus) -> None:
    tags = {tag for sentence in tagged(corpus) for _, tag in sentence}

    assert tags == {"O", *(f"{mark}-{kind}" for mark in "BI" for kind in ("LOC", "MISC", "ORG", "PER"))}
    assert corpus.classes == tuple(sorted(tags))
    assert any(
        [tag for _, tag in s[i : i + 3]] == ["B-PER", "I-PER", "I-PER"] for s in tagged(corpus) for i in range(len(s))
    )


def test_some_names_are_used_for_several_types(corpus: Corpus) -> None:
    types = defaultdict(set)
    for sentence in tagged(corpus):
        for (token, tag), (_, after) in pairwise([*sentence, ("", "O")]):
            if tag.startswith("B-") and after == "O":
                types[token].add(tag[2:])

    assert types["Varnholt"] == {"LOC", "ORG"} or types["Caldry"] == {"LOC", "ORG"}
    assert types["Marlow"] == {"LOC", "ORG", "PER"}


def test_no_token_is_empty_or_an_unfilled_slot(corpus: Corpus) -> None:
    assert corpus.tokens is not None

    assert all(token and token.split() == [token] and "{" not in token for token in corpus.tokens)
    assert corpus.offsets is not None
    assert np.diff(corpus.offsets).min() >= 4


def test_some_sentences_have_no_entity(corpus: Corpus) -> None:
    empty = [sentence for sentence in tagged(corpus) if all(tag == "O" for _, tag in sentence)]

    assert 0 < len(empty) < 0.2 * len(corpus.items)


def test_a_small_corpus_has_all_tags_as_classes() -> None:
    assert len(simulate_sentences(np.random.default_rng(0), sentences=1).classes) == 9


def test_the_same_seed_gives_the_same_sentences_and_another_seed_others() -> None:
    first, again, other = (simulate_sentences(np.random.default_rng(seed), sentences=20) for seed in (1, 1, 2))

    assert first.tokens == again.tokens
    np.testing.assert_array_equal(first.gold, again.gold)
    assert first.tokens != other.tokens


def test_words_have_the_parts_of_speech_they_are_listed_under() -> None:
    simulated = simulate_tags(np.random.default_rng(0), sentences=100)

    assert simulated.corpus.classes == ("ADJ", "ADP", "DET", "NOUN", "PRON", "VERB")
    assert all(token in TAG_WORDS[tag] for sentence in tagged(simulated.corpus) for token, tag in sentence)


def test_confusion_of_tags_is_recovered_by_counting() -> None:
    simulated = simulate_tags(
        np.random.default_rng(3),
        sentences=4000,
        annotators=4,
        labels_per_unit=4,
        mix={"ordinary": 2, "biased": 1, "adversary": 1},
    )
    labels, confusion = simulated.crowd.labels, simulated.crowd.confusion
    assert simulated.corpus.gold is not None

    counts = np.zeros_like(confusion)
    np.add.at(counts, (labels.annotator, simulated.corpus.gold[labels.unit], labels.label), 1)
    rows = counts.sum(axis=2, keepdims=True)

    assert rows.min() > 1000
    np.testing.assert_allclose(counts / rows, confusion, rtol=0, atol=0.06)
    assert np.abs(counts / rows - confusion).mean() < 0.01


def test_tags_are_given_to_whole_sentences() -> None:
    simulated = simulate_tags(np.random.default_rng(4), sentences=60, annotators=7, labels_per_unit=2.5, abstention=0.2)
    labels = simulated.crowd.labels
    assert labels.offsets is not None

    item, _, pair = labels.annotations()

    np.testing.assert_array_equal(np.bincount(pair), np.diff(labels.offsets)[item])
    np.testing.assert_array_equal(labels.offsets, simulated.corpus.offsets)
    assert labels.items.to_list() == simulated.corpus.items.to_list()


def test_no_sentences_is_refused_in_one_line() -> None:
    with pytest.raises(OptionError) as refused:
        simulate_sentences(np.random.default_rng(0), sentences=0)

    assert str(refused.value) == "sentences: expected an integer of 1 or more, got 0."
