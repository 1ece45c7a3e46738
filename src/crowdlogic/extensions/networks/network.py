"""Base of the neural classifiers: a corpus as arrays, mini-batches, networks, and the training loop.

[LNCL] "Learning from Noisy Crowd Labels with Logics": its eq. 8 and 10 are one loss, `soft_cross_entropy`.

Axes: c channel, s sequence, t position in a sequence, i unit, or position in the concatenation of all sequences, v
distinct word, u unit of a batch, k class, d dimension.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, TypeAlias
from weakref import WeakKeyDictionary

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from crowdlogic.classifiers.protocol import (
    FIXED,
    MODEL,
    PROGRESS,
    Arrays,
    check_targets,
    derive_seed,
    saved_array,
    saved_number,
)
from crowdlogic.data.corpus import Corpus
from crowdlogic.data.estimate import Beliefs
from crowdlogic.errors import FormatError, OptionError
from crowdlogic.numerics.arrays import Bools, Floats, Ints, read_only

# Batches consist of sequences of similar length, to limit padding, and differ between epochs: all sequences are
# shuffled and cut into pools of many batches; each pool is sorted by length and cut into batches, which are shuffled.

BATCHES_PER_POOL = 32
"""Number of batches that are sorted together. Larger pools reduce padding, smaller pools increase mixing."""
NO_UNIT = -1
"""Unit code of positions without a unit: special tokens, and word pieces after the first of a word."""


def shuffled_batches(
    lengths: Ints, size: int, rng: np.random.Generator, *, among: Ints | None = None, max_positions: int = 0
) -> list[Ints]:
    """Return batches of `size` sequences of similar length, with every sequence (of `among`) once.

    Args:
        lengths: lengths[s] of each sequence.
        size: Number of sequences in a batch.
        rng: Random generator for shuffling.
        among: The sequences to use; all if None.
        max_positions: Maximum padded size of a batch, so that long sequences form small batches; 0 for no limit.
    """
    order = rng.permutation(np.arange(len(lengths)) if among is None else among)
    batches: list[Ints] = []
    for begin in range(0, len(order), size * BATCHES_PER_POOL):
        pool = order[begin : begin + size * BATCHES_PER_POOL]
        pool = pool[np.argsort(lengths[pool], kind="stable")]
        whole = [pool[first : first + size] for first in range(0, len(pool), size)]
        batches += [part for batch in whole for part in _cut(batch, int(lengths[batch[-1]]), max_positions)]
    return [batches[b] for b in rng.permutation(len(batches))]


def _cut(batch: Ints, longest: int, max_positions: int) -> list[Ints]:
    """Split a batch into parts of at most `max_positions` with padding (or one sequence); 0 for no limit."""
    most = max(max_positions // max(longest, 1), 1) if max_positions else len(batch)
    return [batch[first : first + most] for first in range(0, len(batch), most)]


def sorted_batches(lengths: Ints, max_positions: int) -> Iterator[Ints]:
    """Yield batches of at most `max_positions` with padding (or one sequence), shortest sequences first."""
    order = np.argsort(lengths, kind="stable")
    width = np.maximum(lengths[order], 1)
    begin = 0
    while begin < len(order):
        # size[b] is the padded size of the next b + 1 sequences: they are sorted, so the last of them is the longest.
        size = np.arange(1, min(len(order) - begin, max_positions) + 1) * width[begin : begin + max_positions]
        end = begin + max(int(np.searchsorted(size, max_positions, side="right")), 1)
        yield order[begin:end]
        begin = end


def padded_positions(offsets: Ints, sequences: Ints) -> tuple[Ints, Bools]:
    """Return the indices of the positions of some sequences in the concatenation of all.

    Returns:
        at[s, t], 0 for padding, and mask[s, t], False for padding. There is at least one column.
    """
    lengths = offsets[sequences + 1] - offsets[sequences]
    position = np.arange(max(int(lengths.max(initial=0)), 1))
    mask = position < lengths[:, None]
    return np.where(mask, offsets[sequences][:, None] + position, 0), mask


@dataclass(frozen=True, eq=False)
class Inputs:
    """Corpus encoded as input of a network: sequences of words, or rows of features.

    Attributes:
        offsets: offsets[s], the first position of sequence s; a row of features is a sequence of one position.
        words: words[c, v], integer codes of each distinct word (its row, its shape, ...); word 0 is padding, all 0.
        text: text[i], the distinct word at every position.
        features: features[i, d], for networks over numeric features.
        units: units[i], the unit at every position or NO_UNIT; None if every sequence is one unit.
        states: states[i, d], the hidden state of a network's frozen layers at every position, if it has such layers.
    """

    offsets: Ints
    words: Ints = field(default_factory=lambda: np.zeros((1, 1), dtype=np.int64))
    text: Ints | None = None
    features: NDArray[np.float32] | None = None
    units: Ints | None = None
    states: NDArray[np.floating[Any]] | None = None

    @property
    def lengths(self) -> Ints:
        """Length of each sequence."""
        return np.diff(self.offsets)

    @property
    def rows(self) -> Ints:
        """rows[c, i], the codes of the word at every position."""
        return self.words[:, [] if self.text is None else self.text]

    def sequences_with(self, selected: Bools) -> Ints:
        """Return the sequences that contain at least one of the selected units."""
        if self.units is None:
            return np.flatnonzero(selected)
        here = np.append(selected, False)[self.units]  # NO_UNIT is -1, which indexes the appended False
        # counted[i] is the number of selected positions before i, so differences count those of each sequence.
        counted = np.concatenate([[0], np.cumsum(here)])
        return np.flatnonzero(np.diff(counted[self.offsets]))


def word_inputs(offsets: Ints, rows: Ints, units: Ints | None = None) -> Inputs:
    """Create inputs from rows[c, i], the codes (0 or more) of the word at every position."""
    padding = np.zeros((len(rows), 1), dtype=rows.dtype)
    # Combine the codes of each word into one number to find the distinct words.
    sizes = rows.max(axis=1, initial=0) + 1
    joint = np.ravel_multi_index(tuple(np.concatenate([padding, rows], axis=1)), tuple(sizes))
    distinct, text = np.unique(joint, return_inverse=True)
    words = np.stack(np.unravel_index(distinct, tuple(sizes)))
    return Inputs(offsets, words=words, text=text[1:], units=units)


@dataclass(frozen=True, eq=False)
class Batch:
    """Batch of sequences, padded to the longest of them.

    Attributes:
        words: words[c, v], the codes of each distinct word of the corpus.
        text: text[s, t], the distinct word at each position, 0 for padding.
        lengths: lengths[s], without padding.
        features: features[s, d]; empty for networks over words.
        unit_positions: unit_positions[u], the flat index of each unit's position (s, t); None if every sequence is one
            unit.
        states: states[s, t, d] of frozen layers; None if they must be computed.
    """

    words: Tensor
    text: Tensor
    lengths: Tensor
    features: Tensor
    unit_positions: Tensor | None
    states: Tensor | None = None

    @property
    def mask(self) -> Tensor:
        """mask[s, t], False for padding."""
        return torch.arange(self.text.shape[1], device=self.lengths.device) < self.lengths[:, None]

    def at_units(self, values: Tensor) -> Tensor:
        """Return values[u, d], selected from values[s, t, d]."""
        return values if self.unit_positions is None else values.flatten(0, 1).index_select(0, self.unit_positions)


class Network(nn.Module):
    """Module that maps a batch to logits[u, k], one row per unit.

    Only parameters are saved as trained weights; buffers must not change after construction.
    """

    n_classes: int
    output: nn.Linear
    """The last layer, from the hidden representation of a unit to its logits."""
    max_positions = 4096
    """Maximum positions per batch in prediction: enough to keep a core busy, but small enough for its cache."""

    def logits(self, batch: Batch, precomputed: Tensor | None) -> Tensor:
        """Return logits[u, k]; `precomputed` is the result of `precompute` for the corpus, None in training."""
        raise NotImplementedError

    def forward(self, batch: Batch, precomputed: Tensor | None = None) -> Tensor:
        """Return logits[u, k]."""
        return self.logits(batch, precomputed)

    def precompute(self, words: Tensor) -> Tensor | None:  # noqa: ARG002 (most networks have nothing to precompute)
        """Compute what only depends on words[c, v], once for all batches of a prediction."""
        return None

    def after_step(self) -> None:
        """Hook, called after each step of the optimiser, for networks with constrained weights."""


def make_batch(inputs: Inputs, sequences: Ints, device: torch.device) -> tuple[Batch, Ints]:
    """Return sequences as tensors, and units[u], their units in the order of the network's logits."""
    at, mask = padded_positions(inputs.offsets, sequences)
    text = np.zeros(at.shape, dtype=np.int64)
    if inputs.text is not None and len(inputs.text):
        text = np.where(mask, inputs.text[at], 0)
    features = inputs.features[at[:, 0]] if inputs.features is not None else np.zeros((0, 0), dtype=np.float32)
    unit_positions, units = None, sequences
    if inputs.units is not None:
        here = np.where(mask, inputs.units[at], NO_UNIT).ravel()
        positions = np.flatnonzero(here != NO_UNIT)
        unit_positions, units = _to_device(positions, device), here[positions]
    batch = Batch(
        words=_to_device(inputs.words, device),
        text=_to_device(text, device),
        lengths=_to_device(mask.sum(axis=1), device),
        features=_to_device(features, device),
        unit_positions=unit_positions,
        states=None if inputs.states is None else _to_device(inputs.states[at].astype(np.float32), device),
    )
    return batch, units


