"""Weights from beliefs."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from crowdlogic.data.corpus import documents, sentences
from crowdlogic.errors import OptionError
from crowdlogic.rules.audit import estimate_weights, kl, rule_expectation
from crowdlogic.rules.grounding import ground_rules
from crowdlogic.rules.parser import parse_rules
from crowdlogic.rules.potentials import Predictions
from crowdlogic.rules.predicates import Vocabulary

TAGS = ("B", "I", "O")


def hard(codes: list[int], size: int = 3) -> np.ndarray:
    return np.eye(size)[codes]


def test_a_rule_gets_the_share_of_cases_in_which_it_holds() -> None:
    corpus = sentences(["s"], [list("abcdef")])
    ground = ground_rules(
        parse_rules("1: Label(T, 'I') & Previous(T, P) -> Label(P, 'B') | Label(P, 'I')"), corpus, TAGS
    )

    (rule,) = estimate_weights(ground, hard([0, 1, 1, 2, 1, 2]), smoothing=0.0).rules

    assert rule.weight == pytest.approx(2 / 3, abs=1e-6)  # I after B, I after I, I after O


def test_smoothing_pulls_a_rare_rule_to_a_half() -> None:
    ground = ground_rules(
        parse_rules("1: Label(T, 'I') & Previous(T, P) -> Label(P, 'B')"), sentences(["s"], [["a", "b"]]), TAGS
    )

    (rule,) = estimate_weights(ground, hard([0, 1]), smoothing=1.0).rules

    assert rule.weight == pytest.approx(0.75, abs=1e-6)


def test_hard_rules_stay_hard_and_rules_without_a_body_count_every_grounding() -> None:
    ground = ground_rules(
        parse_rules("First(T) -> !Label(T, 'I') .\n5: !Label(T, 'O')"), sentences(["s"], [list("abcd")]), TAGS
    )

    found = estimate_weights(ground, hard([0, 1, 2, 0]), smoothing=0.0).rules

    assert found[0].weight is None
    assert found[1].weight == pytest.approx(0.75, abs=1e-6)


def test_soft_beliefs_and_soft_facts_count_in_parts() -> None:
    frame = pl.DataFrame({"a": ["u0"], "b": ["u1"], "truth": [0.5]})
    ground = ground_rules(
        parse_rules("1: Similar(A, B) & Label(A, C) -> Label(B, C)"),
        documents(["u0", "u1"], ["t", "t"]),
        ("x", "y"),
        vocabulary=Vocabulary().table("Similar", frame),
    )
    beliefs = np.array([[0.8, 0.2], [0.6, 0.4]])

    seen = rule_expectation(ground.rules[0], beliefs)

    # The body holds to 0.5 whatever the label; it is violated to 0.5 where the labels differ.
    np.testing.assert_allclose(seen.applies, [0.5], rtol=0, atol=1e-12)
    np.testing.assert_allclose(seen.violated, [0.5 * (0.8 * 0.4 + 0.2 * 0.6)], rtol=0, atol=1e-12)


def test_predictions_count_in_the_expectation() -> None:
    corpus = documents(["u0"], ["good but bad"])
    ground = ground_rules(parse_rules("include contrast('but')"), corpus, ("neg", "pos"))

    seen = rule_expectation(ground.rules[0], np.array([[0.3, 0.7]]), Predictions(texts=np.array([[0.9, 0.1]])))

    np.testing.assert_allclose(seen.confidence, 0.3 * 0.9 + 0.7 * 0.1, rtol=0, atol=1e-12)


def test_beliefs_of_another_shape_are_refused() -> None:
    ground = ground_rules(parse_rules("1: !Label(T, 'O')"), sentences(["s"], [["a"]]), TAGS)

    with pytest.raises(OptionError, match=r"beliefs have the shape \(2, 3\); the grounded rules need \(1, 3\)\."):
        estimate_weights(ground, np.ones((2, 3)))


def test_the_divergence_counts_classes_that_a_rule_forbids_as_nothing() -> None:
    q_a = np.array([[0.25, 0.75], [0.5, 0.5]])
    q_b = np.array([[0.25, 0.75], [0.0, 1.0]])

    np.testing.assert_allclose(kl(q_b, q_a), [0.0, np.log(2)], rtol=0, atol=1e-12)
