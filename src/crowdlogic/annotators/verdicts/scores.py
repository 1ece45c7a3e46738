"""How reliable each annotator is, by the beliefs.

Where a method has no model of its annotators (the vote, or a method of one's own that says nothing of them), every
annotator's own label is among what they are judged by, which flatters those who guess. There each label is compared
with the votes of the others on the same unit (leave-one-out), and a label without any other vote beside it is left out.
Methods that model the annotators weigh votes themselves and need no such correction.

Axes: i unit, j annotator, k class, n label.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import polars as pl

from crowdlogic.annotators.figures import annotator_figures
from crowdlogic.data.estimate import Estimate, make_estimate, vote_shares
from crowdlogic.data.labels import CrowdLabels
from crowdlogic.numerics.arrays import Floats, Ints
from crowdlogic.numerics.sums import sum_by
from crowdlogic.registry import LEARNING_METHODS

LEVEL = 0.95
"""The level of credible intervals."""
MOST_CELLS = 200_000_000
"""Labels times classes beyond which a row of votes for each label would not fit into memory."""
SHARES_OF_VOTES = "majority"
"""The truth method whose beliefs are shares of votes."""


@dataclass(frozen=True, eq=False, kw_only=True)
class AnnotatorScores:
    """Every annotator against the beliefs.

    Attributes:
        labels: The labels that are compared with the beliefs.
        estimate: The beliefs they are compared with.
        is_leave_one_out: Whether each label is compared with the votes of the others.
        n_labels: n_labels[j], labels given.
        n_items: n_items[j], items labelled.
        n_compared: n_compared[j], those of them that something else speaks of, too.
    """

    labels: CrowdLabels
    estimate: Estimate
    is_leave_one_out: bool
    n_labels: Ints
    n_items: Ints
    n_compared: Ints

    @cached_property
    def table(self) -> pl.DataFrame:
        """The figures of every annotator, with intervals at the usual level."""
        return self.at_level(LEVEL)

    def at_level(self, level: float) -> pl.DataFrame:
        """The figures with intervals at some level, and the numbers of labels and items that were given."""
        table = annotator_figures(self.labels, self.estimate, level)
        return table.with_columns(pl.Series("labels", self.n_labels), pl.Series("items", self.n_items))

    @property
    def reliability(self) -> Floats:
        """reliability[j], the expected share of right labels, or F1 of spans; NaN for annotators without labels."""
        return np.where(self.n_labels > 0, self.table["reliability"].to_numpy(), np.nan)


def score_annotators(labels: CrowdLabels, estimate: Estimate) -> AnnotatorScores:
    """Compare every annotator's labels with the beliefs; without a model of annotators, with the others' votes."""
    by_others = leave_one_out(labels, estimate)
    compared, beliefs = (labels, estimate) if by_others is None else by_others
    return AnnotatorScores(
        labels=compared,
        estimate=beliefs,
        is_leave_one_out=by_others is not None,
        n_labels=labels.labels_per_annotator(),
        n_items=np.bincount(labels.annotations()[1], minlength=len(labels.annotators)),
        n_compared=count_compared(labels, estimate, by_votes=by_others is not None),
    )


def count_compared(labels: CrowdLabels, estimate: Estimate, *, by_votes: bool) -> Ints:
    """n[j], the items of annotator j that another annotator labelled, too, or whose truth is known.

    What a classifier has learnt speaks of every item.

    Args:
        labels: The labels.
        estimate: What is believed.
        by_votes: Whether annotators are judged by the votes of the others.
    """
    item, annotator, _ = labels.annotations()
    compared = np.bincount(item, minlength=len(labels.items)) > 1
    if estimate.method in LEARNING_METHODS:
        compared[:] = True
    elif estimate.calibration is not None or not by_votes:
        doubted = estimate.beliefs.max(axis=1, initial=0.0) < 1.0
        compared |= sum_by(labels.item_of_unit, len(labels.items), doubted.astype(np.float64)) == 0
    return np.bincount(annotator[compared[item]], minlength=len(labels.annotators))


def judges_by_others(labels: CrowdLabels, estimate: Estimate) -> bool:
    """Whether the method has no model of its annotators; beliefs that are certain throughout are a known truth."""
    if estimate.confusion is not None or estimate.reliability is not None or labels.negated is not None:
        return False
    is_truth = estimate.method != SHARES_OF_VOTES and bool((estimate.confidence[estimate.answered] >= 1.0).all())
    return not is_truth and 0 < labels.n_labels * labels.n_classes <= MOST_CELLS


def leave_one_out(labels: CrowdLabels, estimate: Estimate) -> tuple[CrowdLabels, Estimate] | None:
    """Each label as a unit of its own, believed as the others voted; None where the method models annotators.

    On a stated scale only known truths are certain, and these judge better than votes.
    """
    if not judges_by_others(labels, estimate):
        return None
    # others[n, k]: votes for class k on the unit of label n, without label n itself.
    others = labels.votes()[labels.unit]
    others[np.arange(labels.n_labels), labels.label] -= labels.weights
    if estimate.calibration is not None:
        known = estimate.beliefs.max(axis=1)[labels.unit] >= 1.0
        others[known] = estimate.beliefs[labels.unit[known]]
    rows = np.flatnonzero(others.sum(axis=1) > 0)
    offsets = None
    if labels.is_sequential:  # each annotator's pass over a sentence becomes a sentence of its own
        pair = labels.annotations()[2]
        rows = rows[np.lexsort((labels.unit[rows], pair[rows]))]
        offsets = np.append(np.flatnonzero(np.diff(pair[rows], prepend=-1)), len(rows))
    alone = CrowdLabels(
        unit=np.arange(len(rows)),
        annotator=labels.annotator[rows],
        label=labels.label[rows],
        items=pl.Series(np.arange(len(rows) if offsets is None else len(offsets) - 1).astype(str)),
        annotators=labels.annotators,
        classes=labels.classes,
        offsets=offsets,
        weight=None if labels.weight is None else labels.weight[rows],
    )
    return alone, make_estimate(alone, estimate.method, vote_shares(np.maximum(others[rows], 0.0)))
