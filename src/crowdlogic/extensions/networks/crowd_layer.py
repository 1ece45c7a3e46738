"""Networks that learn from crowd labels directly: the crowd layer, and doctor nets with a head per annotator.

[ROD18] Rodrigues and Pereira, "Deep learning from crowds", 2018. As in its authors' program, the crowd layer takes the
network's softmax and is followed by a softmax: annotator j gives label n with probability
softmax_n(sum_m p[m] weight[j, m, n]). It is trained with the network, by the same optimiser, and not used for
predictions.

[GUAN18] Guan, Gulshan, Dai and Hinton, "Who said what: modeling individual labelers improves classification", 2018. A
doctor net has one output layer (head) per annotator and predicts the average of the heads. The weights of the heads in
the average are learnt while the heads are fixed; the target of a unit is the distribution of its labels. The average
excludes the heads of the unit's own annotators, because they would be rewarded for having memorised its labels. This is
our choice, since we could not check how the authors do it.

Axes: i unit, u unit of a batch, r label of a batch, or pair of a unit and a class, j annotator, m true class, n given
label, k class, d dimension.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from crowdlogic.classifiers.protocol import BOOLEANS, FIXED, MODEL, Arrays, saved_array
from crowdlogic.data.corpus import Corpus
from crowdlogic.data.estimate import vote_shares
from crowdlogic.data.labels import CrowdLabels
from crowdlogic.extensions.networks.network import BatchLoss, NeuralClassifier
from crowdlogic.numerics.arrays import Bools, Floats, Ints

AnnotatorLogits: TypeAlias = Callable[[Tensor, Tensor], Tensor]
"""Function that returns logits[r, n] of the label by annotator[r] from the network's outputs[r, d]."""


def crowd_label_loss(labels: CrowdLabels, annotator_logits: AnnotatorLogits, device: torch.device) -> BatchLoss:
    """Return the loss that is the weighted mean cross-entropy of the labels.

    The loss of a batch is its sum divided by its number of labelled units and the mean number of labels per unit, so
    that the mean of an epoch is the mean over all labels of the corpus, regardless of the batches.
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
    """Return starts[i], the row of the first label of unit i; the last entry is the number of labels."""
    return np.searchsorted(labels.unit, np.arange(labels.n_units + 1))


def label_rows(starts: Ints, units: Ints) -> tuple[Ints, Ints]:
    """Return place[r], an index into `units`, and row[r], the row of the label, for all labels of `units`."""
    count = starts[units + 1] - starts[units]
    ends = np.cumsum(count)
    # within[r] counts the labels of each unit from 0
    within = np.arange(count.sum()) - np.repeat(ends - count, count)
    return np.repeat(np.arange(len(units)), count), np.repeat(starts[units], count) + within


def _to_device(array: NDArray[np.generic], device: torch.device) -> Tensor:
    return torch.from_numpy(array.astype(np.int64)).to(device)


class AnnotatorLayer(nn.Module):
    """Layer with weight[j, m, n] per annotator, or only its diagonal weight[j, n], and optionally bias[j, n].

    Matrices are initialised to the identity, diagonals to ones, biases to zeros.
    """

    def __init__(self, n_annotators: int, n_classes: int, *, matrix: bool, bias: bool) -> None:
        super().__init__()
        own = torch.eye(n_classes) if matrix else torch.ones(n_classes)
        self.weight = nn.Parameter(own.expand(n_annotators, *own.shape).clone())
        self.bias = nn.Parameter(torch.zeros(n_annotators, n_classes)) if bias else None

    def forward(self, p: Tensor, annotator: Tensor) -> Tensor:
        """Return logits[r, n] of the label by annotator[r] from the network's probabilities p[r, m]."""
        weight = self.weight.index_select(0, annotator)
        logits = torch.einsum("rm,rmn->rn", p, weight) if weight.dim() == 3 else p * weight
        return logits if self.bias is None else logits + self.bias.index_select(0, annotator)

    def confusion(self) -> Tensor:
        """Return confusion[j, m, n], the probability of label n by annotator j if the network is certain of m."""
        n_annotators, n_classes = self.weight.shape[0], self.weight.shape[-1]
        # one row for each (j, m): the one-hot prediction m, and annotator j
        certain = torch.eye(n_classes).to(self.weight).repeat(n_annotators, 1)
        annotator = torch.arange(n_annotators, device=certain.device).repeat_interleave(n_classes)
        p = torch.softmax(self(certain, annotator).double(), dim=-1)
        return p.view(n_annotators, n_classes, n_classes)


