"""Classifier around any `torch.nn.Module` that maps a batch of encoded documents, or of features, to logits.

The module's parameters and buffers (such as the running means of a batch normalisation) are saved with the run. Its
code is not, so `load_run` needs a module of the same shape: `load_run("run", classifier=module)`.

Axes: i unit (a document), d feature, k class.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from crowdlogic.classifiers.features import numeric_features
from crowdlogic.classifiers.function import items_of
from crowdlogic.classifiers.protocol import MODEL, Arrays, derive_seed, saved_array
from crowdlogic.data.corpus import Corpus
from crowdlogic.data.names import Classes
from crowdlogic.errors import CorpusError, OptionError
from crowdlogic.extensions.networks.network import (
    Batch,
    Inputs,
    Network,
    NeuralClassifier,
    Training,
    find_device,
    torch_seed,
)

BUFFER = MODEL + "buffer."
"""Prefix of the names of buffers in a saved state."""

PROBE_ITEMS = 2
"""Number of items that a module is tried on before training."""


@dataclass(frozen=True)
class Module:
    """A user's `torch.nn.Module` as a classifier.

    Attributes:
        network: Module that returns logits[i, k] for a batch, with one column per class in the order
            of `labels.classes`. It is copied, so the object itself does not change.
        encode: Function that converts a list of texts (or an array of features) into a tensor with one row per
            document. By default, the module's method `encode`, if it has one; otherwise, the features are used as they
            are.
        training: The optimiser and its hyper-parameters.
    """

    network: nn.Module
    encode: Callable[[Any], Any] | None = None
    training: Training = Training()

    name = "module"

    def build(self, corpus: Corpus, classes: Classes, *, seed: int) -> ModuleClassifier:
        """Return a classifier around a copy of the module, after trying it on a few items."""
        made = self._make(classes, seed=seed)
        with torch_seed(derive_seed(seed, "probe"), made.device):
            made.check(corpus.take_items(np.arange(min(len(corpus.items), PROBE_ITEMS))))
        return made

    def load(self, arrays: Arrays, classes: Classes) -> ModuleClassifier:
        """Return a classifier with a saved state."""
        made = self._make(classes, seed=0)
        made.restore(arrays)
        return made

    def _make(self, classes: Classes, *, seed: int) -> ModuleClassifier:
        if not any(one.requires_grad for one in self.network.parameters()):
            raise OptionError(
                f"classifier: the {type(self.network).__name__} has no parameters that can be trained. If it is not "
                f"meant to learn, give a function that calls it."
            )
        encode = self.encode or getattr(self.network, "encode", None)
        with torch_seed(derive_seed(seed, "weights"), find_device("cpu")):
            wrapped = WrappedModule(deepcopy(self.network), len(classes))
        return ModuleClassifier(wrapped, partial(encode_items, encode), self.training, seed=seed)


class WrappedModule(Network):
    """Network that applies a user's module to batches of encoded documents."""

    max_positions = 256

    def __init__(self, module: nn.Module, n_classes: int) -> None:
        super().__init__()
        self.module, self.n_classes = module, n_classes

    def logits(self, batch: Batch, precomputed: Tensor | None) -> Tensor:  # noqa: ARG002 (nothing is precomputed)
        """Return logits[i, k] after checking their shape and values."""
        found = self.module(batch.features)
        found = getattr(found, "logits", found)  # the output of a Hugging Face model
        name, rows = type(self.module).__name__, len(batch.features)
        if not isinstance(found, Tensor) or found.shape != (rows, self.n_classes):
            shape = tuple(found.shape) if isinstance(found, Tensor) else type(found).__name__
            raise OptionError(
                f"classifier: the {name} returned {shape} for {rows} documents and {self.n_classes} classes. "
                f"Return logits of shape ({rows}, {self.n_classes})."
            )
        if not torch.isfinite(found).all():
            raise OptionError(
                f"classifier: the {name} returned NaN or infinite logits. Lower the learning rate, or look for a "
                f"logarithm of 0 or a division by 0 in it."
            )
        return found


class ModuleClassifier(NeuralClassifier):
    """Classifier that consists of a user's module and its optimiser.

    Unlike those of crowdlogic's networks, its buffers may change in training.
    """

    def __init__(
        self, network: WrappedModule, encode: Callable[[Corpus], Inputs], training: Training, *, seed: int
    ) -> None:
        super().__init__(network, encode, training, seed=seed, fixed={})
        self._fixed_arrays = {}  # buffers are saved with the weights

    def check(self, probe: Corpus) -> None:
        """Raise OptionError if the module cannot be called with these items, before anything is trained."""
        name = type(self.network.module).__name__
        try:
            self.predict_proba(probe)
        except (
            RuntimeError,
            TypeError,
            ValueError,
            AttributeError,
            IndexError,
            KeyError,
            NotImplementedError,
        ) as problem:
            if isinstance(problem, OptionError | CorpusError):
                raise
            reason = str(problem).splitlines()[0] if str(problem) else type(problem).__name__
            raise OptionError(
                f"classifier: the {name} failed on the first items: {reason}. Check `encode` and the "
                f"shape of its input."
            ) from problem

    def arrays(self) -> Arrays:
        """Return the state of the module, including its buffers, and of the optimiser."""
        return super().arrays() | {BUFFER + name: one.cpu().numpy().copy() for name, one in self._untrained.items()}

    def restore(self, arrays: Arrays) -> None:
        """Restore a state returned by `arrays`."""
        super().restore(arrays)
        with torch.no_grad():
            for name, tensor in self._untrained.items():
                saved = saved_array(arrays, BUFFER + name, tuple(tensor.shape), kind="fiub")
                tensor.copy_(torch.from_numpy(np.array(saved)))

    @property
    def _untrained(self) -> dict[str, Tensor]:
        """Return the buffers and frozen parameters by name."""
        trained = {name for name, one in self.network.named_parameters() if one.requires_grad}
        return {name: one for name, one in self.network.state_dict().items() if name not in trained}


def encode_items(encode: Callable[[Any], Any] | None, corpus: Corpus) -> Inputs:
    """Return the items as one array with a row per document."""
    if corpus.is_sequential:
        raise CorpusError("A torch module classifies documents, not tokens. For tags choose bilstm-crf or cnn-gru.")
    if encode is None:
        if corpus.features is None:
            raise CorpusError(
                "The torch module has no `encode`, and the items have no features. Give it a function from texts to a "
                "tensor: Module(network, encode=function)."
            )
        return Inputs(np.arange(corpus.n_units + 1), features=numeric_features(corpus, "module").astype(np.float32))
    found = encode(items_of(corpus))
    array = found.detach().cpu().numpy() if isinstance(found, Tensor) else np.asarray(found)
    if array.dtype.kind not in "biuf" or array.ndim == 0 or len(array) != corpus.n_units:
        raise OptionError(
            f"classifier: encode returned {array.shape} of {array.dtype} for {corpus.n_units} documents. Return a "
            f"tensor of numbers with one row per document."
        )
    return Inputs(np.arange(corpus.n_units + 1), features=array)
