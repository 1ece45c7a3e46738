"""Annotators judged by the votes of the others: a share of votes holds everybody's own, and flatters who guesses.

Methods that model the annotators weigh a vote before they believe it; counting does not. So where beliefs are mere
shares of votes, each label is set against the votes that the others gave to the same unit, and a label that nobody else
gave a vote beside says nothing. Axes: i unit, j annotator, k class, n label.
"""

from __future__ import annotations

import numpy as np
import polars as pl

from crowdlogic.data.estimate import Estimate, make_estimate, vote_shares
from crowdlogic.data.labels import CrowdLabels
from crowdlogic.truth.majority import MajorityVote

MOST_CELLS = 200_000_000
"""Labels times classes beyond which a row of votes for each label would not fit."""


def apart(labels: CrowdLabels, estimate: Estimate) -> tuple[CrowdLabels, Estimate] | None:
    """The labels as units of their own, each believed as the others voted; None where beliefs are not mere votes."""
    if estimate.method != MajorityVote.name or not 0 < labels.n_labels * labels.n_classes <= MOST_CELLS:
        return None
    others = labels.votes()[labels.unit]
    others[np.arange(labels.n_labels), labels.label] -= labels.weights
    heard = others.sum(axis=1) > 0
    rows = np.flatnonzero(heard)
    alone = CrowdLabels(
        unit=np.arange(len(rows)),
        annotator=labels.annotator[rows],
        label=labels.label[rows],
        items=pl.Series(rows.astype(str)),
        annotators=labels.annotators,
        classes=labels.classes,
        weight=None if labels.weight is None else labels.weight[rows],
    )
    return alone, make_estimate(alone, estimate.method, vote_shares(np.maximum(others[rows], 0.0)))
