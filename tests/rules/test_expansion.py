"""Groups replaced by their constants."""

from __future__ import annotations

import numpy as np
import pytest

from crowdlogic.data.corpus import documents
from crowdlogic.errors import RuleError
from crowdlogic.rules.expansion import expand
from crowdlogic.rules.grounding import ground_rules
from crowdlogic.rules.parser import parse_rules
from crowdlogic.rules.projection.projector import Projector


def printed(text: str, classes: tuple[str, ...] | None = None) -> list[str]:
    return str(expand(parse_rules(text), classes)).splitlines()


def test_a_group_in_a_head_is_one_of_these() -> None:
    assert printed("$G = {'a', 'b'} 1: P(X) -> Label(X, $G)") == ["1.0: P(X) -> Label(X, 'a') | Label(X, 'b')"]


def test_a_group_in_a_body_is_a_rule_for_each() -> None:
    assert printed("$G = {'a', 'b'} 1: Label(X, $G) & P(X) -> Q(X)") == [
        "1.0: Label(X, 'a') & P(X) -> Q(X)",
        "1.0: Label(X, 'b') & P(X) -> Q(X)",
    ]


def test_a_negated_group_is_none_of_these() -> None:
    assert printed("$G = {'a', 'b'} 1: P(X) & !Label(X, $G) -> Q(X)") == [
        "1.0: P(X) & !Label(X, 'a') & !Label(X, 'b') -> Q(X)"
    ]
    assert printed("$G = {'a', 'b'} P(X) -> !Label(X, $G) .") == [
        "P(X) -> !Label(X, 'a') .",
        "P(X) -> !Label(X, 'b') .",
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Label(S, C) -> C == $G .", [0.5, 0.3, 0.0]),
        ("Label(S, C) -> C != $G .", [0.0, 0.0, 1.0]),
        ("Label(S, C) -> !(C == $G) .", [0.0, 0.0, 1.0]),
        ("Label(S, C) & C != $G -> Label(S, 'a') .", [0.5, 0.3, 0.0]),
        ("Label(S, C) & $G != C -> Label(S, 'a') .", [0.5, 0.3, 0.0]),
        ("Label(S, C) & !(C == $G) -> Label(S, 'a') .", [0.5, 0.3, 0.0]),
        ("Label(S, C) & C == $G -> Label(S, 'a') .", [0.5, 0.0, 0.2]),
        ("Label(S, C) & C == $G -> Label(S, 'c') .", [0.0, 0.0, 1.0]),
    ],
)
def test_a_comparison_with_a_group_is_one_or_none_of_these(text: str, expected: list[float]) -> None:
    ground = ground_rules(parse_rules("$G = {'a', 'b'} " + text), documents(["d"], ["t"]), ("a", "b", "c"))

    found = Projector().project(np.array([[0.5, 0.3, 0.2]]), ground).q_b

    np.testing.assert_allclose(found[0], np.array(expected) / sum(expected), rtol=0, atol=1e-12)


def test_a_body_group_of_labels_counts_once_and_of_words_for_each_that_stands() -> None:
    text = "$G = {'a', 'b'} 1: Label(S, $G) & Contains(S, 'x') -> Label(S, 'c')"
    words = "$W = {'x', 'y'} 1: Contains(S, $W) -> Label(S, 'c')"
    corpus, classes, even = documents(["d"], ["x y"]), ("a", "b", "c"), np.full((1, 3), 1 / 3)

    of_labels = Projector(strength=1.0).project(even, ground_rules(parse_rules(text), corpus, classes)).q_b
    of_words = Projector(strength=1.0).project(even, ground_rules(parse_rules(words), corpus, classes)).q_b

    np.testing.assert_allclose(of_labels[0, 0] / of_labels[0, 2], np.exp(-1), rtol=1e-12)
    np.testing.assert_allclose(of_words[0, 0] / of_words[0, 2], np.exp(-2), rtol=1e-12)


def test_a_group_in_a_sum_is_a_sum() -> None:
    assert printed("$G = {'a', 'b'} 1: 2 * Label(X, $G) <= 1") == [
        "1.0: 2.0 * Label(X, 'a') + 2.0 * Label(X, 'b') <= 1.0"
    ]


@pytest.mark.parametrize(
    ("text", "atoms"),
    [
        ("1: A(X, $G) & B(X, $G) & C(X, $G) -> Label(X, 'c')", "4,000,000"),
        ("1: P(X) -> Label(X, 'a') | Q($G, $G, $G)", "1,000,002"),
        ("1: A(X, $G) & B(X, $G) -> C(X, $G)", "1,020,000"),
        ("1: A($G, $G, $G) <= 1", "1,000,000"),
        ("1: " + " & ".join(["A(X, $G)"] * 3000) + " -> Label(X, 'c')", "over 10^15"),
    ],
    ids=["bodies", "head", "both", "sum", "thousands"],
)
def test_groups_that_multiply_are_counted_and_refused_before_they_are_written_out(text: str, atoms: str) -> None:
    group = "$G = {" + ", ".join(f"'{n}'" for n in range(100)) + "}\n"

    with pytest.raises(RuleError) as caught:
        printed(group + text)

    assert str(caught.value) == (
        f"the rules:2:1: with this rule, the groups come to {atoms} atoms written out, and the limit is 100,000. "
        f"Use fewer or smaller groups in one rule, or a table of facts.\n    {text[:500]}{'...' * (len(text) > 500)}\n    ^"
    )


def test_the_atoms_of_all_rules_count_together() -> None:
    group = "$G = {" + ", ".join(f"'{n}'" for n in range(100)) + "}\n"
    rule = "1: A(X, $G) & B(X, $G) -> Label(X, 'c')\n"

    assert len(printed(group + 3 * rule)) == 30_000
    with pytest.raises(RuleError, match=r"^the rules:5:1: with this rule, the groups come to 120,000 atoms"):
        printed(group + 4 * rule)


def test_an_unknown_group_names_the_nearest() -> None:
    with pytest.raises(RuleError) as caught:
        printed("$BEGIN = {'a'}\n1: Label(X, $BEGN)")

    assert str(caught.value) == (
        "the rules:2:13: there is no group $BEGN. Did you mean '$BEGIN'?\n    1: Label(X, $BEGN)\n                ^"
    )
