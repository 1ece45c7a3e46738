"""Arithmetic rules as linear forms, against evaluating the expression itself."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crowdlogic.errors import RuleError
from crowdlogic.rules.parser import parse_rules
from crowdlogic.rules.syntax import ArithmeticRule

VALUES = {"A": 0.25, "B": 0.5, "C": 1.0}

ATOMS = st.sampled_from([f"{name}(X)" for name in VALUES])
NUMBERS = st.integers(1, 4).map(str)
EXPRESSIONS = st.recursive(
    ATOMS,
    lambda inner: st.one_of(
        st.tuples(inner, st.sampled_from(["+", "-"]), inner).map(lambda t: f"({t[0]} {t[1]} {t[2]})"),
        st.tuples(NUMBERS, inner).map(lambda t: f"{t[0]} * ({t[1]})"),
        st.tuples(inner, NUMBERS).map(lambda t: f"({t[0]}) / {t[1]}"),
        st.tuples(inner, NUMBERS).map(lambda t: f"({t[0]} + {t[1]})"),
    ),
    max_leaves=6,
)


def value(expression: str) -> float:
    for name, number in VALUES.items():
        expression = expression.replace(f"{name}(X)", str(number))
    return float(eval(expression))  # noqa: S307 (made of numbers and operators above)


@given(EXPRESSIONS, EXPRESSIONS)
def test_a_linear_form_has_the_value_of_its_expression(left: str, right: str) -> None:
    (rule,) = parse_rules(f"1: {left} <= {right}").rules

    assert isinstance(rule, ArithmeticRule)
    total = sum(part.coefficient * VALUES[part.atom.predicate] for part in rule.summands)
    assert total - rule.constant == pytest.approx(value(left) - value(right), abs=1e-9)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1: A(X) * B(X) <= 1", "a product of two atoms is not linear."),
        ("1: A(X) / 0 <= 1", "a rule can only be divided by a number other than 0."),
        ("1: 1 / A(X) <= 1", "a rule can only be divided by a number other than 0."),
        ("1: X + A(X) <= 1", "an arithmetic rule consists of atoms and numbers."),
        (
            "1: (A(X) & B(X)) + 1 <= 1",
            "logical connectives cannot be used in arithmetic; write a logical rule.",
        ),
    ],
)
def test_what_is_not_linear_is_refused(text: str, message: str) -> None:
    with pytest.raises(RuleError) as caught:
        parse_rules(text)

    assert str(caught.value).splitlines()[0].split(": ", 1)[1] == message
