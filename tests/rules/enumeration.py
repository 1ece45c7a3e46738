"""Rules and facts at random, and the projection beside the oracle that enumerates every joint labelling."""

from __future__ import annotations

import numpy as np
import polars as pl
from tests.rules.naive import NaiveWorld, posterior

from crowdlogic.data.corpus import documents
from crowdlogic.rules.grounding import ground_rules
from crowdlogic.rules.parser import parse_rules
from crowdlogic.rules.predicates import Vocabulary
from crowdlogic.rules.projection.projector import Projection, Projector

CLASSES = ("x", "y", "z")


UNIT_RULES = [
    "W: Label(S, 'x')  -> Tagged(S)",
    "W: Tagged(S) -> Label(S, 'x') ^2",
    "W: Tagged(S) & !Noted(S, 'w1') -> Label(S, 'y') | Label(S, 'z')",
    "W: Label(S, C) -> Predicted(S, C)",
    "W: Predicted(S, C) -> Label(S, C) ^2",
    "W: Noted(S, W) & Means(W, C) -> Label(S, C)",
    "W: Noted(S, W) & Label(S, C) & C != 'y' -> Means(W, C)",
    "W: Noted(S, W) & Noted(S, V) & W != V -> !Label(S, 'z')",
    "W: !Label(S, 'z')",
    "W: Label(S, 'x') | Label(S, 'y') <- Tagged(S)",
    "W: Label(S, 'x') + 0.5 * Tagged(S) <= 1",
    "W: 2 * Label(S, 'x') - Label(S, 'y') >= 0.5 - Tagged(S) ^2",
    "W: Label(S, C) = Predicted(S, C)",
    "W: Label(S, +C) = 1",
    "W: Label('u0', 'x')",
    "W: Label('u0', C) & Tagged('u1') -> Predicted('u1', C)",
    "W: Label(S, C) & Label(S, D) & C != D -> Tagged(S)",
    "W: Noted(S, W) & Means(W, C) & Label(S, D) & C != D -> Tagged(S)",
    "W: Label(S, 'x') & Label(R, 'x') & S == R -> Tagged(R)",
]


PAIR_RULES = [
    "W: Similar(A, B) & Label(A, C) -> Label(B, C)",
    "W: Similar(A, B) & Label(A, C) -> Label(B, C) ^2",
    "W: Similar(A, B) & Label(A, 'x') & !Label(B, 'x') -> Tagged(A)",
    "W: Similar(A, B) & Label(A, C) & Label(B, D) & C != D -> Predicted(A, D)",
    "W: Similar(A, B) & Label(A, C) & Tagged(B) -> Predicted(B, C) | Label(B, C)",
    "W: Similar(A, B) + Label(A, C) - Label(B, C) <= 1",
    "W: Label(A, C) + Label(B, C) + Similar(A, B) >= 1 ^2",
    "W: Label(A, 'x') + Similar(A, B) = Label(B, 'x') + 0.5",
    "W: Similar(A, B) & Similar(B, A) & Label(A, C) -> Label(B, C)",
]


HARD_RULES = ["Crisp(A, B) & Label(A, 'x') -> !Label(B, 'x') .", "Crisp(A, B) & Label(A, C) -> !Label(B, C) ."]


def known(answer: np.ndarray) -> dict[str, dict[str, float]]:
    return {f"u{i}": dict(zip(CLASSES, map(float, row), strict=True)) for i, row in enumerate(answer)}


def facts(rng: np.random.Generator, n: int, pairs: list[tuple[int, int]]) -> dict[str, dict[tuple[str, ...], float]]:
    def value() -> float:
        return float(rng.choice([1.0, 1.0, 0.5, 0.25, 0.0]))

    return {
        "Similar": {(f"u{a}", f"u{b}"): value() for a, b in pairs},
        "Crisp": {(f"u{a}", f"u{b}"): 1.0 for a, b in pairs},
        "Tagged": {(f"u{i}",): value() for i in range(n) if rng.random() < 0.6},
        "Noted": {(f"u{i}", w): value() for i in range(n) for w in ("w1", "w2") if rng.random() < 0.6},
        "Means": {(w, k): value() for w in ("w1", "w2") for k in CLASSES if rng.random() < 0.5},
    }


def vocabulary_of(tables: dict[str, dict[tuple[str, ...], float]]) -> Vocabulary:
    vocabulary = Vocabulary()
    widths = {"Similar": 2, "Crisp": 2, "Tagged": 1, "Noted": 2, "Means": 2}
    for name, rows in tables.items():
        columns = {f"a{n}": pl.Series([row[n] for row in rows], dtype=pl.String) for n in range(widths[name])}
        vocabulary.table(name, pl.DataFrame({**columns, "truth": pl.Series(list(rows.values()), dtype=pl.Float64)}))
    return vocabulary


def compare(texts: list[str], seed: int, n: int, pairs: list[tuple[int, int]], strength: float = 2.0) -> Projection:
    """Our projection, once it is equal to the enumeration's."""
    rng = np.random.default_rng(seed)
    rules = parse_rules("\n".join(text.replace("W:", f"{rng.choice([0.3, 0.8, 2.0])}:", 1) for text in texts))
    tables = facts(rng, n, pairs)
    beliefs, answer = rng.dirichlet(np.ones(3), size=n), rng.dirichlet(np.ones(3), size=n)
    corpus = documents([f"u{i}" for i in range(n)], ["text"] * n)

    ours = Projector(strength=strength).project(
        beliefs, ground_rules(rules, corpus, CLASSES, vocabulary=vocabulary_of(tables)), classifier=answer
    )

    world = NaiveWorld([f"u{i}" for i in range(n)], list(CLASSES), tables, known(answer))
    np.testing.assert_allclose(ours.q_b, posterior(rules, world, beliefs, strength), rtol=0, atol=1e-9)
    return ours
