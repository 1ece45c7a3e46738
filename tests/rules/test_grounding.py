"""Grounding: what is joined, counted, refused."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from crowdlogic.data.corpus import documents, sentences
from crowdlogic.errors import RuleError
from crowdlogic.rules.grounding import GroundRules, ground_rules
from crowdlogic.rules.parser import parse_rules
from crowdlogic.rules.predicates import Vocabulary
from crowdlogic.rules.projection.projector import Projector

CLASSES = ("x", "y", "z")


def linked(pairs: list[tuple[str, str]], text: str, n: int = 4, **options: int) -> GroundRules:
    frame = pl.DataFrame(pairs, schema={"a": pl.String, "b": pl.String}, orient="row")
    corpus = documents([f"u{i}" for i in range(n)], ["t"] * n)
    vocabulary = Vocabulary().table("Similar", frame)
    return ground_rules(parse_rules(text, source="r"), corpus, CLASSES, vocabulary=vocabulary, **options)


def pairs_of(found: GroundRules) -> list[tuple[int, int]]:
    blocks = [block for rule in found.rules for block in rule.blocks if block.second is not None]
    return sorted((int(a), int(b)) for block in blocks for a, b in zip(block.first, block.second, strict=True))


def test_a_path_of_two_links_is_a_pair_of_its_ends() -> None:
    found = linked(
        [("u0", "u1"), ("u1", "u2"), ("u1", "u3")], "1: Similar(A, B) & Similar(B, D) & Label(A, C) -> Label(D, C)"
    )

    assert pairs_of(found) == [(0, 2), (0, 3)]


def test_the_size_is_counted_before_rows_are_made() -> None:
    with pytest.raises(RuleError) as caught:
        linked([], "1: Label(A, C) -> Label(B, 'x') | !Label(B, C)", n=2000, max_rows=1_000_000)

    assert str(caught.value) == (
        "1.0: Label(A, C) -> Label(B, 'x') | !Label(B, C) would ground to 4,000,000 rows, and the limit is 1,000,000. "
        "Add an atom that binds its variables more tightly, or raise the limit (max_rows)."
    )


def test_a_join_that_explodes_is_refused_before_it_does() -> None:
    hub = [("u0", f"u{n}") for n in range(1, 2001)]

    with pytest.raises(RuleError, match=r"would ground to 4,000,000 rows"):
        linked(hub, "1: Similar(H, A) & Similar(H, B) & Label(A, C) -> Label(B, C)", n=2001, max_rows=100_000)


def test_pairs_of_a_long_sequence_are_counted_first() -> None:
    corpus = sentences(["s"], [["a"] * 5000])

    with pytest.raises(RuleError, match=r"SameSequence has 24,995,000 pairs of tokens, and the limit is 1,000,000"):
        ground_rules(
            parse_rules("1: SameSequence(A, B) & Label(A, C) -> Label(B, C)"), corpus, CLASSES, max_rows=1_000_000
        )


def test_same_sequence_is_every_pair_of_different_tokens() -> None:
    corpus = sentences(["s", "t", "u"], [["a", "b", "c"], ["d"], ["e", "f"]])

    found = ground_rules(parse_rules("1: SameSequence(A, B) & Label(A, 'x') -> Label(B, 'x')"), corpus, CLASSES)

    assert pairs_of(found) == sorted([(0, 1), (0, 2), (1, 2), (4, 5)] * 2)


def test_groundings_are_counted_over_class_variables() -> None:
    found = linked([("u0", "u1")], "1: Similar(A, B) & Label(A, C) & Label(B, D) & C != D -> Predicted(A, D)")

    assert found.count == 6
    assert found.asks_units


def test_an_empty_corpus_grounds_to_nothing() -> None:
    found = ground_rules(parse_rules("include bio('X')"), sentences([], []), ("B-X", "I-X", "O"))

    assert found.count == 0


TEXTS = ["A great and Clumsy film", "great", "greatly", "it was not great , but very clumsy", "nothing"]
TONE = pl.DataFrame({"word": ["great", "clumsy", "absent"], "label": ["x", "y", "z"], "truth": [1.0, 0.5, 1.0]})


def projected(rules: str, vocabulary: Vocabulary | None = None) -> np.ndarray:
    """Uniform beliefs about the texts, after the rules."""
    projector = Projector(rules=parse_rules(rules), vocabulary=vocabulary)
    ground = projector.ground(documents([f"u{i}" for i in range(len(TEXTS))], TEXTS), CLASSES)
    return projector.project(np.full((len(TEXTS), len(CLASSES)), 1 / 3), ground).q_b


def test_a_table_of_words_is_joined_with_the_texts_that_contain_them() -> None:
    vocabulary = Vocabulary().table("Tone", TONE.drop("truth"))
    by_word = "1: Contains(S, 'great') -> Label(S, 'x')\n1: Contains(S, 'clumsy') -> Label(S, 'y')"

    for rules in ("1: Contains(S, W) & Tone(W, C) -> Label(S, C)", "1: Tone(W, C) & Contains(S, W) -> Label(S, C)"):
        np.testing.assert_allclose(projected(rules, vocabulary), projected(by_word), rtol=0, atol=1e-12)


def test_a_word_of_a_table_is_looked_for_in_derived_texts_and_under_a_negation() -> None:
    vocabulary = Vocabulary().table("Tone", TONE.drop("truth"))

    derived = projected("1: After(S, 'but', B) & Contains(B, W) & Tone(W, C) -> Label(S, C)", vocabulary)
    without = projected("1: Tone(W, C) & !Contains(S, W) & Contains(S, 'film') -> !Label(S, C)", vocabulary)

    uniform = np.full(3, 1 / 3)
    np.testing.assert_allclose(derived[[0, 1, 2, 4]], [uniform] * 4)
    assert derived[3].argmax() == 1  # after the but stands clumsy alone
    np.testing.assert_allclose(without[1:], [uniform] * 4)
    assert without[0].argmin() == 2  # the only word of the table that is not in the first text


def test_facts_that_are_partly_true_pull_in_part() -> None:
    pulled = projected("1: Contains(S, W) & Tone(W, C) -> Label(S, C)", Vocabulary().table("Tone", TONE))

    assert pulled[0, 0] > pulled[0, 1] > pulled[0, 2]
