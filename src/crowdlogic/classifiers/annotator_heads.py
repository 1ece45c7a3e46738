"""A network with an output layer for each annotator, and the average of what they all would say.

[GUAN18] Guan, Gulshan, Dai and Hinton, "Who said what: modeling individual labelers improves classification", 2018.

Axes: u unit of a batch, r label of a batch or pair of a unit and a class, j annotator, k class, d dimension.
"""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor, nn

from crowdlogic.classifiers.averaging import Pairs, averaging, pairs_of
from crowdlogic.classifiers.label_loss import label_loss, rows_of
from crowdlogic.classifiers.neural import NeuralClassifier
from crowdlogic.classifiers.protocol import FIXED, MODEL, Arrays
from crowdlogic.data.corpus import Corpus
from crowdlogic.data.labels import CrowdLabels
from crowdlogic.numerics.arrays import Bools, Ints

HEARD = FIXED + MODEL + "output.heard"
"""What only the arrays of a network with heads have."""
AT_ONCE = 2**20
"""The most opinions, of units by annotators by classes, that are computed at a time."""
ENOUGH = 2**24
"""The most opinions, of pairs by annotators, that shares are learnt from: where there are more, from some units."""


class AnnotatorHeads(nn.Module):
    """weight[j, k, d] and bias[j, k] of each head, and share[j], whose softmax says how much it counts.

    It takes the place of a network's output layer and lets what that is given through: whose head is to answer is not
    known there. Every head starts as the output layer; heads of annotators without labels never count.
    """

    heard: Tensor

    def __init__(self, output: nn.Linear, heard: Bools) -> None:
        super().__init__()
        weight, bias = output.weight.detach(), output.bias.detach()
        self.weight = nn.Parameter(weight.expand(len(heard), *weight.shape).clone())
        self.bias = nn.Parameter(bias.expand(len(heard), *bias.shape).clone())
        self.share = nn.Parameter(torch.zeros(len(heard)))
        self.register_buffer("heard", torch.from_numpy(heard))

    def forward(self, hidden: Tensor) -> Tensor:
        """What the body of the network sees, as it is."""
        return hidden

    def said(self, hidden: Tensor, annotator: Tensor) -> Tensor:
        """logits[r, k] of the head of annotator[r]."""
        weight, bias = self.weight.index_select(0, annotator), self.bias.index_select(0, annotator)
        return (hidden[:, None] * weight).sum(dim=-1) + bias  # four times as quick as a matrix product for each label

    def opinions(self, hidden: Tensor) -> Tensor:
        """What every head believes: opinions[u, j, k], in double precision."""
        logits = torch.einsum("ud,jkd->ujk", hidden, self.weight) + self.bias
        return torch.softmax(logits.double(), dim=-1)

    def shares(self) -> Tensor:
        """share[j], how much each head counts; they sum to one."""
        return torch.softmax(self.share.double().masked_fill(~self.heard, -torch.inf), dim=0)

    @property
    def chunk(self) -> int:
        """How many units fit into AT_ONCE."""
        return max(AT_ONCE // self.bias.numel(), 1)


class HeadedClassifier(NeuralClassifier):
    """A network with heads: a Classifier that learns from labels as they are, and believes the average of its heads."""

    def __init__(self, plain: NeuralClassifier, heard: Bools) -> None:
        self.heads = AnnotatorHeads(plain.network.output, heard)
        plain.network.add_module("output", self.heads)
        super().__init__(plain.network, plain.read, plain.training, seed=plain.seed, fixed=plain.given)

    def fit_labels(self, corpus: Corpus, labels: CrowdLabels) -> float:
        """One pass of mini-batches, each label moving its annotator's head and the body; the mean loss of a label."""
        return self.descend(corpus, label_loss(labels, self.heads.said, self.device), labels.labels_per_unit() > 0)

    def believed(self, answers: Tensor) -> Tensor:
        """p[u, k], the average of the heads' opinions."""
        share = self.heads.shares()
        parts = [
            torch.einsum("ujk,j->uk", self.heads.opinions(part), share) for part in answers.split(self.heads.chunk)
        ]
        return torch.cat(parts)

    def fit_shares(self, corpus: Corpus, labels: CrowdLabels) -> None:
        """Learn how much each head counts, the heads as they are.

        The target of a unit is how its labels are distributed; its own annotators are left out of the average, since
        their heads have learnt those very labels ([GUAN18]). A unit that everybody labelled teaches nothing.
        """
        pairs = pairs_of(labels, most=ENOUGH // len(labels.annotators))
        learnt = averaging(self.heads.share.detach(), self.heads.heard, self._scores(corpus, pairs), pairs)
        with torch.no_grad():
            self.heads.share.copy_(learnt)

    @torch.inference_mode()
    def _scores(self, corpus: Corpus, pairs: Pairs) -> Tensor:
        """scores[r, j], how far the head of annotator j believes in the class of a pair."""
        scores = torch.zeros(len(pairs.unit), len(self.heads.share), dtype=torch.float64, device=self.device)
        starts = np.searchsorted(pairs.unit, np.arange(corpus.n_units + 1))
        for answers, units in self.answers(corpus):
            for place, row in zip(*(_chunks(found, self.heads.chunk) for found in rows_of(starts, units)), strict=True):
                opinions = self.heads.opinions(answers[place])
                scores[row] = opinions[torch.arange(len(row)), :, pairs.label[row]]
        return scores.clone()  # a tensor that can be learnt from


def _chunks(array: Ints, size: int) -> list[Ints]:
    return [array[begin : begin + size] for begin in range(0, len(array), size)]


def restored(plain: NeuralClassifier, arrays: Arrays) -> NeuralClassifier:
    """The classifier that arrays were taken from: the network as it is, or with heads in place of its output layer."""
    heard = arrays.get(HEARD)
    made = plain if heard is None else HeadedClassifier(plain, np.array(heard))
    made.restore(arrays)
    return made


def headed(plain: NeuralClassifier, labels: CrowdLabels) -> HeadedClassifier:
    """The network with a head for each annotator of some labels in place of its output layer."""
    return HeadedClassifier(plain, labels.labels_per_annotator() > 0)
