"""Which labels to buy next: which items, by which annotators, and what they are expected to gain.

Items are taken by the gain of their next label by a typical annotator (`label_gain`), an item again only if half of
what its second label gains is still more than the first of any other, so a batch is spread over what is in doubt. Each
label is given to whoever says most about the item as it stands (the mutual information of their label and the truth),
nobody twice to one item nor beyond a fair load. What the batch gains is foretold with the annotators chosen
(`forecast_view`).

Axes: i unit, j annotator, k class, p label to buy, s item.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from crowdlogic.data.estimate import Estimate
from crowdlogic.data.labels import CrowdLabels
from crowdlogic.errors import OptionError
from crowdlogic.numerics.arrays import Bools, Floats, Ints
from crowdlogic.numerics.logspace import safe_log
from crowdlogic.numerics.sums import sum_by
from crowdlogic.numerics.tempering import temper
from crowdlogic.planning.forecast_view import forecast_view
from crowdlogic.planning.label_gain import marginal_gains
from crowdlogic.planning.skills import Skills, added_sharpness

WORTHWHILE = 0.05
"""Labels are worth buying while each is expected to remove so much of a mistake: one mistake for twenty labels."""
MOST_PLANNED = 300
"""So many labels are planned at most, unless told otherwise: what they say should decide on those after them."""
AGAIN = 0.5
"""What a further label of an item counts for within one batch. Bought later, it would be bought only if those before it
leave a doubt; in the same batch nobody knows that yet, and other items gain for certain."""
NOBODY = -1.0
"""In place of a gain, where nobody is left to give the label."""


@dataclass(frozen=True, eq=False, kw_only=True)
class NextLabels:
    """Labels to buy, the most valuable first.

    Attributes:
        item: item[p], the item that should be labelled.
        annotator: annotator[p], by whom.
        gain: gain[p], by how many the expected number of wrong answers falls.
    """

    item: Ints
    annotator: Ints
    gain: Floats

    @property
    def total(self) -> float:
        """By how many the whole batch is expected to lower the number of wrong answers."""
        return float(self.gain.sum())


def choose_next(labels: CrowdLabels, estimate: Estimate, skills: Skills, *, count: int | None = None) -> NextLabels:
    """Choose labels to buy.

    Args:
        labels: The labels so far.
        estimate: What is believed of the items, stated on a calibrated scale.
        skills: How annotators answer, who is available and how much each can take.
        count: How many labels; None for all that are worth it, up to `MOST_PLANNED`.
    """
    if count is not None and count < 1:
        raise OptionError(f"The number of labels must be 1 or more, not {count}.")
    able = skills.share > 0
    if not able.any():
        raise OptionError("Nobody is available to label. Name annotators who gave labels before.")
    gains = usable_gains(labels, estimate, skills)
    if count is None:
        gains, count = np.where(gains >= WORTHWHILE, gains, NOBODY), MOST_PLANNED
    slots = pick_items(spread(gains), count)
    capacity = np.where(able, np.ceil(skills.share * len(slots)) + 1, 0).astype(np.int64)
    said = label_information(labels, estimate, skills, np.unique(slots))
    annotator = assign_annotators(slots, said, _asked(labels), capacity)
    given = annotator >= 0
    item, annotator = slots[given], annotator[given]
    gain = batch_gains(labels, estimate, skills, item, annotator)
    order = np.argsort(-gain, kind="stable")
    return NextLabels(item=item[order], annotator=annotator[order], gain=gain[order])


def usable_gains(labels: CrowdLabels, estimate: Estimate, skills: Skills) -> Floats:
    """gain[s, d] of `item_gains`; `NOBODY` where all who are available have labelled the item already."""
    gains, able = item_gains(labels, estimate, skills), skills.share > 0
    free = int(able.sum()) - _asked(labels)[:, able].sum(axis=1)
    return np.where(np.arange(gains.shape[1]) < free[:, None], gains, NOBODY)


def item_gains(labels: CrowdLabels, estimate: Estimate, skills: Skills) -> Floats:
    """gain[s, d], what the d-th further label of item s by typical annotators gains, over all tokens of a sentence."""
    gains = marginal_gains(estimate.beliefs, labels.labels_per_unit(), skills)
    if labels.offsets is None:
        return gains
    items = labels.item_of_unit
    return np.stack([sum_by(items, len(labels.items), gains[:, d]) for d in range(gains.shape[1])], axis=1)


def spread(gains: Floats) -> Floats:
    """gain[s, d] with each further label of an item counted by half (`AGAIN`): it cannot yet heed those before it."""
    return np.asarray(gains * AGAIN ** np.arange(gains.shape[1]))


def pick_items(gains: Floats, count: int) -> Ints:
    """item[p], the items of the largest gains: each as often as it has some among them."""
    best = np.argsort(-gains.ravel(), kind="stable")[:count]
    return np.asarray(best[gains.ravel()[best] >= 0.0] // gains.shape[1])


def label_information(labels: CrowdLabels, estimate: Estimate, skills: Skills, items: Ints) -> dict[int, Floats]:
    """Item -> information[j], how many nats a label of each annotator says about it as it stands."""
    entropy = -np.einsum("jmn,jmn->jm", skills.confusion, safe_log(skills.confusion))
    found = {}
    for item in items.tolist():
        units = slice(item, item + 1) if labels.offsets is None else slice(*labels.offsets[item : item + 2])
        q = estimate.beliefs[units]
        label = np.einsum("im,jmn->jin", q, skills.confusion)
        found[item] = -(label * safe_log(label)).sum(axis=(1, 2)) - np.einsum("im,jm->j", q, entropy)
    return found


def assign_annotators(slots: Ints, said: dict[int, Floats], asked: Bools, capacity: Ints) -> Ints:
    """annotator[p] for each label: who says most and is free; -1 where nobody is."""
    left, taken = capacity.copy(), asked.copy()
    chosen = np.full(len(slots), -1, dtype=np.int64)
    for p, item in enumerate(slots.tolist()):
        worth = np.where((left > 0) & ~taken[item], said[item], -np.inf)
        j = int(worth.argmax())
        if worth[j] > -np.inf:
            chosen[p], left[j], taken[item, j] = j, left[j] - 1, True
    return chosen


def batch_gains(labels: CrowdLabels, estimate: Estimate, skills: Skills, item: Ints, annotator: Ints) -> Floats:
    """gain[p] with the annotators chosen: what the labels of an item gain together, shared evenly among them."""
    gain, n = np.zeros(len(item)), labels.labels_per_unit()
    estimate, skills = forecast_view(labels, estimate, skills)
    for one in np.unique(item).tolist():
        at = np.flatnonzero(item == one)
        units = range(one, one + 1) if labels.offsets is None else range(*labels.offsets[one : one + 2])
        total = sum(joint_gain(estimate.beliefs[i], int(n[i]), skills, annotator[at]) for i in units)
        gain[at] = total / len(at)
    return gain


MOST_ENUMERATED = 4096
"""Outcomes of an item's labels are enumerated up to so many; further labels are left out of its gain."""


def joint_gain(q: Floats, n: int, skills: Skills, annotators: Ints) -> float:
    """What labels of several annotators are expected to add to the accuracy of a unit with beliefs q[k], n labels."""
    sharpness = float(added_sharpness(n, skills, len(annotators)))
    joint = q[None, :]  # [outcome, k], the probability of the labels so far and of class k
    for j in annotators.tolist():
        if len(joint) * len(q) > MOST_ENUMERATED:
            break
        table = temper(skills.confusion[j], sharpness)  # [k, n]
        joint = (joint[:, None, :] * table.T[None, :, :]).reshape(-1, len(q))
    return max(float(joint.max(axis=1).sum() - q.max()), 0.0)


def _asked(labels: CrowdLabels) -> Bools:
    """asked[s, j], whether annotator j has labelled item s."""
    asked = np.zeros((len(labels.items), len(labels.annotators)), dtype=bool)
    item, annotator, _ = labels.annotations()
    asked[item, annotator] = True
    return asked
