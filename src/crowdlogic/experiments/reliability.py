"""Annotators' estimated confusion matrices beside the real ones (the paper's Figures 4 to 7).

The real matrix is counted with the gold. The overall reliability is the mean of a matrix' diagonal, as in the paper,
over the classes that the annotator labelled any item of; nothing is known about the others.

Axes: i unit, j annotator, m true class, n given label.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from crowdlogic.data.corpus import UNKNOWN
from crowdlogic.data.labels import CrowdLabels
from crowdlogic.learning.learned import Learned
from crowdlogic.metrics.spans import span_scores
from crowdlogic.numerics.arrays import Floats, Ints

BUSIEST = 6
"""Number of annotators, those with the most labels, whose whole matrices are recorded."""

DIGITS = 5
"""Decimals in files."""


def annotator_record(learned: Learned) -> dict[str, Any]:
    """The part of a result that figures of annotators are made from: scores of each, matrices of the busiest."""
    labels, gold = learned.task.labels, np.asarray(learned.task.corpus.gold)
    real, seen = real_confusion(labels, gold)
    estimated = learned.epoch.annotators.confusion
    count = labels.labels_per_annotator()
    busiest = np.argsort(-count, kind="stable")[:BUSIEST]
    skill = _skill(learned, gold)
    return {
        "classes": [str(name) for name in labels.classes],
        "each": [
            {
                "name": str(labels.annotators[int(j)]),
                "labels": int(count[j]),
                "items": int(items),
                "skill": _round(skill[j]),
                "estimated": _round(overall_reliability(estimated[j], seen[j])),
                "real": _round(overall_reliability(real[j], seen[j])),
            }
            for j, items in enumerate(_items_per_annotator(labels))
        ],
        "busiest": [
            {"name": str(labels.annotators[int(j)]), "estimated": _matrix(estimated[j]), "real": _matrix(real[j])}
            for j in busiest
        ],
    }


def real_confusion(labels: CrowdLabels, gold: Ints) -> tuple[Floats, Floats]:
    """confusion[j, m, n] counted with the gold, NaN where nothing was counted, and the number of labels seen[j, m]."""
    size, truth = labels.n_classes, gold[labels.unit]
    known = truth != UNKNOWN
    # The index of (j, m, n) in the flattened array, for each label with gold.
    cell = (labels.annotator[known] * size + truth[known]) * size + labels.label[known]
    counts = np.bincount(cell, minlength=len(labels.annotators) * size * size).astype(np.float64)
    counts = counts.reshape(-1, size, size)
    seen = counts.sum(axis=2)
    return counts / np.where(seen > 0, seen, np.nan)[:, :, None], seen


def overall_reliability(confusion: Floats, seen: Floats) -> float:
    """The mean of the diagonal of confusion[m, n] over the classes with seen[m] > 0; NaN if there are none."""
    diagonal = np.diagonal(confusion)[seen > 0]
    return float(diagonal.mean()) if len(diagonal) else float("nan")


def _skill(learned: Learned, gold: Ints) -> Floats:
    """skill[j]: the accuracy of an annotator's labels; for tags the F1 of the annotator's spans."""
    labels, offsets = learned.task.labels, learned.task.corpus.offsets
    if offsets is None:
        right = (labels.label == gold[labels.unit]).astype(np.float64)
        count = np.maximum(labels.labels_per_annotator(), 1)
        return np.asarray(np.bincount(labels.annotator, right, minlength=len(labels.annotators)) / count)
    return np.array([_span_f1(labels, gold, j) for j in range(len(labels.annotators))])


def _span_f1(labels: CrowdLabels, gold: Ints, j: int) -> float:
    """Span F1 of one annotator on the sentences that the annotator tagged."""
    own = np.flatnonzero(labels.annotator == j)
    unit = labels.unit[own]
    order = np.argsort(unit, kind="stable")
    own, unit = own[order], unit[order]
    # The units of one annotator, sentence after sentence; a new sentence begins where the item changes.
    first = np.flatnonzero(np.diff(labels.item_of_unit[unit], prepend=-1))
    offsets = np.append(first, len(unit))
    return float(span_scores(gold[unit], labels.label[own], offsets, labels.classes).f1)


def _items_per_annotator(labels: CrowdLabels) -> Ints:
    """items[j]: in how many items an annotator labelled anything."""
    _, annotator, _ = labels.annotations()
    return np.bincount(annotator, minlength=len(labels.annotators))


def _matrix(confusion: Floats) -> list[list[float | None]]:
    return [[_round(value) for value in row] for row in confusion]


def _round(value: float) -> float | None:
    """A number for a file; None for NaN."""
    return None if np.isnan(value) else round(float(value), DIGITS)
