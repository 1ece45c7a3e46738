"""The loss of the crowd's own labels: what is said of each label's annotator, against the label that he gave.

The labels of a batch are found by where each unit's labels begin, so there is never an array of units by annotators.

Axes: i unit, u unit of a batch, r label of a batch, j annotator, n given label, d dimension.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from crowdlogic.classifiers.neural import BatchLoss
from crowdlogic.data.labels import CrowdLabels
from crowdlogic.numerics.arrays import Ints

AnnotatorLogits: TypeAlias = Callable[[Tensor, Tensor], Tensor]
"""logits[r, n] of the label that annotator[r] gives to a unit of which the network answers answers[r, d]."""


def crowd_label_loss(labels: CrowdLabels, said: AnnotatorLogits, device: torch.device) -> BatchLoss:
    """The cross-entropy of labels, each counting its weight: a unit counts as its labels do, over their mean number.

    So its mean over the units that have labels is the mean over all labels of the corpus, however many a batch holds.
    """
    starts = unit_starts(labels)
    per_unit = float(labels.weights.sum()) / max(int(np.count_nonzero(np.diff(starts))), 1)

    def loss(answers: Tensor, units: Ints) -> tuple[Tensor, int]:
        place, row = label_rows(starts, units)
        logits = said(answers.index_select(0, _on(place, device)), _on(labels.annotator[row], device))
        each = nn.functional.cross_entropy(logits, _on(labels.label[row], device), reduction="none")
        weight = torch.from_numpy(labels.weights[row]).to(each)
        counted = len(np.unique(place))
        return (weight * each).sum() / (per_unit * max(counted, 1)), counted

    return loss


def unit_starts(labels: CrowdLabels) -> Ints:
    """starts[i], the first label of each unit; labels are sorted by unit."""
    return np.searchsorted(labels.unit, np.arange(labels.n_units + 1))


def label_rows(starts: Ints, units: Ints) -> tuple[Ints, Ints]:
    """The labels of some units: place[r], which of the units a label belongs to, and row[r], where it stands."""
    count = starts[units + 1] - starts[units]
    ends = np.cumsum(count)
    within = np.arange(count.sum()) - np.repeat(ends - count, count)
    return np.repeat(np.arange(len(units)), count), np.repeat(starts[units], count) + within


def _on(array: NDArray[np.generic], device: torch.device) -> Tensor:
    return torch.from_numpy(array.astype(np.int64)).to(device)
