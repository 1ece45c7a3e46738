"""Features of texts and tokens, hashed, and features that were given."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from scipy import sparse

from crowdlogic.classifiers.features import (
    BEYOND,
    SHAPES,
    FeatureColumns,
    document_features,
    extract_features,
    find_columns,
    hash_column,
    load_columns,
    numeric_features,
    token_features,
    tokenize_plain,
    word_shape,
)
from crowdlogic.data.corpus import Corpus, documents, sentences
from crowdlogic.errors import CorpusError, FormatError

BITS = 18


def columns_with_weight(row: sparse.csr_array) -> set[int]:
    return set(np.flatnonzero(row.toarray().ravel()).tolist())


def test_a_text_has_its_words_and_runs_of_words() -> None:
    found = document_features(["Not so good.", "so"], max_ngram=2, hash_bits=BITS)

    expected = {hash_column(run, BITS) for run in ("not", "so", "good", ".", "not so", "so good", "good .")}
    assert columns_with_weight(found[[0]]) == expected
    assert columns_with_weight(found[[1]]) == {hash_column("so", BITS)}


def test_runs_are_as_long_as_grams_says() -> None:
    one, three = (document_features(["a b c d"], max_ngram=grams, hash_bits=BITS) for grams in (1, 3))

    assert one.nnz == 4
    assert columns_with_weight(three) > {hash_column("a b c", BITS), hash_column("b c d", BITS)}
    assert three.nnz == 4 + 3 + 2


def test_rows_have_length_one_unless_empty() -> None:
    found = document_features(["a b a", "", "c"], max_ngram=2, hash_bits=BITS)

    np.testing.assert_allclose(np.sqrt((found.toarray() ** 2).sum(axis=1)), [1, 0, 1], rtol=1e-12)


def test_a_column_is_the_same_on_every_machine() -> None:
    assert hash_column("123456789", 32) == 0xCBF43926  # the check value that CRC-32 is published with
    assert hash_column("123456789", 12) == 0x926


def test_lone_surrogates_are_no_failure() -> None:
    assert document_features(["\ud800 x"], max_ngram=1, hash_bits=BITS).nnz == 2


def slow_token_features(words: list[str], t: int) -> set[str]:
    word = words[t]
    low = word.lower()
    found = {f"w={low}", f"as={word}", f"shape={SHAPES[word_shape(word)]}", f"begins={low[:3]}", f"ends={low[-3:]}"}
    for step in (-2, -1, 1, 2):
        beside = words[t + step] if 0 <= t + step < len(words) else BEYOND
        found |= {f"{step}={beside.lower()}", f"{step}shape={SHAPES[word_shape(beside)]}"}
    return found


def test_a_token_has_itself_and_its_neighbours_in_the_same_sentence() -> None:
    said = [["Ann", "sees", "Bob", "."], [], ["Go"], ["U.S.", "3"]]

    found = token_features(sentences(range(4), said), hash_bits=BITS, name="linear")

    tokens = [(words, t) for words in said for t in range(len(words))]
    for row, (words, t) in enumerate(tokens):
        expected = {hash_column(feature, BITS) for feature in slow_token_features(words, t)}
        assert columns_with_weight(found[[row]]) == expected
    assert found.shape[0] == len(tokens)


def test_two_features_in_one_column_count_once() -> None:
    found = token_features(sentences([0], [["Ann", "sees", "Bob"]]), hash_bits=2, name="linear")

    np.testing.assert_allclose((found.toarray() ** 2).sum(axis=1), 1.0, rtol=1e-12)
    assert found.has_canonical_format


def test_no_token_at_all_makes_no_row() -> None:
    assert token_features(sentences([0, 1], [[], []]), hash_bits=BITS, name="linear").shape == (0, 1 << BITS)


def test_given_features_are_taken_before_texts() -> None:
    given = np.arange(6.0).reshape(3, 2)

    found = extract_features(
        documents(range(3), ["a", "b", "c"], features=given), max_ngram=2, hash_bits=BITS, name="linear"
    )

    np.testing.assert_array_equal(found, given)


def test_given_features_must_be_a_finite_table() -> None:
    holed = np.ones((3, 2))
    holed[1, 1] = np.nan

    with pytest.raises(CorpusError) as caught:
        numeric_features(documents(range(3), features=holed), "linear")
    assert str(caught.value) == ("The features of unit 1 are not all finite numbers. Correct them, or remove the item.")
    with pytest.raises(CorpusError) as caught:
        numeric_features(documents(range(3), features=np.ones((3, 2, 2))), "mlp")
    assert str(caught.value) == "The features have shape (3, 2, 2). Pass a table with one row per unit."


def test_items_without_anything_to_look_at_are_refused() -> None:
    with pytest.raises(CorpusError) as caught:
        extract_features(Corpus(pl.Series([1, 2])), max_ngram=2, hash_bits=BITS, name="linear")

    assert str(caught.value) == "linear needs texts, but the items have none. Choose another model."


def look(corpus: Corpus) -> sparse.csr_array:
    return document_features(corpus.texts or (), max_ngram=1, hash_bits=BITS)


def test_only_columns_of_the_training_corpus_are_kept() -> None:
    columns = find_columns(documents(range(2), ["a b", "c"]), look)

    found = columns.select(documents(range(2), ["b z", "z"]))

    assert len(columns) == 3
    assert found.shape == (2, 3)
    assert found.nnz == 1  # z has no weight


def test_columns_come_back_from_their_arrays() -> None:
    columns = find_columns(documents(range(2), ["a b", "c"]), look)

    again = load_columns(columns.arrays(), look)

    np.testing.assert_array_equal(again.kept, columns.kept)
    assert again.width == columns.width
    with pytest.raises(FormatError, match="not belong to a classifier with features"):
        load_columns({}, look)


def test_items_of_another_kind_are_refused() -> None:
    columns = FeatureColumns(lambda corpus: numeric_features(corpus, "linear"), np.arange(2), 2)

    with pytest.raises(CorpusError) as caught:
        columns.select(documents(range(3), features=np.ones((3, 5))))

    assert str(caught.value) == (
        "These items have 5 features, but the classifier was trained with 2. Use items with the same features as the training data."
    )


def test_features_of_a_corpus_are_computed_once() -> None:
    corpus, calls = documents(range(2), ["a", "b"]), []

    def counted(corpus: Corpus) -> sparse.csr_array:
        calls.append(corpus)
        return look(corpus)

    columns = find_columns(corpus, counted)
    columns.select(corpus)
    columns.select(corpus)

    assert len(calls) == 2  # to learn the columns, and once for use


def test_words_of_features_are_plain_words() -> None:
    assert columns_with_weight(document_features(["A-b"], max_ngram=1, hash_bits=BITS)) == {
        hash_column(word, BITS) for word in tokenize_plain("a-b")
    }
