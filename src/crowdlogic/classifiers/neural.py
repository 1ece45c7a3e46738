"""The classifier around every network: training loop, loss on soft targets, prediction, state.

[LNCL] "Learning from Noisy Crowd Labels with Logics": its eq. 8 and 10 are one loss, `soft_cross_entropy`.

Axes: i unit, u unit of a batch, k class.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeAlias
from weakref import WeakKeyDictionary

import numpy as np
import torch
from torch import Tensor, nn

from crowdlogic.classifiers.batches import shuffled_batches, sorted_batches
from crowdlogic.classifiers.network import Inputs, Network, make_batch
from crowdlogic.classifiers.protocol import FIXED, MODEL, PROGRESS, Arrays, check_targets, derive_seed
from crowdlogic.classifiers.saved_arrays import saved_array, saved_number
from crowdlogic.classifiers.training import Training
from crowdlogic.data.corpus import Corpus
from crowdlogic.data.estimate import Beliefs
from crowdlogic.errors import FormatError, OptionError
from crowdlogic.numerics.arrays import Bools, Floats, Ints, read_only

OPTIMISER_STATE = PROGRESS + "optimiser."

BatchLoss: TypeAlias = Callable[[Tensor, Ints], tuple[Tensor, int]]
"""From the network's outputs[u, ...] and the indices units[u] of a batch: its mean loss, and the number of units that
the mean is over."""


class NeuralClassifier:
    """A network with its optimiser: a Classifier.

    Args:
        network: The network.
        encode: Turns a corpus into the network's inputs.
        training: The optimiser and its hyper-parameters.
        seed: Random seed of shuffling and dropout.
        fixed: What else is needed to predict, such as the vocabulary; saved with the network.
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
        """One epoch of mini-batches over the units of weight > 0; the mean loss."""
        check_targets(corpus, targets, weights, self.network.n_classes)
        sample_weight = np.ones(corpus.n_units) if weights is None else weights
        smooth = smooth_targets(targets, self.training.label_smoothing)
        return self.run_epoch(corpus, soft_cross_entropy(smooth, sample_weight, self.device), sample_weight != 0)

    def run_epoch(self, corpus: Corpus, loss: BatchLoss, selected: Bools) -> float:
        """One epoch of mini-batches with any loss, over the sequences with a selected unit; the mean loss."""
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
                mean, count = self._step(inputs, sequences, loss, mean_units)
                total, counted = total + mean * count, counted + count
        self.epoch += 1
        return total / max(counted, 1)

    def _step(self, inputs: Inputs, sequences: Ints, loss: BatchLoss, mean_units: float) -> tuple[float, int]:
        """One step of the optimiser: down the summed loss of a batch over the mean number of units in a batch.

        A batch holds sequences of similar length. With the mean over its own units, a token of a short sentence would
        have many times the weight of one of a long sentence (on CoNLL 2003 that costs 2 points of F1).
        """
        batch, units = make_batch(inputs, sequences, self.device)
        mean, count = loss(self.network(batch), units)
        self.optimiser.zero_grad(set_to_none=True)
        (mean * (count / mean_units)).backward()
        if self.training.clip_norm:
            nn.utils.clip_grad_norm_(self.network.parameters(), self.training.clip_norm)
        self.optimiser.step()
        self.network.after_step()
        return float(mean.detach()), count

    @torch.inference_mode()
    def predict_proba(self, corpus: Corpus) -> Beliefs:
        """p[i, k] of every unit; independent of what else is in the corpus."""
        p = np.empty((corpus.n_units, self.network.n_classes))
        for outputs, units in self.forward_batches(corpus):
            p[units] = self.probabilities(outputs).cpu().numpy()
        return p

    @torch.inference_mode()
    def forward_batches(self, corpus: Corpus) -> Iterator[tuple[Tensor, Ints]]:
        """The network's outputs[u, ...] for all units of a corpus, batch by batch, with units[u]."""
        if not corpus.n_units:
            return
        inputs = self.inputs(corpus)
        self.network.eval()
        precomputed = self.network.precompute(torch.from_numpy(inputs.words).to(self.device))
        for sequences in sorted_batches(inputs.lengths, self.network.max_positions):
            batch, units = make_batch(inputs, sequences, self.device)
            yield self.network(batch, precomputed), units

    def probabilities(self, outputs: Tensor) -> Tensor:
        """p[u, k] from the network's outputs."""
        # In double precision, so that rows sum to one as precisely as those of any other belief.
        return torch.softmax(outputs.double(), dim=-1)

    def reset_optimiser(self) -> None:
        """Forget the optimiser's state (its moments), for instance before training on another loss."""
        self.optimiser = _make_optimiser(self.network, self.training)

    def arrays(self) -> Arrays:
        """Weights, fixed arrays and the state of the optimiser."""
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
        """Set weights, epoch, seed and the optimiser to a saved state."""
        _check_fixed(arrays, self._fixed_arrays)
        with torch.no_grad():
            for name, tensor in _trained_parameters(self.network):
                tensor.copy_(torch.from_numpy(_saved_weights(arrays, name, tuple(tensor.shape))))
        states = _optimiser_states(arrays, [tuple(tensor.shape) for _, tensor in _trained_parameters(self.network)])
        # No saved state means no step was made yet, so the present state must be dropped as well.
        groups = self.optimiser.state_dict()["param_groups"]
        self.optimiser.load_state_dict({"state": states, "param_groups": groups})
        progress = {PROGRESS + "epoch": np.array(self.epoch), PROGRESS + "seed": np.array(self.seed)} | arrays
        self.epoch = saved_number(progress, PROGRESS + "epoch", least=0, most=2**31)
        self.seed = saved_number(progress, PROGRESS + "seed", least=0, most=2**63)

    def inputs(self, corpus: Corpus) -> Inputs:
        """The encoded corpus, computed once."""
        if corpus not in self._encoded:
            self._encoded[corpus] = self.encode(corpus)
        return self._encoded[corpus]


