"""How reliable each annotator is, by the beliefs; several pages need it.

Where beliefs are plain shares of votes, every annotator's own vote is among them, which flatters those who guess. There
each label is compared with the votes of the others on the same unit (leave-one-out), and a label without any other vote
beside it is left out. Methods that model the annotators weigh votes themselves and need no such correction.

Axes: i unit, j annotator, k class, n label.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from crowdlogic.annotators.summary import annotator_table
from crowdlogic.data.estimate import Estimate, make_estimate, vote_shares
from crowdlogic.data.labels import CrowdLabels
from crowdlogic.numerics.arrays import Floats
from crowdlogic.report.context import Context
from crowdlogic.truth.majority import MajorityVote

LEVEL = 0.95
"""The level of credible intervals."""
MOST_CELLS = 200_000_000
"""Labels times classes beyond which a row of votes for each label would not fit into memory."""


@dataclass(frozen=True, eq=False, kw_only=True)
class AnnotatorScores:
    """Every annotator against the beliefs.

    Attributes:
        labels: The labels that are compared with the beliefs.
        estimate: The beliefs they are compared with.
        is_leave_one_out: Whether each label is compared with the votes of the others.
        table: `annotator_table` of both, with the numbers of labels and items that were given.
    """

    labels: CrowdLabels
    estimate: Estimate
    is_leave_one_out: bool
    table: pl.DataFrame

    @property
    def reliability(self) -> Floats:
        """reliability[j], the expected share of right labels, or F1 of spans; NaN for annotators without labels."""
        has_labels = self.table["labels"].to_numpy() > 0
        return np.where(has_labels, self.table["reliability"].to_numpy(), np.nan)


def score_annotators(context: Context) -> AnnotatorScores:
    """Compare every annotator's labels with the beliefs; use it as `context.once(score_annotators)`."""
    labels, estimate = context.inputs.labels, context.inputs.estimate
    by_others = leave_one_out(labels, estimate)
    compared, beliefs = (labels, estimate) if by_others is None else by_others
    table = annotator_table(compared, beliefs, level=LEVEL).with_columns(
        pl.Series("labels", labels.labels_per_annotator()),
        pl.Series("items", np.bincount(labels.annotations()[1], minlength=len(labels.annotators))),
    )
    return AnnotatorScores(labels=compared, estimate=beliefs, is_leave_one_out=by_others is not None, table=table)


def leave_one_out(labels: CrowdLabels, estimate: Estimate) -> tuple[CrowdLabels, Estimate] | None:
    """Each label as a unit of its own, believed as the others voted; None unless beliefs are shares of votes."""
    if estimate.method != MajorityVote.name or not 0 < labels.n_labels * labels.n_classes <= MOST_CELLS:
        return None
    # others[n, k]: votes for class k on the unit of label n, without label n itself.
    others = labels.votes()[labels.unit]
    others[np.arange(labels.n_labels), labels.label] -= labels.weights
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
