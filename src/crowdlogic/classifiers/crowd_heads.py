"""Doctor nets: a network with an output layer (a head) for each annotator, which predicts the average of its heads.

[GUAN18] Guan, Gulshan, Dai and Hinton, "Who said what: modeling individual labelers improves classification", 2018.

Axes: u unit of a batch, r label of a batch or pair of a unit and a class, j annotator, k class, d dimension.
"""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor, nn

from crowdlogic.classifiers.crowd_head_weights import LabelPairs, fit_weight_logits, label_pairs
from crowdlogic.classifiers.crowd_label_loss import crowd_label_loss, label_rows
from crowdlogic.classifiers.neural import NeuralClassifier
from crowdlogic.classifiers.protocol import FIXED, MODEL, Arrays
from crowdlogic.classifiers.saved_arrays import BOOLEANS, saved_array
from crowdlogic.data.corpus import Corpus
from crowdlogic.data.labels import CrowdLabels
from crowdlogic.numerics.arrays import Bools, Ints

HAS_LABELS = FIXED + MODEL + "output.has_labels"
"""The array by which the state of a network with heads is recognised."""
MAX_AT_ONCE = 2**20
"""Maximum number of probabilities (units by annotators by classes) that are computed at a time."""
MAX_FITTED = 2**24
"""Maximum number of probabilities (pairs by annotators) that the weights of heads are fitted to; beyond it, units are
sampled."""


class AnnotatorHeads(nn.Module):
    """weight[j, k, d] and bias[j, k] of each head, and weight_logits[j], whose softmax weights the heads.

    It replaces the output layer of a network and passes its input through: which head is needed is not known there.
    Every head is initialised as the output layer; heads of annotators without labels have no weight.
    """

    has_labels: Tensor

    def __init__(self, output: nn.Linear, has_labels: Bools) -> None:
        super().__init__()
        weight, bias = output.weight.detach(), output.bias.detach()
        self.weight = nn.Parameter(weight.expand(len(has_labels), *weight.shape).clone())
        self.bias = nn.Parameter(bias.expand(len(has_labels), *bias.shape).clone())
        self.weight_logits = nn.Parameter(torch.zeros(len(has_labels)))
        self.register_buffer("has_labels", torch.from_numpy(has_labels))

    def forward(self, hidden: Tensor) -> Tensor:
        """The hidden representation, unchanged."""
        return hidden

    def annotator_logits(self, hidden: Tensor, annotator: Tensor) -> Tensor:
        """logits[r, k] of the head of annotator[r]."""
        weight, bias = self.weight.index_select(0, annotator), self.bias.index_select(0, annotator)
        return (hidden[:, None] * weight).sum(dim=-1) + bias  # four times as fast as a matrix product for each label

    def head_probabilities(self, hidden: Tensor) -> Tensor:
        """p[u, j, k] of every head, in double precision."""
        logits = torch.einsum("ud,jkd->ujk", hidden, self.weight) + self.bias
        return torch.softmax(logits.double(), dim=-1)

    def head_weights(self) -> Tensor:
        """The weight of each head in the average, [j]; they sum to one."""
        return torch.softmax(self.weight_logits.double().masked_fill(~self.has_labels, -torch.inf), dim=0)

    @property
    def chunk_size(self) -> int:
        """Number of units whose probabilities fit into MAX_AT_ONCE."""
        return max(MAX_AT_ONCE // self.bias.numel(), 1)


class AnnotatorHeadsClassifier(NeuralClassifier):
    """A network with heads: a Classifier that learns from crowd labels directly and predicts the heads' average."""

    def __init__(self, plain: NeuralClassifier, has_labels: Bools) -> None:
        self.heads = AnnotatorHeads(plain.network.output, has_labels)
        plain.network.add_module("output", self.heads)
        super().__init__(plain.network, plain.encode, plain.training, seed=plain.seed, fixed=plain.fixed)

    def fit_labels(self, corpus: Corpus, labels: CrowdLabels) -> float:
        """One epoch of mini-batches on crowd labels, each training its annotator's head; the mean loss of a label."""
        loss = crowd_label_loss(labels, self.heads.annotator_logits, self.device)
        return self.run_epoch(corpus, loss, labels.labels_per_unit() > 0)

    def probabilities(self, outputs: Tensor) -> Tensor:
        """p[u, k], the weighted average of the heads."""
        weight = self.heads.head_weights()
        chunks = outputs.split(self.heads.chunk_size)
        return torch.cat([torch.einsum("ujk,j->uk", self.heads.head_probabilities(part), weight) for part in chunks])

    def fit_head_weights(self, corpus: Corpus, labels: CrowdLabels) -> None:
        """Fit the weights of the heads, which stay fixed.

        The target of a unit is the distribution of its labels; its own annotators are left out of the average, because
        their heads were trained on these labels ([GUAN18]). A unit that everybody labelled has no effect.
        """
        pairs = label_pairs(labels, most=MAX_FITTED // len(labels.annotators))
        initial, p = self.heads.weight_logits.detach(), self._pair_probabilities(corpus, pairs)
        fitted = fit_weight_logits(initial, self.heads.has_labels, p, pairs)
        with torch.no_grad():
            self.heads.weight_logits.copy_(fitted)

    @torch.inference_mode()
    def _pair_probabilities(self, corpus: Corpus, pairs: LabelPairs) -> Tensor:
        """p[r, j], the probability that the head of annotator j gives to the class of pair r."""
        p = torch.zeros(len(pairs.unit), len(self.heads.weight_logits), dtype=torch.float64, device=self.device)
        starts = np.searchsorted(pairs.unit, np.arange(corpus.n_units + 1))
        for outputs, units in self.forward_batches(corpus):
            places, rows = (_chunks(found, self.heads.chunk_size) for found in label_rows(starts, units))
            for place, row in zip(places, rows, strict=True):
                found = self.heads.head_probabilities(outputs[place])
                p[row] = found[torch.arange(len(row)), :, pairs.label[row]]
        return p.clone()  # outside of inference mode's tensors, so that gradients can be taken


def _chunks(array: Ints, size: int) -> list[Ints]:
    return [array[begin : begin + size] for begin in range(0, len(array), size)]


def restore_classifier(plain: NeuralClassifier, arrays: Arrays) -> NeuralClassifier:
    """A classifier with a saved state: the plain network, or one with heads in place of its output layer."""
    made = plain
    if HAS_LABELS in arrays:
        made = AnnotatorHeadsClassifier(plain, np.array(saved_array(arrays, HAS_LABELS, (None,), kind=BOOLEANS)))
    made.restore(arrays)
    return made


def add_annotator_heads(plain: NeuralClassifier, labels: CrowdLabels) -> AnnotatorHeadsClassifier:
    """The network with a head for each annotator of some labels in place of its output layer."""
    return AnnotatorHeadsClassifier(plain, labels.labels_per_annotator() > 0)
