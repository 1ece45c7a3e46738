"""Items with annotations for the estimators: two clouds of numbers, reviews, and tagged sentences."""

from __future__ import annotations

from typing import Any

import numpy as np

from crowdlogic.data.simulate import simulate_ner, simulate_sentiment


def two_clouds(seed: int = 0, *, items: int = 120, annotators: int = 6) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """X[i, d], annotations[i, j] with -1 where there is none, and the truth."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(2, size=items)
    features = rng.normal(size=(items, 2)) + 2.5 * truth[:, None]
    right = rng.random((items, annotators)) < rng.uniform(0.7, 0.95, size=annotators)
    given = np.where(right, truth[:, None], 1 - truth[:, None])
    given[rng.random(given.shape) < 0.25] = -1
    return features, given, truth


def reviews(items: int = 120) -> tuple[list[str], np.ndarray, np.ndarray]:
    """Texts, annotations[i, j] with -1 where there is none, and the truth."""
    made = simulate_sentiment(0, items=items, annotators=8)
    given = np.full((items, len(made.labels.annotators)), -1)
    given[made.labels.unit, made.labels.annotator] = made.labels.label
    return list(made.corpus.texts), given, np.asarray(made.corpus.gold)


def tagged_sentences(items: int = 40) -> tuple[list[list[str]], list[dict[Any, list[str]]], list[list[str]]]:
    """Sentences, for each {annotator: tags}, and the true tags."""
    made = simulate_ner(0, items=items, annotators=5)
    names = made.labels.items.to_list()
    given: list[dict[Any, list[str]]] = [{} for _ in names]
    for (item, who), part in made.labels.to_frame().group_by(["item", "annotator"], maintain_order=True):
        given[names.index(item)][who] = part["label"].to_list()
    spans = list(zip(made.corpus.offsets[:-1], made.corpus.offsets[1:], strict=True))
    gold = [[made.corpus.classes[k] for k in made.corpus.gold[a:b]] for a, b in spans]
    return [list(made.corpus.sentence(s)) for s in range(len(names))], given, gold
