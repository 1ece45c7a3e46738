"""Small tasks with a planted answer, and vectors for their words."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from crowdlogic.data.corpus import Corpus, documents, sentences
from crowdlogic.data.estimate import Beliefs
from crowdlogic.data.vectors import WordVectors

GOOD, BAD = ("fine", "grand", "warm"), ("dull", "poor", "stale")
OTHERS = ("the", "film", "a", "cast", "plot", "with", "of", "and", "its", "scene")
NAMES, VERBS = ("Ann", "Bob", "Cleo"), ("sees", "hears", "meets")


@dataclass(frozen=True)
class SmallTask:
    """A corpus, its classes, and the truth of every unit."""

    corpus: Corpus
    classes: tuple[str, ...]
    truth: np.ndarray

    @property
    def targets(self) -> Beliefs:
        return np.eye(len(self.classes))[self.truth]

    def soft_targets(self, seed: int = 0) -> Beliefs:
        noise = np.random.default_rng(seed).dirichlet(np.ones(len(self.classes)), size=len(self.truth))
        return 0.7 * self.targets + 0.3 * noise


def review_task(seed: int = 0, count: int = 60) -> SmallTask:
    """Texts of 1 to 12 words, with one word that decides."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(2, size=count)
    texts = []
    for k in truth:
        words = list(rng.choice(OTHERS, size=rng.integers(0, 12)))
        words.insert(int(rng.integers(len(words) + 1)), str(rng.choice((BAD, GOOD)[k])))
        texts.append(" ".join(words))
    return SmallTask(documents(range(count), texts), ("neg", "pos"), truth)


def tag_task(seed: int = 0, count: int = 60) -> SmallTask:
    """Sentences of 1 to 12 words: a name is a name, and a verb after a name is an act; other verbs are nothing."""
    rng = np.random.default_rng(seed)
    said = [list(rng.choice(NAMES + VERBS + OTHERS, size=rng.integers(1, 13))) for _ in range(count)]
    truth = [
        (1 if w in NAMES else 2 if w in VERBS and t and words[t - 1] in NAMES else 0)
        for words in said
        for t, w in enumerate(words)
    ]
    tokens = [[str(word) for word in words] for words in said]
    return SmallTask(sentences(range(count), tokens), ("O", "NAME", "ACT"), np.array(truth))


def blob_task(seed: int = 0, count: int = 60) -> SmallTask:
    """Three clouds of points in five dimensions, of very unlike scales."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(3, size=count)
    centres = 4.0 * np.eye(3, 5)
    features = (centres[truth] + rng.normal(size=(count, 5))) * np.array([1.0, 50.0, 0.1, 1.0, 1.0]) + 7.0
    return SmallTask(Corpus(pl.Series(range(count)), features=features), ("a", "b", "c"), truth)


def scaled_blobs(seed: int = 0, count: int = 60) -> SmallTask:
    """The same clouds on one scale."""
    task = blob_task(seed, count)
    features = (np.asarray(task.corpus.features) - 7.0) / np.array([1.0, 50.0, 0.1, 1.0, 1.0])
    return replace(task, corpus=replace(task.corpus, features=features))


def random_vectors(words: tuple[str, ...], size: int, seed: int = 0) -> WordVectors:
    return WordVectors(words, np.random.default_rng(seed).normal(size=(len(words), size)).astype(np.float32))


def shuffled(corpus: Corpus, order: np.ndarray) -> tuple[Corpus, np.ndarray]:
    """The items in another order, and where each of its units was."""
    units = np.arange(corpus.n_units)
    if corpus.offsets is not None:
        units = np.concatenate([units[corpus.offsets[s] : corpus.offsets[s + 1]] for s in order])
    else:
        units = order
    return corpus.take_items(order), units
