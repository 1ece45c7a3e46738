"""Labels for the small tasks, with what was planted in them."""

from __future__ import annotations

import numpy as np
import polars as pl
from tests.classifiers.planted_tasks import SmallTask

from crowdlogic.data.labels import CrowdLabels


def label_task(task: SmallTask, confusion: np.ndarray, *, share: float = 1.0, seed: int = 0) -> CrowdLabels:
    """Each annotator labels a share of the items, erring as confusion[j, m, n] says."""
    rng = np.random.default_rng(seed)
    offsets = task.corpus.offsets
    n_items, n_annotators = len(task.corpus.items), len(confusion)
    seen = rng.random((n_items, n_annotators)) < share
    item_of_unit = np.arange(n_items) if offsets is None else np.repeat(np.arange(n_items), np.diff(offsets))
    unit, annotator = np.nonzero(seen[item_of_unit])
    chance = rng.random(len(unit))[:, None]
    label = (chance > np.cumsum(confusion[annotator, task.truth[unit]], axis=1)[:, :-1]).sum(axis=1)
    return CrowdLabels(
        unit=unit,
        annotator=annotator,
        label=label,
        items=task.corpus.items,
        annotators=pl.Series(range(n_annotators)),
        classes=task.classes,
        offsets=offsets,
    )


def symmetric_confusion(accuracy: float, size: int) -> np.ndarray:
    """A confusion matrix: right so often, else any other class."""
    return np.full((size, size), (1 - accuracy) / (size - 1)) + np.eye(size) * (accuracy - (1 - accuracy) / (size - 1))
