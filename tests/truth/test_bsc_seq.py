"""BSC-seq: annotators whose tag depends on the one they gave before."""

from __future__ import annotations

import numpy as np
import pytest
from tests.truth.planted import tagged_sentences

from crowdlogic.data.frames import from_matrix, from_sequences
from crowdlogic.errors import OptionError
from crowdlogic.numerics.convergence import Convergence
from crowdlogic.truth.bsc_seq import BSCSeq

TAGS = ("B-X", "I-X", "O")


def test_an_annotator_who_never_continues_a_span_is_known_by_the_previous_tag() -> None:
    """All spans have two tokens; one annotator in five ends each after its first."""
    rng = np.random.default_rng(0)
    rows = []
    for s in range(150):
        truth = ["O", "B-X", "I-X", "O"] if rng.random() < 0.5 else ["B-X", "I-X", "O", "O"]
        rows += [(s, j, truth) for j in range(4)]
        rows.append((s, 4, ["O" if tag == "I-X" else tag for tag in truth]))
    labels = from_sequences(rows, classes=TAGS)

    estimate = BSCSeq().infer(labels)

    after = estimate.parameters["sequential"]  # [j, previous, truth, given]
    assert after.shape == (5, 3, 3, 3)
    np.testing.assert_allclose(after.sum(axis=3), 1.0, rtol=1e-12)
    assert after[0, 0, 1, 1] > 0.9  # the others: I-X after B-X where the truth is I-X
    assert after[4, 0, 1, 2] > 0.7  # the fifth: O after B-X where the truth is I-X
    assert estimate.answer_names()[:4] == rows[0][2]


def test_too_many_tags_are_refused_with_one_matrix_per_previous_tag() -> None:
    tags = [f"T{k}" for k in range(400)]

    with pytest.raises(OptionError) as refused:
        BSCSeq().infer(from_sequences([("s", "w", tags)], classes=tags))

    assert str(refused.value) == (
        "bsc-seq keeps a 400 x 400 confusion matrix for each of 400 annotators, 0.5 GB. Use one-coin or mace, which "
        "need little memory per annotator, or merge classes."
    )


def test_single_items_are_refused_before_their_size() -> None:
    with pytest.raises(OptionError, match=r"^bsc-seq is for sequences"):
        BSCSeq().infer(from_matrix(np.arange(400)[:, None]))


def test_defaults() -> None:
    method = BSCSeq()

    assert (method.diagonal, method.spread, method.transition_count, method.word_count) == (10.0, 10.0, 1.0, 0.1)
    assert not method.shapes
    assert method.convergence == Convergence(max_iterations=200, tolerance=1e-6)


@pytest.mark.parametrize("option", ["diagonal", "spread", "transition_count", "word_count"])
def test_prior_counts_must_be_positive(option: str) -> None:
    with pytest.raises(OptionError) as refused:
        BSCSeq(**{option: 0.0})  # type: ignore[arg-type]

    assert str(refused.value) == f"bsc-seq: {option} must be greater than 0, got 0.0."


def test_a_unanimous_crowd_is_believed_with_and_without_words() -> None:
    labels, corpus = tagged_sentences()
    agreed = ["B-X", "I-X", "O", "O", "O", "O", "B-X", "B-X", "O", "O"]

    assert BSCSeq().infer(labels).answer_names() == agreed
    assert BSCSeq().infer(labels, corpus).answer_names() == agreed
