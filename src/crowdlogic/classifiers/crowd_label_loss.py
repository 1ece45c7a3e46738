"""The loss of networks that learn from crowd labels directly: the cross-entropy of each label for its annotator.

Shared by the crowd layer (crowd_layer) and the doctor nets (crowd_heads). The labels of a batch are found by the index
of each unit's first label, so there is never an array of units by annotators.

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
"""logits[r, n] of the label that annotator[r] gives, from the network's outputs[r, d] for the unit."""


def crowd_label_loss(labels: CrowdLabels, annotator_logits: AnnotatorLogits, device: torch.device) -> BatchLoss:
    """The mean cross-entropy of labels, each with its weight.

    A batch's loss is its sum over the number of its labelled units and the mean number of labels per unit. So the mean
    of an epoch is the mean over all labels of the corpus, however many a batch holds.
    """
    starts = unit_starts(labels)
    per_unit = float(labels.weights.sum()) / max(int(np.count_nonzero(np.diff(starts))), 1)

    def loss(outputs: Tensor, units: Ints) -> tuple[Tensor, int]:
        place, row = label_rows(starts, units)
        label_outputs = outputs.index_select(0, _to_device(place, device))
        logits = annotator_logits(label_outputs, _to_device(labels.annotator[row], device))
        per_label = nn.functional.cross_entropy(logits, _to_device(labels.label[row], device), reduction="none")
        weight = torch.from_numpy(labels.weights[row]).to(per_label)
        counted = len(np.unique(place))
        return (weight * per_label).sum() / (per_unit * max(counted, 1)), counted

    return loss


def unit_starts(labels: CrowdLabels) -> Ints:
    """starts[i], the row of unit i's first label (labels are sorted by unit), and the number of labels at the end."""
    return np.searchsorted(labels.unit, np.arange(labels.n_units + 1))


def label_rows(starts: Ints, units: Ints) -> tuple[Ints, Ints]:
    """All labels of some units: place[r], the index into `units`, and row[r], the row of the label."""
    count = starts[units + 1] - starts[units]
    ends = np.cumsum(count)
    # within[r] counts the labels of each unit from 0
    within = np.arange(count.sum()) - np.repeat(ends - count, count)
    return np.repeat(np.arange(len(units)), count), np.repeat(starts[units], count) + within


def _to_device(array: NDArray[np.generic], device: torch.device) -> Tensor:
    return torch.from_numpy(array.astype(np.int64)).to(device)
