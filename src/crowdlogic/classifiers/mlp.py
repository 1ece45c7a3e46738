"""A network over given features: one hidden layer, a softmax. Meant for features of images, such as LabelMe's VGG16.

[ROD18] Rodrigues and Pereira, "Deep learning from crowds", 2018: 128 relu units with dropout 0.5 on VGG16's features.

Axes: i unit, d feature, k class.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from crowdlogic.classifiers.crowd_heads import restore_classifier
from crowdlogic.classifiers.features import numeric_features
from crowdlogic.classifiers.network import Batch, Inputs, Network
from crowdlogic.classifiers.neural import NeuralClassifier, find_device, torch_seed
from crowdlogic.classifiers.protocol import FIXED, Arrays, derive_seed
from crowdlogic.classifiers.training import Training
from crowdlogic.data.corpus import Corpus
from crowdlogic.data.names import Classes
from crowdlogic.errors import CorpusError, FormatError, OptionError
from crowdlogic.numerics.arrays import Floats

USUAL = Training(optimiser="adam", learning_rate=1e-3, batch_size=64)
CENTRE, SCALE = FIXED + "centre", FIXED + "scale"


@dataclass(frozen=True)
class MLP:
    """The options of the network.

    Attributes:
        hidden_size: The units of the hidden layer.
        dropout: The share of them left out in training.
        standardise: Whether each feature is shifted and scaled to mean 0 and variance 1 on the training units.
        training: The optimiser and its options.
    """

    hidden_size: int = 128
    dropout: float = 0.5
    standardise: bool = True
    training: Training = USUAL

    name = "mlp"

    def __post_init__(self) -> None:
        if self.hidden_size < 1 or not 0 <= self.dropout < 1:
            raise OptionError(f"{self.name}: hidden_size must be 1 or more, and dropout lie from 0 to below 1.")

    def build(self, corpus: Corpus, classes: Classes, *, seed: int) -> NeuralClassifier:
        """A new network for the features of a corpus."""
        given = numeric_features(corpus, self.name)
        if self.standardise and not len(given):
            raise CorpusError(f"{self.name} has no unit to take the mean of its features from. Bring some items.")
        spread = given.std(axis=0) if self.standardise else np.ones(given.shape[1])
        centre = given.mean(axis=0) if self.standardise else np.zeros(given.shape[1])
        # A feature that never varies says nothing: it is shifted to 0 and left there.
        return self._classifier(centre, np.where(spread > 0, spread, 1.0), len(classes), seed)

    def load(self, arrays: Arrays, classes: Classes) -> NeuralClassifier:
        """The network that these arrays were taken from."""
        if CENTRE not in arrays or SCALE not in arrays:
            raise FormatError(f"These arrays are not of a network over features: {CENTRE} or {SCALE} is missing.")
        made = self._classifier(np.asarray(arrays[CENTRE]), np.asarray(arrays[SCALE]), len(classes), seed=0)
        return restore_classifier(made, arrays)

    def _classifier(self, centre: Floats, scale: Floats, n_classes: int, seed: int) -> NeuralClassifier:
        with torch_seed(derive_seed(seed, "weights"), find_device("cpu")):
            network = FeatureNetwork(len(centre), n_classes, self)
        read = partial(_read, self.name, centre, scale)
        return NeuralClassifier(network, read, self.training, seed=seed, fixed={CENTRE: centre, SCALE: scale})


def _read(name: str, centre: Floats, scale: Floats, corpus: Corpus) -> Inputs:
    return Inputs(np.arange(corpus.n_units + 1), features=standardised(numeric_features(corpus, name), centre, scale))


def standardised(given: Floats, centre: Floats, scale: Floats) -> NDArray[np.float32]:
    """features[i, d], shifted and scaled as those of the training units were."""
    if given.shape[1] != len(centre):
        raise CorpusError(
            f"These items have {given.shape[1]:,} features where the network learnt from {len(centre):,}. "
            f"Give it items of the kind that it learnt from."
        )
    return ((given - centre) / scale).astype(np.float32)


class FeatureNetwork(Network):
    """[ROD18] section 4.2: a hidden layer on what another network saw."""

    cells = 1024

    def __init__(self, size: int, n_classes: int, options: MLP) -> None:
        super().__init__()
        self.n_classes = n_classes
        self.hidden = nn.Linear(size, options.hidden_size)
        self.dropout = nn.Dropout(options.dropout)
        self.output = nn.Linear(options.hidden_size, n_classes)

    def logits(self, batch: Batch, precomputed: Tensor | None) -> Tensor:  # noqa: ARG002 (there are no words)
        """logits[i, k]."""
        logits: Tensor = self.output(self.dropout(torch.relu(self.hidden(batch.features))))
        return logits
