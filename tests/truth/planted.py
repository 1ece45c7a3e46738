"""Crowds whose parameters are known."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from crowdlogic.data.frames import from_matrix
from crowdlogic.data.labels import CrowdLabels


@dataclass(frozen=True)
class Planted:
    labels: CrowdLabels
    truth: np.ndarray
    confusion: np.ndarray


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