def _to_device(array: NDArray[np.generic], device: torch.device) -> Tensor:
    return torch.from_numpy(array).to(device)


class WordEmbedding(nn.Module):
    """Embedding with vectors[v, d] of all words: first those of the training corpus, which may be trained, then others.

    Row 0 is padding; its vector stays zero, because it gets no gradient.
    """

    own: Tensor
    rest: Tensor

    def __init__(self, own: NDArray[np.float32], rest: NDArray[np.float32], *, trained: bool) -> None:
        super().__init__()
        if trained:
            self.own = nn.Parameter(torch.from_numpy(own.copy()))
        else:
            self.register_buffer("own", _share_memory(own))
        self.register_buffer("rest", _share_memory(rest))

    @property
    def size(self) -> int:
        """Number of dimensions."""
        return int(self.own.shape[1])

    def forward(self, rows: Tensor) -> Tensor:
        """Return vectors[..., d] of the words with these row numbers, for rows of any shape."""
        n_own = len(self.own)
        if not len(self.rest) or int(rows.max()) < n_own:
            return nn.functional.embedding(rows, self.own, padding_idx=0)
        beyond = rows >= n_own
        found = nn.functional.embedding(rows.masked_fill(beyond, 0), self.own, padding_idx=0)
        given = nn.functional.embedding((rows - n_own).clamp(min=0), self.rest)
        return torch.where(beyond[..., None], given, found)


