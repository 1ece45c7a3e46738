"""Crowds whose parameters are known."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from crowdlogic.data.corpus import Corpus, sentences
from crowdlogic.data.frames import from_matrix, from_sequences
from crowdlogic.data.labels import CrowdLabels


@dataclass(frozen=True)
class Planted:
    """Labels, the true class of each unit and the confusion[j, m, n] that they were drawn from."""

    labels: CrowdLabels
    truth: np.ndarray
    confusion: np.ndarray

    @property
    def counted_confusion(self) -> np.ndarray:
        """counted[j, m, n], the share of label n among the labels that j gave to units of class m."""
        cells = np.zeros_like(self.confusion)
        np.add.at(cells, (self.labels.annotator, self.truth[self.labels.unit], self.labels.label), 1)
        return np.asarray(cells / cells.sum(axis=2, keepdims=True))


def planted(
    seed: int, *, units: int = 60, annotators: int = 5, classes: int = 3, right: float = 0.75, given: float = 0.8
) -> Planted:
    """Annotators with random confusion matrices that are right with probability `right` on average."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(classes, size=units)
    confusion = rng.dirichlet(np.ones(classes), size=(annotators, classes)) * (1 - right) + np.eye(classes) * right
    steps = confusion.cumsum(axis=2)[:, truth].transpose(1, 0, 2)
    matrix = np.minimum((rng.random((units, annotators, 1)) > steps).sum(axis=2), classes - 1)
    matrix[rng.random(matrix.shape) > given] = -1
    return Planted(from_matrix(matrix, classes=tuple("abcdefghij"[:classes])), truth, confusion)


WORDS = (["New", "York", "is", "big"], ["I", "like", "Rome"], ["Rome", "is", "old"])
TAGS = (["B-X", "I-X", "O", "O"], ["O", "O", "B-X"], ["B-X", "O", "O"])


def tagged_sentences() -> tuple[CrowdLabels, Corpus]:
    """Three sentences whose tags three annotators agree on, and their words."""
    rows = [(f"s{s}", who, tags) for s, tags in enumerate(TAGS) for who in "abc"]
    return from_sequences(rows, classes=["B-X", "I-X", "O"]), sentences(["s0", "s1", "s2"], WORDS)
