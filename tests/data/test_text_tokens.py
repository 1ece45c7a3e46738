"""Texts cut into tokens: what is kept together, what is left out, and places that are right in every script."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crowdlogic.data import text_tokens
from crowdlogic.data.intake.contract import Tokenizer
from crowdlogic.data.text_tokens import tokenize_texts
from crowdlogic.errors import OptionError

FAMILY, FLAGS, THUMB = "👩‍👩‍👧", "🇩🇪🇫🇷", "👍🏽"


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("Ann Lee's dog, 12.5%", ["Ann", "Lee", "'", "s", "dog", ",", "12", ".", "5", "%"]),
        ("e\u0301te\u0301", ["e\u0301te\u0301"]),
        (f"{FAMILY} {FLAGS}{THUMB}", [FAMILY, "🇩🇪", "🇫🇷", THUMB]),
        ("東京に行く", ["東", "京", "に", "行", "く"]),
        ("GPT東京", ["GPT", "東", "京"]),
        ("שלום, עולם", ["שלום", ",", "עולם"]),
        ("عَرَبِي\u200f.", ["عَرَبِي", "."]),
        ("می\u200cروم", ["می\u200cروم"]),
        ("a\r\n\tb\u200bc", ["a", "b", "c"]),
        ("", []),
        (" \u2028 ", []),
    ],
)  # fmt: skip
def test_words(text: str, tokens: list[str]) -> None:
    found = tokenize_texts([text])

    assert found.tokens.to_list() == tokens
    assert [text[start:end] for start, end in found.bounds] == tokens


def test_other_tokenizers() -> None:
    assert tokenize_texts(["don't, no"], "whitespace").tokens.to_list() == ["don't,", "no"]
    assert tokenize_texts(["ab e\u0301"], "characters").tokens.to_list() == ["a", "b", "e\u0301"]


def test_texts_are_told_apart_by_offsets() -> None:
    found = tokenize_texts(["a b", "", "c"])

    assert found.offsets.tolist() == [0, 2, 2, 3]
    assert found.bounds.tolist() == [[0, 1], [2, 3], [0, 1]]


@given(st.lists(st.text(), max_size=4), st.sampled_from(list(Tokenizer)))
def test_every_token_stands_at_its_place_and_nothing_visible_is_lost(texts: list[str], tokenizer: Tokenizer) -> None:
    found = tokenize_texts(texts, tokenizer)

    for s, text in enumerate(texts):
        own = range(found.offsets[s], found.offsets[s + 1])
        places = found.bounds[found.offsets[s] : found.offsets[s + 1]]
        assert [text[start:end] for start, end in places] == [found.tokens[i] for i in own]
        assert (np.diff(places.ravel()) >= 0).all()
        covered = {at for start, end in places for at in range(start, end)}
        assert not any(sign.isalnum() for at, sign in enumerate(text) if at not in covered)


def test_an_unknown_tokenizer_is_refused() -> None:
    with pytest.raises(OptionError, match=r"tokens: expected one of words, whitespace, characters; got 'bpe'."):
        tokenize_texts(["a"], "bpe")


def test_texts_cut_a_few_at_a_time_have_the_same_tokens(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = ["Ann sings.", "", "東京 GPT", " ", f"{FAMILY} at home", "é, two"]
    whole = tokenize_texts(texts)
    monkeypatch.setattr(text_tokens, "TEXTS_AT_ONCE", 2)

    parts = tokenize_texts(texts)

    assert parts.tokens.to_list() == whole.tokens.to_list()
    assert parts.bounds.tolist() == whole.bounds.tolist()
    assert parts.offsets.tolist() == whole.offsets.tolist()
    assert tokenize_texts([]).offsets.tolist() == [0]
