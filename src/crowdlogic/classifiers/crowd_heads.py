"""A network with an output layer for each annotator, and the average of what they all would say.

[GUAN18] Guan, Gulshan, Dai and Hinton, "Who said what: modeling individual labelers improves classification", 2018.

Axes: u unit of a batch, r label of a batch or pair of a unit and a class, j annotator, k class, d dimension.
"""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor, nn

from crowdlogic.classifiers.crowd_head_weights import LabelPairs, fit_head_weights, label_pairs
from crowdlogic.classifiers.crowd_label_loss import crowd_label_loss, label_rows
from crowdlogic.classifiers.neural import NeuralClassifier
from crowdlogic.classifiers.protocol import FIXED, MODEL, Arrays
from crowdlogic.data.corpus import Corpus
from crowdlogic.data.labels import CrowdLabels
from crowdlogic.numerics.arrays import Bools, Ints

HAS_LABELS = FIXED + MODEL + "output.has_labels"
"""What only the arrays of a network with heads have."""
MAX_AT_ONCE = 2**20
"""The most opinions, of units by annotators by classes, that are computed at a time."""
MAX_FITTED = 2**24
"""The most opinions, of pairs by annotators, that shares are learnt from: where there are more, from some units."""


class AnnotatorHeads(nn.Module):
    """weight[j, k, d] and bias[j, k] of each head, and share[j], whose softmax says how much it counts.

    It takes the place of a network's output layer and lets what that is given through: whose head is to answer is not
    known there. Every head starts as the output layer; heads of annotators without labels never count.
    """

    has_labels: Tensor

    def __init__(self, output: nn.Linear, has_labels: Bools) -> None:
        super().__init__()
        weight, bias = output.weight.detach(), output.bias.detach()
        self.weight = nn.Parameter(weight.expand(len(has_labels), *weight.shape).clone())
        self.bias = nn.Parameter(bias.expand(len(has_labels), *bias.shape).clone())
        self.share = nn.Parameter(torch.zeros(len(has_labels)))
        self.register_buffer("has_labels", torch.from_numpy(has_labels))

    def forward(self, hidden: Tensor) -> Tensor:
        """What the body of the network sees, as it is."""
        return hidden

    def said(self, hidden: Tensor, annotator: Tensor) -> Tensor:
        """logits[r, k] of the head of annotator[r]."""
        weight, bias = self.weight.index_select(0, annotator), self.bias.index_select(0, annotator)
        return (hidden[:, None] * weight).sum(dim=-1) + bias  # four times as quick as a matrix product for each label

    def head_probabilities(self, hidden: Tensor) -> Tensor:
        """What every head believes: opinions[u, j, k], in double precision."""
        logits = torch.einsum("ud,jkd->ujk", hidden, self.weight) + self.bias
        return torch.softmax(logits.double(), dim=-1)

    def shares(self) -> Tensor:
        """share[j], how much each head counts; they sum to one."""
        return torch.softmax(self.share.double().masked_fill(~self.has_labels, -torch.inf), dim=0)

    @property
    def chunk(self) -> int:
        """How many units fit into MAX_AT_ONCE."""
        return max(MAX_AT_ONCE // self.bias.numel(), 1)


class AnnotatorHeadsClassifier(NeuralClassifier):
    """A network with heads: a Classifier that learns from labels as they are, and believes the average of its heads."""

    def __init__(self, plain: NeuralClassifier, has_labels: Bools) -> None:
        self.heads = AnnotatorHeads(plain.network.output, has_labels)
        plain.network.add_module("output", self.heads)
        super().__init__(plain.network, plain.read, plain.training, seed=plain.seed, fixed=plain.given)

    def fit_labels(self, corpus: Corpus, labels: CrowdLabels) -> float:
        """One pass of mini-batches, each label moving its annotator's head and the body; the mean loss of a label."""
        return self.run_epoch(
            corpus, crowd_label_loss(labels, self.heads.said, self.device), labels.labels_per_unit() > 0
        )

    def probabilities(self, answers: Tensor) -> Tensor:
        """p[u, k], the average of the heads' opinions."""
        share = self.heads.shares()
        parts = [
            torch.einsum("ujk,j->uk", self.heads.head_probabilities(part), share)
            for part in answers.split(self.heads.chunk)
        ]
        return torch.cat(parts)

    def fit_head_weights(self, corpus: Corpus, labels: CrowdLabels) -> None:
        """Learn how much each head counts, the heads as they are.

        The target of a unit is how its labels are distributed; its own annotators are left out of the average, since
        their heads have learnt those very labels ([GUAN18]). A unit that everybody labelled teaches nothing.
        """
        pairs = label_pairs(labels, most=MAX_FITTED // len(labels.annotators))
        learnt = fit_head_weights(self.heads.share.detach(), self.heads.has_labels, self._scores(corpus, pairs), pairs)
        with torch.no_grad():
            self.heads.share.copy_(learnt)

    @torch.inference_mode()
    def _scores(self, corpus: Corpus, pairs: LabelPairs) -> Tensor:
        """scores[r, j], how far the head of annotator j believes in the class of a pair."""
        scores = torch.zeros(len(pairs.unit), len(self.heads.share), dtype=torch.float64, device=self.device)
        starts = np.searchsorted(pairs.unit, np.arange(corpus.n_units + 1))
        for answers, units in self.answers(corpus):
            for place, row in zip(
                *(_chunks(found, self.heads.chunk) for found in label_rows(starts, units)), strict=True
            ):
                opinions = self.heads.head_probabilities(answers[place])
                scores[row] = opinions[torch.arange(len(row)), :, pairs.label[row]]
        return scores.clone()  # a tensor that can be learnt from


def _chunks(array: Ints, size: int) -> list[Ints]:
    return [array[begin : begin + size] for begin in range(0, len(array), size)]


def restore_classifier(plain: NeuralClassifier, arrays: Arrays) -> NeuralClassifier:
    """The classifier that arrays were taken from: the network as it is, or with heads in place of its output layer."""
    has_labels = arrays.get(HAS_LABELS)
    made = plain if has_labels is None else AnnotatorHeadsClassifier(plain, np.array(has_labels))
    made.restore(arrays)
    return made


def add_annotator_heads(plain: NeuralClassifier, labels: CrowdLabels) -> AnnotatorHeadsClassifier:
    """The network with a head for each annotator of some labels in place of its output layer."""
    return AnnotatorHeadsClassifier(plain, labels.labels_per_annotator() > 0)
