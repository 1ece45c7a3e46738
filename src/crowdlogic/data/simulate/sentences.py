"""Simulated sentences with named entities in BIO tags, and crowds that annotate them.

The classes are all tags in sorted order, even if a small corpus does not use all of them.

Axes: i unit (a token), k class (a tag), s sequence (a sentence).
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from crowdlogic.data.corpus import Corpus
from crowdlogic.data.intake.contract import Intake
from crowdlogic.data.labels import CrowdLabels
from crowdlogic.data.simulate.crowds import (
    DEFAULT_LABELS,
    DEFAULT_TAIL,
    allocate_mix,
    check_count,
    check_mean,
    check_share,
    check_tail,
    draw_answered_pairs,
    draw_counts,
    long_tailed_activity,
    numbered_names,
    units_of_pairs,
)
from crowdlogic.data.tagging import Scheme, Spans, TagSet, parse_tags, spans_to_tags, tags_to_spans
from crowdlogic.errors import CorpusError, OptionError
from crowdlogic.numerics.arrays import Bools, Floats, Ints

WORDS: dict[str, Any] = tomllib.loads(Path(__file__).with_name("sentences.toml").read_text(encoding="utf-8"))
"""Names, words and sentence patterns with slots for entities; the file explains how they are used."""

TYPES = ("LOC", "MISC", "ORG", "PER")
BIO_TAGS = tuple(sorted(["O", *(f"{mark}-{kind}" for mark in "BI" for kind in TYPES)]))


def simulate_sentences(rng: np.random.Generator, *, sentences: int = 500, prefix: str = "s") -> Corpus:
    """Compose news-like sentences with entities of four types, and their BIO tags as gold.

    Args:
        rng: Random number generator.
        sentences: Number of sentences.
        prefix: Prefix of the item names.
    """
    check_count("sentences", sentences)
    composed = [_compose_sentence(rng) for _ in range(sentences)]
    code = {tag: k for k, tag in enumerate(BIO_TAGS)}
    return Corpus(
        pl.Series(numbered_names(prefix, sentences)),
        tokens=tuple(token for sentence in composed for token, _ in sentence),
        offsets=np.concatenate([[0], np.cumsum([len(sentence) for sentence in composed])]),
        classes=BIO_TAGS,
        gold=np.array([code[tag] for sentence in composed for _, tag in sentence], dtype=np.int32),
    )


def _compose_sentence(rng: np.random.Generator) -> list[tuple[str, str]]:
    """Fill the slots of a random pattern, and return its tokens with their tags."""
    filled: list[tuple[str, str]] = []
    for word in _pick(rng, WORDS["patterns"]).split():
        slot = word.strip("{}")
        if word.startswith("{") and slot in WORDS["fillers"]:
            filled.append((_pick(rng, WORDS["fillers"][slot]), "O"))
        elif slot in WORDS["slots"]:
            name = NAMES[slot](rng).split()
            filled += [(token, f"{'I' if at else 'B'}-{WORDS['slots'][slot]}") for at, token in enumerate(name)]
        else:
            filled.append((word, "O"))
    return filled


def _draw_person(rng: np.random.Generator) -> str:
    """Draw a person: usually a full name, sometimes only the first or the last name, or a name with an initial."""
    first, last = _pick(rng, WORDS["first_names"]), _pick(rng, WORDS["last_names"])
    initial = "ABCDEFGHJKLMNPRST"[rng.integers(17)]
    forms = (f"{first} {last}", f"{first} {last}", f"{first} {last}", last, first, f"{first} {initial}. {last}")
    return _pick(rng, forms)


def _draw_club(rng: np.random.Generator) -> str:
    """Draw the name of a club; half of them are only called by the name of their town."""
    town = _pick(rng, WORDS["shared"])
    return town if rng.random() < 0.5 else f"{town} {_pick(rng, WORDS['club_tails'])}"


def _draw_firm(rng: np.random.Generator) -> str:
    """Draw a firm or a public body; some have a name that is also the name of a person or a town."""
    head = _pick(rng, WORDS["firm_heads"])
    full = f"{head} {_pick(rng, WORDS['firm_tails'])}"
    return _pick(
        rng,
        (full, full, full, _pick(rng, WORDS["bodies"]), _pick(rng, WORDS["bodies"]), head, _pick(rng, WORDS["shared"])),
    )


NAMES: dict[str, Callable[[np.random.Generator], str]] = {
    "PERSON": _draw_person,
    "CLUB": _draw_club,
    "FIRM": _draw_firm,
    "PLACE": lambda rng: _pick(rng, WORDS["places"]),
    "PEOPLE": lambda rng: _pick(rng, WORDS["peoples"]),
    "EVENT": lambda rng: _pick(rng, WORDS["events"]),
}


def _pick(rng: np.random.Generator, choices: Sequence[str]) -> str:
    return choices[int(rng.integers(len(choices)))]


# Simulated annotators of entities, who make the three kinds of errors of [LNCL] section 5.1 at planted rates:
#
# - ignore: the entity is not annotated;
# - boundary: the type is right, but the span is one token too long or too short;
# - type: the span is right, but the type is wrong.
#
# In addition, they mark spurious entities where there are none. Annotators always annotate whole sentences: without
# entities, all tokens are tagged O; sentences that an annotator did not see have no labels.
#
# Axes: i unit (a token), j annotator, s sequence; e entity, p pair of sequence and annotator.
#
# [LNCL] Chen et al., Learning from Noisy Crowd Labels with Logics.


class TaggerCharacter(StrEnum):
    """Kinds of entity annotators."""

    careful = "careful"
    ordinary = "ordinary"
    hasty = "hasty"
    sloppy = "sloppy"
    muddled = "muddled"


RATES: dict[TaggerCharacter, tuple[float, float, float, float]] = {
    TaggerCharacter.careful: (0.06, 0.04, 0.03, 0.001),
    TaggerCharacter.ordinary: (0.28, 0.12, 0.09, 0.004),
    TaggerCharacter.hasty: (0.55, 0.08, 0.06, 0.002),
    TaggerCharacter.sloppy: (0.20, 0.40, 0.06, 0.006),
    TaggerCharacter.muddled: (0.20, 0.08, 0.40, 0.010),
}
"""Mean rates of ignore, boundary, type (per entity) and spurious (per plain token) of each character."""
VARIATION = (0.7, 1.3)
"""Range of the random factor by which an annotator's rates differ from those of the character."""
DEFAULT_MIX: dict[str, float] = {
    TaggerCharacter.careful: 0.20,
    TaggerCharacter.ordinary: 0.35,
    TaggerCharacter.hasty: 0.25,
    TaggerCharacter.sloppy: 0.1,
    TaggerCharacter.muddled: 0.1,
}