class CrowdLayerClassifier(NeuralClassifier):
    """Network with a crowd layer: a Classifier that also learns from crowd labels directly."""

    def __init__(self, plain: NeuralClassifier, layer: AnnotatorLayer) -> None:
        plain.network.add_module("crowd", layer)  # so that it is trained, saved and restored with the network
        super().__init__(plain.network, plain.encode, plain.training, seed=plain.seed, fixed=plain.fixed)
        self.layer = layer

    def fit_labels(self, corpus: Corpus, labels: CrowdLabels) -> float:
        """Train for one epoch on crowd labels and return the mean loss per label."""
        loss = crowd_label_loss(labels, self.annotator_logits, self.device)
        return self.run_epoch(corpus, loss, labels.labels_per_unit() > 0)

    def annotator_logits(self, logits: Tensor, annotator: Tensor) -> Tensor:
        """Return logits[r, n] of the annotators' labels from the network's logits[r, m]."""
        found: Tensor = self.layer(torch.softmax(logits, dim=-1), annotator)
        return found

    def confusion(self) -> Floats:
        """Return confusion[j, m, n] of the layer."""
        with torch.no_grad():
            found: Floats = self.layer.confusion().cpu().numpy()
        return found


def add_crowd_layer(plain: NeuralClassifier, labels: CrowdLabels, *, matrix: bool, bias: bool) -> CrowdLayerClassifier:
    """Add a new crowd layer for the annotators of some labels to a network."""
    layer = AnnotatorLayer(len(labels.annotators), labels.n_classes, matrix=matrix, bias=bias)
    return CrowdLayerClassifier(plain, layer)


STEPS, LEARNING_RATE = 100, 0.1
"""Number of full-batch Adam steps for the head weights, and their learning rate."""
EPSILON = 1e-12


@dataclass(frozen=True, eq=False, kw_only=True)
class LabelPairs:
    """Pairs of a unit and a class among its labels, sorted by unit, with the annotators of the unit.

    Attributes:
        unit: unit[r].
        label: label[r], a class that was given to the unit.
        target: target[r], its share of the unit's labels.
        pair: Index of a pair, repeated for each annotator of its unit.
        owner: The annotator for each entry of `pair`.
    """

    unit: Ints
    label: Ints
    target: Floats
    pair: Ints
    owner: Ints


def label_pairs(labels: CrowdLabels, *, most: int) -> LabelPairs:
    """Return the pairs of all labelled units, or of every n-th unit if there are more than `most` pairs."""
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
    """Return weight_logits[j], whose softmax weights the heads so that their average best fits the targets.

    Args:
        initial: initial[j], the initial values.
        has_labels: has_labels[j], whether annotator j has any labels, so that the head was trained.
        p: p[r, j], the probability of the class of pair r according to the head of annotator j.
        pairs: The pairs and their targets.
    """
    pair, owner = torch.from_numpy(pairs.pair).to(initial.device), torch.from_numpy(pairs.owner).to(initial.device)
    # n_others[r], the number of trained heads whose annotators did not label the unit of pair r
    n_own = torch.zeros(len(p), device=initial.device).index_add_(0, pair, has_labels[owner].float())
    n_others = has_labels.sum() - n_own
    target = torch.from_numpy(pairs.target).to(p) * (n_others > 0)  # skip units without other heads
    p_others = p.index_put((pair, owner), p.new_zeros(()))  # 0 for the heads of the unit's own annotators
    logits = initial.to(p).requires_grad_()
    optimiser = torch.optim.Adam([logits], lr=LEARNING_RATE)
    for _ in range(STEPS):
        weight = torch.softmax(logits.masked_fill(~has_labels, -torch.inf), dim=0)
        own_weight = p.new_zeros(len(p)).index_add(0, pair, weight[owner])
        # log of the others' weighted average: sum_j weight[j] p[r, j] over the sum of their weights
        log_average = torch.log((p_others @ weight).clamp(min=EPSILON)) - torch.log(
            (1.0 - own_weight).clamp(min=EPSILON)
        )
        optimiser.zero_grad()
        (-(target * log_average).sum() / target.sum().clamp(min=EPSILON)).backward()
        optimiser.step()
    return logits.detach()


HAS_LABELS = FIXED + MODEL + "output.has_labels"
"""Array that marks the state of a network with heads."""
MAX_AT_ONCE = 2**20
"""Maximum number of probabilities (units x annotators x classes) computed at a time."""
MAX_FITTED = 2**24
"""Maximum number of probabilities (pairs x annotators) for fitting head weights; units are sampled beyond it."""


