"""Projection against enumeration of every joint labelling, against a convex solver, and at its edges."""

from __future__ import annotations

import warnings
from itertools import pairwise

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize
from tests.rules.naive import NaiveWorld, posterior

from crowdlogic.data.corpus import Corpus, documents, sentences
from crowdlogic.errors import ConvergenceWarning, OptionError, RuleError
from crowdlogic.numerics.convergence import Convergence
from crowdlogic.rules.expansion import expand
from crowdlogic.rules.grounding import ground_rules
from crowdlogic.rules.parser import parse_rules
from crowdlogic.rules.predicates import Vocabulary
from crowdlogic.rules.projection.graph import Propagation
from crowdlogic.rules.projection.presets import Preset, Result, Start
from crowdlogic.rules.projection.projector import Projection, Projector, raise_path
from crowdlogic.rules.transitions import conll_transitions, transition_table

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


@pytest.mark.parametrize("text", UNIT_RULES)
def test_a_rule_over_single_units_equals_enumeration(text: str) -> None:
    assert compare([text], 0, 3, []).method == "single"


@pytest.mark.parametrize("text", PAIR_RULES + HARD_RULES)
def test_a_rule_over_pairs_equals_enumeration_on_a_tree(text: str) -> None:
    methods = [compare([text], seed, 4, [(0, 1), (1, 0), (2, 1), (2, 3)]).method for seed in range(4)]

    assert "forest" in methods


def test_a_variable_that_stands_twice_in_an_atom_is_one_thing() -> None:
    compare(["W: Similar(A, A) & Label(A, 'x') -> Label(A, 'y')"], 0, 2, [(0, 0), (0, 1), (1, 0)])


@pytest.mark.parametrize("truth", [1.0, 0.9])
def test_groundings_that_meet_at_one_pair_add_up(truth: float) -> None:
    shared = {("u0", "v"): 1.0, ("u1", "v"): 1.0, ("u0", "w"): truth, ("u1", "w"): 1.0}
    ground = ground_rules(
        parse_rules("1: Noted(A, W) & Noted(B, W) & Label(A, 'x') & A != B -> Label(B, 'x')"),
        documents(["u0", "u1"], ["t", "t"]),
        CLASSES,
        vocabulary=vocabulary_of({"Noted": shared}),
    )

    found = Projector(strength=1.0).project(np.full((2, 3), 1 / 3), ground).q_b

    # Two words, so two groundings each way: x beside another class costs 1 + truth, from either side.
    cost = np.exp(-(1 + truth))
    joint = np.array([[1, cost, cost], [cost, 1, 1], [cost, 1, 1]])
    np.testing.assert_allclose(found[0], joint.sum(axis=1) / joint.sum(), rtol=0, atol=1e-12)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.sampled_from(UNIT_RULES), min_size=1, max_size=4), st.integers(0, 2**32 - 1))
