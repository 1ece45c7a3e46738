"""Functions of the text, for columns of texts at once.

Words are matched whole and whatever their case. Patterns run in a regular-expression engine whose time is linear in
the text, whatever the pattern (Rust's, through polars): a rule file cannot hang the program. That engine has no
backreferences and no look-around.
"""

from __future__ import annotations

import re
from functools import lru_cache
from pathlib import Path

import polars as pl

from crowdlogic.errors import RuleError

EDGE = r"(?:^|\W)"
"""What stands before a whole word; its end is the mirror image."""


def phrase(word: str) -> str:
    """A pattern for a word or a phrase, with any spaces between its words."""
    return r"\s+".join(re.escape(part) for part in word.split())


def contains(texts: pl.Series, word: str) -> pl.Series:
    """Whether each text contains the word."""
    return texts.str.contains(rf"(?i){EDGE}{phrase(word)}(?:\W|$)")


def after(texts: pl.Series, word: str) -> pl.Series:
    """What follows the first such word that stands between words; null where there is none."""
    return _clause(texts, word, rf"(?is)\w.*?\W{phrase(word)}(\W.*\w.*)$")


def before(texts: pl.Series, word: str) -> pl.Series:
    """What precedes the first such word that stands between words; null where there is none."""
    return _clause(texts, word, rf"(?is)^(.*?\w.*?)\W{phrase(word)}\W.*\w")


def _clause(texts: pl.Series, word: str, pattern: str) -> pl.Series:
    # Few texts have the word, and finding it is much quicker than cutting at it.
    rows = contains(texts, word).arg_true()
    cut = texts.gather(rows).str.extract(pattern, 1).str.strip_chars()
    found = pl.Series(cut.name, [None], dtype=pl.String).new_from_index(0, len(texts))
    return found.scatter(rows, cut)


def matches(texts: pl.Series, pattern: str) -> pl.Series:
    """Whether each text holds a match of the pattern."""
    try:
        return texts.str.contains(pattern)
    except pl.exceptions.PolarsError as problem:
        raise RuleError(f"the pattern {pattern!r} cannot be used: {_reason(problem)}.") from None


def _reason(problem: Exception) -> str:
    """What is wrong, out of a message that also draws the pattern and names the expression."""
    lines = [line.strip() for line in str(problem).splitlines() if line.strip()]
    said = next((line for line in lines if line.startswith("error: ")), lines[0] if lines else "")
    return said.removeprefix("regex error: ").removeprefix("error: ").rstrip(".")


def shape(tokens: pl.Series) -> pl.Series:
    """Paris -> Xx, EU -> X, U.N. -> X.X., 1990 -> d: runs of capitals, small letters and digits, each as one sign."""
    signs = tokens.str.replace_all(r"\p{Lu}+", "\u0001").str.replace_all(r"\p{L}+", "\u0002")
    return (
        signs.str.replace_all(r"\p{Nd}+", "d")
        .str.replace_all("\u0001", "X", literal=True)
        .str.replace_all("\u0002", "x", literal=True)
    )


def in_list(texts: pl.Series, path: Path) -> pl.Series:
    """Whether a word of each text stands in a word list."""
    words = _word_list(path, _state(path))
    return texts.str.split(" ").list.eval(pl.element().str.strip_chars().is_in(words)).list.any()


def _state(path: Path) -> tuple[int, int]:
    """What changes when a file does: when it was last written, and its size."""
    try:
        found = path.stat()
    except OSError:
        return 0, 0
    return found.st_mtime_ns, found.st_size


@lru_cache(maxsize=16)
def _word_list(path: Path, _written: tuple[int, int]) -> tuple[str, ...]:
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except FileNotFoundError:
        raise RuleError(f"there is no word list {path.name!r} beside the rule file.") from None
    except (OSError, UnicodeDecodeError):
        raise RuleError(f"the word list {path.name!r} cannot be read as UTF-8 text.") from None
    return tuple(sorted({line.strip() for line in lines if line.strip()}))