IGNORE, BOUNDARY, TYPE = range(3)
MOVES = np.array([[1, 0], [0, -1], [0, 1], [-1, 0]])
"""Changes of start and end by a boundary error: without the first or the last token, with the next or the previous."""


@dataclass(frozen=True, eq=False, kw_only=True)
class ErrorRates:
    """Rates of errors of each annotator; an entity suffers at most one.

    Attributes:
        ignore: ignore[j], the share of entities that are not annotated.
        boundary: boundary[j], the share of entities with a wrong boundary.
        type: type[j], the share of entities with a wrong type.
        spurious: spurious[j], the share of plain tokens that are annotated as an entity.
    """

    ignore: Floats
    boundary: Floats
    type: Floats
    spurious: Floats


@dataclass(frozen=True, eq=False, kw_only=True)
class SimulatedEntities:
    """Sentences with entities, the tags of a simulated crowd, and the planted error rates.

    Attributes:
        corpus: The sentences, with the true tags as gold.
        labels: The crowd's tags.
        rates: The error rates of each annotator.
        characters: The TaggerCharacter of each annotator.
    """

    corpus: Corpus
    labels: CrowdLabels
    rates: ErrorRates
    characters: tuple[str, ...]


def simulate_entities(
    rng: np.random.Generator,
    *,
    sentences: int = 500,
    annotators: int = 20,
    labels_per_sentence: float | None = None,
    mix: Mapping[str, float] | None = None,
    tail: float = DEFAULT_TAIL,
    abstention: float = 0.0,
) -> SimulatedEntities:
    """Simulate sentences with named entities, and a crowd that annotates them.

    Args:
        rng: Random number generator.
        sentences: Number of sentences.
        annotators: Number of annotators.
        labels_per_sentence: Mean number of annotators who see a sentence, from 1 to all.
        mix: TaggerCharacter -> share (floats) or number of annotators (integers, which must sum to `annotators`).
        tail: Exponent of the long-tailed activity; with 0, all annotators are equally active.
        abstention: Probability that an annotator skips a sentence.
    """
    check_count("annotators", annotators)
    corpus = simulate_sentences(rng, sentences=sentences)
    characters = tuple(rng.permutation(allocate_mix(mix or DEFAULT_MIX, tuple(TaggerCharacter), annotators)).tolist())
    rates = planted_rates(rng, characters)
    labels = annotate_entities(
        rng, corpus, rates, labels_per_sentence=labels_per_sentence, tail=tail, abstention=abstention
    )
    return SimulatedEntities(corpus=corpus, labels=labels, rates=rates, characters=characters)