def test_single_units_equal_enumeration(texts: list[str], seed: int) -> None:
    compare(texts, seed, 2, [])


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.sampled_from(PAIR_RULES + HARD_RULES), min_size=1, max_size=3),
    st.lists(st.sampled_from(UNIT_RULES), max_size=1),
    st.integers(0, 2**32 - 1),
)
def test_forests_equal_enumeration(pair_rules: list[str], unit_rules: list[str], seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = 5
    links = [(i, int(rng.integers(i))) for i in range(1, n) if rng.random() < 0.8]
    turned = [(a, b) if rng.random() < 0.5 else (b, a) for a, b in links]
    both = [(b, a) for a, b in turned if rng.random() < 0.3]

    found = compare(pair_rules + unit_rules, seed, n, turned + both)

    assert found.method in ("forest", "single")


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


@settings(max_examples=40, deadline=None)
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


def random_graph(rng: np.random.Generator) -> tuple[pl.DataFrame, int, np.ndarray]:
    """A graph with loops whose log couplings are at most 0.5, as a table of truth values for Similar."""
    n = int(rng.integers(4, 8))
    pairs = [(a, b) for a in range(n) for b in range(a) if rng.random() < 0.6]
    pairs = list({*pairs, (1, 0), (2, 1), (2, 0)})
    coupling = rng.uniform(0, 0.5, size=len(pairs))
    frame = pl.DataFrame({"a": [f"u{a}" for a, _ in pairs], "b": [f"u{b}" for _, b in pairs], "truth": coupling})
    return frame, n, rng.dirichlet(np.ones(3), size=n)


def exact(frame: pl.DataFrame, beliefs: np.ndarray) -> np.ndarray:
    """The marginals by summing one big joint table."""
    n, size = beliefs.shape
    log_joint = np.zeros((size,) * n)
    for i in range(n):
        log_joint += np.log(beliefs[i]).reshape([-1 if j == i else 1 for j in range(n)])
    labels = np.indices((size,) * n)
    for a, b, truth in frame.iter_rows():
        log_joint -= truth * (labels[int(a[1:])] != labels[int(b[1:])])
    joint = np.exp(log_joint - log_joint.max())
    return np.stack([np.moveaxis(joint, i, 0).reshape(size, -1).sum(axis=1) / joint.sum() for i in range(n)])


def test_belief_propagation_is_close_to_enumeration_on_loopy_graphs() -> None:
    rules = parse_rules("1: Similar(A, B) & Label(A, C) -> Label(B, C)")
    gaps = []
    for seed in range(200):
        frame, n, beliefs = random_graph(np.random.default_rng(seed))
        corpus = documents([f"u{i}" for i in range(n)], ["text"] * n)
        ground = ground_rules(rules, corpus, CLASSES, vocabulary=Vocabulary().table("Similar", frame))

        found = Projector(strength=1.0).project(beliefs, ground)

        assert found.method == "loopy"
        assert found.converged
        assert found.residual <= 1e-6
        gaps.append(np.abs(found.q_b - exact(frame, beliefs)).max())
    assert np.mean(gaps) < 0.02


def test_belief_propagation_says_when_it_did_not_converge() -> None:
    frame, n, beliefs = random_graph(np.random.default_rng(0))
    ground = ground_rules(
        parse_rules("1: Similar(A, B) & Label(A, C) -> Label(B, C)"),
        documents([f"u{i}" for i in range(n)], ["t"] * n),
        CLASSES,
        vocabulary=Vocabulary().table("Similar", frame),
    )

    with pytest.warns(ConvergenceWarning, match=r"did not converge in 2 rounds: the last change was"):
        found = Projector(
            strength=1.0, propagation=Propagation(convergence=Convergence(max_iterations=2, tolerance=1e-6))
        ).project(beliefs, ground)

    assert not found.converged
    assert found.residual > 1e-6
    assert found.iterations == 2


def test_damping_makes_oscillations_converge() -> None:
    pairs = [(a, b) for a in range(6) for b in range(a)]
    frame = pl.DataFrame({"a": [f"u{a}" for a, _ in pairs], "b": [f"u{b}" for _, b in pairs]})
    ground = ground_rules(
        parse_rules("1: Similar(A, B) & Label(A, C) -> !Label(B, C)"),
        documents([f"u{i}" for i in range(6)], ["t"] * 6),
        ("x", "y"),
        vocabulary=Vocabulary().table("Similar", frame),
    )
    beliefs = np.tile([[0.6, 0.4]], (6, 1))

    with pytest.warns(ConvergenceWarning):
        undamped = Projector(strength=1.0, propagation=Propagation(damping=0.0)).project(beliefs, ground)
    damped = Projector(strength=1.0, propagation=Propagation(damping=0.5)).project(beliefs, ground)

    assert not undamped.converged
    assert damped.converged


def test_a_loopy_component_leaves_a_tree_beside_it_exact() -> None:
    loop = [("u0", "u1", 0.4), ("u1", "u2", 0.4), ("u2", "u0", 0.4)]
    frame = pl.DataFrame([*loop, ("u3", "u4", 0.9), ("u5", "u4", 0.3)], orient="row", schema=["a", "b", "truth"])
    beliefs = np.random.default_rng(0).dirichlet(np.ones(3), size=6)
    ground = ground_rules(
        parse_rules("1: Similar(A, B) & Label(A, C) -> Label(B, C)"),
        documents([f"u{i}" for i in range(6)], ["t"] * 6),
        CLASSES,
        vocabulary=Vocabulary().table("Similar", frame),
    )

    found = Projector(strength=1.0).project(beliefs, ground)

    np.testing.assert_allclose(found.q_b[3:], exact(frame, beliefs)[3:], rtol=0, atol=1e-9)
    assert np.abs(found.q_b - exact(frame, beliefs)).max() < 0.01


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32 - 1), st.sampled_from([0.5, 2.0, 5.0]))
def test_the_closed_form_solves_equation_14(seed: int, strength: float) -> None:
    """KL(q_b || q_a) + C sum xi, with w (1 - E v) <= xi and xi >= 0, minimised by a general convex solver."""
    rng = np.random.default_rng(seed)
    q_a = rng.dirichlet(np.full(3, 3.0), size=1)
    answer = rng.dirichlet(np.ones(3), size=1)
    weights = rng.uniform(0.1, 1.5, size=3)
    truth = rng.uniform(0, 1, size=2)
    rules = parse_rules(
        f"{weights[0]}: Label(S, C) -> Predicted(S, C)\n{weights[1]}: Tagged(S) -> Label(S, 'x')\n"
        f"{weights[2]}: Noted(S, 'w1') & Label(S, 'y') -> Label(S, 'x')"
    )
    tables = {"Tagged": {("u0",): truth[0]}, "Noted": {("u0", "w1"): truth[1]}}
    ground = ground_rules(rules, documents(["u0"], ["t"]), CLASSES, vocabulary=vocabulary_of(tables))
    # The value v of each rule at each class, by hand: one slack per grounding, so per class for the first rule.
    violated = [np.eye(3)[k] * (1 - answer[0, k]) for k in range(3)]
    violated += [truth[0] * np.array([0.0, 1.0, 1.0]), truth[1] * np.array([0.0, 1.0, 0.0])]
    costs = np.array([weights[0]] * 3 + list(weights[1:]))[:, None] * np.array(violated)

    q_b = Projector(strength=strength).project(q_a, ground, classifier=answer).q_b[0]

    solution = minimize(
        lambda v: np.sum(v[:3] * np.log(v[:3] / q_a[0])) + strength * v[3:].sum(),
        np.concatenate([q_a[0], costs @ q_a[0] + 0.1]),
        jac=lambda v: np.concatenate([np.log(v[:3] / q_a[0]) + 1, np.full(len(costs), strength)]),
        constraints=[
            {"type": "eq", "fun": lambda v: v[:3].sum() - 1, "jac": lambda v: np.r_[np.ones(3), np.zeros(len(costs))]},
            {
                "type": "ineq",
                "fun": lambda v: v[3:] - costs @ v[:3],
                "jac": lambda v: np.c_[-costs, np.eye(len(costs))],
            },
        ],
        bounds=[(1e-12, 1)] * 3 + [(0, None)] * len(costs),
        method="SLSQP",
        options={"ftol": 1e-13, "maxiter": 500},
    )
    np.testing.assert_allclose(q_b, solution.x[:3], rtol=0, atol=2e-5)
    # Stationarity (B.4) with eta = C: log q_b - log q_a + C sum of w (1 - v) is the same for every class.
    gradient = np.log(q_b) - np.log(q_a[0]) + strength * costs.sum(axis=0)
    np.testing.assert_allclose(gradient, gradient[0], rtol=0, atol=1e-9)


