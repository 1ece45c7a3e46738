"""The parts of a neural classifier: a corpus as arrays, mini-batches of it, and a network from batches to logits.

Axes: c channel, s sequence, t position in a sequence, i position in the concatenation of all sequences, v distinct
word, u unit of a batch, k class, d dimension.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from crowdlogic.classifiers.batches import NO_UNIT, padded_positions
from crowdlogic.numerics.arrays import Bools, Ints


@dataclass(frozen=True, eq=False)
class Inputs:
    """A corpus as input of a network: sequences of words, or rows of features.

    Attributes:
        offsets: offsets[s], the first position of sequence s; a row of features is a sequence of one position.
        words: words[c, v], integer codes of each distinct word (its row, its shape, ...); word 0 is padding, all 0.
        text: text[i], the distinct word at every position.
        features: features[i, d], for networks over numeric features.
        units: units[i], the unit at every position or NO_UNIT; None where every sequence is one unit.
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
        """The length of each sequence."""
        return np.diff(self.offsets)

    @property
    def rows(self) -> Ints:
        """rows[c, i], the codes of the word at every position."""
        return self.words[:, [] if self.text is None else self.text]

    def sequences_with(self, selected: Bools) -> Ints:
        """The sequences that contain at least one of the selected units."""
        if self.units is None:
            return np.flatnonzero(selected)
        here = np.append(selected, False)[self.units]  # NO_UNIT is -1, which indexes the appended False
        # counted[i] is the number of selected positions before i, so a difference counts those of a sequence.
        counted = np.concatenate([[0], np.cumsum(here)])
        return np.flatnonzero(np.diff(counted[self.offsets]))


def word_inputs(offsets: Ints, rows: Ints, units: Ints | None = None) -> Inputs:
    """Inputs from rows[c, i], the codes (0 or more) of the word at every position."""
    padding = np.zeros((len(rows), 1), dtype=rows.dtype)
    # The codes of a word are the digits of one number, by which distinct words are found.
    sizes = rows.max(axis=1, initial=0) + 1
    joint = np.ravel_multi_index(tuple(np.concatenate([padding, rows], axis=1)), tuple(sizes))
    distinct, text = np.unique(joint, return_inverse=True)
    words = np.stack(np.unravel_index(distinct, tuple(sizes)))
    return Inputs(offsets, words=words, text=text[1:], units=units)


@dataclass(frozen=True, eq=False)
class Batch:
    """Some sequences, padded to the longest of them.

    Attributes:
        words: words[c, v], the codes of each distinct word of the corpus.
        text: text[s, t], the distinct word at each position, 0 for padding.
        lengths: lengths[s], without padding.
        features: features[s, d]; empty for networks over words.
        unit_positions: unit_positions[u], the flat index of each unit's position (s, t); None where every sequence is
            one unit.
        states: states[s, t, d] of frozen layers; None where they are to be computed.
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
        """values[u, d], selected from values[s, t, d]."""
        return values if self.unit_positions is None else values.flatten(0, 1).index_select(0, self.unit_positions)


class Network(nn.Module):
    """A module from a batch to logits[u, k], a row for each of its units.

    Only parameters are saved as learnt; buffers must not change after construction.
    """

    n_classes: int
    output: nn.Linear
    """The last layer, from the hidden representation of a unit to its logits."""
    max_positions = 4096
    """Positions in a batch of prediction: enough to keep a core busy, few enough to stay in its cache."""

    def logits(self, batch: Batch, precomputed: Tensor | None) -> Tensor:
        """logits[u, k]; `precomputed` is what `precompute` returned for the corpus, None in training."""
        raise NotImplementedError

    def forward(self, batch: Batch, precomputed: Tensor | None = None) -> Tensor:
        """logits[u, k]."""
        return self.logits(batch, precomputed)

    def precompute(self, words: Tensor) -> Tensor | None:  # noqa: ARG002 (most networks have nothing to precompute)
        """What depends on words[c, v] alone, computed once for all batches of a prediction."""
        return None

    def after_step(self) -> None:
        """Hook, called after each step of the optimiser, for networks with constrained weights."""


def make_batch(inputs: Inputs, sequences: Ints, device: torch.device) -> tuple[Batch, Ints]:
    """Some sequences as tensors, and units[u], the units they contain, in the order of the network's logits."""
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
