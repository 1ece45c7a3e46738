"""Simulated sentences with parts of speech, tagged by annotators with planted confusion matrices over the tags."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from crowdlogic.data.corpus import Corpus
from crowdlogic.data.simulate import SimulatedCrowd, label_truth

TAGS = ("ADJ", "ADP", "DET", "NOUN", "PRON", "VERB")
PATTERNS = (
    "DET NOUN VERB",
    "PRON VERB DET NOUN",
    "DET ADJ NOUN VERB DET NOUN",
    "PRON VERB ADP DET NOUN",
    "DET NOUN ADP DET NOUN VERB",
    "PRON VERB PRON ADP DET ADJ NOUN",
    "DET ADJ ADJ NOUN VERB ADP DET NOUN",
    "DET NOUN VERB ADJ",
    "ADP DET NOUN PRON VERB DET ADJ NOUN",
    "PRON VERB DET NOUN ADP DET NOUN",
)
WORDS = {
    "DET": ["the", "a", "this", "every", "some", "that", "no", "each"],
    "NOUN": [
        "dog",
        "river",
        "walk",
        "plan",
        "teacher",
        "garden",
        "play",
        "light",
        "letter",
        "train",
        "answer",
        "street",
        "cook",
        "window",
        "report",
        "storm",
        "watch",
        "bridge",
        "farmer",
        "song",
        "market",
        "drink",
        "box",
        "hope",
    ],
    "VERB": [
        "sees",
        "walk",
        "plan",
        "runs",
        "play",
        "light",
        "finds",
        "train",
        "answer",
        "left",
        "cook",
        "opens",
        "report",
        "storm",
        "watch",
        "bridge",
        "sings",
        "follows",
        "market",
        "drink",
        "box",
        "hope",
        "keeps",
        "wants",
    ],
    "ADJ": ["old", "light", "green", "quiet", "long", "open", "left", "young", "heavy", "bright", "small", "clean"],
    "ADP": ["in", "on", "under", "near", "after", "with", "across", "behind"],
    "PRON": ["she", "he", "they", "it", "we", "that", "i", "this"],
}
"""Words of each tag. Several words have two or three tags."""


@dataclass(frozen=True, eq=False)
class SimulatedTags:
    """Sentences with their true tags as gold, and the crowd that tagged them."""

    corpus: Corpus
    crowd: SimulatedCrowd


def simulate_tags(rng: np.random.Generator, *, sentences: int, **crowd: Any) -> SimulatedTags:
    """Draw sentences, and a crowd that tags them; `crowd` are arguments of `label_truth`."""
    tags = [_pick(rng, PATTERNS).split() for _ in range(sentences)]
    corpus = Corpus(
        pl.Series([f"s{s:04d}" for s in range(sentences)]),
        tokens=tuple(_pick(rng, WORDS[tag]) for sentence in tags for tag in sentence),
        offsets=np.concatenate([[0], np.cumsum([len(sentence) for sentence in tags])]),
        classes=TAGS,
        gold=np.array([TAGS.index(tag) for sentence in tags for tag in sentence], dtype=np.int32),
    )
    assert corpus.gold is not None
    return SimulatedTags(
        corpus, label_truth(rng, corpus.gold, TAGS, items=corpus.items, offsets=corpus.offsets, **crowd)
    )


def _pick(rng: np.random.Generator, choices: Sequence[str]) -> str:
    return choices[int(rng.integers(len(choices)))]
