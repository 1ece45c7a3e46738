"""Network that consists of a transformer and a linear output layer; the lower layers may be frozen.

Frozen layers have the same hidden states in every epoch, so these are computed once per corpus, and an epoch only
computes the upper layers. If all layers are frozen, only the output layer is trained. The states only depend on the
frozen weights and the word pieces, so they are shared by all epochs, passes and classifiers of this process. The memory
is limited: the least recently used states are dropped, and a corpus whose states do not fit is recomputed in batches.

Axes: s sequence, t piece, u unit, d dimension, k class, i piece in the concatenation of all sequences.
"""

from __future__ import annotations

import hashlib
import json
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from crowdlogic.errors import OptionError
from crowdlogic.extensions.networks.kim_cnn import Filters
from crowdlogic.extensions.networks.network import Batch, Inputs, Network, make_batch, sorted_batches

if TYPE_CHECKING:
    from crowdlogic.extensions.networks.transformer import Transformer

MAX_CACHE_BYTES = 2**30
"""Maximum size of all cached hidden states in bytes."""

States = NDArray[np.floating[Any]]
"""states[i, d], the hidden state at every position of a corpus."""


class StateCache:
    """Least-recently-used cache of arrays, limited in bytes."""

    def __init__(self, limit: int = MAX_CACHE_BYTES) -> None:
        self.limit = limit
        self._held: OrderedDict[bytes, States] = OrderedDict()

    @property
    def size(self) -> int:
        """Size of the cached arrays in bytes."""
        return sum(array.nbytes for array in self._held.values())

    def get(self, key: bytes, size: int, compute: Callable[[], States]) -> States | None:
        """Return the array of a key, computed if it is not cached; None if it exceeds the limit.

        Args:
            key: Digest of everything the array depends on.
            size: Size in bytes.
            compute: Function that computes the array.
        """
        if size > self.limit:
            return None
        if key not in self._held:
            while self._held and self.size + size > self.limit:
                self._held.popitem(last=False)
            self._held[key] = compute()
        self._held.move_to_end(key)
        return self._held[key]


CACHE = StateCache()
"""Cache of this process."""


def digest(arrays: Iterable[NDArray[Any]]) -> bytes:
    """Return a hash of the content of arrays."""
    found = hashlib.blake2b(digest_size=16)
    for array in arrays:
        found.update(f"{array.dtype} {array.shape} ".encode())
        found.update(np.ascontiguousarray(array).view(np.uint8).data)
    return found.digest()


SPLITTABLE_MODELS = ("bert", "camembert", "ernie", "roberta", "xlm-roberta")
"""Model types whose lower layers can be run separately: embeddings, then layers, then nothing."""
FIRST, MEAN, CONVOLUTION = "first", "mean", "convolution"
POOLINGS = (FIRST, MEAN, CONVOLUTION)
AUTO, FLOAT, BRAIN_FLOAT = "auto", "float32", "bfloat16"
PRECISIONS = (AUTO, FLOAT, BRAIN_FLOAT)


