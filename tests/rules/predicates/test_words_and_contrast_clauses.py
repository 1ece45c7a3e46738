"""Functions of the text."""

from __future__ import annotations

import time

import polars as pl
import pytest

from crowdlogic.errors import RuleError
from crowdlogic.rules.predicates.patterns import matches
from crowdlogic.rules.predicates.words_and_contrast_clauses import after, before, contains


def test_the_clauses_around_a_word() -> None:
    texts = pl.Series(
        [
            "A nice film , but it drags .",
            "but no",
            "good but",
            "x but y but z",
            "BUT a But b",
            "button , rebut , butter",
            "all-but dead",
            "one but\ntwo",
            "good but !",
            "",
            None,
        ]
    )

    assert after(texts, "but").to_list() == [
        "it drags .",
        None,
        None,
        "y but z",
        "b",
        None,
        "dead",
        "two",
        None,
        None,
        None,
    ]
    assert before(texts, "but").to_list() == [
        "A nice film ,",
        None,
        None,
        "x",
        "BUT a",
        None,
        "all",
        "one",
        None,
        None,
        None,
    ]


def test_a_phrase_may_have_any_spaces_and_signs_are_taken_literally() -> None:
    texts = pl.Series(["good  as well\tas cheap", "good as well cheap", "a c++ b", "a c b"])

    assert after(texts, "as well as").to_list() == ["cheap", None, None, None]
    assert contains(texts, "c++").to_list() == [False, False, True, False]


def test_contains_matches_whole_words_whatever_their_case() -> None:
    texts = pl.Series(["Not bad", "notable", "do not", "not", "can-not!", "Über"])

    assert contains(texts, "not").to_list() == [True, False, True, True, True, False]
    assert contains(texts, "über").to_list() == [False] * 5 + [True]


def test_matches_finds_a_pattern_anywhere() -> None:
    assert matches(pl.Series(["a1b", "ab"]), r"\d").to_list() == [True, False]


@pytest.mark.parametrize(
    ("pattern", "reason"),
    [
        ("(a", "unclosed group"),
        (r"(a)\1", "backreferences are not supported"),
        ("(?<=a)b", "look-around, including look-ahead and look-behind, is not supported"),
        (r"(?:\w{10}){90}", "Compiled regex exceeds size limit of 10485760 bytes"),
    ],
)
def test_a_pattern_that_cannot_be_used_says_why(pattern: str, reason: str) -> None:
    with pytest.raises(RuleError) as caught:
        matches(pl.Series(["a"]), pattern)

    assert str(caught.value) == f"the pattern {pattern!r} cannot be used: {reason}."


def test_no_pattern_can_hang_the_program() -> None:
    # The classical catastrophe: exponential in a backtracking engine, linear here.
    began = time.perf_counter()

    assert matches(pl.Series(["a" * 200_000 + "!"]), r"^(a+)+$").to_list() == [False]
    assert time.perf_counter() - began < 2.0
