"""Projection of chains against enumeration of every tagging."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.rules.enumeration import CLASSES, known, vocabulary_of
from tests.rules.naive import NaiveWorld, posterior

from crowdlogic.data.corpus import Corpus, sentences
from crowdlogic.rules.grounding import ground_rules
from crowdlogic.rules.parser import parse_rules
from crowdlogic.rules.projection.projector import Projector
from crowdlogic.rules.transitions import transition_table

CHAIN_RULES = [
    "W: Label(T, 'x') & Previous(T, P) -> Label(P, 'y') | Label(P, 'x')",
    "W: Label(T, C) & Next(T, N) -> Label(N, C) ^2",
    "W: Label(T, 'x') & Next(T, N) -> Label(N, 'y')",
    "W: First(T) -> !Label(T, 'x')",
    "W: Last(T) & Label(T, C) -> Predicted(T, C)",
    "W: Label(T, 'x') & Previous(T, P) & Predicted(P, 'y') -> Label(P, 'y')",
    "W: Token(T, W) & Means(W, C) -> Label(T, C)",
    "W: Token(T, W) & Previous(T, P) & Token(P, W) & Label(T, C) -> Label(P, C)",
    "W: Shape(T, 'Xx') -> Label(T, 'z')",
    "Label(T, 'z') & Previous(T, P) -> Label(P, 'x') | Label(P, 'z') .",
]


def chain_facts(corpus: Corpus, rng: np.random.Generator) -> dict[str, dict[tuple[str, ...], float]]:
    """The structure of a corpus, written out by hand."""
    found: dict[str, dict[tuple[str, ...], float]] = {
        name: {} for name in ("Previous", "Next", "First", "Last", "Token")
    }
    assert corpus.offsets is not None
    for s in range(len(corpus.items)):
        words = corpus.sentence(s)
        units = [f"u{i}" for i in range(corpus.offsets[s], corpus.offsets[s + 1])]
        for at, (unit, word) in enumerate(zip(units, words, strict=True)):
            found["Token"][unit, word] = 1.0
            if at:
                found["Previous"][unit, units[at - 1]] = 1.0
                found["Next"][units[at - 1], unit] = 1.0
        found["First"][(units[0],)] = 1.0
        found["Last"][(units[-1],)] = 1.0
    shapes = {"Xx": ["Paris"], "x": ["in", "is"], "d": ["7"]}
    found["Shape"] = {(u, s): 1.0 for s, words in shapes.items() for u, w in found["Token"] if w in words}
    found["Means"] = {
        (w, k): float(rng.choice([1.0, 0.5])) for w in ("Paris", "in") for k in CLASSES if rng.random() < 0.5
    }
    return found


@settings(max_examples=25, deadline=None)
@given(st.lists(st.sampled_from(CHAIN_RULES), min_size=1, max_size=4, unique=True), st.integers(0, 2**32 - 1))
def test_chains_equal_enumeration(texts: list[str], seed: int) -> None:
    rng = np.random.default_rng(seed)
    rules = parse_rules("\n".join(text.replace("W:", f"{rng.choice([0.3, 2.0])}:", 1) for text in texts))
    lengths = [int(rng.integers(1, 4)), int(rng.integers(1, 4))]
    corpus = sentences(["a", "b"], [list(rng.choice(["Paris", "in", "is", "7"], size=n)) for n in lengths])
    tables = chain_facts(corpus, rng)
    n = corpus.n_units
    beliefs, answer = rng.dirichlet(np.ones(3), size=n), rng.dirichlet(np.ones(3), size=n)
    vocabulary = vocabulary_of({"Means": tables["Means"]})

    ours = Projector(strength=1.5).project(
        beliefs, ground_rules(rules, corpus, CLASSES, vocabulary=vocabulary), classifier=answer
    )

    world = NaiveWorld([f"u{i}" for i in range(n)], list(CLASSES), tables, known(answer))
    np.testing.assert_allclose(ours.q_b, posterior(rules, world, beliefs, 1.5), rtol=0, atol=1e-9)
    assert ours.method in ("chain", "single")


BIO = ("B-PER", "I-PER", "O")


def test_a_transition_table_holds_beside_rules() -> None:
    corpus = sentences(["s"], [["a", "b"]])
    ground = ground_rules(parse_rules("0.7: Label(T, 'I-PER') & Previous(T, P) -> Label(P, 'B-PER')"), corpus, BIO)
    table = transition_table({("O", "O"): 0.5, ("B-PER", "I-PER"): 0.5}, BIO, start={"O": 1.0}, strength=0.3)
    beliefs = np.random.default_rng(3).dirichlet(np.ones(3), size=2)

    found = Projector(transitions=table, strength=2.0).project(beliefs, ground).q_b

    joint = beliefs[0][:, None] * beliefs[1][None] * np.exp(table.log_pairwise + table.log_start[:, None])
    joint = joint * np.exp(-2.0 * 0.7 * np.array([[0, 0, 0], [0, 1, 0], [0, 1, 0]]))
    expected = np.stack([joint.sum(axis=1), joint.sum(axis=0)]) / joint.sum()
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12)