def planted_rates(rng: np.random.Generator, characters: tuple[str, ...]) -> ErrorRates:
    """Draw the error rates of each annotator: those of the character, times random factors."""
    usual = np.array([RATES[TaggerCharacter(character)] for character in characters])
    ignore, boundary, type_, spurious = (usual * rng.uniform(*VARIATION, size=usual.shape)).T.copy()
    return ErrorRates(ignore=ignore, boundary=boundary, type=type_, spurious=spurious)


def annotate_entities(
    rng: np.random.Generator,
    corpus: Corpus,
    rates: ErrorRates,
    *,
    labels_per_sentence: float | None = None,
    tail: float = DEFAULT_TAIL,
    abstention: float = 0.0,
) -> CrowdLabels:
    """Simulate the tags that annotators with the given error rates give to sentences with known entities.

    A boundary error is skipped if neither boundary of the entity can move, because of neighbouring entities or the ends
    of the sentence.
    """
    gold, offsets, tags = _check_entities(corpus, rates)
    annotators = len(rates.ignore)
    mean = min(DEFAULT_LABELS, annotators) if labels_per_sentence is None else labels_per_sentence
    check_mean("labels_per_sentence", mean, annotators)
    check_share("abstention", abstention)
    check_tail(tail)
    counts = draw_counts(rng, len(corpus.items), annotators, mean)
    activity = long_tailed_activity(rng, annotators, tail)
    item, annotator, _ = draw_answered_pairs(rng, counts, activity, np.full(annotators, abstention))
    unit, pair = units_of_pairs(item, offsets)
    truth = tags_to_spans(gold, offsets, tags, Scheme.strict)
    types = len(tags.types)
    given = _draw_errors(rng, truth, offsets, item=item, annotator=annotator, rates=rates, types=types)
    # Spurious entities are single tokens that are neither in an entity nor next to one
    far = _far_from(truth, offsets)[unit]
    start = np.flatnonzero(far & (rng.random(len(far)) < rates.spurious[annotator[pair]]))
    extra = Spans(start, start + 1, rng.integers(types, size=len(start)))
    spans = Spans(
        *(np.concatenate([getattr(one, name) for one in (given, extra)]) for name in ("start", "end", "kind"))
    )
    return CrowdLabels(
        unit=unit,
        annotator=annotator[pair],
        label=spans_to_tags(spans, len(unit), tags),
        items=corpus.items,
        annotators=pl.Series(numbered_names("w", annotators)),
        classes=corpus.classes,
        offsets=offsets,
        intake=Intake(rows=len(item)),
    )