def soft_cross_entropy(targets: Beliefs, weights: Floats, device: torch.device) -> BatchLoss:
    """The loss of [LNCL] eq. 8 and 10: the mean of weights[i] times the cross-entropy to targets[i, k].

    The mean is over the units of weight > 0.
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
    """Targets of which a share is spread evenly over all classes."""
    return (1.0 - share) * targets + share / targets.shape[1] if share else targets


def find_device(name: str) -> torch.device:
    """The torch device of this name; an error if it is not available."""
    if name == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        return torch.zeros(1, device=name).device
    except (RuntimeError, AssertionError) as problem:  # what torch raises for unknown and absent devices
        raise OptionError(f"device: {name!r} is none that torch finds here. Use auto, cpu or cuda.") from problem


@contextmanager
def torch_seed(seed: int, device: torch.device) -> Iterator[None]:
    """Seed torch's random numbers within the context, and restore their state afterwards."""
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
    """The parameters that are trained, by name."""
    return [(name, tensor) for name, tensor in network.named_parameters() if tensor.requires_grad]


def _optimiser_states(arrays: Arrays, shapes: list[tuple[int, ...]]) -> dict[int, dict[str, Tensor]]:
    """The saved state of the optimiser by the number of each parameter: single numbers, or as many as it has."""
    states: dict[int, dict[str, Tensor]] = {}
    for name in arrays:
        if name.startswith(OPTIMISER_STATE):
            number, _, key = name.removeprefix(OPTIMISER_STATE).partition(".")
            if not (number.isascii() and number.isdigit() and int(number) < len(shapes)):
                continue  # of a layer that only training has
            shape = () if arrays[name].ndim == 0 else shapes[int(number)]
            states.setdefault(int(number), {})[key] = torch.from_numpy(np.array(saved_array(arrays, name, shape)))
    return states


def _fixed_tensors(network: nn.Module) -> Arrays:
    """All other tensors of a network, such as given word vectors."""
    trained = {name for name, _ in _trained_parameters(network)}
    return {
        FIXED + MODEL + name: read_only(tensor.detach().cpu().numpy())
        for name, tensor in network.state_dict().items()
        if name not in trained
    }


def load_fixed_tensors(network: nn.Module, arrays: Arrays) -> None:
    """Set the tensors of a network that are not trained to saved ones."""
    state = network.state_dict()
    with torch.no_grad():
        for name in _fixed_tensors(network):
            saved, tensor = arrays.get(name), state[name.removeprefix(FIXED + MODEL)]
            if saved is None or saved.shape != tuple(tensor.shape):
                raise FormatError(f"These are the weights of another network: {name} is missing or of another shape.")
            tensor.copy_(torch.from_numpy(np.array(saved_array(arrays, name, saved.shape, kind="fiub"))))


def _saved_weights(arrays: Arrays, name: str, shape: tuple[int, ...]) -> Floats:
    """The saved weights of a parameter, which must have its shape."""
    saved = arrays.get(MODEL + name)
    if saved is None or saved.shape != shape:
        found = "missing" if saved is None else f"{saved.shape}"
        raise FormatError(f"These are the weights of another network: {name} is {found} where {shape} is expected.")
    return np.array(saved_array(arrays, MODEL + name, shape))


def _check_fixed(arrays: Arrays, fixed: Arrays) -> None:
    """Refuse the state of a classifier with another vocabulary: its weights would fit, but belong to other words."""
    for name, own in fixed.items():
        saved = arrays.get(name)
        if saved is not None and saved is not own and not np.array_equal(saved, own):
            raise FormatError(f"These weights are of a classifier built for another corpus: {name} differs.")
