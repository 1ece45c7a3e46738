"""Łukasiewicz logic, and every rule as a hinge."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crowdlogic.numerics.arrays import Floats
from crowdlogic.rules.grounding import Hinge, applicability, violation
from crowdlogic.rules.parser import parse_rules


def conjunction(*truths: Floats) -> Floats:
    return np.asarray(np.maximum(0.0, np.sum(truths, axis=0) - (len(truths) - 1)))


def disjunction(*truths: Floats) -> Floats:
    return np.asarray(np.minimum(1.0, np.sum(truths, axis=0)))


def negation(truth: Floats) -> Floats:
    return 1.0 - truth


def test_the_connectives_are_lukasiewicz() -> None:
    a, b = np.array([1.0, 0.9, 0.4]), np.array([0.9, 0.5, 0.3])

    np.testing.assert_allclose(conjunction(a, b), [0.9, 0.4, 0.0], rtol=0, atol=1e-12)
    np.testing.assert_allclose(disjunction(a, b), [1.0, 1.0, 0.7], rtol=0, atol=1e-12)
    np.testing.assert_allclose(negation(a), [0.0, 0.1, 0.6], rtol=0, atol=1e-12)


TRUTHS = st.lists(st.floats(0, 1), min_size=3, max_size=3)


def hinge_value(hinge: Hinge, truth: dict[str, float]) -> float:
    value = max(0.0, hinge.constant + sum(factor * truth[atom.predicate] for factor, atom in hinge.terms))
    return value**2 if hinge.squared else value


@given(TRUTHS)
def test_the_hinge_of_a_clause_is_one_minus_its_truth(truths: list[float]) -> None:
    (rule,) = parse_rules("1: A(X) & !B(X) -> C(X)").rules
    truth = dict(zip("ABC", truths, strict=True))

    (hinge,) = violation(rule)

    a, b, c = (np.array(value) for value in truths)
    body = conjunction(a, negation(b))
    assert hinge_value(hinge, truth) == pytest.approx(1 - float(disjunction(negation(body), c)), abs=1e-12)
    assert hinge_value(applicability(rule), truth) == pytest.approx(float(body), abs=1e-12)


@pytest.mark.parametrize(("relation", "expected"), [("<=", 0.3), (">=", 0.0), ("=", 0.3)])
def test_a_linear_inequality_is_violated_by_its_excess(relation: str, expected: float) -> None:
    (rule,) = parse_rules(f"1: A(X) + 2 * B(X) {relation} 1 ^2").rules

    total = sum(hinge_value(hinge, {"A": 0.3, "B": 0.5}) for hinge in violation(rule))

    assert total == pytest.approx(expected**2, abs=1e-12)
    assert hinge_value(applicability(rule), {}) == 1.0
