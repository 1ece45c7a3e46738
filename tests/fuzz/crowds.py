"""Pathological crowds: ties, spammers, islands, strange weights and names; to every truth method and to training."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from tests.fuzz.mutations import Rng, pick

from crowdlogic.data.corpus import documents, sentences
from crowdlogic.data.frames import from_arrays, from_sequences
from crowdlogic.data.labels import CrowdLabels
from crowdlogic.learning.algorithm import LogicLNCL
from crowdlogic.learning.stopping import TrainingLimits
from crowdlogic.registry import TRUTH_METHODS
from crowdlogic.rules.parser import parse_rules
from crowdlogic.truth.ebcc import EBCC
from crowdlogic.truth.methods import needs_sequences, truth_method

WEIGHTS = [0.0, 1e-300, 5e-324, 1e-9, 0.5, 1.0, 3.0, 1e9, 1e300]
NAMES = ["", " ", "x", "é", "e\u0301", "\u202e", "\x1b[31m", "0", "00", "nan", "None", "a" * 3000, "=1+1"]
TEXTS = ["", " ", "but", "good but bad", "\u202e", "x " * 2000, "\x00", "😀", "good", "good"]


def strange_votes(rng: Rng) -> tuple[list[int], list[int], list[int]]:
    """Return items, annotators and labels as codes, an entry per label."""
    items, annotators = int(rng.integers(1, 40)), int(rng.integers(1, 9))
    classes = int(pick(rng, [1, 2, 2, 2, 3, 5, 60]))
    truth = rng.integers(classes, size=items)
    given = np.where(rng.random((items, annotators)) < rng.random(), truth[:, None], 0)
    kind = int(rng.integers(9))
    if kind == 0:  # everybody at random
        given = rng.integers(classes, size=given.shape)
    elif kind == 1:  # a perfect tie on every item
        given = np.broadcast_to(np.arange(annotators) % classes, given.shape)
    elif kind == 2:  # everybody says the same, always
        given = np.zeros_like(given)
    elif kind == 3:  # everybody is wrong, in the same way
        given = np.broadcast_to((truth[:, None] + 1) % classes, given.shape)
    elif kind == 4:  # near-copies of one annotator
        given = np.repeat(rng.integers(classes, size=(items, 1)), annotators, axis=1)
    elif kind == 5:  # half adversaries
        given = np.where(np.arange(annotators) % 2, truth[:, None], (truth[:, None] + 1) % classes)
    kept = rng.random(given.shape) < pick(rng, [0.05, 0.3, 1.0])
    if rng.random() < 0.2:  # islands: each annotator has items that nobody else has
        kept &= np.arange(items)[:, None] % annotators == np.arange(annotators)
    who = np.nonzero(kept)
    order = rng.permutation(len(who[0]))
    return who[0][order].tolist(), who[1][order].tolist(), given[who][order].tolist()


def strange_crowd(rng: Rng) -> CrowdLabels:
    """Return labels of single items, with strange names and weights at times."""
    items, annotators, labels = strange_votes(rng)
    names: Any = labels
    if rng.random() < 0.3 and max(labels, default=0) < len(NAMES):
        names = [NAMES[label] for label in labels]
    weight = None
    if rng.random() < 0.4:
        chosen = [pick(rng, WEIGHTS), pick(rng, WEIGHTS)]
        weight = rng.choice(chosen, size=len(labels))
    classes = [*sorted(set(names)), 99] if names is labels and rng.random() < 0.2 else None  # one that nobody gives
    return from_arrays(items, annotators, names, weight=weight, classes=classes)


def strange_tags(rng: Rng) -> CrowdLabels:
    """Return tags of sentences, some of one token and some that nobody tagged."""
    tags = pick(rng, [["O"], ["O", "B-X", "I-X"], ["B-X", "I-X", "B-Y", "I-Y", "O"]])
    lengths = rng.integers(1, 6, size=int(rng.integers(1, 12)))
    rows = [
        (f"s{sentence}", f"a{annotator}", [pick(rng, tags) for _ in range(length)])
        for sentence, length in enumerate(lengths)
        for annotator in range(int(rng.integers(1, 5)))
        if rng.random() < 0.8
    ]
    return from_sequences(rows)


def attack_methods(folder: Path, rng: Rng) -> None:
    """A truth method on a strange crowd: distributions, whatever the crowd, and no answer where nobody labelled."""
    name = pick(rng, list(TRUTH_METHODS))
    labels = strange_tags(rng) if needs_sequences(name) or rng.random() < 0.2 else strange_crowd(rng)
    method = EBCC(restarts=2) if name == "ebcc" else truth_method(name)
    estimate = method.infer(labels)
    beliefs = estimate.beliefs
    if not np.isfinite(beliefs).all() or (beliefs < 0).any():
        raise AssertionError(f"{name}: a belief is not a probability")
    if beliefs.size and np.abs(beliefs.sum(axis=1) - 1).max() > 1e-6:
        raise AssertionError(f"{name}: beliefs do not sum to 1")
    if not (np.isnan(estimate.confidence) == (estimate.answer < 0)).all():
        raise AssertionError(f"{name}: an answer without a confidence, or a confidence without an answer")
    estimate.to_frame()


LEARNERS = ("0.5: include contrast('but')", "1: Contains(S, 'good') -> Label(S, 'x')", "")


def attack_training(folder: Path, rng: Rng) -> None:
    """A short training on a strange crowd and strange texts: predictions are distributions."""
    is_tagged = rng.random() < 0.2
    labels = strange_tags(rng) if is_tagged else strange_crowd(rng)
    names = labels.items.to_list()
    if is_tagged:
        lengths = np.diff(labels.offsets)
        corpus = sentences(names, [[pick(rng, TEXTS) or "x" for _ in range(length)] for length in lengths])
    elif rng.random() < 0.7:
        corpus = documents(names, [pick(rng, TEXTS) for _ in names])
    else:
        scale = pick(rng, [0.0, 1e-300, 1.0, 1e6, 1e100])
        corpus = documents(names, features=scale * rng.normal(size=(len(names), int(rng.integers(1, 4)))))
    rule = "" if is_tagged else pick(rng, LEARNERS)
    run = LogicLNCL(limits=TrainingLimits(epochs=2, held_out=None)).fit(
        corpus, labels, rules=parse_rules(rule) if rule else None
    )
    predicted = run.predict(corpus)
    if not np.isfinite(predicted).all() or not np.isfinite(run.estimate.beliefs).all():
        raise AssertionError("a prediction or a belief is not finite")
