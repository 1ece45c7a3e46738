"""Multilayer perceptron over numeric features, such as image features: one hidden layer and a softmax.

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

from crowdlogic.classifiers.features import numeric_features
from crowdlogic.classifiers.protocol import FIXED, Arrays, derive_seed, saved_array
from crowdlogic.data.corpus import Corpus
from crowdlogic.data.names import Classes
from crowdlogic.errors import CorpusError, FormatError, OptionError
from crowdlogic.extensions.networks.crowd_layer import restore_classifier
from crowdlogic.extensions.networks.network import (
    Batch,
    Inputs,
    Network,
    NeuralClassifier,
    Training,
    find_device,
    torch_seed,
)
from crowdlogic.numerics.arrays import Floats

DEFAULT_TRAINING = Training(optimiser="adam", learning_rate=1e-3, batch_size=64)
CENTRE, SCALE = FIXED + "centre", FIXED + "scale"


@dataclass(frozen=True)
class MLP:
    """A multilayer perceptron with one hidden layer.

    Attributes:
        hidden_size: Number of hidden units.
        dropout: Dropout rate of the hidden units.
        standardise: Whether features are standardised to mean 0 and variance 1 on the training units.
        training: The optimiser and its hyper-parameters.
    """

    hidden_size: int = 128
    dropout: float = 0.5
    standardise: bool = True
    training: Training = DEFAULT_TRAINING

    name = "mlp"

    def __post_init__(self) -> None:
        if self.hidden_size < 1 or not 0 <= self.dropout < 1:
            raise OptionError(f"{self.name}: hidden_size must be at least 1 and dropout in [0, 1).")

    def build(self, corpus: Corpus, classes: Classes, *, seed: int) -> NeuralClassifier:
        """Build a new network for the features of a corpus."""
        features = numeric_features(corpus, self.name)
        if self.standardise and not len(features):
            raise CorpusError(f"{self.name} needs at least one item to standardise the features. Add items.")
        spread = features.std(axis=0) if self.standardise else np.ones(features.shape[1])
        centre = features.mean(axis=0) if self.standardise else np.zeros(features.shape[1])
        scale = np.where(spread > 0, spread, 1.0)  # a constant feature is shifted to 0 and not scaled
        return self._make_classifier(centre, scale, n_classes=len(classes), seed=seed)

    def load(self, arrays: Arrays, classes: Classes) -> NeuralClassifier:
        """Restore a network from a saved state."""
        if CENTRE not in arrays or SCALE not in arrays:
            raise FormatError(f"These arrays do not belong to a network over features: {CENTRE} or {SCALE} is missing.")
        centre = saved_array(arrays, CENTRE, (None,))
        scale = saved_array(arrays, SCALE, centre.shape)
        return restore_classifier(self._make_classifier(centre, scale, n_classes=len(classes), seed=0), arrays)

    def _make_classifier(self, centre: Floats, scale: Floats, *, n_classes: int, seed: int) -> NeuralClassifier:
        with torch_seed(derive_seed(seed, "weights"), find_device("cpu")):
            network = FeatureNetwork(len(centre), n_classes, self)
        encode = partial(_encode_corpus, self.name, centre, scale)
        return NeuralClassifier(network, encode, self.training, seed=seed, fixed={CENTRE: centre, SCALE: scale})


def _encode_corpus(name: str, centre: Floats, scale: Floats, corpus: Corpus) -> Inputs:
    features = standardise_features(numeric_features(corpus, name), centre, scale)
    return Inputs(np.arange(corpus.n_units + 1), features=features)


def standardise_features(features: Floats, centre: Floats, scale: Floats) -> NDArray[np.float32]:
    """Return features[i, d] minus centre[d], divided by scale[d]."""
    if features.shape[1] != len(centre):
        raise CorpusError(
            f"These items have {features.shape[1]:,} features, but the network was trained on {len(centre):,}. "
            f"Use items with the same features."
        )
    return ((features - centre) / scale).astype(np.float32)


class FeatureNetwork(Network):
    """Network of [ROD18] section 4.2: a hidden layer on the features of another network."""

    max_positions = 1024

    def __init__(self, size: int, n_classes: int, options: MLP) -> None:
        super().__init__()
        self.n_classes = n_classes
        self.hidden = nn.Linear(size, options.hidden_size)
        self.dropout = nn.Dropout(options.dropout)
        self.output = nn.Linear(options.hidden_size, n_classes)

    def logits(self, batch: Batch, precomputed: Tensor | None) -> Tensor:  # noqa: ARG002 (there are no words)
        """Return logits[i, k]."""
        logits: Tensor = self.output(self.dropout(torch.relu(self.hidden(batch.features))))
        return logits
