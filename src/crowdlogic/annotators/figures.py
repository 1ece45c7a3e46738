"""The figures of every annotator: reliability with a credible interval, informativeness, and what they confuse most.

[RY12] Raykar and Yu, "Eliminating spammers and ranking annotators for crowdsourced labeling tasks", 2012: the mean
squared distance between the rows of the confusion matrix (eq. 12). They call it the spammer score; it is high for those
who are no spammers, so here it is called informativeness: 0 for an annotator whose labels do not depend on the truth, 1
for one whose labels determine the truth, right or wrong.

Everything is computed from labels and beliefs, so it means the same for every method.

Axes: j annotator, m true class, n given label.
"""

from __future__ import annotations

import numpy as np
import polars as pl

from crowdlogic.annotators.protocol import MOST_CELLS
from crowdlogic.annotators.span_reliability import span_reliability
from crowdlogic.data.estimate import Estimate
from crowdlogic.data.labels import CrowdLabels
from crowdlogic.data.tagging import is_span_tag_set
from crowdlogic.engines.shards import make_shards
from crowdlogic.engines.sweeps import tally
from crowdlogic.numerics.arrays import Floats, Ints
from crowdlogic.numerics.intervals import HALF, credible_interval
from crowdlogic.numerics.sums import sum_by


def annotator_figures(labels: CrowdLabels, estimate: Estimate, level: float) -> pl.DataFrame:
    """One row per annotator, in the order of the labels: the columns of `annotator_table`, but for the verdict."""
    size = len(labels.annotators)
    given = sum_by(labels.annotator, size, labels.weight)
    right = sum_by(labels.annotator, size, labels.weights * _belief_in_labels(labels, estimate))
    low, high = credible_interval(right, given, level)
    columns: dict[str, object] = {
        "annotator": labels.annotators,
        "labels": labels.labels_per_annotator(),
        "items": np.bincount(labels.annotations()[1], minlength=size),
        "reliability": (right + HALF) / (given + 2 * HALF),
        "reliability_low": low,
        "reliability_high": high,
    }
    if labels.is_sequential and is_span_tag_set(labels.classes):
        columns |= _by_spans(labels, estimate, level, tokens=columns["reliability"])
    return pl.DataFrame(columns | _from_confusion(labels, estimate)).with_columns(
        pl.Series("weight", estimate.reliability if estimate.reliability is not None else [None] * size, pl.Float64)
    )


def _by_spans(labels: CrowdLabels, estimate: Estimate, level: float, *, tokens: object) -> dict[str, object]:
    """Reliability as the F1 of spans, and that of tokens beside it."""
    found = span_reliability(labels, estimate.beliefs, level=level)
    return {
        "reliability": found.f1,
        "reliability_low": found.low,
        "reliability_high": found.high,
        "token_reliability": tokens,
    }


def informativeness(confusion: Floats) -> Floats:
    """informativeness[j] of confusion[j, m, n] ([RY12] eq. 12): 0 for a spammer, 1 where labels determine the truth."""
    n_classes = confusion.shape[1]
    if n_classes < 2:
        return np.ones(len(confusion))
    mean = confusion.mean(axis=1, keepdims=True)
    # The sum over pairs of rows of their squared distances is the number of rows times that to their mean.
    return np.asarray(((confusion - mean) ** 2).sum(axis=(1, 2)) / (n_classes - 1))


def _belief_in_labels(labels: CrowdLabels, estimate: Estimate) -> Floats:
    """belief[n], how probable it is that label n is right; a partial label is right where the class is another."""
    belief = estimate.beliefs[labels.unit, labels.label]
    return belief if labels.negated is None else np.where(labels.negated, 1.0 - belief, belief)


def _from_confusion(labels: CrowdLabels, estimate: Estimate) -> dict[str, object]:
    size, n_classes = len(labels.annotators), labels.n_classes
    if not n_classes or size * n_classes**2 > MOST_CELLS:
        return {
            "expected_accuracy": pl.Series([None] * size, dtype=pl.Float64),
            "informativeness": pl.Series([None] * size, dtype=pl.Float64),
            "confused_truth": pl.Series([None] * size, dtype=pl.String),
            "confused_label": pl.Series([None] * size, dtype=pl.String),
            "confused_count": pl.Series([None] * size, dtype=pl.Float64),
        }
    counts = tally(make_shards(labels, partial=True), estimate.beliefs).counts.transpose(0, 2, 1)
    smoothed = counts + HALF / n_classes
    confusion = smoothed / smoothed.sum(axis=2, keepdims=True)
    prior = estimate.beliefs[labels.labels_per_unit() > 0].mean(axis=0) if labels.n_labels else np.ones(n_classes)
    truth, label, count = _most_confused(counts)
    names = [str(name) for name in labels.classes]
    return {
        "expected_accuracy": np.diagonal(confusion, axis1=1, axis2=2) @ (prior / prior.sum()),
        "informativeness": informativeness(confusion),
        "confused_truth": pl.Series(
            [names[m] if c > 0 else None for m, c in zip(truth, count, strict=True)], dtype=pl.String
        ),
        "confused_label": pl.Series(
            [names[n] if c > 0 else None for n, c in zip(label, count, strict=True)], dtype=pl.String
        ),
        "confused_count": count,
    }


def _most_confused(counts: Floats) -> tuple[Ints, Ints, Floats]:
    """For each annotator the (true class, given label) pair of different classes with the largest expected count."""
    n_classes = counts.shape[1]
    wrong = counts * (1.0 - np.eye(n_classes))
    best = wrong.reshape(len(counts), -1).argmax(axis=1)
    return best // n_classes, best % n_classes, wrong.reshape(len(counts), -1).max(axis=1, initial=0.0)