def _share_memory(vectors: NDArray[np.float32]) -> Tensor:
    """Return a tensor that shares memory with `vectors` if possible; torch requires writeable memory."""
    return torch.from_numpy(vectors if vectors.flags.writeable else vectors.copy())


class ByteDropout(nn.Module):
    """Dropout from random bytes, ten times as fast as torch, which draws a float for each number.

    The rate is rounded to a multiple of 1/256, and the remaining numbers are scaled by exactly that rate.
    """

    def __init__(self, rate: float) -> None:
        super().__init__()
        self.out_of_256 = min(round(rate * 256), 255)

    def forward(self, x: Tensor) -> Tensor:
        """Drop numbers in training mode; return x itself otherwise."""
        if not self.training or not self.out_of_256:
            return x
        # Eight bytes are drawn at once, as one random integer of 64 bits.
        drawn = torch.empty((x.numel() + 7) // 8, dtype=torch.int64, device=x.device).random_(-(2**63), None)
        kept = drawn.view(torch.uint8)[: x.numel()].view(x.shape) >= self.out_of_256
        return x * kept.to(x.dtype).mul_(256 / (256 - self.out_of_256))


OPTIMISERS = ("adam", "adamw", "adadelta")


@dataclass(frozen=True)
class Training:
    """Optimiser of a network and its hyper-parameters.

    Attributes:
        optimiser: adam, adamw or adadelta.
        learning_rate: Learning rate of the first epoch.
        halve_every: Number of epochs after which the learning rate is halved, repeatedly; 0 keeps it constant.
        batch_size: Number of sequences (or documents, or rows of features) in a mini-batch.
        batch_tokens: Maximum number of tokens in a mini-batch, padding included, so that long sequences form smaller
            batches; 0 for no limit.
        clip_norm: Maximum norm of the gradient; 0 disables clipping.
        weight_decay: Weight decay.
        label_smoothing: Share of every target that is spread evenly over all classes, in [0, 1). It limits the
            confidence of a network, and thereby its influence compared with the annotators.
        device: auto (a GPU if torch finds one), cpu, cuda, ...
    """

    optimiser: str = "adam"
    learning_rate: float = 1e-3
    halve_every: int = 0
    batch_size: int = 50
    batch_tokens: int = 0
    clip_norm: float = 0.0
    weight_decay: float = 0.0
    label_smoothing: float = 0.0
    device: str = "auto"

    def __post_init__(self) -> None:
        if self.optimiser not in OPTIMISERS:
            raise OptionError(f"optimiser: expected one of {', '.join(OPTIMISERS)}; got {self.optimiser!r}.")
        if self.batch_size < 1 or not 0 < self.learning_rate < math.inf:
            raise OptionError(
                f"batch_size must be at least 1 and learning_rate greater than 0, got {self.batch_size} and "
                f"{self.learning_rate}."
            )
        for name in ("halve_every", "batch_tokens", "clip_norm", "weight_decay"):
            if not 0 <= getattr(self, name) < math.inf:
                raise OptionError(f"{name} must be at least 0, got {getattr(self, name)}.")

        if not 0 <= self.label_smoothing < 1:
            raise OptionError(f"label_smoothing must be in [0, 1), got {self.label_smoothing}.")

    def learning_rate_at(self, epoch: int) -> float:
        """Return the learning rate of an epoch, counted from 0."""
        return self.learning_rate * 0.5 ** (epoch // self.halve_every if self.halve_every else 0)


OPTIMISER_STATE = PROGRESS + "optimiser."

BatchLoss: TypeAlias = Callable[[Tensor, Ints], tuple[Tensor, int]]
"""Loss of a batch: maps the network's outputs[u, ...] and the indices units[u] to the mean loss and the number of units
in the mean."""


class NeuralClassifier:
    """Classifier that consists of a network and its optimiser.

    Args:
        network: The network.
        encode: Function that converts a corpus to the network's inputs.
        training: The optimiser and its hyper-parameters.
        seed: Random seed for shuffling and dropout.
        fixed: Further arrays needed for prediction, such as the vocabulary; saved with the network.
    """

    averages = True

    def __init__(
        self, network: Network, encode: Callable[[Corpus], Inputs], training: Training, *, seed: int, fixed: Arrays
    ) -> None:
        self.device = find_device(training.device)
        self.network = network.to(self.device)
        self.training = training
        self.optimiser = _make_optimiser(self.network, training)
        self.seed = seed
        self.epoch = 0
        self.encode = encode
        self.fixed = fixed
        self._fixed_arrays = fixed | _fixed_tensors(self.network)
        self._encoded: WeakKeyDictionary[Corpus, Inputs] = WeakKeyDictionary()

    def fit_epoch(self, corpus: Corpus, targets: Beliefs, weights: Floats | None = None) -> float:
        """Train for one epoch on the units with weight > 0 and return the mean loss."""
        check_targets(corpus, targets, weights, self.network.n_classes)
        sample_weight = np.ones(corpus.n_units) if weights is None else weights
        smooth = smooth_targets(targets, self.training.label_smoothing)
        return self.run_epoch(corpus, soft_cross_entropy(smooth, sample_weight, self.device), sample_weight != 0)

    def run_epoch(self, corpus: Corpus, loss: BatchLoss, selected: Bools) -> float:
        """Train for one epoch with any loss on the sequences with a selected unit; return the mean loss."""
        inputs = self.inputs(corpus)
        for group in self.optimiser.param_groups:
            group["lr"] = self.training.learning_rate_at(self.epoch)
        rng = np.random.default_rng(derive_seed(self.seed, f"batches {self.epoch}"))
        among = inputs.sequences_with(selected)
        total, counted = 0.0, 0
        with torch_seed(derive_seed(self.seed, f"dropout {self.epoch}"), self.device):
            self.network.train()
            size, most = self.training.batch_size, self.training.batch_tokens
            batches = shuffled_batches(inputs.lengths, size, rng, among=among, max_positions=most)
            mean_units = np.count_nonzero(selected) / max(len(batches), 1)
            for sequences in batches:
                batch, units = make_batch(inputs, sequences, self.device)
                mean, count = loss(self.network(batch), units)
                # The step is on the summed loss divided by the mean number of units per batch. A batch contains
                # sequences of similar length, so averaging over its own units would give a token of a short sentence
                # many times the weight of a token of a long one (on CoNLL 2003 that costs 2 points of F1).
                self.optimiser.zero_grad(set_to_none=True)
                (mean * (count / mean_units)).backward()
                if self.training.clip_norm:
                    nn.utils.clip_grad_norm_(self.network.parameters(), self.training.clip_norm)
                self.optimiser.step()
                self.network.after_step()
                total, counted = total + float(mean.detach()) * count, counted + count
        self.epoch += 1
        return total / max(counted, 1)

    @torch.inference_mode()
    def predict_proba(self, corpus: Corpus) -> Beliefs:
        """Return p[i, k] of every unit, independent of the other items in the corpus."""
        p = np.empty((corpus.n_units, self.network.n_classes))
        for outputs, units in self.forward_batches(corpus):
            p[units] = self.probabilities(outputs).cpu().numpy()
        return p

    @torch.inference_mode()
    def forward_batches(self, corpus: Corpus) -> Iterator[tuple[Tensor, Ints]]:
        """Yield the network's outputs[u, ...] for all units of a corpus, batch by batch, with units[u]."""
        if not corpus.n_units:
            return
        inputs = self.inputs(corpus)
        self.network.eval()
        precomputed = self.network.precompute(torch.from_numpy(inputs.words).to(self.device))
        for sequences in sorted_batches(inputs.lengths, self.network.max_positions):
            batch, units = make_batch(inputs, sequences, self.device)
            yield self.network(batch, precomputed), units

    def probabilities(self, outputs: Tensor) -> Tensor:
        """Return p[u, k] from the network's outputs."""
        # In double precision, so that rows sum to one as precisely as all other beliefs.
        return torch.softmax(outputs.double(), dim=-1)

    def reset_optimiser(self) -> None:
        """Reset the optimiser's state (its moments), for instance before training on another loss."""
        self.optimiser = _make_optimiser(self.network, self.training)

    def arrays(self) -> Arrays:
        """Return weights, fixed arrays and the state of the optimiser."""
        trained = _trained_parameters(self.network)
        model = {MODEL + name: tensor.detach().cpu().numpy().copy() for name, tensor in trained}
        optimiser = {
            f"{OPTIMISER_STATE}{number}.{name}": torch.as_tensor(tensor).cpu().numpy().copy()
            for number, state in self.optimiser.state_dict()["state"].items()
            for name, tensor in state.items()
        }
        progress = {PROGRESS + "epoch": np.array(self.epoch), PROGRESS + "seed": np.array(self.seed)}
        return self._fixed_arrays | model | optimiser | progress

    def restore(self, arrays: Arrays) -> None:
        """Restore weights, epoch, seed and the optimiser from a saved state."""
        # With another vocabulary the weights would fit, but belong to other words
        for name, own in self._fixed_arrays.items():
            saved = arrays.get(name)
            if saved is not None and saved is not own and not np.array_equal(saved, own):
                raise FormatError(f"These weights belong to a classifier built for another corpus: {name} differs.")
        trained = _trained_parameters(self.network)
        with torch.no_grad():
            for name, tensor in trained:
                saved, shape = arrays.get(MODEL + name), tuple(tensor.shape)
                if saved is None or saved.shape != shape:
                    found = "missing" if saved is None else f"{saved.shape}"
                    raise FormatError(f"These weights belong to another network: {name} is {found}, expected {shape}.")
                tensor.copy_(torch.from_numpy(np.array(saved_array(arrays, MODEL + name, shape))))
        # The optimiser's state by parameter number: scalars, or arrays of the parameter's shape. Without a saved state,
        # no step was made yet, so the current state must be reset as well.
        states: dict[int, dict[str, Tensor]] = {}
        for name in arrays:
            if name.startswith(OPTIMISER_STATE):
                number, _, key = name.removeprefix(OPTIMISER_STATE).partition(".")
                if not (number.isascii() and number.isdigit() and int(number) < len(trained)):
                    continue  # belongs to a layer used only in training
                shape = () if arrays[name].ndim == 0 else tuple(trained[int(number)][1].shape)
                states.setdefault(int(number), {})[key] = torch.from_numpy(np.array(saved_array(arrays, name, shape)))
        groups = self.optimiser.state_dict()["param_groups"]
        self.optimiser.load_state_dict({"state": states, "param_groups": groups})
        progress = {PROGRESS + "epoch": np.array(self.epoch), PROGRESS + "seed": np.array(self.seed)} | arrays
        self.epoch = saved_number(progress, PROGRESS + "epoch", least=0, most=2**31)
        self.seed = saved_number(progress, PROGRESS + "seed", least=0, most=2**63)

    def inputs(self, corpus: Corpus) -> Inputs:
        """Return the encoded corpus, computed once."""
        if corpus not in self._encoded:
            self._encoded[corpus] = self.encode(corpus)
        return self._encoded[corpus]


def soft_cross_entropy(targets: Beliefs, weights: Floats, device: torch.device) -> BatchLoss:
    """Return the loss of [LNCL] eq. 8 and 10: the mean of weights[i] times the cross-entropy to targets[i, k].

    The mean is over the units with weight > 0.
    """
    all_targets, all_weights = targets.astype(np.float32), weights.astype(np.float32)

    def loss(logits: Tensor, units: Ints) -> tuple[Tensor, int]:
        weight = all_weights[units]
        counted = int(np.count_nonzero(weight))
        # per_unit[u], the cross-entropy between target and prediction
        per_unit = -(torch.from_numpy(all_targets[units]).to(device) * torch.log_softmax(logits, dim=-1)).sum(dim=-1)
        return (torch.from_numpy(weight).to(device) * per_unit).sum() / max(counted, 1), counted

    return loss


def smooth_targets(targets: Beliefs, share: float) -> Beliefs:
    """Spread a share of the targets evenly over all classes."""
    return (1.0 - share) * targets + share / targets.shape[1] if share else targets


def find_device(name: str) -> torch.device:
    """Return the torch device of this name; raise an error if it is not available."""
    if name == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        return torch.zeros(1, device=name).device
    except (RuntimeError, AssertionError) as problem:  # raised by torch for unknown and missing devices
        raise OptionError(f"device: {name!r} is not available in torch. Use auto, cpu or cuda.") from problem


@contextmanager
def torch_seed(seed: int, device: torch.device) -> Iterator[None]:
    """Seed torch's random numbers within the context and restore their state afterwards."""
    with torch.random.fork_rng(devices=[device] if device.type == "cuda" else []):
        torch.manual_seed(seed)
        yield


def _make_optimiser(network: nn.Module, training: Training) -> torch.optim.Optimizer:
    trained = [tensor for _, tensor in _trained_parameters(network)]
    rate, decay = training.learning_rate, training.weight_decay
    if training.optimiser == "adam":
        return torch.optim.Adam(trained, lr=rate, weight_decay=decay, fused=True)
    if training.optimiser == "adamw":
        return torch.optim.AdamW(trained, lr=rate, weight_decay=decay, fused=True)
    # rho and eps of Zeiler 2012 and of Kim's program; torch's defaults differ.
    return torch.optim.Adadelta(trained, lr=rate, rho=0.95, eps=1e-6, weight_decay=decay, foreach=True)


def _trained_parameters(network: nn.Module) -> list[tuple[str, nn.Parameter]]:
    """Return the trained parameters with their names."""
    return [(name, tensor) for name, tensor in network.named_parameters() if tensor.requires_grad]


def _fixed_tensors(network: nn.Module) -> Arrays:
    """Return all other tensors of a network, such as fixed word vectors."""
    trained = {name for name, _ in _trained_parameters(network)}
    return {
        FIXED + MODEL + name: read_only(tensor.detach().cpu().numpy())
        for name, tensor in network.state_dict().items()
        if name not in trained
    }


def load_fixed_tensors(network: nn.Module, arrays: Arrays) -> None:
    """Load the saved values of all tensors that are not trained."""
    state = network.state_dict()
    with torch.no_grad():
        for name in _fixed_tensors(network):
            saved, tensor = arrays.get(name), state[name.removeprefix(FIXED + MODEL)]
            if saved is None or saved.shape != tuple(tensor.shape):
                raise FormatError(f"These weights belong to another network: {name} is missing or has another shape.")
            tensor.copy_(torch.from_numpy(np.array(saved_array(arrays, name, saved.shape, kind="fiub"))))