BIO = ("B-PER", "I-PER", "O")


def bio_ground(tokens: list[list[str]], text: str = "include bio"):
    return ground_rules(parse_rules(text), sentences([f"s{n}" for n in range(len(tokens))], tokens), BIO)


def test_the_paper_preset_starts_from_the_crowd_and_transitions_from_the_classifier() -> None:
    ground = bio_ground([["a", "b"], ["c"]])
    rng = np.random.default_rng(0)
    crowd, classifier = rng.dirichlet(np.ones(3), size=3), rng.dirichlet(np.ones(3), size=3)

    paper = Projector().project(crowd, ground, classifier=classifier)
    other = Projector(preset="transitions").project(crowd, ground, classifier=classifier)

    np.testing.assert_array_equal(paper.q_b, Projector().project(crowd, ground).q_b)
    np.testing.assert_array_equal(other.q_b, Projector().project(classifier, ground).q_b)


def test_the_released_preset_raises_the_best_path_of_the_classifier() -> None:
    ground = ground_rules(parse_rules(""), sentences(["s"], [["a", "b", "c"]]), BIO)
    classifier = np.array([[0.3, 0.1, 0.6], [0.05, 0.5, 0.45], [0.1, 0.5, 0.4]])
    table = transition_table(
        {("O", "O"): 0.9, ("O", "B-PER"): 1.0, ("B-PER", "I-PER"): 1.0, ("I-PER", "O"): 0.1},
        BIO,
        start={"O": 0.5, "B-PER": 0.5},
        strength=0.1,
    )
    crowd = np.full((3, 3), 1 / 3)

    found = Projector(preset="released", transitions=table, strength=5.0).project(crowd, ground, classifier=classifier)

    paths = list(np.ndindex(3, 3, 3))
    scores = [
        sum(np.log(classifier[i, k]) for i, k in enumerate(path))
        + table.log_start[path[0]]
        + sum(table.log_pairwise[a, b] for a, b in pairwise(path))
        for path in paths
    ]
    best = np.array(paths[int(np.argmax(scores))])
    assert found.path is not None
    np.testing.assert_array_equal(found.path, best)
    boosted = classifier * np.exp(5.0 * (np.arange(3) == best[:, None]))
    np.testing.assert_allclose(found.q_b, boosted / boosted.sum(axis=1, keepdims=True), rtol=0, atol=1e-12)


