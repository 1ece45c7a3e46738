"""The weights of the annotators' heads in their average, learnt from crowd labels while the heads are fixed.

[GUAN18] Guan et al., "Who said what", 2018 (its weighted doctor net). The target of a unit is the distribution of its
labels. The average is over the heads of the other annotators, which is our choice where we could not check theirs: a
head has been trained on its own annotator's labels, and would be rewarded for having memorised them.

Axes: i unit, r pair of a unit and a class it was given, j annotator, k class.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from crowdlogic.classifiers.crowd_label_loss import label_rows, unit_starts
from crowdlogic.data.estimate import vote_shares
from crowdlogic.data.labels import CrowdLabels
from crowdlogic.numerics.arrays import Floats, Ints

STEPS, LEARNING_RATE = 100, 0.1
"""Number of steps of Adam, each over all pairs, and their learning rate."""
TINY = 1e-12


@dataclass(frozen=True, eq=False, kw_only=True)
class LabelPairs:
    """Pairs of a unit and a class it was given, sorted by unit; and for each pair the annotators of the unit.

    Attributes:
        unit: unit[r].
        label: label[r], a class that somebody gave the unit.
        target: target[r], its share of the unit's labels.
        pair: A pair for each of the annotators that labelled its unit, ...
        owner: ... and that annotator.
    """

    unit: Ints
    label: Ints
    target: Floats
    pair: Ints
    owner: Ints


def label_pairs(labels: CrowdLabels, *, most: int) -> LabelPairs:
    """The pairs of all labelled units; of every second or third unit, ... when there are more than `most`."""
    votes = labels.votes()
    unit, label = np.nonzero(votes)
    every = max(-(-len(unit) // max(most, 1)), 1)  # rounded up
    kept = unit % every == 0
    unit, label = unit[kept], label[kept]
    pair, row = label_rows(unit_starts(labels), unit)
    return LabelPairs(
        unit=unit,
        label=label,
        target=vote_shares(votes)[unit, label],
        pair=pair,
        owner=labels.annotator[row].astype(np.int64),
    )


def fit_weight_logits(initial: Tensor, has_labels: Tensor, p: Tensor, pairs: LabelPairs) -> Tensor:
    """weight_logits[j], whose softmax are the weights that bring the others' average closest to the targets.

    Args:
        initial: initial[j], where to start.
        has_labels: has_labels[j], whether annotator j has any labels, so that the head was trained.
        p: p[r, j], the probability that the head of annotator j gives to the class of pair r.
        pairs: The pairs and their targets.
    """
    pair, owner = torch.from_numpy(pairs.pair).to(initial.device), torch.from_numpy(pairs.owner).to(initial.device)
    # n_others[r], the number of trained heads whose annotators did not label the unit of pair r
    n_own = torch.zeros(len(p), device=initial.device).index_add_(0, pair, has_labels[owner].float())
    n_others = has_labels.sum() - n_own
    target = torch.from_numpy(pairs.target).to(p) * (n_others > 0)  # nothing is learnt where there is no other
    p_others = p.index_put((pair, owner), p.new_zeros(()))  # 0 for the heads of the unit's own annotators
    logits = initial.to(p).requires_grad_()
    optimiser = torch.optim.Adam([logits], lr=LEARNING_RATE)
    for _ in range(STEPS):
        weight = torch.softmax(logits.masked_fill(~has_labels, -torch.inf), dim=0)
        own_weight = p.new_zeros(len(p)).index_add(0, pair, weight[owner])
        # log of the others' weighted average: sum_j weight[j] p[r, j] over the sum of their weights
        log_average = torch.log((p_others @ weight).clamp(min=TINY)) - torch.log((1.0 - own_weight).clamp(min=TINY))
        optimiser.zero_grad()
        (-(target * log_average).sum() / target.sum().clamp(min=TINY)).backward()
        optimiser.step()
    return logits.detach()
