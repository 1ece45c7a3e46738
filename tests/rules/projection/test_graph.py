"""Projection of graphs: exact on forests, close to enumeration and true about zeros on loops."""

from __future__ import annotations

import warnings

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.rules.enumeration import CLASSES, HARD_RULES, PAIR_RULES, UNIT_RULES, compare

from crowdlogic.data.corpus import documents
from crowdlogic.errors import ConvergenceWarning, RuleError
from crowdlogic.numerics.convergence import Convergence
from crowdlogic.rules.grounding import ground_rules
from crowdlogic.rules.parser import parse_rules
from crowdlogic.rules.predicates import Vocabulary
from crowdlogic.rules.projection.graph import Propagation
from crowdlogic.rules.projection.projector import Projector


@pytest.mark.parametrize("text", PAIR_RULES + HARD_RULES)
def test_a_rule_over_pairs_equals_enumeration_on_a_tree(text: str) -> None:
    methods = [compare([text], seed, 4, [(0, 1), (1, 0), (2, 1), (2, 3)]).method for seed in range(4)]

    assert "forest" in methods


@settings(max_examples=25, deadline=None)
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
    for seed in range(60):
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
