"""Texts and tokens as word pieces, with a vocabulary of whole words and letters."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

tokenizers = pytest.importorskip("tokenizers", reason="tokenizers is not installed: pip install crowdlogic[hf]")

from crowdlogic.classifiers.features import TokenStream  # noqa: E402
from crowdlogic.errors import OptionError  # noqa: E402
from crowdlogic.extensions.networks.network import NO_UNIT  # noqa: E402
from crowdlogic.extensions.networks.transformer import WordPieces  # noqa: E402

PIECES = ("[UNK]", "[CLS]", "[SEP]", "film", "plot", "##s", "a", "##b", "##c", "##d")
UNK, CLS, SEP, FILM, PLOT, S, A, B, C, D = range(10)


def word_pieces(length: int) -> WordPieces:
    vocabulary = {piece: number for number, piece in enumerate(PIECES)}
    tokenizer = tokenizers.Tokenizer(tokenizers.models.WordPiece(vocabulary, unk_token=PIECES[UNK]))
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    tokenizer.post_processor = tokenizers.processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", CLS), ("[SEP]", SEP)]
    )
    return WordPieces(tokenizer.to_str(), length)


def tokens(*sentences: list[str]) -> TokenStream:
    words = tuple(word for sentence in sentences for word in sentence)
    return TokenStream(words, np.concatenate([[0], np.cumsum([len(sentence) for sentence in sentences])]))


def test_a_text_is_one_sequence_between_its_special_tokens_truncated_at_the_length() -> None:
    rows, offsets = word_pieces(5).encode_texts(["films", "", "plots a film film"])

    assert rows.tolist() == [CLS, FILM, S, SEP, CLS, SEP, CLS, PLOT, S, A, SEP]
    assert offsets.tolist() == [0, 4, 6, 11]


def test_the_unit_of_a_token_is_at_its_first_piece() -> None:
    rows, offsets, units = word_pieces(10).encode_tokens(tokens(["films", "a"], [], ["plot"]))

    assert rows.tolist() == [CLS, FILM, S, A, SEP, CLS, PLOT, SEP]
    assert offsets.tolist() == [0, 5, 8]  # a sentence without tokens has no sequence
    assert units.tolist() == [NO_UNIT, 0, NO_UNIT, 1, NO_UNIT, NO_UNIT, 2, NO_UNIT]


def test_a_long_sentence_is_split_between_tokens_and_a_long_token_is_truncated() -> None:
    rows, offsets, units = word_pieces(5).encode_tokens(tokens(["film", "plots", "a", "abcd", "film"]))

    parts = [rows[begin:end].tolist() for begin, end in pairwise(offsets)]
    assert parts == [[CLS, FILM, PLOT, S, SEP], [CLS, A, SEP], [CLS, A, B, C, SEP], [CLS, FILM, SEP]]
    assert units[units != NO_UNIT].tolist() == [0, 1, 2, 3, 4]


def test_a_word_without_pieces_is_the_unknown_piece() -> None:
    rows, _, units = word_pieces(10).encode_tokens(tokens(["", "zzz"]))

    assert rows.tolist() == [CLS, UNK, UNK, SEP]
    assert units.tolist() == [NO_UNIT, 0, 1, NO_UNIT]


def test_special_tokens_must_leave_room() -> None:
    with pytest.raises(OptionError) as caught:
        word_pieces(2)

    assert str(caught.value) == "length: 2 pieces leave no room for words. Increase it."
