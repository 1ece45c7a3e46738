"""The characters of simulated annotators, as planted confusion matrices.

A character fixes the shape of an annotator's matrix; its numbers vary from annotator to annotator, so that no two
experts are alike. Axes: j annotator, k class, m true class, n given label.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import StrEnum

import numpy as np

from crowdlogic.numerics.arrays import Floats, Ints


class Character(StrEnum):
    """What kind of annotator somebody is."""

    expert = "expert"
    ordinary = "ordinary"
    spammer = "spammer"
    adversary = "adversary"
    biased = "biased"
    lazy = "lazy"


DEFAULT_MIX: dict[str, float] = {
    Character.expert: 0.20,
    Character.ordinary: 0.45,
    Character.spammer: 0.10,
    Character.adversary: 0.05,
    Character.biased: 0.12,
    Character.lazy: 0.08,
}
"""A usual crowd: most annotators are competent, a few are not."""

EXPERT_RIGHT = (0.90, 0.99)
ORDINARY_RIGHT = (0.60, 0.85)
ADVERSARY_RIGHT = (0.02, 0.15)
TO_PARTNER = 0.9
"""The share of an adversary's wrong answers that go to one class: systematically wrong, not at random."""
LEAN = (0.40, 0.70)
"""How often a biased or lazy annotator gives the favourite answer without looking."""
SWAP = (0.40, 0.60)
"""How often a biased annotator takes one class of a pair for the other."""
LAZY_ABSTENTION = 0.3
"""How often a lazy annotator gives no answer at all."""


def planted_confusion(rng: np.random.Generator, characters: Sequence[str], balance: Floats) -> Floats:
    """confusion[j, m, n], a matrix for each annotator after their character.

    Args:
        rng: Random number generator.
        characters: One Character per annotator.
        balance: balance[k], how common each class is; the lazy answer the most common one.
    """
    if len(balance) == 1:
        return np.ones((len(characters), 1, 1))
    return np.stack([MATRICES[Character(character)](rng, balance) for character in characters])


def planted_abstention(characters: Sequence[str], base: float) -> Floats:
    """abstention[j]: the base rate for everybody, and further abstentions of the lazy."""
    lazy = np.array([character == Character.lazy for character in characters])
    return np.where(lazy, 1 - (1 - base) * (1 - LAZY_ABSTENTION), base)


def expert(rng: np.random.Generator, balance: Floats) -> Floats:
    """Nearly always right, in every class."""
    return confusion_with_accuracy(rng, rng.uniform(*EXPERT_RIGHT, len(balance)))


def ordinary(rng: np.random.Generator, balance: Floats) -> Floats:
    """Right more often than not."""
    return confusion_with_accuracy(rng, rng.uniform(*ORDINARY_RIGHT, len(balance)))


def spammer(rng: np.random.Generator, balance: Floats) -> Floats:
    """Answers without looking: one fixed class, or any class alike. Every row is the same."""
    classes = len(balance)
    if rng.random() < 0.5:
        return np.full((classes, classes), 1.0 / classes)
    return np.tile(np.eye(classes)[rng.integers(classes)], (classes, 1))


def adversary(rng: np.random.Generator, balance: Floats) -> Floats:
    """Systematically wrong: each class is taken for one other class, and none for itself."""
    classes = len(balance)
    right = rng.uniform(*ADVERSARY_RIGHT, classes)
    wrong = 1.0 - right[:, None]
    elsewhere = confusion_with_accuracy(rng, np.zeros(classes))
    return np.diag(right) + wrong * (
        TO_PARTNER * np.eye(classes)[_confused_classes(rng, classes)] + (1 - TO_PARTNER) * elsewhere
    )


def biased(rng: np.random.Generator, balance: Floats) -> Floats:
    """Competent, but leans to one class, or takes two classes for each other."""
    base = expert(rng, balance)
    if rng.random() < 0.5:
        return add_bias(base, int(rng.integers(len(balance))), rng.uniform(*LEAN))
    pair = rng.choice(len(balance), 2, replace=False)
    swap = rng.uniform(*SWAP)
    base[pair] = (1 - swap) * base[pair] + swap * np.eye(len(balance))[pair[::-1]]
    return base


def lazy(rng: np.random.Generator, balance: Floats) -> Floats:
    """Often gives the most common class, else works like an ordinary annotator."""
    return add_bias(ordinary(rng, balance), int(np.argmax(balance)), rng.uniform(*LEAN))


MATRICES: dict[Character, Callable[[np.random.Generator, Floats], Floats]] = {
    Character.expert: expert,
    Character.ordinary: ordinary,
    Character.spammer: spammer,
    Character.adversary: adversary,
    Character.biased: biased,
    Character.lazy: lazy,
}


def confusion_with_accuracy(rng: np.random.Generator, right: Floats) -> Floats:
    """A matrix with the given diagonal, whose errors fall on some classes more than on others. Two classes or more."""
    errors: Floats = rng.exponential(size=(len(right), len(right)))
    np.fill_diagonal(errors, 0.0)
    share: Floats = (1.0 - right) / errors.sum(axis=1)
    return np.diag(right) + errors * share[:, None]


def add_bias(confusion: Floats, favourite: int, share: float) -> Floats:
    """The favourite class for a share of the answers, whatever the truth; the given matrix for the others."""
    leaned = (1.0 - share) * confusion
    leaned[:, favourite] += share
    return leaned


def _confused_classes(rng: np.random.Generator, classes: int) -> Ints:
    """partner[m], the class that m is taken for; never m itself: a cycle through the classes in random order."""
    order = rng.permutation(classes)
    partner = np.empty(classes, dtype=np.int64)
    partner[order] = np.roll(order, 1)
    return partner