class AnnotatorHeads(nn.Module):
    """Heads with weight[j, k, d] and bias[j, k], averaged with the softmax of weight_logits[j].

    Replaces the output layer of a network, but passes its input through, since the annotator is not known there. Every
    head is initialised to the output layer; heads of annotators without labels have no weight.
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
        """Return the hidden representation unchanged."""
        return hidden

    def annotator_logits(self, hidden: Tensor, annotator: Tensor) -> Tensor:
        """Return logits[r, k] of the head of annotator[r]."""
        weight, bias = self.weight.index_select(0, annotator), self.bias.index_select(0, annotator)
        return (hidden[:, None] * weight).sum(dim=-1) + bias  # four times as fast as a matrix product for each label

    def head_probabilities(self, hidden: Tensor) -> Tensor:
        """Return p[u, j, k] of every head, in double precision."""
        logits = torch.einsum("ud,jkd->ujk", hidden, self.weight) + self.bias
        return torch.softmax(logits.double(), dim=-1)

    def head_weights(self) -> Tensor:
        """Return the weight of each head in the average, [j], which sum to one."""
        return torch.softmax(self.weight_logits.double().masked_fill(~self.has_labels, -torch.inf), dim=0)

    @property
    def chunk_size(self) -> int:
        """Number of units whose probabilities fit into MAX_AT_ONCE."""
        return max(MAX_AT_ONCE // self.bias.numel(), 1)


class AnnotatorHeadsClassifier(NeuralClassifier):
    """Network with heads: a Classifier that learns from crowd labels and predicts the heads' average."""

    def __init__(self, plain: NeuralClassifier, has_labels: Bools) -> None:
        self.heads = AnnotatorHeads(plain.network.output, has_labels)
        plain.network.add_module("output", self.heads)
        super().__init__(plain.network, plain.encode, plain.training, seed=plain.seed, fixed=plain.fixed)

    def fit_labels(self, corpus: Corpus, labels: CrowdLabels) -> float:
        """Train each annotator's head on their labels for one epoch and return the mean loss per label."""
        loss = crowd_label_loss(labels, self.heads.annotator_logits, self.device)
        return self.run_epoch(corpus, loss, labels.labels_per_unit() > 0)

    def probabilities(self, outputs: Tensor) -> Tensor:
        """Return p[u, k], the weighted average of the heads."""
        weight = self.heads.head_weights()
        chunks = outputs.split(self.heads.chunk_size)
        return torch.cat([torch.einsum("ujk,j->uk", self.heads.head_probabilities(part), weight) for part in chunks])

    def fit_head_weights(self, corpus: Corpus, labels: CrowdLabels) -> None:
        """Fit the weights of the heads, which stay fixed.

        The target of a unit is the distribution of its labels; its own annotators are excluded from the average, since
        their heads were trained on these labels ([GUAN18]). Units labelled by everybody have no effect.
        """
        pairs = label_pairs(labels, most=MAX_FITTED // len(labels.annotators))
        initial, p = self.heads.weight_logits.detach(), self._pair_probabilities(corpus, pairs)
        fitted = fit_weight_logits(initial, self.heads.has_labels, p, pairs)
        with torch.no_grad():
            self.heads.weight_logits.copy_(fitted)

    @torch.inference_mode()
    def _pair_probabilities(self, corpus: Corpus, pairs: LabelPairs) -> Tensor:
        """Return p[r, j], the probability of the class of pair r according to the head of annotator j."""
        p = torch.zeros(len(pairs.unit), len(self.heads.weight_logits), dtype=torch.float64, device=self.device)
        starts = np.searchsorted(pairs.unit, np.arange(corpus.n_units + 1))
        for outputs, units in self.forward_batches(corpus):
            places, rows = label_rows(starts, units)
            for begin in range(0, len(rows), self.heads.chunk_size):
                place, row = (found[begin : begin + self.heads.chunk_size] for found in (places, rows))
                found = self.heads.head_probabilities(outputs[place])
                p[row] = found[torch.arange(len(row)), :, pairs.label[row]]
        return p.clone()  # leave inference mode, so that gradients can be computed


def restore_classifier(plain: NeuralClassifier, arrays: Arrays) -> NeuralClassifier:
    """Restore a classifier from a saved state: the plain network, or one with heads as output layer."""
    made = plain
    if HAS_LABELS in arrays:
        made = AnnotatorHeadsClassifier(plain, np.array(saved_array(arrays, HAS_LABELS, (None,), kind=BOOLEANS)))
    made.restore(arrays)
    return made


def add_annotator_heads(plain: NeuralClassifier, labels: CrowdLabels) -> AnnotatorHeadsClassifier:
    """Replace the output layer of a network by one head for each annotator of some labels."""
    return AnnotatorHeadsClassifier(plain, labels.labels_per_annotator() > 0)
