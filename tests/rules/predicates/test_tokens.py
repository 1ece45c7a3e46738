"""Words and shapes of tokens."""

from __future__ import annotations

import polars as pl

from crowdlogic.rules.predicates.tokens import shape


def test_shapes() -> None:
    tokens = pl.Series(["Paris", "EU", "U.N.", "1990", "iPhone", "don't", "Ähm", "X2-b", ""])

    assert shape(tokens).to_list() == ["Xx", "X", "X.X.", "d", "xXx", "x'x", "Xx", "Xd-x", ""]
