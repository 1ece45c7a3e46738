"""Arrays of a saved classifier are refused unless they are what was saved: nothing is computed with them before."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from crowdlogic.classifiers.protocol import (
    INTEGERS,
    Classifier,
    encode_json,
    saved_array,
    saved_columns,
    saved_json,
    saved_number,
    saved_words,
)
from crowdlogic.data.corpus import Corpus, documents, sentences
from crowdlogic.errors import FormatError
from crowdlogic.registry import CLASSIFIERS

ARRAYS: dict[str, Any] = {"w": np.ones((2, 3)), "n": np.array(7), "nan": np.array([np.nan]), "c": np.array([1, 4, 6])}


def test_an_array_that_fits_is_taken() -> None:
    assert saved_array(ARRAYS, "w", (2, 3)) is ARRAYS["w"]
    assert saved_array(ARRAYS, "w", (None, 3)) is ARRAYS["w"]
    assert saved_number(ARRAYS, "n", least=0, most=7) == 7
    assert saved_columns(ARRAYS, "c", width=7).tolist() == [1, 4, 6]
    assert saved_words({"v": encode_json(["a", "b"])}, "v") == ("a", "b")


@pytest.mark.parametrize(
    ("name", "shape", "kind", "line"),
    [
        ("x", (1,), "f", "These arrays belong to a different classifier: x is missing where (1,) is expected."),
        ("w", (2, 4), "f", "These arrays belong to a different classifier: w is (2, 3) where (2, 4) is expected."),
        ("w", (None,), "f", "These arrays belong to a different classifier: w is (2, 3) where (any,) is expected."),
        ("w", (2, 3), INTEGERS, "These arrays belong to a different classifier: w has type float64."),
        ("nan", (1,), "f", "These arrays are damaged: nan contains NaN or infinities."),
    ],
)
def test_an_array_that_does_not_fit_is_refused(name: str, shape: tuple[Any, ...], kind: str, line: str) -> None:
    with pytest.raises(FormatError) as refused:
        saved_array(ARRAYS, name, shape, kind=kind)

    assert str(refused.value) == line


def test_numbers_out_of_bounds_are_refused() -> None:
    with pytest.raises(FormatError, match="n is 7, not from 0 to 6"):
        saved_number(ARRAYS, "n", least=0, most=6)
    for columns in ([4, 1], [-1, 2], [2, 7], [3, 3]):
        with pytest.raises(FormatError, match="c does not increase from 0 to below 7"):
            saved_columns({"c": np.array(columns)}, "c", width=7)


@pytest.mark.parametrize("content", [b"{", b"\xff", b"3", b"[" * 100_000])
def test_what_is_no_json_of_its_kind_is_refused(content: bytes) -> None:
    with pytest.raises(FormatError, match="These arrays"):
        saved_json({"j": np.frombuffer(content, dtype=np.uint8)}, "j", list)


@pytest.mark.parametrize("words", [["a", "a"], ["a", 3]])
def test_words_are_texts_each_once(words: list[Any]) -> None:
    with pytest.raises(FormatError, match="j is not a list of distinct words"):
        saved_words({"j": encode_json(words)}, "j")


TEXTS = documents(["a", "b", "c", "d"], ["good film", "bad film", "good", "bad bad"], gold=["x", "y", "x", "y"])
NUMBERS = Corpus(
    TEXTS.items, features=np.random.default_rng(0).normal(size=(4, 3)), classes=TEXTS.classes, gold=TEXTS.gold
)
SENTENCES = sentences(["a", "b"], [["good", "film"], ["bad", "one"]], gold=[["x", "x"], ["y", "y"]])
TARGETS = np.eye(2)[[0, 1, 0, 1]]
CHANGES = {
    "fewer": lambda array: array[:1] if array.ndim else np.array([0]),
    "longer": lambda array: np.concatenate([array, array]) if array.ndim else np.stack([array, array]),
    "text": lambda array: np.full(array.shape, 7, dtype=np.uint8),
    "nan": lambda array: np.full(array.shape, np.nan),
    "huge": lambda array: np.full(array.shape, 2**62, dtype=np.int64),
    "negative": lambda array: np.full(array.shape, -1, dtype=np.int64),
}


def trained(name: str) -> tuple[Any, Classifier, Corpus]:
    corpus = NUMBERS if name == "mlp" else SENTENCES if name == "bilstm-crf" else TEXTS
    options = CLASSIFIERS.create(name)
    made = options.build(corpus, TEXTS.classes, seed=0)
    made.fit_epoch(corpus, TARGETS)
    return options, made, corpus


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("name", [name for name in CLASSIFIERS if name not in ("transformer", "cnn-gru")])
def test_a_classifier_refuses_arrays_or_predicts_probabilities_with_them(name: str, change: str) -> None:
    options, made, corpus = trained(name)
    arrays = {key: array for key, array in made.arrays().items() if not key.startswith("progress.")}

    np.testing.assert_array_equal(options.load(arrays, TEXTS.classes).predict_proba(corpus), made.predict_proba(corpus))
    refused = 0
    for key, array in arrays.items():
        try:
            found = options.load(arrays | {key: CHANGES[change](array)}, TEXTS.classes).predict_proba(corpus)
        except FormatError:
            refused += 1
        else:  # other numbers that are possible, too
            np.testing.assert_allclose(found.sum(axis=1), 1.0, atol=1e-9)
    assert refused