def test_the_released_preset_raises_the_path_of_rules_over_single_tokens_too() -> None:
    ground = bio_ground([["a", "b"], ["c"]], "1: First(T) -> Label(T, 'O')")
    classifier = np.array([[0.5, 0.2, 0.3], [0.5, 0.2, 0.3], [0.9, 0.05, 0.05]])

    found = Projector(preset="released", strength=2.0).project(np.full((3, 3), 1 / 3), ground, classifier=classifier)

    assert found.path is not None
    np.testing.assert_array_equal(found.path, [2, 0, 0])  # 0.3 > 0.5 exp(-2); 0.5; 0.9 exp(-2) > 0.05
    np.testing.assert_allclose(found.q_b, raise_path(classifier, found.path, 2.0), rtol=0, atol=1e-12)


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


def test_no_strength_leaves_the_beliefs_and_hard_rules() -> None:
    beliefs = np.array([[0.2, 0.5, 0.3]])

    soft = Projector(strength=0.0).project(beliefs, bio_ground([["a"]]))
    hard = Projector(strength=0.0).project(beliefs, bio_ground([["a"]], "include bio ."))

    np.testing.assert_allclose(soft.q_b, beliefs, rtol=0, atol=1e-12)
    np.testing.assert_allclose(hard.q_b, [[0.4, 0.0, 0.6]], rtol=0, atol=1e-12)


def test_hard_rules_give_exact_zeros() -> None:
    beliefs = np.random.default_rng(0).dirichlet(np.ones(3), size=5)

    found = Projector().project(beliefs, bio_ground([["a", "b", "c"], ["d", "e"]], "include bio .")).q_b

    assert found[0, 1] == 0.0
    assert found[3, 1] == 0.0
    assert (found[[1, 2, 4], 1] > 0).all()


def test_a_unit_whose_every_class_is_forbidden_names_the_rules() -> None:
    text = "First(T) -> Label(T, 'O') .\nLast(T) -> Label(T, 'B-PER') .\n1: First(T) -> Label(T, 'I-PER')"

    with pytest.raises(RuleError) as caught:
        Projector().project(np.full((3, 3), 1 / 3), bio_ground([["a", "b"], ["c"]], text))

    assert str(caught.value) == (
        "Sequence 's1', token 1: the hard rules forbid every class that the beliefs allow. The rules there:\n"
        "    the rules:1:1: First(T) -> Label(T, 'O') .\n"
        "    the rules:2:1: Last(T) -> Label(T, 'B-PER') ."
    )


def test_a_chain_that_is_forbidden_as_a_whole_names_its_sequence() -> None:
    text = "Label(T, C) & Previous(T, P) -> !Label(P, C) .\nPrevious(T, P) -> Label(T, 'O') ."

    with pytest.raises(RuleError, match=r"^Sequence 's0', token 1: the hard rules forbid every class"):
        Projector().project(np.full((3, 3), 1 / 3), bio_ground([["a", "b", "c"]], text))


def test_a_forbidden_pair_of_documents_names_the_rules() -> None:
    frame = pl.DataFrame({"a": ["u0", "u0"], "b": ["u1", "u2"]})
    ground = ground_rules(
        parse_rules("Similar(A, B) & Label(A, C) -> Label(B, C) .\nSimilar(A, B) & Label(A, C) -> !Label(B, C) ."),
        documents(["u0", "u1", "u2"], ["t"] * 3),
        CLASSES,
        vocabulary=Vocabulary().table("Similar", frame),
    )

    with pytest.raises(RuleError, match=r"(?s)Item 'u0': the hard rules.*2 more units.*rules:1:1.*rules:2:1"):
        Projector().project(np.full((3, 3), 1 / 3), ground)


