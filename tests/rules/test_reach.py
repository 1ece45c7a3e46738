"""Whether rules stay within an item: the answer is checked against the groundings themselves."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from crowdlogic.data.corpus import sentences
from crowdlogic.rules.expansion import stay_within_items
from crowdlogic.rules.grounding import ground_rules
from crowdlogic.rules.parser import parse_rules
from crowdlogic.rules.predicates import Vocabulary
from crowdlogic.rules.projection.projector import Projector

TAGS = ("B-PER", "I-PER", "O")
SENTENCES = sentences(["s", "t"], [["Ann", "Lee", "left"], ["Lee", "stayed"]])


def vocabulary() -> Vocabulary:
    pairs = pl.DataFrame({"a": ["s:2"], "b": ["t:1"]})
    return Vocabulary().table("Same", pairs).table("Known", pl.DataFrame({"who": ["s:2"]}))


@pytest.mark.parametrize(
    ("text", "within"),
    [
        ("include bio", True),
        ("1: Label(T, 'O') & Previous(T, P) & Next(T, N) & Token(N, 'x') -> Label(P, 'O')", True),
        ("1: SameSequence(A, B) & Label(A, C) -> Label(B, C)", True),
        ("1: Known(T) -> Label(T, 'B-PER')", True),
        ("1: Token(T, 'Lee') -> Label(T, 'B-PER')", True),
        ("1: Same(A, B) & Label(A, C) -> Label(B, C)", False),
        ("1: Token(A, W) & Token(B, W) & Label(A, C) -> Label(B, C)", False),
        ("1: Label(A, 'O') & Label(B, 'O') -> Previous(A, B)", False),
        ("1: Label(T, C) & Previous(T, P) & Same(P, Q) -> Label(Q, C)", False),
        ("1: Same(A, B) & Predicted(A, C) -> Label(B, C)", False),
        ("1: Label('s:1', 'O') & Known(T) -> Label(T, 'O')", False),
        ("1: Known(T) & (T != 's:1') -> Label(T, 'O')", False),
    ],
)
def test_rules_over_sentences(text: str, within: bool) -> None:
    assert stay_within_items(parse_rules(text), TAGS, vocabulary()) is within


@pytest.mark.parametrize(
    ("text", "within"),
    [
        ("include contrast('but')", True),
        ("1: Contains(S, 'x') & Predicted(S, C) -> Label(S, C)", True),
        ("1: Near(A, B) & Label(A, C) -> Label(B, C)", False),
        ("include contrast('but')\n1: Near(A, B) & Label(A, C) -> Label(B, C)", False),
        ("1: Label(S, +C) = 1", True),
        ("1: By(S, A) & By(T, A) & Label(S, C) -> Label(T, C)", False),
        ("1: By(S, A) & Kind(A) -> Label(S, 'x')", True),
    ],
)
def test_rules_over_documents(text: str, within: bool) -> None:
    words = Vocabulary()
    for name, width in (("Near", 2), ("By", 2), ("Kind", 1)):
        words.table(name, pl.DataFrame({f"{c}": ["a"] for c in range(width)}))

    assert stay_within_items(parse_rules(text), ("x", "y"), words) is within


def test_an_item_projected_alone_is_as_it_is_among_all_where_rules_stay_within_items() -> None:
    rules = parse_rules(
        "include bio\n1: Known(T) -> Label(T, 'B-PER')\n0.5: Token(T, 'Lee') & Next(T, N) -> Label(N, 'O')"
    )
    q_a = np.random.default_rng(0).dirichlet(np.ones(3), size=5)

    whole = Projector().project(q_a, ground_rules(rules, SENTENCES, TAGS, vocabulary=vocabulary()))
    alone = [
        Projector().project(
            q_a[units], ground_rules(rules, SENTENCES.take_items(np.array([s])), TAGS, vocabulary=vocabulary())
        )
        for s, units in enumerate((slice(0, 3), slice(3, 5)))
    ]

    assert stay_within_items(rules, TAGS, vocabulary())
    np.testing.assert_allclose(np.concatenate([one.q_b for one in alone]), whole.q_b, rtol=0, atol=1e-12)


def test_an_item_projected_alone_would_be_wrong_where_rules_join_items() -> None:
    rules = parse_rules("1: Same(A, B) & Label(A, C) -> Label(B, C)")
    q_a = np.random.default_rng(0).dirichlet(np.ones(3), size=5)

    whole = Projector().project(q_a, ground_rules(rules, SENTENCES, TAGS, vocabulary=vocabulary()))
    alone = Projector().project(
        q_a[:3], ground_rules(rules, SENTENCES.take_items(np.array([0])), TAGS, vocabulary=vocabulary())
    )

    assert not stay_within_items(rules, TAGS, vocabulary())
    assert np.abs(whole.q_b[:3] - alone.q_b).max() > 0.01


def test_without_rules_there_is_nothing_to_join() -> None:
    assert stay_within_items(parse_rules(""), ("x", "y"))
