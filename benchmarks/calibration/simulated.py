"""Simulated crowds: independent errors, planted dependence, ordinal classes, and many annotators with few labels."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from crowdlogic.data.labels import CrowdLabels
from crowdlogic.data.simulate.crowds import label_truth, simulate_crowd, simulate_hard_crowd
from crowdlogic.numerics.arrays import Ints

Labelled = tuple[CrowdLabels, Ints]
"""Labels, and the true class of every item."""

Draw = Callable[[np.random.Generator], Labelled]


def independent(
    rng: np.random.Generator,
    *,
    units: int = 1000,
    annotators: int = 30,
    classes: int = 3,
    each: float = 5,
    tail: float = 1,
) -> Labelled:
    """Return a crowd whose annotators err independently of each other."""
    drawn = simulate_crowd(rng, units=units, annotators=annotators, classes=classes, labels_per_unit=each, tail=tail)
    return drawn.labels, drawn.truth


def hard(rng: np.random.Generator, *, classes: int) -> Labelled:
    """Return a crowd with more spammers, adversaries and biased annotators than experts; errors are independent."""
    drawn = simulate_hard_crowd(rng, rng.integers(classes, size=1000).astype(np.int32), classes)
    return drawn.labels, drawn.truth


def shared_difficulty(rng: np.random.Generator, *, hard_share: float = 0.3, trap: float = 0.8) -> Labelled:
    """Return a crowd in which annotators tend to the same wrong class on some items."""
    labels, truth = independent(rng, annotators=40, classes=3, each=7)
    is_hard = rng.random(labels.n_units) < hard_share
    decoy = (truth + rng.integers(1, 3, size=labels.n_units)) % 3
    caught = is_hard[labels.unit] & (rng.random(labels.n_labels) < trap * rng.random(labels.n_units)[labels.unit])
    return replace(labels, label=np.where(caught, decoy[labels.unit], labels.label).astype(np.int32)), truth


def copied(rng: np.random.Generator, *, share: float = 0.4) -> Labelled:
    """Return a crowd in which a share of the labels is copied from the first label of the item."""
    labels, truth = independent(rng, annotators=40, classes=3, each=7)
    first = labels.label[np.searchsorted(labels.unit, np.arange(labels.n_units))]
    copies = rng.random(labels.n_labels) < share
    return replace(labels, label=np.where(copies, first[labels.unit], labels.label).astype(np.int32)), truth


def ordinal(rng: np.random.Generator, *, classes: int, annotators: int, each: float) -> Labelled:
    """Return a crowd with ordered classes, whose annotators see the truth with individual bias and noise, and round."""
    truth = rng.integers(classes, size=1000).astype(np.int32)
    labels = label_truth(rng, truth, classes, annotators=annotators, labels_per_unit=each).labels
    noise, bias = rng.uniform(0.4, 1.6, size=annotators), rng.normal(0, 0.4, size=annotators)
    seen = truth[labels.unit] + bias[labels.annotator] + noise[labels.annotator] * rng.normal(size=labels.n_labels)
    return replace(labels, label=np.clip(np.round(seen), 0, classes - 1).astype(np.int32)), truth


INDEPENDENT: dict[str, Draw] = {
    "independent, 3 classes, 5 labels": independent,
    "independent, 2 classes, 3 labels": lambda rng: independent(rng, annotators=60, classes=2, each=3),
    "independent, 5 classes, 10 labels": lambda rng: independent(rng, classes=5, each=10),
    "adversaries and spammers, 2 classes": lambda rng: hard(rng, classes=2),
    "adversaries and spammers, 4 classes": lambda rng: hard(rng, classes=4),
}
DEPENDENT: dict[str, Draw] = {
    "20 % of the items are traps": lambda rng: shared_difficulty(rng, hard_share=0.2),
    "30 % of the items are traps": lambda rng: shared_difficulty(rng, hard_share=0.3),
    "50 % of the items are traps": lambda rng: shared_difficulty(rng, hard_share=0.5),
    "20 % of the labels are copied": lambda rng: copied(rng, share=0.2),
    "40 % of the labels are copied": lambda rng: copied(rng, share=0.4),
    "70 % of the labels are copied": lambda rng: copied(rng, share=0.7),
}
THIN: dict[str, Draw] = {
    "5 ordered classes, 5 labels": lambda rng: ordinal(rng, classes=5, annotators=40, each=5),
    "5 ordered classes, 3 labels": lambda rng: ordinal(rng, classes=5, annotators=100, each=3),
    "10 ordered classes, 3 labels": lambda rng: ordinal(rng, classes=10, annotators=100, each=3),
    "500 annotators of 5 labels": lambda rng: independent(rng, units=500, annotators=500, classes=2, tail=0.5),
    "1,000 annotators of 3 labels": lambda rng: independent(rng, annotators=1000, classes=4, each=3, tail=0.5),
    "500 annotators, few of them busy": lambda rng: independent(rng, units=500, annotators=500, classes=4),
}