def _check_entities(corpus: Corpus, rates: ErrorRates) -> tuple[Ints, Ints, TagSet]:
    """Return the gold tags, offsets and tag set after checking that annotators with these rates can be simulated."""
    if corpus.gold is None or corpus.offsets is None or len(corpus.items) == 0:
        raise CorpusError("Only sentences with gold tags can be annotated. Give a corpus with gold tags.")
    errors = np.stack([rates.ignore, rates.boundary, rates.type, rates.spurious])
    check_count("annotators", errors.shape[1])
    if not ((errors >= 0).all() and (errors <= 1).all() and (errors[:3].sum(axis=0) <= 1 + 1e-9).all()):
        raise OptionError("rates: every rate must lie in 0 to 1, and ignore + boundary + type must not exceed 1.")
    tags = parse_tags(corpus.classes)
    missing = {"O", *(f"{mark}-{kind}" for mark in "BI" for kind in tags.types)} - set(corpus.classes)
    if missing:
        raise CorpusError(f"The tag {min(missing)!r} is not among the classes. Add it with corpus.with_classes(...).")
    if len(tags.types) < 2 and rates.type.any():
        raise OptionError("rates: type errors need at least two entity types. Set the type rates to 0.")
    return corpus.gold, corpus.offsets, tags


def _draw_errors(
    rng: np.random.Generator,
    truth: Spans,
    offsets: Ints,
    *,
    item: Ints,
    annotator: Ints,
    rates: ErrorRates,
    types: int,
) -> Spans:
    """Return the marked spans of all (sentence, annotator) pairs, counted in the concatenated units of the pairs."""
    # first[s] and count[p]: the first entity of each sequence, and the number of entities of each pair
    first = np.searchsorted(truth.start, offsets[:-1])
    count = (np.searchsorted(truth.start, offsets[1:]) - first)[item]
    # One row per (pair, entity of its sentence): which pair, which entity, and how far the pair's units are shifted.
    pair = np.repeat(np.arange(len(item)), count)
    entity = np.arange(count.sum()) - np.repeat(np.cumsum(count) - count, count) + first[item][pair]
    length = np.diff(offsets)[item]
    shift = (np.cumsum(length) - length - offsets[item])[pair]
    # error[n], IGNORE, BOUNDARY or TYPE; 3 for no error
    limits = np.cumsum(np.stack([rates.ignore, rates.boundary, rates.type]), axis=0)
    error: Ints = (rng.random(len(pair)) >= limits[:, annotator[pair]]).sum(axis=0)
    # move[n], one of the possible moves, all equally likely; no change if none is possible
    possible = _possible_moves(truth, offsets)[entity]
    chosen = MOVES[np.argmax(rng.random(possible.shape) * possible, axis=1)]
    move = chosen * (possible.any(axis=1) & (error == BOUNDARY))[:, None]
    kind = (truth.kind[entity] + (error == TYPE) * rng.integers(1, max(types, 2), size=len(entity))) % types
    seen = error != IGNORE
    start, end = truth.start[entity] + move[:, 0] + shift, truth.end[entity] + move[:, 1] + shift
    return Spans(start[seen], end[seen], kind[seen])


def _possible_moves(truth: Spans, offsets: Ints) -> Bools:
    """Return possible[e, move], which of MOVES keep entity e apart from all others, even if the others move.

    Of two entities with a single token between them, only the left one may grow to include it.
    """
    sequence = np.searchsorted(offsets, truth.start, side="right") - 1
    begin, finish = offsets[sequence], offsets[sequence + 1]
    end_before = np.concatenate([[-1], truth.end[:-1]])[: len(truth)]
    follows = np.concatenate([[-1], sequence[:-1]])[: len(truth)] == sequence
    next_start = np.concatenate([truth.start[1:], offsets[-1:]])[: len(truth)]
    longer = truth.end - truth.start > 1
    right = truth.end < np.minimum(next_start, finish)
    left = truth.start - np.where(follows, end_before, begin - 1) >= 2
    return np.stack([longer, longer, right, left], axis=1)


def _far_from(truth: Spans, offsets: Ints) -> Bools:
    """Return far[i], whether unit i is neither in an entity nor next to one."""
    sequence = np.searchsorted(offsets, truth.start, side="right") - 1
    edges = np.zeros(int(offsets[-1]) + 1, dtype=np.int64)
    np.add.at(edges, np.maximum(truth.start - 1, offsets[sequence]), 1)
    np.add.at(edges, np.minimum(truth.end + 1, offsets[sequence + 1]), -1)
    return np.asarray(np.cumsum(edges)[:-1] == 0)
