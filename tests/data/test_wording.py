"""Numbers and names in sentences."""

from __future__ import annotations

import pytest

from crowdlogic.data.wording import NAME_LENGTH, approximate, list_names, percent, pluralise, shorten_name


def test_counts_have_their_nouns() -> None:
    assert [pluralise(n, "item") for n in (0, 1, 2, 1000)] == ["0 items", "1 item", "2 items", "1,000 items"]
    assert pluralise(2, "item has", "items have") == "2 items have"


@pytest.mark.parametrize(
    ("share", "words"),
    [
        (0.0, "0%"),
        (0.0004, "less than 0.1%"),
        (0.001, "0.1%"),
        (0.0099, "1%"),
        (0.01, "1%"),
        (0.505, "50%"),
        (0.99, "99%"),
        (0.991, "99.1%"),
        (0.9996, "more than 99.9%"),
        (1.0, "100%"),
        (None, "an unknown share"),
        (float("nan"), "an unknown share"),
    ],
)
def test_only_exact_shares_are_0_and_100_percent(share: float | None, words: str) -> None:
    assert percent(share) == words


@pytest.mark.parametrize(
    ("expected", "words"),
    [
        (0.0, "about 0"),
        (0.04, "less than 0.1"),
        (0.1, "about 0.1"),
        (3.0, "about 3"),
        (9.94, "about 9.9"),
        (9.96, "about 10"),
        (1234.5, "about 1,234"),
    ],
)
def test_expected_numbers_are_never_a_false_nought(expected: float, words: str) -> None:
    assert approximate(expected) == words


def test_names_are_on_one_line_and_cut() -> None:
    assert shorten_name(" a\n b ") == "a b"
    assert shorten_name("x" * NAME_LENGTH) == "x" * NAME_LENGTH
    assert shorten_name("x" * 61) == "x" * 59 + "…"


def test_the_names_that_are_left_out_are_counted() -> None:
    assert list_names(["a", "b", "c", "d"]) == "a, b, c, d"
    assert list_names(["a", "b", "c", "d", "e", "f"]) == "a, b, c, d and 2 more"