def same_ground(pairs: list[tuple[int, int]], n: int, text: str, classes: tuple[str, ...] = CLASSES):
    frame = pl.DataFrame({"a": [f"u{a}" for a, _ in pairs], "b": [f"u{b}" for _, b in pairs]})
    corpus = documents([f"u{i}" for i in range(n)], ["t"] * n)
    return ground_rules(parse_rules(text), corpus, classes, vocabulary=Vocabulary().table("Same", frame))


TRIANGLE = [(0, 1), (1, 2), (0, 2)]
SAME = "Same(A, B) & Label(A, C) -> Label(B, C)"


def test_hard_rules_that_leave_nothing_on_a_loop_are_an_error_that_names_them() -> None:
    ground = same_ground(TRIANGLE, 3, f"{SAME} .", ("x", "y"))

    with pytest.raises(RuleError, match=r"(?s)^Item 'u0': the hard rules forbid every class.*2 more units.*rules:1:1"):
        Projector().project(np.array([[1.0, 0.0], [0.5, 0.5], [0.0, 1.0]]), ground)


def test_hard_rules_give_exact_zeros_on_a_loop() -> None:
    ground = same_ground(TRIANGLE, 3, f"{SAME} .", ("x", "y"))

    found = Projector().project(np.array([[1.0, 0.0], [0.5, 0.5], [0.4, 0.6]]), ground)

    assert found.method == "loopy"
    np.testing.assert_array_equal(found.q_b, [[1.0, 0.0]] * 3)


def test_zeros_spread_round_a_long_loop_though_they_take_hardly_any_belief_away() -> None:
    n = 80
    ground = same_ground([(i, (i + 1) % n) for i in range(n)], n, f"{SAME} .", ("x", "y"))
    beliefs = np.tile([[1 - 1e-9, 1e-9]], (n, 1))
    beliefs[0] = 1.0, 0.0

    found = Projector().project(beliefs, ground)

    assert found.converged
    assert (found.q_b[:, 1] == 0).all()


@pytest.mark.parametrize("text", [f"{SAME} .", "Same(A, B) & Label(A, C) -> !Label(B, C) ."])
@pytest.mark.parametrize("damping", [0.0, 0.5])
def test_what_is_impossible_on_a_loop_is_impossible_in_truth(text: str, damping: float) -> None:
    rng = np.random.default_rng(5)
    ground = same_ground([*TRIANGLE, (2, 3)], 4, text)
    told = dict.fromkeys(["refused", "zero"], 0)

    for _ in range(60):
        beliefs = rng.dirichlet(np.ones(3), size=4) * (rng.random((4, 3)) < 0.7)
        beliefs = np.where(beliefs.sum(axis=1, keepdims=True) > 0, beliefs, 1.0)
        labellings = np.array(list(np.ndindex(3, 3, 3, 3)))
        equal = np.array([labellings[:, a] == labellings[:, b] for a, b in [*TRIANGLE, (2, 3)]])
        allowed = equal.all(axis=0) if "!" not in text else ~equal.any(axis=0)
        weight = allowed * beliefs[np.arange(4), labellings].prod(axis=1)
        truth = np.array([[weight[labellings[:, i] == k].sum() for k in range(3)] for i in range(4)])
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ConvergenceWarning)
                found = Projector(propagation=Propagation(damping=damping)).project(beliefs, ground).q_b
        except RuleError:
            assert weight.sum() == 0
            told["refused"] += 1
        else:
            assert (truth[found == 0] == 0).all()
            told["zero"] += int(((found == 0) & (beliefs > 0)).sum())
            if "!" not in text:  # sameness is settled from neighbour to neighbour, so nothing else is left
                assert weight.sum() > 0
                np.testing.assert_array_equal(found == 0, truth == 0)

    assert min(told.values()) > 0