class TransformerNetwork(Network):
    """Transformer with a linear output layer."""

    max_positions = 2048

    def __init__(self, encoder: Any, n_classes: int, options: Transformer) -> None:
        super().__init__()
        self.encoder, self.n_classes = encoder, n_classes
        self.pooling, self.fine_tune, self.precision = options.pooling, options.fine_tune, options.precision
        self.frozen_layers = options.frozen_layers if options.fine_tune else 0
        if self.frozen_layers >= (layers := int(encoder.config.num_hidden_layers)):
            raise OptionError(
                f"transformer: frozen_layers: {self.frozen_layers} of {layers} layers leave none to train. Freeze "
                f"fewer, or train only the output layer: fine_tune = false."
            )
        if self.frozen_layers:
            require_splittable(encoder.config, "frozen_layers")
        self.encoder.requires_grad_(options.fine_tune)
        for part in self._frozen_parts():
            part.requires_grad_(False)
        self.dropout = nn.Dropout(options.dropout)
        size = int(encoder.config.hidden_size)
        self.filters = Filters(options.windows, options.filters, size) if self.pooling == CONVOLUTION else None
        self.output = nn.Linear(size if self.filters is None else len(self.filters.bias), n_classes)

    @property
    def config(self) -> dict[str, Any]:
        """Configuration of the transformer as plain values."""
        found: dict[str, Any] = json.loads(self.encoder.config.to_json_string(use_diff=False))
        return found

    @property
    def is_frozen(self) -> bool:
        """Whether some layers are frozen."""
        return not self.fine_tune or self.frozen_layers > 0

    @property
    def device(self) -> torch.device:
        """Device of the weights."""
        return self.output.weight.device

    def train(self, mode: bool = True) -> TransformerNetwork:
        """Set the mode; frozen parts stay in evaluation mode, without dropout."""
        super().train(mode)
        self.encoder.train(mode and self.fine_tune)
        for part in self._frozen_parts():
            part.eval()
        return self

    def logits(self, batch: Batch, precomputed: Tensor | None) -> Tensor:  # noqa: ARG002 (hidden states depend on the context)
        """Return logits[u, k]."""
        logits: Tensor = self.output(self.dropout(self.pool(self.hidden(batch), batch)))
        return logits

    def hidden(self, batch: Batch) -> Tensor:
        """Return hidden[s, t, d] of the last layer."""
        if not self.is_frozen:
            return self._run(batch)
        states = self.lower(batch) if batch.states is None else batch.states
        if not self.fine_tune:
            return states
        with self._only_layers(self.frozen_layers, None, states):
            return self._run(batch)

    @torch.no_grad()
    def lower(self, batch: Batch) -> Tensor:
        """Return hidden[s, t, d] of the highest frozen layer."""
        if not self.fine_tune:
            return self._run(batch)
        with self._only_layers(0, self.frozen_layers):
            return self._run(batch)

    def pool(self, hidden: Tensor, batch: Batch) -> Tensor:
        """Return hidden[u, d] from hidden[s, t, d]: first pieces of tokens, or representations of documents."""
        if batch.unit_positions is not None:
            return batch.at_units(hidden)
        if self.pooling == FIRST:
            return hidden[:, 0]
        if self.filters is not None:
            return self._convolve(hidden, batch, self.filters)
        mask = batch.mask[:, :, None]
        return (hidden * mask).sum(dim=1) / mask.sum(dim=1).clamp(min=1)

    def _convolve(self, hidden: Tensor, batch: Batch, filters: Filters) -> Tensor:
        """Return pooled[s, (width, f)], the maximum of each filter over a document, as in Kim-CNN."""
        empty = hidden.new_zeros(1, hidden.shape[2])
        vectors = torch.cat([hidden.flatten(0, 1), empty])
        nowhere, around = len(vectors) - 1, max(filters.windows) - 1
        # places[s, t] in vectors; padding and the positions around a document use the empty vector
        places = torch.arange(nowhere, device=hidden.device).view(hidden.shape[:2]).masked_fill(~batch.mask, nowhere)
        places = nn.functional.pad(places, (around, around), value=nowhere)
        with self._autocast():
            table = filters.table(vectors).float()
        return torch.relu(filters.max_pool(table, places, batch.lengths + 2 * around))

    def with_states(self, inputs: Inputs) -> Inputs:
        """Add the hidden states of the frozen layers to the inputs, if there are any and they fit into memory."""
        if not self.is_frozen:
            return inputs
        kind = np.dtype(np.float16 if self._uses_brain_floats else np.float32)
        shape = (int(inputs.offsets[-1]), int(self.encoder.config.hidden_size))
        key = digest([self._frozen_key, inputs.offsets, inputs.rows])
        size = shape[0] * shape[1] * kind.itemsize
        return replace(inputs, states=CACHE.get(key, size, lambda: self._compute_states(inputs, np.empty(shape, kind))))

    @torch.inference_mode()
    def _compute_states(self, inputs: Inputs, states: States) -> States:
        """Fill and return states[i, d]."""
        was_training = self.training
        self.eval()
        for sequences in sorted_batches(inputs.lengths, self.max_positions):
            batch, _ = make_batch(inputs, sequences, self.device)
            # the pieces of the batch in the order of its mask: sequence by sequence
            at = np.concatenate([np.arange(inputs.offsets[s], inputs.offsets[s + 1]) for s in sequences])
            states[at] = self.lower(batch)[batch.mask].cpu().numpy()
        self.train(was_training)
        return states

    @cached_property
    def _frozen_key(self) -> np.ndarray[Any, np.dtype[np.uint8]]:
        """Digest of what the frozen states depend on, apart from the pieces: options and frozen weights."""
        said = json.dumps([self.config, self.fine_tune, self.frozen_layers, self._uses_brain_floats], default=str)
        parts = self._frozen_parts() if self.fine_tune else [self.encoder]
        weights = [tensor.detach().cpu().numpy() for part in parts for tensor in part.state_dict().values()]
        return np.frombuffer(said.encode() + digest(weights), dtype=np.uint8)

    @property
    def _uses_brain_floats(self) -> bool:
        return self.precision == BRAIN_FLOAT or (self.precision == AUTO and has_brain_floats(self.device))

    def _autocast(self) -> torch.autocast:
        return torch.autocast(self.device.type, dtype=torch.bfloat16, enabled=self._uses_brain_floats)

    def _run(self, batch: Batch) -> Tensor:
        """Return the last hidden states[s, t, d] of the encoder in its current form."""
        rows = batch.words[0][batch.text].masked_fill(~batch.mask, self.encoder.config.pad_token_id or 0)
        with self._autocast():
            hidden: Tensor = self.encoder(input_ids=rows, attention_mask=batch.mask.long()).last_hidden_state
        return hidden.float()

    def _frozen_parts(self) -> list[nn.Module]:
        """Return the frozen embeddings and layers, if only some layers are frozen."""
        if not self.frozen_layers:
            return []
        return [self.encoder.embeddings, *self.encoder.encoder.layer[: self.frozen_layers]]

    @contextmanager
    def _only_layers(self, first: int, last: int | None, states: Tensor | None = None) -> Iterator[None]:
        """Reduce the encoder to some of its layers, optionally with given states instead of embeddings."""
        stack, layers, embeddings = self.encoder.encoder, self.encoder.encoder.layer, self.encoder.embeddings
        stack.layer = layers[first:last]
        if states is not None:
            self.encoder.embeddings = GivenStates(states)
        try:
            yield
        finally:
            stack.layer, self.encoder.embeddings = layers, embeddings


