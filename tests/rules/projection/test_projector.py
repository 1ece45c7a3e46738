"""Projection over single units against enumeration and a convex solver; options, and what a projector hands over."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize
from tests.rules.enumeration import CLASSES, UNIT_RULES, compare, vocabulary_of

from crowdlogic.data.corpus import documents, sentences
from crowdlogic.errors import OptionError
from crowdlogic.numerics.convergence import Convergence
from crowdlogic.rules.expansion import expand
from crowdlogic.rules.grounding import ground_rules
from crowdlogic.rules.parser import parse_rules
from crowdlogic.rules.predicates import Vocabulary
from crowdlogic.rules.projection.graph import Propagation
from crowdlogic.rules.projection.projector import Preset, Projector, Result, Start, raise_path
from crowdlogic.rules.transitions import TransitionTable, conll_transitions, transition_table

BIO = ("B-PER", "I-PER", "O")


def bio_ground(tokens: list[list[str]], text: str = "include bio"):
    return ground_rules(parse_rules(text), sentences([f"s{n}" for n in range(len(tokens))], tokens), BIO)


@pytest.mark.parametrize("text", UNIT_RULES)
def test_a_rule_over_single_units_equals_enumeration(text: str) -> None:
    assert compare([text], 0, 3, []).method == "single"


def test_a_variable_that_stands_twice_in_an_atom_is_one_thing() -> None:
    compare(["W: Similar(A, A) & Label(A, 'x') -> Label(A, 'y')"], 0, 2, [(0, 0), (0, 1), (1, 0)])


@settings(max_examples=60, deadline=None)
@given(st.lists(st.sampled_from(UNIT_RULES), min_size=1, max_size=4), st.integers(0, 2**32 - 1))
def test_single_units_equal_enumeration(texts: list[str], seed: int) -> None:
    compare(texts, seed, 2, [])


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
        (
            lambda: Projector(strength=-1).project(even, ground),
            "strength must be a finite number of at least 0; got -1.",
        ),
        (
            lambda: Projector(preset="papr").project(even, ground),
            "preset: expected one of paper, released, transitions; got 'papr'.",
        ),
        (lambda: Projector().project(even[:1], ground), "q_a has the shape (1, 3); the grounded rules need (2, 3)."),
        (
            lambda: Projector(preset="released").project(even, ground),
            "This preset starts from the classifier's beliefs. Pass `classifier`.",
        ),
        (
            lambda: Projector(transitions=table).project(even, ground),
            "The transition table has other classes than the beliefs, or another order of them.",
        ),
        (
            lambda: Projector(preset=Preset(Start.crowd, Result.path)).project(even, linked),
            "The best path requires a chain, but these rules also join units that are not neighbours.",
        ),
        (
            lambda: Projector().project(even[:1], texts),
            "The rules need predictions on 1 derived texts. Pass `predict`.",
        ),
        (
            lambda: Projector().project(even[:1], texts, predict=lambda t: even),
            "predict returned the shape (2, 3) for 1 text and 3 classes.",
        ),
    ]
    for call, message in cases:
        with pytest.raises(OptionError) as caught:
            call()
        assert str(caught.value) == message


def test_a_path_is_raised_by_the_strength() -> None:
    found = raise_path(np.array([[0.5, 0.5], [1.0, 0.0]]), np.array([1, 1]), strength=np.log(3))

    np.testing.assert_allclose(found, [[0.25, 0.75], [1.0, 0.0]], rtol=0, atol=1e-12)


def test_an_idle_projector_has_neither_rules_nor_transitions() -> None:
    assert Projector().is_idle
    assert Projector(rules=parse_rules("")).is_idle
    assert not Projector(rules=parse_rules("include bio")).is_idle
    assert not Projector(transitions="estimated").is_idle


def test_rules_are_counted_with_rule_sets_written_out() -> None:
    assert Projector().n_rules(BIO) == 0
    assert Projector(rules=parse_rules("include bio\n1: !Label(T, 'O')")).n_rules(BIO) == 3


def test_factors_multiply_the_weights_of_soft_rules() -> None:
    rules = parse_rules("0.5: First(T) -> Label(T, 'O')\nLast(T) -> !Label(T, 'I-PER') .")
    corpus, beliefs = sentences(["s"], [["a", "b"]]), np.full((2, 3), 1 / 3)

    tripled = Projector(rules=rules).reweight(np.array([3.0, 9.0]))

    ground = tripled.ground(corpus, BIO)
    assert [rule.rule.weight for rule in ground.rules] == [1.5, None]
    assert tripled.factors == (3.0, 9.0)
    assert tripled.reweight(None) == Projector(rules=rules)
    plain = parse_rules("1.5: First(T) -> Label(T, 'O')\nLast(T) -> !Label(T, 'I-PER') .")
    expected = Projector(rules=plain)
    np.testing.assert_array_equal(
        tripled.project(beliefs, ground).q_b, expected.project(beliefs, expected.ground(corpus, BIO)).q_b
    )


def test_estimated_transitions_are_counted_in_the_targets_given_the_current_tag() -> None:
    targets, offsets = np.eye(3)[[0, 1, 2, 0, 2]], np.array([0, 3, 5])

    found = Projector(transitions="estimated").with_transitions(targets, offsets, BIO).transitions

    # Each tag after a tag, as a share of the times that it follows any: I once after B; O once after I, once after B.
    assert isinstance(found, TransitionTable)
    np.testing.assert_allclose(found.probability, [[0, 1, 0.5], [0, 0, 0.5], [0, 0, 0]], rtol=0, atol=1e-12)
    np.testing.assert_allclose(found.start, [1, 0, 0], rtol=0, atol=1e-12)


def test_a_given_table_is_laid_over_the_classes() -> None:
    table = transition_table({("O", "B-PER"): 0.5}, ("O", "B-PER"))

    found = Projector(transitions=table).with_transitions(np.eye(3), np.array([0, 3]), BIO).transitions

    assert isinstance(found, TransitionTable)
    assert tuple(found.classes) == BIO
    assert found.probability[2, 0] == 0.5
    assert Projector().with_transitions(np.eye(3), None, BIO) == Projector()


def test_projectors_with_the_same_options_are_equal() -> None:
    rules = parse_rules("include bio")

    assert Projector(rules=rules, strength=2.0) == Projector(rules=parse_rules("include bio"), strength=2.0)
    assert Projector(rules=rules, strength=2.0) != Projector(rules=rules)


def test_the_defaults_are_those_of_the_guide() -> None:
    projector = Projector()

    assert (projector.strength, projector.preset, projector.per_unit) == (5.0, "paper", "sum")
    assert projector.propagation == Propagation(
        damping=0.5, convergence=Convergence(max_iterations=500, tolerance=1e-6)
    )


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Projector(strength=-1), "strength must be a finite number of at least 0; got -1."),
        (lambda: Projector(strength=float("nan")), "strength must be a finite number of at least 0; got nan."),
        (lambda: Projector(preset="papr"), "preset: expected one of paper, released, transitions; got 'papr'."),
        (lambda: Projector(per_unit="median"), "per_unit must be sum or mean; got 'median'."),
        (lambda: Projector(transitions="counted"), "transitions: 'counted' is neither a table nor 'estimated'."),
        (lambda: Propagation(damping=1.0), "damping must be at least 0 and below 1; got 1.0."),
        (
            lambda: Projector(transitions="estimated").with_transitions(np.eye(3), None, BIO),
            "transitions are for sequences; the items here are documents.",
        ),
        (
            lambda: Projector(transitions="estimated").project(np.eye(3)[:1], bio_ground([["a"]])),
            "transitions: 'estimated' is only a name. Estimate the table first: with_transitions(...).",
        ),
    ],
)
def test_an_option_that_makes_no_sense_is_refused_when_it_is_given(make: Callable[[], object], message: str) -> None:
    with pytest.raises(OptionError) as caught:
        make()

    assert str(caught.value) == message
