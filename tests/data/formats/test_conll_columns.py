from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crowdlogic.data.formats.conll import encode_columns, parse_columns
from crowdlogic.errors import FormatError

WORDS = st.text(st.characters(blacklist_categories=["Cs", "Cc", "Zs", "Zl", "Zp"]), min_size=1, max_size=4)


@given(st.lists(st.lists(st.tuples(WORDS, WORDS, WORDS), min_size=1, max_size=4), min_size=1, max_size=4))
def test_columns_are_parsed_as_they_were_encoded(sentences: list[list[tuple[str, str, str]]]) -> None:
    rows = [row for sentence in sentences for row in sentence]
    offsets = np.cumsum([0, *map(len, sentences)])
    items = pl.Series([f"s{n}" for n in range(len(sentences))])
    tokens, first, second = (list(column) for column in zip(*rows, strict=True))

    text = encode_columns(items, tokens, offsets, columns=[first, second], annotators=["ann", "bob"])
    found = parse_columns(text, "f")

    assert found.tokens.to_list() == tokens
    assert found.tags.to_list() == [tag for pair in zip(first, second, strict=True) for tag in pair]
    assert found.offsets.tolist() == offsets.tolist()
    assert found.items.to_list() == items.to_list()
    assert found.annotators.to_list() == ["ann", "bob"]


def test_sentences_in_order_need_no_names() -> None:
    text = encode_columns(pl.Series([0, 1]), ["a", "b"], np.array([0, 1, 2]), columns=[["O", "B-X"]])

    assert text == b"a O\n\nb B-X\n"
    assert parse_columns(text, "f").items.to_list() == [0, 1]
    assert parse_columns(text, "f").lines.tolist() == [1, 3]


def test_the_first_line_that_is_wrong_is_named_and_the_others_counted() -> None:
    with pytest.raises(FormatError) as caught:
        parse_columns(b"a O\nb\nc O O\nd\n", "f.conll")

    assert str(caught.value) == (
        "f.conll, line 2: 1 column, but the first line has 2. "
        "Give every token the same number of tags, ? for not seen. (2 more such lines)"
    )
