"""What the neural classifiers share: reading a corpus once, bucketed batches, the loss on soft targets, and state.

A network is a torch module that maps a batch of word rows (or features) to logits. Everything else is here: eq. 8 and
eq. 10 of [LNCL] as one loss, the optimisers and their schedules, prediction, and the arrays that a run keeps.

[LNCL] "Learning from Noisy Crowd Labels with Logics". Axes: s sequence, t place, i unit, k class, d dimension.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from weakref import WeakKeyDictionary

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from crowdlogic.classifiers.batches import padded, shuffled_batches, sorted_batches
from crowdlogic.classifiers.protocol import PROGRESS, Arrays, check_targets, seed_of
from crowdlogic.data.corpus import Corpus
from crowdlogic.data.estimate import Beliefs
from crowdlogic.errors import FormatError, OptionError
from crowdlogic.numerics.arrays import Floats, Ints

MODEL, OPTIMISER = "model.", PROGRESS + "optimiser."
CELLS = 4096
"""Places predicted at once: enough to keep a core busy, little enough to stay in its cache."""


@dataclass(frozen=True)
class Training:
    """How a network is trained.

    Attributes:
        optimiser: adam, adamw or adadelta.
        rate: The learning rate.
        halve_every: Epochs after which the rate is halved, again and again; 0 keeps it.
        batch: Sequences (or documents, or rows of features) in a mini-batch.
        clip: The greatest norm of the gradient; 0 does not clip.
        decay: Weight decay.
        device: auto (a GPU if torch sees one), cpu, cuda, ...
    """

    optimiser: str = "adam"
    rate: float = 1e-3
    halve_every: int = 0
    batch: int = 50
    clip: float = 0.0
    decay: float = 0.0
    device: str = "auto"

    def __post_init__(self) -> None:
        if self.optimiser not in OPTIMISERS:
            raise OptionError(f"optimiser: {self.optimiser!r} is none of {', '.join(OPTIMISERS)}.")
        if self.batch < 1 or not self.rate > 0:
            raise OptionError(f"batch must be 1 or more and rate more than 0, not {self.batch} and {self.rate}.")

    def rate_at(self, epoch: int) -> float:
        """The learning rate of an epoch, counted from 0."""
        return self.rate * 0.5 ** (epoch // self.halve_every if self.halve_every else 0)


def _adam(module: nn.Module, training: Training) -> torch.optim.Optimizer:
    return torch.optim.Adam(_trained(module), lr=training.rate, weight_decay=training.decay, fused=True)


def _adamw(module: nn.Module, training: Training) -> torch.optim.Optimizer:
    return torch.optim.AdamW(_trained(module), lr=training.rate, weight_decay=training.decay, fused=True)


def _adadelta(module: nn.Module, training: Training) -> torch.optim.Optimizer:
    return torch.optim.Adadelta(
        _trained(module), lr=training.rate, rho=0.95, eps=1e-6, weight_decay=training.decay, foreach=True
    )


def _trained(module: nn.Module) -> list[nn.Parameter]:
    return [parameter for parameter in module.parameters() if parameter.requires_grad]


OPTIMISERS = {"adam": _adam, "adamw": _adamw, "adadelta": _adadelta}


@dataclass(frozen=True, eq=False)
class Inputs:
    """A corpus as a network sees it: rows[c, i] (words, and what else is known of each place), or features[s, d].

    Attributes:
        offsets: Where each sequence begins among the places.
        rows: rows[c, i], whole numbers: row 0 of a channel is padding.
        features: features[s, d], for networks that look at numbers.
        targets_per_place: Whether every place is a unit; else every sequence is one.
    """

    offsets: Ints
    rows: Ints | None = None
    features: NDArray[np.float32] | None = None
    targets_per_place: bool = False


@dataclass(frozen=True, eq=False)
class Batch:
    """Some sequences: rows[c, s, t] with real[s, t], or features[s, d]."""

    rows: Tensor | None
    real: Tensor | None
    features: Tensor | None

    @property
    def lengths(self) -> Tensor:
        """How many places of each sequence are real."""
        if self.real is None:
            raise OptionError("Rows of features have no length.")
        return self.real.sum(dim=1)


class Network(nn.Module):
    """A module that maps a batch to logits[s, k], or to logits[s, t, k] where every place is a unit."""

    least = 1
    """The fewest places it can look at."""

    n_classes: int

    def logits(self, batch: Batch) -> Tensor:
        """The logits of every unit."""
        raise NotImplementedError

    def forward(self, batch: Batch) -> Tensor:
        """The logits of every unit."""
        return self.logits(batch)

    def after_step(self) -> None:
        """Called after every step of the optimiser, for networks that constrain their weights."""


class NeuralClassifier:
    """A network with its optimiser: a Classifier."""

    def __init__(
        self, network: Network, read: Callable[[Corpus], Inputs], training: Training, *, seed: int, fixed: Arrays
    ) -> None:
        self.device = _device(training.device)
        self.network = network.to(self.device)
        self.training = training
        self.optimiser = OPTIMISERS[training.optimiser](self.network, training)
        self.seed = seed
        self.epoch = 0
        self._read = read
        self._fixed = fixed
        self._seen: WeakKeyDictionary[Corpus, Inputs] = WeakKeyDictionary()

    def fit_epoch(self, corpus: Corpus, targets: Beliefs, weights: Floats | None = None) -> float:
        """One pass of mini-batches over the units whose weight is not 0; the mean loss."""
        check_targets(corpus, targets, weights)
        inputs = self._inputs(corpus)
        goal = goal_of(targets, weights)
        lengths, counting = np.diff(inputs.offsets), counting_sequences(inputs, goal)
        for group in self.optimiser.param_groups:
            group["lr"] = self.training.rate_at(self.epoch)
        rng = np.random.default_rng(seed_of(self.seed, f"batches {self.epoch}"))
        lost, counted = 0.0, 0
        with _chance(seed_of(self.seed, f"dropout {self.epoch}"), self.device):
            self.network.train()
            batches = shuffled_batches(lengths, self.training.batch, rng, among=counting)
            usual = (lengths[counting].sum() if inputs.targets_per_place else len(counting)) / max(len(batches), 1)
            for sequences in batches:
                loss, count = self._step(inputs, goal, sequences, usual)
                lost, counted = lost + loss * count, counted + count
        self.epoch += 1
        return lost / max(counted, 1)

    def _step(self, inputs: Inputs, goal: Goal, sequences: Ints, usual: float) -> tuple[float, int]:
        """A step down the loss of a batch: the weighted sum over its units ([LNCL] eq. 8 and 10).

        It is divided by the units of a usual batch, not of this one: batches hold sequences of like length, so by its
        own mean a token of a short sentence would weigh many times one of a long sentence (on CoNLL 2003: 2 points).
        """
        batch, units = _batch(inputs, sequences, self.network.least, self.device)
        logits = self.network(batch)
        if inputs.targets_per_place and batch.real is not None:
            logits = logits[batch.real[:, : logits.shape[1]]]
        towards = torch.from_numpy(goal.targets[units]).to(self.device)
        weight = torch.from_numpy(goal.weights[units]).to(self.device)
        each = -(towards * torch.log_softmax(logits, dim=-1)).sum(dim=-1)
        loss = (weight * each).sum() / usual
        self.optimiser.zero_grad(set_to_none=True)
        loss.backward()
        if self.training.clip:
            torch.nn.utils.clip_grad_norm_(self.network.parameters(), self.training.clip)
        self.optimiser.step()
        self.network.after_step()
        return float(loss.detach()) * usual / len(units), len(units)

    def predict_proba(self, corpus: Corpus) -> Beliefs:
        """p[i, k] of every unit; the same whatever else is in the corpus."""
        inputs = self._inputs(corpus)
        found: NDArray[np.float32] | None = None
        self.network.eval()
        with torch.inference_mode():
            for sequences in sorted_batches(np.diff(inputs.offsets), CELLS):
                batch, units = _batch(inputs, sequences, self.network.least, self.device)
                logits = self.network(batch)
                if inputs.targets_per_place and batch.real is not None:
                    logits = logits[batch.real[:, : logits.shape[1]]]
                said = torch.softmax(logits, dim=-1).cpu().numpy()
                if found is None:
                    found = np.empty((corpus.n_units, said.shape[1]), dtype=np.float32)
                found[units] = said
        if found is None:
            return np.empty((0, self.network.n_classes))
        exact = found.astype(np.float64)
        return np.asarray(exact / exact.sum(axis=1, keepdims=True))

    def arrays(self) -> Arrays:
        """Weights, and what the optimiser remembers."""
        model = {MODEL + name: tensor.cpu().numpy().copy() for name, tensor in self.network.state_dict().items()}
        memory = {
            f"{OPTIMISER}{place}.{name}": torch.as_tensor(tensor).cpu().numpy().copy()
            for place, kept in self.optimiser.state_dict()["state"].items()
            for name, tensor in kept.items()
        }
        clock = {PROGRESS + "epoch": np.array(self.epoch), PROGRESS + "seed": np.array(self.seed)}
        return self._fixed | model | memory | clock

    def restore(self, arrays: Arrays) -> None:
        """Go on where `arrays` was taken."""
        model = {n.removeprefix(MODEL): torch.from_numpy(a.copy()) for n, a in arrays.items() if n.startswith(MODEL)}
        try:
            self.network.load_state_dict(model)
        except RuntimeError as problem:
            raise FormatError(f"These weights are of another network: {problem}") from problem
        state: dict[int, dict[str, Tensor]] = {}
        for name, array in arrays.items():
            if name.startswith(OPTIMISER):
                place, _, key = name.removeprefix(OPTIMISER).partition(".")
                state.setdefault(int(place), {})[key] = torch.from_numpy(array.copy())
        # An optimiser without a memory is one that has not made a step: its memory must go, too.
        groups = self.optimiser.state_dict()["param_groups"]
        self.optimiser.load_state_dict({"state": state, "param_groups": groups})
        self.epoch = int(arrays.get(PROGRESS + "epoch", np.array(self.epoch)))
        self.seed = int(arrays.get(PROGRESS + "seed", np.array(self.seed)))

    def _inputs(self, corpus: Corpus) -> Inputs:
        if corpus not in self._seen:
            self._seen[corpus] = self._read(corpus)
        return self._seen[corpus]


@dataclass(frozen=True, eq=False)
class Goal:
    """What an epoch learns: targets[i, k] and how much each unit counts, in the network's precision."""

    targets: NDArray[np.float32]
    weights: NDArray[np.float32]