@pytest.mark.parametrize("pairs", [TRIANGLE[:2], TRIANGLE], ids=["forest", "loopy"])
@pytest.mark.parametrize("damping", [0.0, 0.5])
def test_a_weight_too_strong_for_a_float_is_still_no_hard_rule(pairs: list[tuple[int, int]], damping: float) -> None:
    ground = same_ground(pairs, 3, f"1: {SAME}", ("x", "y"))
    beliefs = np.array([[1.0, 0.0], [0.7, 0.3], [0.0, 1.0]])

    found = Projector(strength=1000.0, propagation=Propagation(damping=damping)).project(beliefs, ground)

    np.testing.assert_allclose(found.q_b, beliefs, rtol=0, atol=1e-6)


def test_beliefs_of_zero_are_no_fault_of_the_rules() -> None:
    with pytest.raises(RuleError, match=r"^Item 'u': the beliefs are 0 for every class\.$"):
        Projector().project(
            np.zeros((1, 3)), ground_rules(parse_rules("1: !Label(S, 'x')"), documents(["u"], ["t"]), CLASSES)
        )


def test_the_mean_per_unit_keeps_fifty_neighbours_from_drowning_a_unit() -> None:
    frame = pl.DataFrame({"a": [f"u{n}" for n in range(1, 51)], "b": ["u0"] * 50})
    ground = ground_rules(
        parse_rules("1: Similar(A, B) & Label(A, C) -> Label(B, C)"),
        documents([f"u{i}" for i in range(51)], ["t"] * 51),
        CLASSES,
        vocabulary=Vocabulary().table("Similar", frame),
    )
    beliefs = np.vstack([[[0.9, 0.05, 0.05]], np.tile([[0.05, 0.9, 0.05]], (50, 1))])

    added = Projector(strength=1.0).project(beliefs, ground).q_b[0]
    averaged = Projector(strength=1.0, per_unit="mean").project(beliefs, ground).q_b[0]

    assert added[1] > 0.99
    # Each of the 50 counts a fiftieth, so together they say about as much as one neighbour with the same belief.
    one = (
        np.array([0.9, 0.05, 0.05]) * (np.exp(-1 / 50) * 1 + (1 - np.exp(-1 / 50)) * np.array([0.05, 0.9, 0.05])) ** 50
    )
    np.testing.assert_allclose(averaged, one / one.sum(), rtol=0, atol=1e-9)


def test_the_mean_per_unit_averages_rows_over_one_unit() -> None:
    tables = {"Noted": {("u0", "a"): 1.0, ("u0", "b"): 0.5, ("u1", "a"): 1.0}}
    ground = ground_rules(
        parse_rules("1: Noted(S, W) -> Label(S, 'x')"),
        documents(["u0", "u1"], ["t"] * 2),
        CLASSES,
        vocabulary=vocabulary_of(tables),
    )
    beliefs = np.full((2, 3), 1 / 3)

    found = Projector(strength=1.0, per_unit="mean").project(beliefs, ground).q_b

    np.testing.assert_allclose(found[0, 1] / found[0, 0], np.exp(-0.75), rtol=1e-12)
    np.testing.assert_allclose(found[1, 1] / found[1, 0], np.exp(-1.0), rtol=1e-12)


def test_derived_texts_are_predicted_in_one_batch_each_text_once() -> None:
    corpus = documents(["a", "b", "c"], ["good but bad", "fine but bad", "plain"])
    ground = ground_rules(parse_rules("include contrast('but')"), corpus, ("neg", "pos"))
    asked = []

    def predict(texts):
        asked.append(tuple(texts))
        return np.array([[0.9, 0.1]])

    found = Projector(strength=5.0).project(np.full((3, 2), 0.5), ground, predict=predict).q_b

    assert asked == [("bad",)]
    sure = 1 / (1 + np.exp(-5 * 0.8))
    np.testing.assert_allclose(found, [[sure, 1 - sure], [sure, 1 - sure], [0.5, 0.5]], rtol=0, atol=1e-12)


def test_projecting_again_with_another_classifier_grounds_nothing_again() -> None:
    corpus = sentences(["s"], [["a", "b", "c"]])
    ground = ground_rules(parse_rules("include bio\n0.5: Label(T, C) -> Predicted(T, C)"), corpus, BIO)
    rng = np.random.default_rng(0)
    crowd = rng.dirichlet(np.ones(3), size=3)
    one, other = rng.dirichlet(np.ones(3), size=3), rng.dirichlet(np.ones(3), size=3)

    first = Projector().project(crowd, ground, classifier=one).q_b
    second = Projector().project(crowd, ground, classifier=other).q_b
    again = Projector().project(crowd, ground, classifier=one).q_b

    np.testing.assert_array_equal(first, again)
    assert np.abs(first - second).max() > 1e-3
    fresh = ground_rules(parse_rules("include bio\n0.5: Label(T, C) -> Predicted(T, C)"), corpus, BIO)
    np.testing.assert_array_equal(second, Projector().project(crowd, fresh, classifier=other).q_b)


