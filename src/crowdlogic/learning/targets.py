"""The first targets of a fit: a majority vote, soft or hard, or what another truth method believes.

Axes: i unit, k class.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from crowdlogic.data.corpus import Corpus
from crowdlogic.data.estimate import Beliefs, vote_shares
from crowdlogic.data.labels import CrowdLabels
from crowdlogic.truth.majority import MajorityVote
from crowdlogic.truth.methods import TruthMethod, infer_truth
from crowdlogic.truth.ties import Ties

SINGLE_DOUBT = 0.3
"""Votes added to every class when units have one label each."""

FEW = 1.5
"""Labels per unit below which most units have only one."""


def first_targets(
    labels: CrowdLabels, start: TruthMethod, *, doubt: float | None = 0.0, corpus: Corpus | None = None
) -> Beliefs:
    """The first q_f: the beliefs of a truth method; of a vote the shares, or the winner alone.

    A vote is uniform for a unit without labels; other methods have their prior there.

    Args:
        labels: The labels.
        start: The method; with soft ties of a vote the targets are shares.
        doubt: Votes added to every class when the targets are shares; None adds SINGLE_DOUBT where most units have one
            label: else each label would confirm itself, and every annotator would seem perfect.
        corpus: The items, for methods that look at words.
    """
    if not isinstance(start, MajorityVote):
        return np.array(infer_truth(start, labels, corpus).beliefs)
    votes = labels.votes(weighted=start.weighted)
    if Ties.named(start.ties) is Ties.soft:
        return vote_shares(votes + (_usual_doubt(labels) if doubt is None else doubt))
    # A class that the order of ties does not name has no votes, so its place in the order decides nothing.
    order = None if start.order is None else [*start.order, *(set(labels.classes) - set(start.order))]
    winner = replace(start, order=order).infer(labels).answer
    hard = np.eye(labels.n_classes)[winner]
    return np.where((winner >= 0)[:, None], hard, vote_shares(votes))


def _usual_doubt(labels: CrowdLabels) -> float:
    """None where units have several labels to compare."""
    count = labels.labels_per_unit()
    return SINGLE_DOUBT if count[count > 0].mean() < FEW else 0.0
