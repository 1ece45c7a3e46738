"""The crowd layer: a layer on top of a network that models how each annotator labels what the network predicts.

[ROD18] Rodrigues and Pereira, "Deep learning from crowds", 2018. As in its authors' program the layer takes the
network's softmax, and a softmax follows it: annotator j says n with probability softmax_n(sum_m p[m] weight[j, m, n]).
It is trained with the network, by the same optimiser, and not used for predictions.

Axes: r label of a batch, j annotator, m true class, n given label.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from crowdlogic.classifiers.crowd_label_loss import crowd_label_loss
from crowdlogic.classifiers.neural import NeuralClassifier
from crowdlogic.data.corpus import Corpus
from crowdlogic.data.labels import CrowdLabels
from crowdlogic.numerics.arrays import Floats


class AnnotatorLayer(nn.Module):
    """weight[j, m, n] of each annotator, or its diagonal weight[j, n] only, and optionally bias[j, n].

    The matrix is initialised as the identity, the diagonal with ones, the bias with zeros.
    """

    def __init__(self, n_annotators: int, n_classes: int, *, matrix: bool, bias: bool) -> None:
        super().__init__()
        own = torch.eye(n_classes) if matrix else torch.ones(n_classes)
        self.weight = nn.Parameter(own.expand(n_annotators, *own.shape).clone())
        self.bias = nn.Parameter(torch.zeros(n_annotators, n_classes)) if bias else None

    def forward(self, p: Tensor, annotator: Tensor) -> Tensor:
        """logits[r, n] of the label of annotator[r], from the network's probabilities p[r, m]."""
        weight = self.weight.index_select(0, annotator)
        logits = torch.einsum("rm,rmn->rn", p, weight) if weight.dim() == 3 else p * weight
        return logits if self.bias is None else logits + self.bias.index_select(0, annotator)

    def confusion(self) -> Tensor:
        """confusion[j, m, n], the probability that annotator j says n where the network is certain of m."""
        n_annotators, n_classes = self.weight.shape[0], self.weight.shape[-1]
        # one row for each (j, m): the one-hot prediction m, and annotator j
        certain = torch.eye(n_classes).to(self.weight).repeat(n_annotators, 1)
        annotator = torch.arange(n_annotators, device=certain.device).repeat_interleave(n_classes)
        p = torch.softmax(self(certain, annotator).double(), dim=-1)
        return p.view(n_annotators, n_classes, n_classes)


class CrowdLayerClassifier(NeuralClassifier):
    """A network with a crowd layer: a Classifier that also learns from crowd labels directly."""

    def __init__(self, plain: NeuralClassifier, layer: AnnotatorLayer) -> None:
        plain.network.add_module("crowd", layer)  # so that it is trained, saved and restored with the network
        super().__init__(plain.network, plain.encode, plain.training, seed=plain.seed, fixed=plain.fixed)
        self.layer = layer

    def fit_labels(self, corpus: Corpus, labels: CrowdLabels) -> float:
        """One epoch of mini-batches on crowd labels; the mean loss of a label."""
        loss = crowd_label_loss(labels, self.annotator_logits, self.device)
        return self.run_epoch(corpus, loss, labels.labels_per_unit() > 0)

    def annotator_logits(self, logits: Tensor, annotator: Tensor) -> Tensor:
        """logits[r, n] of the annotators' labels, from the network's logits[r, m]."""
        found: Tensor = self.layer(torch.softmax(logits, dim=-1), annotator)
        return found

    def confusion(self) -> Floats:
        """confusion[j, m, n] of the layer."""
        with torch.no_grad():
            found: Floats = self.layer.confusion().cpu().numpy()
        return found


def add_crowd_layer(plain: NeuralClassifier, labels: CrowdLabels, *, matrix: bool, bias: bool) -> CrowdLayerClassifier:
    """The network with a new crowd layer for the annotators of some labels."""
    layer = AnnotatorLayer(len(labels.annotators), labels.n_classes, matrix=matrix, bias=bias)
    return CrowdLayerClassifier(plain, layer)
