"""What is checked before anything is learnt, and how things are packed."""

from __future__ import annotations

import numpy as np
import pytest

from crowdlogic.classifiers.linear import Linear
from crowdlogic.classifiers.protocol import (
    Architecture,
    Classifier,
    check_targets,
    decode_json,
    derive_seed,
    encode_json,
    predict_texts,
)
from crowdlogic.data.corpus import documents, sentences
from crowdlogic.errors import OptionError

CORPUS = documents(range(3), ["good", "bad", "so so"])
EVEN = np.full((3, 2), 0.5)


@pytest.mark.parametrize(
    ("targets", "weights", "message"),
    [
        (EVEN[:2], None, "targets have shape (2, 2) where (3, 2) is expected."),
        (np.ones((3, 3)), None, "targets have shape (3, 3) where (3, 2) is expected."),
        (np.ones(3), None, "targets have shape (3,) where (3, 2) is expected."),
        (np.full((3, 2), np.nan), None, "targets must be finite and at least 0. Look for units without beliefs."),
        (-EVEN, None, "targets must be finite and at least 0. Look for units without beliefs."),
        (EVEN, np.ones(2), "weights have shape (2,) where (3,) is expected."),
        (
            EVEN,
            np.array([1, -1, 0.5]),
            "weights must be finite and at least 0. Use 0 for units to leave out of training.",
        ),
    ],
)
def test_targets_and_weights_that_do_not_fit_are_refused(
    targets: np.ndarray, weights: np.ndarray | None, message: str
) -> None:
    with pytest.raises(OptionError) as caught:
        check_targets(CORPUS, targets, weights, 2)

    assert str(caught.value) == message


def test_targets_of_tokens_are_one_per_token() -> None:
    check_targets(sentences([0, 1], [["a", "b"], ["c"]]), EVEN, np.zeros(3), 2)


def test_texts_are_predicted_as_documents_are() -> None:
    made = Linear().build(CORPUS, ("neg", "pos"), seed=0)
    made.fit_epoch(CORPUS, np.eye(2)[[1, 0, 1]])

    said = predict_texts(made, ["bad", "good"])

    np.testing.assert_array_equal(said, made.predict_proba(documents(range(2), ["bad", "good"])))
    assert predict_texts(made, []).shape == (0, 2)


def test_linear_is_an_architecture_and_makes_a_classifier() -> None:
    assert isinstance(Linear(), Architecture)
    assert isinstance(Linear().build(CORPUS, ("neg", "pos"), seed=0), Classifier)


@pytest.mark.parametrize("value", [["a", "\u00e9", "\ud800", ""], {"x": [1, 2.5]}, []])
def test_what_is_packed_comes_back(value: object) -> None:
    array = encode_json(value)

    assert array.dtype == np.uint8
    assert decode_json(array) == value


def test_seeds_differ_by_purpose_and_by_seed() -> None:
    seeds = {
        derive_seed(seed, purpose) for seed in range(20) for purpose in ("words", "weights", "batches 0", "batches 1")
    }

    assert len(seeds) == 80
    assert derive_seed(3, "words") == derive_seed(3, "words")
    assert all(0 <= seed < 2**56 for seed in seeds)
