"""The word of a token, and its shape."""

from __future__ import annotations

import polars as pl

from crowdlogic.rules.predicates.definition import Kind, Predicate, Role


def token(tokens: pl.Series) -> pl.Series:
    """The tokens themselves."""
    return tokens


def shape(tokens: pl.Series) -> pl.Series:
    """Paris -> Xx, EU -> X, U.N. -> X.X., 1990 -> d: runs of capitals, small letters and digits, each as one sign."""
    signs = tokens.str.replace_all(r"\p{Lu}+", "\u0001").str.replace_all(r"\p{L}+", "\u0002")
    return (
        signs.str.replace_all(r"\p{Nd}+", "d")
        .str.replace_all("\u0001", "X", literal=True)
        .str.replace_all("\u0002", "x", literal=True)
    )


TOKEN = Predicate(
    name="Token",
    kinds=(Kind.unit, Kind.name),
    role=Role.text,
    units="tokens",
    function=token,
    example="Token(T, W)",
    meaning="the token T is the word W",
)

SHAPE = Predicate(
    name="Shape",
    kinds=(Kind.unit, Kind.name),
    role=Role.text,
    units="tokens",
    function=shape,
    example="Shape(T, 'Xx')",
    meaning="the token T has the shape Xx (Paris), X (EU), d (1990), x (in)",
)
