"""How much each annotator's head is to count in their average, learnt from the labels with the heads as they are.

[GUAN18] Guan et al., "Who said what", 2018 (its weighted doctor net). The target of a unit is the distribution of its
labels. The average is over the heads of the others, which is our choice where we could not check theirs: a head has
learnt its own annotator's labels, and would be rewarded for knowing them by heart.

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

STEPS, RATE = 100, 0.1
"""So many steps of Adam, each over all pairs."""
TINY = 1e-12


@dataclass(frozen=True, eq=False)
class LabelPairs:
    """Units and the classes they were given, sorted by unit.

    Attributes:
        unit: unit[r].
        label: label[r], a class that somebody gave the unit.
        target: target[r], its share of the unit's labels.
        pair: A pair for every annotator that labelled its unit,
        owner: and that annotator.
    """

    unit: Ints
    label: Ints
    target: Floats
    pair: Ints
    owner: Ints


def label_pairs(labels: CrowdLabels, *, most: int) -> LabelPairs:
    """The pairs of all labelled units; of every second one, or third, ... when they are more than `most`."""
    votes = labels.votes()
    unit, label = np.nonzero(votes)
    kept = unit % max(-(-len(unit) // max(most, 1)), 1) == 0
    unit, label = unit[kept], label[kept]
    pair, row = label_rows(unit_starts(labels), unit)
    return LabelPairs(unit, label, vote_shares(votes)[unit, label], pair, labels.annotator[row].astype(np.int64))


def fit_head_weights(share: Tensor, has_labels: Tensor, scores: Tensor, pairs: LabelPairs) -> Tensor:
    """share[j], whose softmax are the weights that make the others' average most like the targets.

    Args:
        share: Where to begin.
        has_labels: has_labels[j], whether an annotator has a head that learnt anything.
        scores: scores[r, j], how far each head believes in the class of a pair.
        pairs: The pairs and their targets.
    """
    pair, owner = torch.from_numpy(pairs.pair).to(share.device), torch.from_numpy(pairs.owner).to(share.device)
    others = has_labels.sum() - torch.zeros(len(scores), device=share.device).index_add_(
        0, pair, has_labels[owner].float()
    )
    target = torch.from_numpy(pairs.target).to(scores) * (others > 0)  # where nobody else is left, nothing is learnt
    foreign = scores.index_put((pair, owner), scores.new_zeros(()))
    moved = share.to(scores).requires_grad_()
    optimiser = torch.optim.Adam([moved], lr=RATE)
    for _ in range(STEPS):
        weight = torch.softmax(moved.masked_fill(~has_labels, -torch.inf), dim=0)
        own = scores.new_zeros(len(scores)).index_add(0, pair, weight[owner])
        seen = torch.log((foreign @ weight).clamp(min=TINY)) - torch.log((1.0 - own).clamp(min=TINY))
        optimiser.zero_grad()
        (-(target * seen).sum() / target.sum().clamp(min=TINY)).backward()
        optimiser.step()
    return moved.detach()
