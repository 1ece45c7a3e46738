"""How well annotators are known: their estimated confusion matrices beside the real ones (the paper's Figures 4 to 7).

The real matrix is counted with the gold. The overall reliability is the mean of a matrix' diagonal, as in the paper,
over the classes that the annotator met: of a class that he never met nothing can be known.

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
"""Of how many annotators, those with the most labels, the whole matrices are kept."""

DIGITS = 5


def annotators_of(learned: Learned) -> dict[str, Any]:
    """What figures and correlations are made from: one entry per annotator, and the busiest ones' matrices."""
    labels, gold = learned.task.labels, np.asarray(learned.task.corpus.gold)
    real, met = real_confusion(labels, gold)
    estimated = learned.epoch.confusion
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
                "skill": _rounded(skill[j]),
                "estimated": _rounded(reliability(estimated[j], met[j])),
                "real": _rounded(reliability(real[j], met[j])),
            }
            for j, items in enumerate(_items_per_annotator(labels))
        ],
        "busiest": [
            {"name": str(labels.annotators[int(j)]), "estimated": _matrix(estimated[j]), "real": _matrix(real[j])}
            for j in busiest
        ],
    }


def real_confusion(labels: CrowdLabels, gold: Ints) -> tuple[Floats, Floats]:
    """confusion[j, m, n] counted with the gold, NaN in the rows of classes never met, and how often met[j, m]."""
    size, truth = labels.n_classes, gold[labels.unit]
    known = truth != UNKNOWN
    cell = (labels.annotator[known] * size + truth[known]) * size + labels.label[known]
    counts = np.bincount(cell, minlength=len(labels.annotators) * size * size).astype(np.float64)
    counts = counts.reshape(-1, size, size)
    met = counts.sum(axis=2)
    return counts / np.where(met > 0, met, np.nan)[:, :, None], met


def reliability(confusion: Floats, met: Floats) -> float:
    """The mean of the diagonal over the classes that were met."""
    diagonal = np.diagonal(confusion)[met > 0]
    return float(diagonal.mean()) if len(diagonal) else float("nan")


def _skill(learned: Learned, gold: Ints) -> Floats:
    """skill[j]: the share of right labels; for tags the F1 of the spans that an annotator marked."""
    labels, offsets = learned.task.labels, learned.task.corpus.offsets
    if offsets is None:
        right = (labels.label == gold[labels.unit]).astype(np.float64)
        count = np.maximum(labels.labels_per_annotator(), 1)
        return np.asarray(np.bincount(labels.annotator, right, minlength=len(labels.annotators)) / count)
    return np.array([_span_f1(labels, gold, j) for j in range(len(labels.annotators))])


def _span_f1(labels: CrowdLabels, gold: Ints, j: int) -> float:
    """The F1 of one annotator on the sentences that he tagged."""
    own = np.flatnonzero(labels.annotator == j)
    unit = labels.unit[own]
    order = np.argsort(unit, kind="stable")
    own, unit = own[order], unit[order]
    first = np.flatnonzero(np.diff(labels.item_of_unit[unit], prepend=-1))
    offsets = np.append(first, len(unit))
    return float(span_scores(gold[unit], labels.label[own], offsets, labels.classes).f1)


def _items_per_annotator(labels: CrowdLabels) -> Ints:
    _, annotator, _ = labels.annotations()
    return np.bincount(annotator, minlength=len(labels.annotators))


def _matrix(confusion: Floats) -> list[list[float | None]]:
    return [[_rounded(value) for value in row] for row in confusion]


def _rounded(value: float) -> float | None:
    """A number for a file; None for what is not known."""
    return None if np.isnan(value) else round(float(value), DIGITS)
