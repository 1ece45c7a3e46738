"""Small trained runs for exports."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from crowdlogic import LogicLNCL, TrainingLimits, parse_rules
from crowdlogic.data import from_matrix
from crowdlogic.data.corpus import documents
from crowdlogic.data.simulate import simulate_ner, simulate_sentiment
from crowdlogic.learning.method import TrainingData
from crowdlogic.learning.saved_run import Run, train_run

CONTRAST = "1.0: Label(S, C) & After(S, 'but', B) -> Predicted(B, C)"
GRAMMAR = (
    "5.0: Label(T, 'I-PER') & Previous(T, P) -> Label(P, 'B-PER') | Label(P, 'I-PER')\n"
    "Label(T, 'I-ORG') & Previous(T, P) -> Label(P, 'B-ORG') | Label(P, 'I-ORG') .\n"
    "0.7: First(T) -> !Label(T, 'B-LOC')\n"
    "0.4: Last(T) -> !Label(T, 'O')\n"
)
LIMITS = TrainingLimits(epochs=2, held_out=None)


def train_reviews(folder: Path, classifier: Any, rules: str | None = None) -> Run:
    made = simulate_sentiment(0, items=120, annotators=6)
    return _train(folder, classifier, made.corpus, made.labels, rules)


def train_tags(folder: Path, classifier: Any, rules: str | None = None) -> Run:
    made = simulate_ner(0, items=80, annotators=5)
    return _train(folder, classifier, made.corpus, made.labels, rules)


def train_numbers(folder: Path, classifier: Any) -> Run:
    rng = np.random.default_rng(0)
    truth = rng.integers(3, size=90)
    features = rng.normal(size=(90, 4)) + truth[:, None]
    given = np.where(rng.random((90, 4)) < 0.8, truth[:, None], rng.integers(3, size=(90, 4)))
    return _train(folder, classifier, documents(range(90), features=features), from_matrix(given), None)


def _train(folder: Path, classifier: Any, corpus: Any, labels: Any, rules: str | None) -> Run:
    data = TrainingData(corpus=corpus, labels=labels, rules=None if rules is None else parse_rules(rules))
    return train_run(folder, LogicLNCL(classifier=classifier, limits=LIMITS), data)


def new_texts(count: int = 1000) -> list[str]:
    """Texts that no run learnt from; an empty one and strange characters among them."""
    texts = list(simulate_sentiment(1, items=count, annotators=2).corpus.texts)
    return ["", "  ", "naïve 中文 ☃ don't (really!)", *texts][:count]


def new_sentences(count: int = 1000) -> list[list[str]]:
    """Sentences that no run learnt from; one of a single token and strange words among them."""
    corpus = simulate_ner(1, items=count, annotators=2).corpus
    sentences = [list(corpus.sentence(s)) for s in range(len(corpus.items))]
    return [["Paris"], ["中文", "B2B", "...", "McDonald", "3.14"], *sentences][:count]
