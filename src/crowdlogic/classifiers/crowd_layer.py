"""A layer on top of a network that turns what it believes into what each annotator would say.

[ROD18] Rodrigues and Pereira, "Deep learning from crowds", 2018. As in its authors' program the layer stands on the
network's softmax, and a softmax follows it: annotator j says n with probability softmax_n(sum_m p[m] weight[j, m, n]).
It is learnt with the network, by the same optimiser, and left away in prediction.

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
    """Of each annotator weight[j, m, n], or its diagonal weight[j, n] alone, and perhaps bias[j, n].

    The matrix starts as the identity, the diagonal with ones, the bias with zeros.
    """

    def __init__(self, n_annotators: int, n_classes: int, *, matrix: bool, bias: bool) -> None:
        super().__init__()
        own = torch.eye(n_classes) if matrix else torch.ones(n_classes)
        self.weight = nn.Parameter(own.expand(n_annotators, *own.shape).clone())
        self.bias = nn.Parameter(torch.zeros(n_annotators, n_classes)) if bias else None

    def forward(self, p: Tensor, annotator: Tensor) -> Tensor:
        """logits[r, n] of what annotator[r] says where the network believes p[r, m]."""
        weight = self.weight.index_select(0, annotator)
        said = torch.einsum("rm,rmn->rn", p, weight) if weight.dim() == 3 else p * weight
        return said if self.bias is None else said + self.bias.index_select(0, annotator)

    def confusion(self) -> Tensor:
        """confusion[j, m, n], what annotator j says where the network is sure of m."""
        n_annotators, n_classes = self.weight.shape[0], self.weight.shape[-1]
        sure = torch.eye(n_classes).to(self.weight).repeat(n_annotators, 1)
        annotator = torch.arange(n_annotators, device=sure.device).repeat_interleave(n_classes)
        said = torch.softmax(self(sure, annotator).double(), dim=-1)
        return said.view(n_annotators, n_classes, n_classes)


class CrowdLayerClassifier(NeuralClassifier):
    """A network that carries such a layer: a Classifier that also learns from labels as they are."""

    def __init__(self, plain: NeuralClassifier, layer: AnnotatorLayer) -> None:
        plain.network.add_module("crowd", layer)  # so it is trained, kept and restored with the network
        super().__init__(plain.network, plain.read, plain.training, seed=plain.seed, fixed=plain.given)
        self.layer = layer

    def fit_labels(self, corpus: Corpus, labels: CrowdLabels) -> float:
        """One pass of mini-batches towards what each annotator said; the mean loss of a label."""
        return self.run_epoch(corpus, crowd_label_loss(labels, self.said, self.device), labels.labels_per_unit() > 0)

    def said(self, logits: Tensor, annotator: Tensor) -> Tensor:
        """logits[r, n] of the annotators' labels, from logits[r, m] of the network."""
        said: Tensor = self.layer(torch.softmax(logits, dim=-1), annotator)
        return said

    def confusion(self) -> Floats:
        """confusion[j, m, n], as the layer has it."""
        with torch.no_grad():
            found: Floats = self.layer.confusion().cpu().numpy()
        return found


def add_crowd_layer(plain: NeuralClassifier, labels: CrowdLabels, *, matrix: bool, bias: bool) -> CrowdLayerClassifier:
    """The network with a new layer on top for the annotators of some labels."""
    return CrowdLayerClassifier(
        plain, AnnotatorLayer(len(labels.annotators), labels.n_classes, matrix=matrix, bias=bias)
    )
