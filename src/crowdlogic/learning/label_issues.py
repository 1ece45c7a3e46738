"""Rank the labels of a data set by the probability that they are wrong, even if each item has a single label.

A classifier that has learned an item's only label reproduces it, so each item is predicted by a classifier that was
trained without it (cross-fitting, [CL21] section 3). Its probabilities and the labels are then combined by Bayes' rule
with confusion matrices that shrink towards an assumed accuracy: with one label per item the labels alone do not show
how accurate they are.

[CL21] Northcutt, Jiang, and Chuang, "Confident learning: estimating uncertainty in dataset labels", 2021.

Axes: i unit, j annotator, k class, m true class, n given label, e label.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl

from crowdlogic.annotators.label_sums import sum_evidence, tally
from crowdlogic.classifiers.linear import Linear
from crowdlogic.classifiers.protocol import fit_epoch, predict_units
from crowdlogic.data.blocks import make_shards
from crowdlogic.data.corpus import align
from crowdlogic.data.estimate import Beliefs, vote_shares
from crowdlogic.data.frames import FRAME, from_frame, to_corpus
from crowdlogic.data.intake.columns import UNNAMED_ANNOTATOR, add_unnamed_annotator
from crowdlogic.data.intake.contract import to_polars
from crowdlogic.data.labels import CrowdLabels
from crowdlogic.errors import LabelError, OptionError
from crowdlogic.learning.method import as_architecture
from crowdlogic.learning.training import SINGLE_FOLDS, build_classifier
from crowdlogic.numerics.logspace import normalise, safe_log

ASSUMED_ACCURACY, PRIOR_LABELS = 0.85, 10.0
"""Assumed accuracy of annotators, and the number of labels that this assumption counts for."""

ROUNDS = 5
"""Number of M- and E-steps over the confusion matrices of named annotators."""


def find_label_issues(
    items: Any,
    labels: Any,
    *,
    classifier: Any = None,
    folds: int = SINGLE_FOLDS,
    epochs: int = 3,
    seed: int = 0,
) -> pl.DataFrame:
    """Rank labels by the probability that they are right, least probable first.

    Args:
        items: The items: a Corpus, a frame, a dictionary item -> text, or a list of texts.
        labels: CrowdLabels, a frame of item, annotator and label, a dictionary item -> label, or a list with one label
            per item.
        classifier: A classifier, its name, or a scikit-learn estimator. The default is Linear().
        folds: Number of folds. Each item is judged by a classifier that was trained without its fold.
        epochs: Number of epochs for each classifier.
        seed: Random seed of the folds.

    Returns:
        A row for each label: item, annotator, label, suggestion (the most probable class), probability (of the label
        being right), self_confidence (the classifier's probability of the label) and issue (suggestion differs).
    """
    if folds < 2 or epochs < 1:
        raise OptionError(f"folds must be at least 2 and epochs at least 1, got {folds} and {epochs}.")
    crowd = _as_crowd(items, labels)
    crowd, corpus = align(crowd, to_corpus(items, sequential=crowd.is_sequential))
    if len(corpus.items) < folds:
        raise LabelError(f"{folds} folds need at least {folds} items, got {len(corpus.items)}. Choose fewer folds.")
    architecture = Linear() if classifier is None else as_architecture(classifier)

    votes = crowd.votes()
    model = build_classifier(architecture, corpus, crowd.classes, seed=seed, folds=folds)
    for _ in range(epochs):
        fit_epoch(model, corpus, vote_shares(votes), (votes.sum(axis=1) > 0).astype(np.float64))
    p = predict_units(model, corpus, n_classes=crowd.n_classes)
    q = _posterior(p, crowd)

    given = np.arange(crowd.n_labels)
    right = q[crowd.unit, crowd.label]
    best = q.argmax(axis=1)[crowd.unit]
    classes = pl.Series(list(crowd.classes))
    table = pl.DataFrame(
        {
            "item": crowd.items.gather(crowd.item_of_unit[crowd.unit]),
            "annotator": crowd.annotators.gather(crowd.annotator),
            "label": classes.gather(crowd.label),
            "suggestion": classes.gather(best),
            "probability": right,
            "self_confidence": p[crowd.unit, crowd.label],
            "issue": best != crowd.label,
        }
    )
    if crowd.is_sequential:
        position = crowd.unit - np.asarray(crowd.offsets)[crowd.item_of_unit[crowd.unit]]
        table = table.insert_column(1, pl.Series("token", position))
    return table[np.lexsort((given, right))]


def _posterior(p: Beliefs, labels: CrowdLabels) -> Beliefs:
    """Return q[i, k] given the out-of-fold p and the labels; confusion matrices shrink to ASSUMED_ACCURACY."""
    shards, n_classes, n_annotators = make_shards(labels), labels.n_classes, len(labels.annotators)
    assumed = np.full((n_classes, n_classes), (1.0 - ASSUMED_ACCURACY) / max(n_classes - 1, 1))
    np.fill_diagonal(assumed, ASSUMED_ACCURACY)
    table = np.tile(assumed, (n_annotators, 1, 1))  # [j, n, m]
    for _ in range(1 if n_annotators == 1 else ROUNDS):
        q = normalise(safe_log(p) + sum_evidence(shards, safe_log(table)))[0]
        counts = tally(shards, q).counts + PRIOR_LABELS * assumed
        table = counts / counts.sum(axis=1, keepdims=True)
    return q


def _as_crowd(items: Any, labels: Any) -> CrowdLabels:
    """Convert labels to CrowdLabels; those in a list or a dictionary belong to one unnamed annotator."""
    if isinstance(labels, CrowdLabels):
        return labels
    if hasattr(labels, "columns"):
        return from_frame(add_unnamed_annotator(to_polars(labels, FRAME)))
    if isinstance(labels, Mapping):
        names, given = list(labels), list(labels.values())
    else:
        given = list(labels)
        names = list(to_corpus(items, sequential=False).items)
        if len(given) != len(names):
            raise LabelError(
                f"find_label_issues: {len(given):,} labels for {len(names):,} items. Pass one label per item."
            )
    if not isinstance(labels, Sequence | Mapping | np.ndarray | pl.Series) and not hasattr(labels, "to_list"):
        raise LabelError(f"find_label_issues: labels are a {type(labels).__name__}. Pass a list, dictionary or frame.")
    return from_frame(pl.DataFrame({"item": names, "annotator": [UNNAMED_ANNOTATOR] * len(given), "label": given}))
