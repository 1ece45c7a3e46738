"""What one more label by an annotator would say: confusion matrices for planning, from the labels at hand.

An annotator with few labels is taken to be like the crowd: `PRIOR_LABELS` labels per class of a typical annotator are
added to their own. Where labels of one item depend on each other, a further one says less: its evidence is divided by
the design effect of all labels that the item then has, to the power of `SHARED`.

Axes: i unit, j annotator, m true class, n given label.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from crowdlogic.annotators.protocol import check_size
from crowdlogic.data.estimate import Estimate
from crowdlogic.data.labels import CrowdLabels
from crowdlogic.engines.shards import make_shards
from crowdlogic.engines.sweeps import tally
from crowdlogic.errors import OptionError
from crowdlogic.numerics.arrays import Bools, Floats
from crowdlogic.numerics.logspace import safe_log
from crowdlogic.numerics.tempering import design_effect, temper

PRIOR_LABELS = 4.0
"""Labels of a typical annotator that are added, in each class, to those of every annotator."""

LOAD = 3.0
"""Default of the largest share of a batch for one annotator, in terms of their share of the labels so far."""

SHARED = 0.75
"""How far further labels share the doubt that is stated: 1 fully, 0 if they were independent. Part of the doubt is
about items that all get wrong, which costs the labels of other items nothing (docs/decisions/0037)."""

FLOOR = 1e-3
"""Least probability of a label: nobody is known to be infallible."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Skills:
    """How annotators answer.

    Attributes:
        confusion: confusion[j, m, n] of every annotator.
        typical: typical[m, n], an annotator who says as much about the truth as a label bought on average does.
        activity: activity[j], the share of the labels so far; the shares sum to one.
        share: share[j], the largest share of a batch that annotator j can take; 0 for who is not available.
        information: information[j], how many nats a label of j says about an item of which nothing is known.
        prior: prior[m], the share of each class.
        correlation: How far labels of one item depend on each other.
        shared: How far further labels share the doubt that is stated, from 0 to 1.
    """

    confusion: Floats
    typical: Floats
    activity: Floats
    share: Floats
    information: Floats
    prior: Floats
    correlation: float
    shared: float = SHARED


def annotator_skills(
    labels: CrowdLabels, estimate: Estimate, *, available: Bools | None = None, load: float = LOAD
) -> Skills:
    """How annotators answer, learnt from the labels and an estimate of the truth.

    Args:
        labels: The labels.
        estimate: What is believed of the items.
        available: available[j], whether annotator j can be asked; None for everybody who gave a label.
        load: The largest share of a batch for one annotator, in terms of their share of the labels so far.
    """
    if load <= 0:
        raise OptionError(f"The load must be above 0, not {load:g}.")
    check_size("The plan", len(labels.annotators), labels.n_classes)
    counts = tally(make_shards(labels, partial=True), estimate.beliefs).counts.transpose(0, 2, 1)  # [j, m, n]
    given = counts.sum(axis=2, keepdims=True)  # [j, m, 1]
    own = counts / np.maximum(given, FLOOR) if estimate.confusion is None else estimate.confusion
    mean = (own * given).sum(axis=0) + np.eye(labels.n_classes)
    mean /= mean.sum(axis=1, keepdims=True)
    confusion = (own * given + PRIOR_LABELS * mean) / (given + PRIOR_LABELS)
    confusion = (1.0 - labels.n_classes * FLOOR) * confusion + FLOOR
    prior = estimate.beliefs.mean(axis=0) if len(estimate.beliefs) else np.full(labels.n_classes, 1.0)
    each = labels.labels_per_annotator() / max(labels.n_labels, 1)
    information = mutual_information(confusion, prior)
    share = np.where(each > 0 if available is None else available, load * each, 0.0)
    return Skills(
        confusion=confusion,
        typical=typical_annotator(confusion, prior, fill_shares(information, share)),
        activity=each,
        share=share,
        information=information,
        prior=prior,
        correlation=0.0 if estimate.calibration is None else estimate.calibration.correlation,
    )


def mutual_information(confusion: Floats, prior: Floats) -> Floats:
    """information[j] in nats between the truth and a label, from confusion[j, m, n] and prior[m]."""
    joint = prior[:, None] * confusion
    marginal = joint.sum(axis=1, keepdims=True)
    ratio = safe_log(confusion) - safe_log(marginal)
    return np.asarray(np.where(joint > 0, joint * ratio, 0.0).sum(axis=(1, 2)))


def fill_shares(information: Floats, share: Floats) -> Floats:
    """weight[j]: whoever says most gets as much of the work as they can take, and so on until all is given away."""
    order = np.argsort(-information, kind="stable")
    before = np.concatenate([[0.0], np.cumsum(share[order])[:-1]]) if len(order) else share
    weight = np.zeros(len(share))
    weight[order] = np.clip(1.0 - before, 0.0, share[order])
    return weight


def typical_annotator(confusion: Floats, prior: Floats, activity: Floats) -> Floats:
    """typical[m, n]: the mean matrix by activity[j], sharpened until it says as much as a label does on average.

    A mean over annotators says less than its parts: a label is worth more if one knows whose it is.
    """
    if activity.sum() <= 0:
        return np.full((len(prior), len(prior)), 1.0 / max(len(prior), 1))
    activity = activity / activity.sum()
    mean = np.einsum("j,jmn->mn", activity, confusion)
    wanted = float(activity @ mutual_information(confusion, prior))
    low, high = 1.0, 8.0
    for _ in range(30):
        middle = 0.5 * (low + high)
        reached = float(mutual_information(temper(mean, middle)[None], prior)[0])
        low, high = (middle, high) if reached < wanted else (low, middle)
    return temper(mean, low)


def added_sharpness(n: Floats | float, skills: Skills, added: int = 1) -> Floats:
    """How far a label counts among n labels and `added` more: 1 where labels are independent."""
    return np.asarray(design_effect(np.asarray(n, dtype=np.float64) + added, skills.correlation) ** -skills.shared)
