"""Labels with planted truth."""

from __future__ import annotations

import numpy as np
import polars as pl

from crowdlogic.data.labels import CrowdLabels


def crowd(table: np.ndarray, n_classes: int) -> CrowdLabels:
    """Labels from table[i, j], -1 where there is none."""
    unit, annotator = np.nonzero(table >= 0)
    return CrowdLabels(
        unit=unit,
        annotator=annotator,
        label=table[unit, annotator],
        items=pl.Series(np.arange(len(table)).astype(str)),
        annotators=pl.Series([f"j{j}" for j in range(table.shape[1])]),
        classes=tuple(range(n_classes)),
    )


def judges(seed: int, *, skills: list[float], n_classes: int = 3, items: int = 1000) -> tuple[np.ndarray, np.ndarray]:
    """Independent judges: table[i, j] and truth[i]."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(n_classes, size=items)
    wrong = (truth[:, None] + rng.integers(1, n_classes, size=(items, len(skills)))) % n_classes
    return np.where(rng.random((items, len(skills))) < skills, truth[:, None], wrong), truth


def with_noise(column: np.ndarray, noise: float, seed: int, n_classes: int = 3) -> np.ndarray:
    """The column with a share of its labels drawn at random."""
    rng = np.random.default_rng(seed)
    return np.where(rng.random(len(column)) < noise, rng.integers(n_classes, size=len(column)), column)
