"""Sentences with planted tags: named entities in BIO tags, and parts of speech.

Axes: i unit (a token), k class (a tag), s sequence (a sentence). The tags are sorted, as the classes of a file are,
and all of them are there whether or not a small corpus uses them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from crowdlogic.data.corpus import Corpus
from crowdlogic.data.simulate.crowds import DEFAULT_TAIL, SimulatedCrowd, label_truth
from crowdlogic.data.simulate.options import check_count, numbered_names
from crowdlogic.data.simulate.sentence_words import (
    BODIES,
    CLUB_TAILS,
    EVENTS,
    FILLERS,
    FIRM_HEADS,
    FIRM_TAILS,
    FIRST_NAMES,
    LAST_NAMES,
    PATTERNS,
    PEOPLES,
    PLACES,
    SHARED,
    SLOTS,
    TAG_PATTERNS,
    TAG_WORDS,
    TAGS,
    TYPES,
)

BIO_TAGS = tuple(sorted(["O", *(f"{mark}-{kind}" for mark in "BI" for kind in TYPES)]))


def simulate_sentences(rng: np.random.Generator, *, sentences: int = 500, prefix: str = "s") -> Corpus:
    """News-like sentences with entities of four types, in BIO tags.

    Args:
        rng: Random number generator.
        sentences: How many sentences.
        prefix: What the names of the items begin with.
    """
    check_count("sentences", sentences)
    return _make_corpus([_compose_sentence(rng) for _ in range(sentences)], BIO_TAGS, prefix)


@dataclass(frozen=True, eq=False)
class SimulatedTags:
    """Sentences with parts of speech, and the crowd that tagged them.

    Attributes:
        corpus: The sentences, with the true tags as gold.
        crowd: The labels, and the planted confusion matrices over the tags.
    """

    corpus: Corpus
    crowd: SimulatedCrowd


def simulate_tags(
    rng: np.random.Generator,
    *,
    sentences: int = 300,
    annotators: int = 12,
    labels_per_sentence: float | None = None,
    mix: Mapping[str, float] | None = None,
    tail: float = DEFAULT_TAIL,
    abstention: float = 0.0,
) -> SimulatedTags:
    """Sentences with a part of speech per token, tagged whole by annotators who err token by token.

    Args:
        rng: Random number generator.
        sentences: How many sentences.
        annotators: How many annotators.
        labels_per_sentence: The mean number of annotators a sentence is shown to.
        mix: Character -> share or count, as in `simulate_crowd`.
        tail: The exponent of the long-tailed activity.
        abstention: How often a sentence shown is left alone.
    """
    check_count("sentences", sentences)
    corpus = _make_corpus([_compose_tagged(rng) for _ in range(sentences)], TAGS, "s")
    crowd = label_truth(
        rng,
        np.asarray(corpus.gold),
        TAGS,
        annotators=annotators,
        mix=mix,
        labels_per_unit=labels_per_sentence,
        tail=tail,
        abstention=abstention,
        items=corpus.items,
        offsets=corpus.offsets,
    )
    return SimulatedTags(corpus, crowd)


def _make_corpus(sentences: Sequence[list[tuple[str, str]]], tags: tuple[str, ...], prefix: str) -> Corpus:
    code = {tag: k for k, tag in enumerate(tags)}
    lengths = [len(sentence) for sentence in sentences]
    return Corpus(
        pl.Series(numbered_names(prefix, len(sentences))),
        tokens=tuple(token for sentence in sentences for token, _ in sentence),
        offsets=np.concatenate([[0], np.cumsum(lengths)]),
        classes=tags,
        gold=np.array([code[tag] for sentence in sentences for _, tag in sentence], dtype=np.int32),
    )


def _compose_sentence(rng: np.random.Generator) -> list[tuple[str, str]]:
    """Tokens and tags of one pattern with its slots filled."""
    filled: list[tuple[str, str]] = []
    for word in _pick(rng, PATTERNS).split():
        slot = word.strip("{}")
        if word in FILLED:
            filled.append((_pick(rng, FILLERS[slot]), "O"))
        elif slot in SLOTS:
            name = NAMES[slot](rng).split()
            filled += [(token, f"{'I' if at else 'B'}-{SLOTS[slot]}") for at, token in enumerate(name)]
        else:
            filled.append((word, "O"))
    return filled


FILLED = frozenset(f"{{{name}}}" for name in FILLERS)


def _compose_tagged(rng: np.random.Generator) -> list[tuple[str, str]]:
    return [(_pick(rng, TAG_WORDS[tag]), tag) for tag in _pick(rng, TAG_PATTERNS).split()]


def _draw_person(rng: np.random.Generator) -> str:
    """A full name as a rule; the first or the last name alone, or one with an initial, now and then."""
    first, last = _pick(rng, FIRST_NAMES), _pick(rng, LAST_NAMES)
    initial = "ABCDEFGHJKLMNPRST"[rng.integers(17)]
    forms = (f"{first} {last}", f"{first} {last}", f"{first} {last}", last, first, f"{first} {initial}. {last}")
    return _pick(rng, forms)


def _draw_club(rng: np.random.Generator) -> str:
    """A town's club, half of the time by the town's name alone."""
    town = _pick(rng, SHARED)
    return town if rng.random() < 0.5 else f"{town} {_pick(rng, CLUB_TAILS)}"


def _draw_firm(rng: np.random.Generator) -> str:
    """A firm or a public body; now and then by a name that a person or a town has, too."""
    head = _pick(rng, FIRM_HEADS)
    full = f"{head} {_pick(rng, FIRM_TAILS)}"
    return _pick(rng, (full, full, full, _pick(rng, BODIES), _pick(rng, BODIES), head, _pick(rng, SHARED)))


NAMES: dict[str, Callable[[np.random.Generator], str]] = {
    "PERSON": _draw_person,
    "CLUB": _draw_club,
    "FIRM": _draw_firm,
    "PLACE": lambda rng: _pick(rng, PLACES),
    "PEOPLE": lambda rng: _pick(rng, PEOPLES),
    "EVENT": lambda rng: _pick(rng, EVENTS),
}


def _pick(rng: np.random.Generator, choices: Sequence[str]) -> str:
    return choices[int(rng.integers(len(choices)))]
