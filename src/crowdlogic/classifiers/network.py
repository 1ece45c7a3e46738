"""What a neural classifier is made of: a corpus as arrays, a batch of it, and a network that maps it to logits.

Axes: c channel, s sequence, t place in a sequence, i place in the text of all sequences, v different word, u unit of a
batch, k class, d dimension.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from crowdlogic.classifiers.batches import NO_UNIT, padded_places
from crowdlogic.numerics.arrays import Bools, Ints


@dataclass(frozen=True, eq=False)
class Inputs:
    """A corpus as a network sees it: sequences of words, or rows of features.

    Attributes:
        offsets: Where each sequence begins among the places; a row of features is a sequence of one place.
        words: words[c, v], what is precomputed of each different word, as whole numbers; word 0 is padding, all 0.
        text: text[i], the word at every place.
        features: features[i, d], numbers for every place, for networks that look at numbers.
        units: units[i], the unit at every place or NO_UNIT; None where each sequence is the unit of its number.
    """

    offsets: Ints
    words: Ints = field(default_factory=lambda: np.zeros((1, 1), dtype=np.int64))
    text: Ints | None = None
    features: NDArray[np.float32] | None = None
    units: Ints | None = None

    @property
    def lengths(self) -> Ints:
        """How many places each sequence has."""
        return np.diff(self.offsets)

    @property
    def rows(self) -> Ints:
        """rows[c, i], what is precomputed of the word at every place."""
        return self.words[:, [] if self.text is None else self.text]

    def sequences_with(self, counting: Bools) -> Ints:
        """The sequences with a unit that counts: the others need not be looked at."""
        if self.units is None:
            return np.flatnonzero(counting)
        here = np.append(counting, False)[self.units]  # NO_UNIT is the last one
        counted = np.concatenate([[0], np.cumsum(here)])
        return np.flatnonzero(np.diff(counted[self.offsets]))


def word_inputs(offsets: Ints, rows: Ints, units: Ints | None = None) -> Inputs:
    """Inputs from rows[c, i]: what is precomputed of the word at every place, as whole numbers of 0 or more."""
    padding = np.zeros((len(rows), 1), dtype=rows.dtype)
    # Words are told apart by one number: that of the first channel, then the second, ... as digits.
    sizes = rows.max(axis=1, initial=0) + 1
    joint = np.ravel_multi_index(tuple(np.concatenate([padding, rows], axis=1)), tuple(sizes))
    different, place = np.unique(joint, return_inverse=True)
    words = np.stack(np.unravel_index(different, tuple(sizes)))
    return Inputs(offsets, words=words, text=place[1:], units=units)


@dataclass(frozen=True, eq=False)
class Batch:
    """Some sequences, padded to the longest of them.

    Attributes:
        words: words[c, v], what is precomputed of each different word of the corpus.
        text: text[s, t], the word at each place, 0 beyond the end of a sequence.
        lengths: How many places of each sequence are real.
        features: features[s, d]; empty when the network looks at words.
        places: places[u], which of the places (s, t), counted through, are units; None where the sequences are.
    """

    words: Tensor
    text: Tensor
    lengths: Tensor
    features: Tensor
    places: Tensor | None

    @property
    def real(self) -> Tensor:
        """real[s, t], whether a place is before the end of its sequence."""
        return torch.arange(self.text.shape[1], device=self.lengths.device) < self.lengths[:, None]

    def at_units(self, values: Tensor) -> Tensor:
        """values[u, d] of values[s, t, d]."""
        return values if self.places is None else values.flatten(0, 1).index_select(0, self.places)


class Network(nn.Module):
    """A module that maps a batch to logits[u, k], a row for each of its units.

    All that is not a parameter must stay as it was made: only parameters are kept as what was learnt.
    """

    n_classes: int
    output: nn.Linear
    """The last layer: what all before it saw of a unit, to its logits."""
    cells = 4096
    """Places to predict at once: enough to keep a core busy, little enough to stay in its cache."""

    def logits(self, batch: Batch, precomputed: Tensor | None) -> Tensor:
        """The logits of every unit; `precomputed` is what `know` said of the corpus' words, if anything."""
        raise NotImplementedError

    def forward(self, batch: Batch, precomputed: Tensor | None = None) -> Tensor:
        """The logits of every unit."""
        return self.logits(batch, precomputed)

    def precompute(self, words: Tensor) -> Tensor | None:  # noqa: ARG002 (some do)
        """What can be computed of words[c, v] once, before many batches are predicted."""
        return None

    def after_step(self) -> None:
        """Called after every step of the optimiser, for networks that constrain their weights."""


def make_batch(inputs: Inputs, sequences: Ints, device: torch.device) -> tuple[Batch, Ints]:
    """Some sequences as tensors, and which units they hold, in the order of the network's logits."""
    at, real = padded_places(inputs.offsets, sequences)
    text = np.zeros(at.shape, dtype=np.int64)
    if inputs.text is not None and len(inputs.text):
        text = np.where(real, inputs.text[at], 0)
    features = inputs.features[at[:, 0]] if inputs.features is not None else np.zeros((0, 0), dtype=np.float32)
    places, units = None, sequences
    if inputs.units is not None:
        here = np.where(real, inputs.units[at], NO_UNIT).ravel()
        chosen = np.flatnonzero(here != NO_UNIT)
        places, units = _on(chosen, device), here[chosen]
    words, lengths = _on(inputs.words, device), _on(real.sum(axis=1), device)
    return Batch(words, _on(text, device), lengths, _on(features, device), places), units


def _on(array: NDArray[np.generic], device: torch.device) -> Tensor:
    return torch.from_numpy(array).to(device)
