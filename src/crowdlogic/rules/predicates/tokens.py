"""The word of a token, and its shape."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

import polars as pl

from crowdlogic.data.files import open_regular
from crowdlogic.errors import DataError, MissingDataError, RuleError
from crowdlogic.rules.predicates.definition import Kind, Role, documented


def token(tokens: pl.Series) -> pl.Series:
    """Return the tokens themselves."""
    return tokens


def shape(tokens: pl.Series) -> pl.Series:
    """Return the shape of a word: Paris -> Xx, EU -> X, U.N. -> X.X., 1990 -> d, with runs merged."""
    signs = tokens.str.replace_all(r"\p{Lu}+", "\u0001").str.replace_all(r"\p{L}+", "\u0002")
    return (
        signs.str.replace_all(r"\p{Nd}+", "d")
        .str.replace_all("\u0001", "X", literal=True)
        .str.replace_all("\u0002", "x", literal=True)
    )


TOKEN = documented("Token(T, W)", "the token T is the word W", (Kind.unit, Kind.name), Role.text, token, units="tokens")

SHAPE = documented(
    "Shape(T, 'Xx')",
    "the token T has the shape Xx (Paris), X (EU), d (1990), x (in)",
    (Kind.unit, Kind.name),
    Role.text,
    shape,
    units="tokens",
)


# Word lists: files with one word per line, or lists in the vocabulary.


def in_list(texts: pl.Series, words: tuple[str, ...]) -> pl.Series:
    """Return whether a word of each text is in a word list."""
    return texts.str.split(" ").list.eval(pl.element().str.strip_chars().is_in(words)).list.any()


def read_word_list(path: Path) -> tuple[str, ...]:
    """Return the words of a file with one word per line. The file is read again if it has changed."""
    return parse_word_list(_read(path, _state(path)), path.name)


def word_list_bytes(path: Path) -> bytes:
    """Return the content of a file with a word list, after checking that it can be parsed."""
    content = _read(path, _state(path))
    parse_word_list(content, path.name)
    return content


@lru_cache(maxsize=16)
def parse_word_list(content: bytes, name: str) -> tuple[str, ...]:
    """Return the words of a file's content, each once."""
    try:
        lines = content.decode("utf-8").splitlines()
    except UnicodeDecodeError:
        raise RuleError(f"the word list {name!r} cannot be read as UTF-8 text.") from None
    return tuple(sorted({line.strip() for line in lines if line.strip()}))


def _state(path: Path) -> tuple[int, int]:
    """Return a key that changes with a file: its modification time and its size."""
    try:
        found = path.stat()
    except OSError:
        return 0, 0
    return found.st_mtime_ns, found.st_size


@lru_cache(maxsize=16)
def _read(path: Path, _written: tuple[int, int]) -> bytes:
    try:
        with open_regular(path) as file:
            return file.read()
    except MissingDataError:
        raise RuleError(f"there is no word list {path.name!r} beside the rule file.") from None
    except (DataError, OSError):
        raise RuleError(f"the word list {path.name!r} cannot be read as UTF-8 text.") from None


IN_LIST = documented(
    "InList(T, 'cities.txt')",
    "the token (or a word of the text) is in a word list beside the rule file",
    (Kind.readable, Kind.file),
    Role.text,
    in_list,
)
