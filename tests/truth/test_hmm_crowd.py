"""HMM-Crowd: what words and the chain add to accuracies per tag."""

from __future__ import annotations

import numpy as np
import pytest
from tests.truth.planted import tagged_sentences

from crowdlogic.data.corpus import Corpus
from crowdlogic.data.frames import from_sequences
from crowdlogic.errors import OptionError
from crowdlogic.numerics.convergence import Convergence
from crowdlogic.truth.hmm_crowd import HMMCrowd

TAGS = ("B-X", "I-X", "O")


def test_planted_accuracies_per_tag_are_recovered() -> None:
    """Eight annotators who find an entity with one probability and leave other tokens alone with another."""
    rng = np.random.default_rng(0)
    accuracy = np.stack([rng.uniform(0.5, 0.95, size=8), rng.uniform(0.8, 0.99, size=8)])  # B-X, O
    rows = []
    for s in range(400):
        truth = rng.choice([0, 2], size=5, p=[0.3, 0.7])
        for j in range(8):
            right = rng.random(5) < accuracy[truth // 2, j]
            wrong = (truth + rng.integers(1, 3, size=5)) % 3
            rows.append((s, j, [TAGS[k] for k in np.where(right, truth, wrong)]))

    confusion = HMMCrowd().infer(from_sequences(rows, classes=TAGS)).confusion

    np.testing.assert_allclose(confusion[:, 0, 0], accuracy[0], rtol=0, atol=0.06)
    np.testing.assert_allclose(confusion[:, 2, 2], accuracy[1], rtol=0, atol=0.03)
    np.testing.assert_allclose(confusion[:, 2, 0], confusion[:, 2, 1], rtol=1e-9)  # errors are shared alike


def test_the_shape_of_a_word_is_looked_at_when_asked_for() -> None:
    """Every word is new; capitals mark entities wherever annotators agree, so they decide where annotators differ."""
    rows, words = [], []
    for s in range(30):
        rows += [(s, j, ["B-X", "O"]) for j in range(3)]
        words += [f"Name{s}", f"word{s}"]
    rows += [(30, 0, ["B-X", "O"]), (30, 1, ["O", "B-X"])]
    labels = from_sequences(rows, classes=TAGS)
    corpus = Corpus(labels.items, tokens=(*words, "lower", "Upper"), offsets=labels.offsets)

    with_shapes, without = (HMMCrowd(shapes=shapes).infer(labels, corpus).beliefs[-1, 0] for shapes in (True, False))

    assert with_shapes > 0.8
    assert with_shapes > without


def test_defaults() -> None:
    method = HMMCrowd()

    assert (method.smoothing, method.trust, method.transition_count, method.word_count) == (0.01, 1.0, 0.1, 0.1)
    assert method.shapes
    assert method.convergence == Convergence(max_iterations=200, tolerance=1e-6)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"word_count": 0.0}, "hmm-crowd: word_count must be greater than 0, got 0.0."),
        ({"transition_count": 0.0}, "hmm-crowd: transition_count must be greater than 0, got 0.0."),
        ({"smoothing": -1.0}, "hmm-crowd: smoothing must be at least 0, got -1.0."),
    ],
)
def test_options_out_of_range_are_refused(options: dict[str, float], message: str) -> None:
    with pytest.raises(OptionError) as refused:
        HMMCrowd(**options)  # type: ignore[arg-type]

    assert str(refused.value) == message


def test_a_unanimous_crowd_is_believed_with_and_without_words() -> None:
    labels, corpus = tagged_sentences()
    agreed = ["B-X", "I-X", "O", "O", "O", "O", "B-X", "B-X", "O", "O"]

    assert HMMCrowd().infer(labels).answer_names() == agreed
    assert HMMCrowd().infer(labels, corpus).answer_names() == agreed