class GivenStates(nn.Module):
    """Replacement for the embeddings that returns precomputed states."""

    def __init__(self, states: Tensor) -> None:
        super().__init__()
        self._states = states

    def forward(self, **_: Any) -> Tensor:
        """Return the states regardless of the pieces."""
        return self._states


def cut_layers(encoder: Any, layers: int) -> None:
    """Keep only the first layers of an encoder; 0 keeps all."""
    if not layers:
        return
    config = encoder.config
    if layers > config.num_hidden_layers:
        raise OptionError(
            f"transformer: layers is {layers}, but the model has {config.num_hidden_layers}. Use fewer, or 0."
        )
    require_splittable(config, "layers")
    encoder.encoder.layer = encoder.encoder.layer[:layers]
    config.num_hidden_layers = layers


def require_splittable(config: Any, option: str) -> None:
    """Raise an error if the layers of a model cannot be run separately, which an option needs."""
    if config.model_type not in SPLITTABLE_MODELS:
        raise OptionError(
            f"transformer: {option} needs one of {', '.join(SPLITTABLE_MODELS)}, got {config.model_type}. Use 0."
        )


def has_brain_floats(device: torch.device) -> bool:
    """Return whether a device has hardware support for bfloat16."""
    if device.type == "cuda":
        return bool(torch.cuda.is_bf16_supported(including_emulation=False))
    checks = (getattr(torch.cpu, name, None) for name in ("_is_avx512_bf16_supported", "_is_amx_tile_supported"))
    return device.type == "cpu" and any(check is not None and bool(check()) for check in checks)
