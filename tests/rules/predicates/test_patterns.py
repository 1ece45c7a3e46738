from __future__ import annotations

import time

import polars as pl
import pytest

from crowdlogic.errors import RuleError
from crowdlogic.rules.predicates import patterns
from crowdlogic.rules.predicates.patterns import check_size, expanded_size, in_portions, matches
from crowdlogic.rules.predicates.words_and_contrast_clauses import after, contains


@pytest.mark.parametrize(
    ("pattern", "size"),
    [
        ("abc", 3),
        ("a{5}", 5),
        ("a{2,7}b", 8),
        ("a{3,}", 3),
        ("(?:ab){10}", 20),
        ("(?P<name>ab){10}(?i)", 21),
        ("(?:(?:a?){50}){50}", 2500),
        (r"\w{20}\d", 21),
        (r"\p{Greek}{3}\x{3b1}", 4),
        (r"[a-z]{9}", 9),
        (r"[]a]{9}[^]]{2}", 11),
        (r"[[:alpha:]\]]{4}", 4),
        (r"\{9\}", 3),
        ("a{}", 1),
        ("a{0}b", 2),
        ("^a*|b+$", 2),
        ("((", 0),
        ("))", 2),
        ("[", 1),
        ("\\", 1),
    ],
)
def test_repetitions_are_written_out(pattern: str, size: int) -> None:
    assert expanded_size(pattern) == size


@pytest.mark.parametrize("pattern", ["(?:a?[ab]?){40000}c", "a{1000000000}", "(?:(?:a{99}){99}){99}", "a" * 1001])
def test_a_pattern_that_would_run_for_minutes_is_refused_at_once(pattern: str) -> None:
    begun = time.monotonic()

    with pytest.raises(RuleError, match="is too large: with its repetitions written out it has more than 1,000 parts"):
        matches(pl.Series(["ab" * 500] * 100), pattern)

    assert time.monotonic() - begun < 1


def test_patterns_that_people_write_are_not_refused() -> None:
    for pattern in (r"\b\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}\b", r"(?i)\b(?:not|never|no)\b.{0,50}\bgood\b", r"(ha){2,}"):
        check_size(pattern, "the pattern")


def test_portions_give_what_the_whole_gives() -> None:
    texts = pl.Series([None, "", "a1", "x" * 200_000 + "7", *["b"] * 100_000, "c9"])

    assert matches(texts, r"\d").equals(texts.str.contains(r"\d"))
    assert matches(texts.head(0), r"\d").len() == 0


def test_the_clock_is_looked_at_between_portions(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(patterns, "MAX_SECONDS", 0.1)
    seen: list[int] = []

    def search(some: pl.Series) -> pl.Series:
        seen.append(len(some))
        time.sleep(0.06)
        return some.str.contains("x")

    with pytest.raises(RuleError, match=r"^the pattern 'x' takes more than 0\.1 seconds\."):
        in_portions(pl.Series(["y" * 70_000] * 50), "the pattern 'x'", search)

    assert 1 <= len(seen) <= 4


def test_a_word_of_a_million_characters_is_refused() -> None:
    for search in (contains, after):
        with pytest.raises(RuleError, match=r"has 1,000,000 characters; the maximum is 200"):
            search(pl.Series(["text"]), "x" * 1_000_000)