def test_what_the_classifier_has_no_say_in_is_added_up_once(monkeypatch: pytest.MonkeyPatch) -> None:
    ground = bio_ground([["a", "b", "c"]])
    beliefs = np.full((3, 3), 1 / 3)
    first = Projector().project(beliefs, ground).q_b

    monkeypatch.setattr("crowdlogic.rules.potentials.distances", None)
    again = Projector().project(beliefs, ground).q_b

    np.testing.assert_array_equal(again, first)


def test_the_order_of_rules_and_of_classes_changes_nothing() -> None:
    rng = np.random.default_rng(1)
    corpus = sentences(["s", "t"], [["a", "b", "c"], ["d", "e"]])
    beliefs = rng.dirichlet(np.ones(5), size=5)
    classes = ("B-LOC", "B-PER", "I-LOC", "I-PER", "O")
    turned = ("O", "I-PER", "B-LOC", "I-LOC", "B-PER")
    plain = expand(parse_rules("include bio"), classes)

    ours = Projector().project(beliefs, ground_rules(plain, corpus, classes)).q_b
    backwards = parse_rules("".join(f"{rule}\n" for rule in reversed(plain.rules)))
    order = [classes.index(name) for name in turned]
    theirs = Projector().project(beliefs[:, order], ground_rules(backwards, corpus, turned)).q_b

    np.testing.assert_allclose(theirs, ours[:, order], rtol=0, atol=1e-12)


def test_options_that_make_no_sense_are_refused() -> None:
    ground = bio_ground([["a", "b"]])
    pairs = Vocabulary().table("Similar", pl.DataFrame({"a": ["u0"], "b": ["u1"]}))
    linked = ground_rules(
        parse_rules("1: Similar(A, B) & Label(A, C) -> Label(B, C)"),
        documents(["u0", "u1"], ["t", "t"]),
        BIO,
        vocabulary=pairs,
    )
    texts = ground_rules(parse_rules("include contrast('but')"), documents(["u"], ["a but b"]), BIO)
    even, table = (
        np.full((2, 3), 1 / 3),
        conll_transitions(("B-LOC", "B-MISC", "B-ORG", "B-PER", "I-LOC", "I-MISC", "I-ORG", "I-PER", "O")),
    )
    cases = [
        (lambda: Projector(strength=-1).project(even, ground), "strength: -1 is not a number of 0 or more."),
        (
            lambda: Projector(preset="papr").project(even, ground),
            "preset: 'papr' is none of paper, released, transitions.",
        ),
        (lambda: Projector().project(even[:1], ground), "q_a has the shape (1, 3); the grounded rules need (2, 3)."),
        (
            lambda: Projector(preset="released").project(even, ground),
            "This preset starts from the classifier's beliefs: give `classifier`.",
        ),
        (
            lambda: Projector(transitions=table).project(even, ground),
            "The transition table is over other classes, or in another order, than the beliefs.",
        ),
        (
            lambda: Projector(preset=Preset(Start.crowd, Result.path)).project(even, linked),
            "The best path is for chains: these rules also join units that are no neighbours.",
        ),
        (
            lambda: Projector().project(even[:1], texts),
            "The rules ask for predictions on 1 derived texts: give `predict`.",
        ),
        (
            lambda: Projector().project(even[:1], texts, predict=lambda t: even),
            "predict gave the shape (2, 3) for 1 texts and 3 classes.",
        ),
    ]
    for call, message in cases:
        with pytest.raises(OptionError) as caught:
            call()
        assert str(caught.value) == message


def test_a_path_is_raised_by_the_strength() -> None:
    found = raise_path(np.array([[0.5, 0.5], [1.0, 0.0]]), np.array([1, 1]), strength=np.log(3))

    np.testing.assert_allclose(found, [[0.25, 0.75], [1.0, 0.0]], rtol=0, atol=1e-12)