def goal_of(targets: Beliefs, weights: Floats | None) -> Goal:
    """Targets and weights, ones when there are none."""
    return Goal(
        targets.astype(np.float32), np.ones(len(targets), np.float32) if weights is None else weights.astype(np.float32)
    )


def counting_sequences(inputs: Inputs, goal: Goal) -> Ints:
    """The sequences with a unit that counts: the others are not looked at."""
    if not inputs.targets_per_place:
        return np.flatnonzero(goal.weights)
    counted = np.concatenate([[0], np.cumsum(goal.weights != 0)])
    return np.flatnonzero(np.diff(counted[inputs.offsets]))


def _batch(inputs: Inputs, sequences: Ints, least: int, device: torch.device) -> tuple[Batch, Ints]:
    """The inputs of some sequences, and the units that they are, in the order of the logits."""
    if inputs.features is not None:
        return Batch(None, None, torch.from_numpy(inputs.features[sequences]).to(device)), sequences
    if inputs.rows is None:
        raise OptionError("There is nothing to look at: no words and no features.")
    channels, real = zip(*(padded(row, inputs.offsets, sequences, least=least) for row in inputs.rows), strict=True)
    rows = torch.from_numpy(np.stack(channels)).to(device)
    batch = Batch(rows, torch.from_numpy(real[0]).to(device), None)
    if not inputs.targets_per_place:
        return batch, sequences
    units = np.concatenate([np.arange(inputs.offsets[s], inputs.offsets[s + 1]) for s in sequences])
    return batch, units


def _device(name: str) -> torch.device:
    if name == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        return torch.device(name)
    except RuntimeError as problem:
        raise OptionError(f"device: {name!r} is none that torch knows. Use auto, cpu or cuda.") from problem


@contextmanager
def _chance(seed: int, device: torch.device) -> Iterator[None]:
    """Within it torch's chance is the seed's; afterwards as if nothing had been drawn."""
    devices = [device] if device.type == "cuda" else []
    with torch.random.fork_rng(devices=devices):
        torch.manual_seed(seed)
        yield
