"""The classifier around every network: the loss on soft targets, optimisers and their schedules, prediction, state.

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
from crowdlogic.classifiers.training import Training
from crowdlogic.data.corpus import Corpus
from crowdlogic.data.estimate import Beliefs
from crowdlogic.errors import FormatError, OptionError
from crowdlogic.numerics.arrays import Bools, Floats, Ints, read_only

MEMORY = PROGRESS + "optimiser."

BatchLoss: TypeAlias = Callable[[Tensor, Ints], tuple[Tensor, int]]
"""The mean loss of a batch from the logits[u, k] of its units and their numbers, and how many units it counts."""


class NeuralClassifier:
    """A network with its optimiser: a Classifier."""

    averages = True

    def __init__(
        self, network: Network, read: Callable[[Corpus], Inputs], training: Training, *, seed: int, fixed: Arrays
    ) -> None:
        self.device = find_device(training.device)
        self.network = network.to(self.device)
        self.training = training
        self.optimiser = _optimiser(self.network, training)
        self.seed = seed
        self.epoch = 0
        self.read = read
        self.given = fixed
        self._fixed = fixed | _fixed_tensors(self.network)
        self._seen: WeakKeyDictionary[Corpus, Inputs] = WeakKeyDictionary()

    def fit_epoch(self, corpus: Corpus, targets: Beliefs, weights: Floats | None = None) -> float:
        """One pass of mini-batches over the units whose weight is not 0; the mean loss."""
        check_targets(corpus, targets, weights, self.network.n_classes)
        counts = np.ones(corpus.n_units) if weights is None else weights
        return self.run_epoch(corpus, soft_cross_entropy(targets, counts, self.device), counts != 0)

    def run_epoch(self, corpus: Corpus, loss: BatchLoss, counting: Bools) -> float:
        """One pass of mini-batches down any loss, over the sequences with a unit that counts; its mean."""
        inputs = self.inputs(corpus)
        for group in self.optimiser.param_groups:
            group["lr"] = self.training.learning_rate_at(self.epoch)
        rng = np.random.default_rng(derive_seed(self.seed, f"batches {self.epoch}"))
        among = inputs.sequences_with(counting)
        lost, counted = 0.0, 0
        with torch_seed(derive_seed(self.seed, f"dropout {self.epoch}"), self.device):
            self.network.train()
            batches = shuffled_batches(inputs.lengths, self.training.batch_size, rng, among=among)
            usual = np.count_nonzero(counting) / max(len(batches), 1)
            for sequences in batches:
                mean, count = self._step(inputs, sequences, loss, usual)
                lost, counted = lost + mean * count, counted + count
        self.epoch += 1
        return lost / max(counted, 1)

    def _step(self, inputs: Inputs, sequences: Ints, loss: BatchLoss, usual: float) -> tuple[float, int]:
        """A step down the loss of a batch: its sum over the units of a usual batch, not of this one.

        A batch holds sequences of like length, so by its own mean a token of a short sentence would weigh many times
        one of a long sentence (on CoNLL 2003 that costs 2 points of F1).
        """
        batch, units = make_batch(inputs, sequences, self.device)
        mean, count = loss(self.network(batch), units)
        self.optimiser.zero_grad(set_to_none=True)
        (mean * (count / usual)).backward()
        if self.training.clip_norm:
            nn.utils.clip_grad_norm_(self.network.parameters(), self.training.clip_norm)
        self.optimiser.step()
        self.network.after_step()
        return float(mean.detach()), count

    @torch.inference_mode()
    def predict_proba(self, corpus: Corpus) -> Beliefs:
        """p[i, k] of every unit; the same whatever else is in the corpus."""
        p = np.empty((corpus.n_units, self.network.n_classes))
        for answers, units in self.answers(corpus):
            p[units] = self.probabilities(answers).cpu().numpy()
        return p

    @torch.inference_mode()
    def answers(self, corpus: Corpus) -> Iterator[tuple[Tensor, Ints]]:
        """What the network answers of all units, some at a time, and which units they are."""
        if not corpus.n_units:
            return
        inputs = self.inputs(corpus)
        self.network.eval()
        precomputed = self.network.precompute(torch.from_numpy(inputs.words).to(self.device))
        for sequences in sorted_batches(inputs.lengths, self.network.cells):
            batch, units = make_batch(inputs, sequences, self.device)
            yield self.network(batch, precomputed), units

    def probabilities(self, answers: Tensor) -> Tensor:
        """p[u, k] of what the network answers."""
        # In double precision, so that the rows sum to one as closely as those of any other belief.
        return torch.softmax(answers.double(), dim=-1)

    def reset_optimiser(self) -> None:
        """Let the optimiser begin anew: what it remembers of one loss is no guide down another."""
        self.optimiser = _optimiser(self.network, self.training)

    def arrays(self) -> Arrays:
        """Weights, what never changes, and what the optimiser remembers."""
        model = {
            MODEL + name: tensor.detach().cpu().numpy().copy() for name, tensor in _trained_parameters(self.network)
        }
        memory = {
            f"{MEMORY}{place}.{name}": torch.as_tensor(tensor).cpu().numpy().copy()
            for place, kept in self.optimiser.state_dict()["state"].items()
            for name, tensor in kept.items()
        }
        clock = {PROGRESS + "epoch": np.array(self.epoch), PROGRESS + "seed": np.array(self.seed)}
        return self._fixed | model | memory | clock

    def restore(self, arrays: Arrays) -> None:
        """Go on where `arrays` was taken."""
        _check_same(arrays, self._fixed)
        with torch.no_grad():
            for name, tensor in _trained_parameters(self.network):
                tensor.copy_(torch.from_numpy(_weights(arrays, name, tuple(tensor.shape))))
        memory: dict[int, dict[str, Tensor]] = {}
        for name, array in arrays.items():
            if name.startswith(MEMORY):
                place, _, key = name.removeprefix(MEMORY).partition(".")
                memory.setdefault(int(place), {})[key] = torch.from_numpy(np.array(array))
        # An optimiser without a memory is one that has not made a step: its memory must go, too.
        groups = self.optimiser.state_dict()["param_groups"]
        self.optimiser.load_state_dict({"state": memory, "param_groups": groups})
        self.epoch = int(arrays.get(PROGRESS + "epoch", np.array(self.epoch)))
        self.seed = int(arrays.get(PROGRESS + "seed", np.array(self.seed)))

    def inputs(self, corpus: Corpus) -> Inputs:
        """The corpus as the network sees it, read once."""
        if corpus not in self._seen:
            self._seen[corpus] = self.read(corpus)
        return self._seen[corpus]


def soft_cross_entropy(targets: Beliefs, weights: Floats, device: torch.device) -> BatchLoss:
    """The loss of [LNCL] eq. 8 and 10: the mean of weights[i] times the cross-entropy to targets[i, k].

    The mean is over the units that count: one with weight 0 is as good as not there.
    """
    toward, counts = targets.astype(np.float32), weights.astype(np.float32)

    def loss(logits: Tensor, units: Ints) -> tuple[Tensor, int]:
        weight = counts[units]
        counted = int(np.count_nonzero(weight))
        each = -(torch.from_numpy(toward[units]).to(device) * torch.log_softmax(logits, dim=-1)).sum(dim=-1)
        return (torch.from_numpy(weight).to(device) * each).sum() / max(counted, 1), counted

    return loss


def find_device(name: str) -> torch.device:
    """A device that is there."""
    if name == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        return torch.zeros(1, device=name).device
    except (RuntimeError, AssertionError) as problem:
        raise OptionError(f"device: {name!r} is none that torch finds here. Use auto, cpu or cuda.") from problem


@contextmanager
def torch_seed(seed: int, device: torch.device) -> Iterator[None]:
    """Within it torch's chance is the seed's; afterwards as if nothing had been drawn."""
    with torch.random.fork_rng(devices=[device] if device.type == "cuda" else []):
        torch.manual_seed(seed)
        yield


def _optimiser(network: nn.Module, training: Training) -> torch.optim.Optimizer:
    trained = [tensor for _, tensor in _trained_parameters(network)]
    if training.optimiser == "adam":
        return torch.optim.Adam(trained, lr=training.learning_rate, weight_decay=training.weight_decay, fused=True)
    if training.optimiser == "adamw":
        return torch.optim.AdamW(trained, lr=training.learning_rate, weight_decay=training.weight_decay, fused=True)
    # As Zeiler 2012 has it, and Kim's program; torch's own defaults are others.
    return torch.optim.Adadelta(
        trained, lr=training.learning_rate, rho=0.95, eps=1e-6, weight_decay=training.weight_decay, foreach=True
    )


def _trained_parameters(network: nn.Module) -> list[tuple[str, nn.Parameter]]:
    """The parameters that are trained, by name."""
    return [(name, tensor) for name, tensor in network.named_parameters() if tensor.requires_grad]


def _fixed_tensors(network: nn.Module) -> Arrays:
    """All else that a network holds, such as given word vectors."""
    learnt = {name for name, _ in _trained_parameters(network)}
    return {
        FIXED + MODEL + name: read_only(tensor.detach().cpu().numpy())
        for name, tensor in network.state_dict().items()
        if name not in learnt
    }


def load_fixed_tensors(network: nn.Module, arrays: Arrays) -> None:
    """Put back what `arrays` gave of a network beside its trained parameters."""
    state = network.state_dict()
    with torch.no_grad():
        for name in _fixed_tensors(network):
            kept, tensor = arrays.get(name), state[name.removeprefix(FIXED + MODEL)]
            if kept is None or kept.shape != tuple(tensor.shape):
                raise FormatError(f"These are the weights of another network: {name} is missing or of another shape.")
            tensor.copy_(torch.from_numpy(np.array(kept)))


def _weights(arrays: Arrays, name: str, shape: tuple[int, ...]) -> Floats:
    """The kept weights of a parameter."""
    kept = arrays.get(MODEL + name)
    if kept is None or kept.shape != shape:
        found = "missing" if kept is None else f"{kept.shape}"
        raise FormatError(f"These are the weights of another network: {name} is {found} where {shape} is expected.")
    return np.array(kept)


def _check_same(arrays: Arrays, fixed: Arrays) -> None:
    """Refuse what was taken from a classifier of other words: the weights would fit, and mean something else."""
    for name, own in fixed.items():
        kept = arrays.get(name)
        if kept is not None and kept is not own and not np.array_equal(kept, own):
            raise FormatError(f"These weights are of a classifier built for another corpus: {name} differs.")
