"""Layers that torch lacks: word vectors of which only some are trained, and a faster dropout.

Axes: s sequence, t position, v word, d dimension.
"""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn


class WordEmbedding(nn.Module):
    """vectors[v, d] of all words: first those of the training corpus, which may be trained, then the others.

    Row 0 is padding; its vector is zero and stays zero, because it gets no gradient.
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
        """The number of dimensions."""
        return int(self.own.shape[1])

    def forward(self, rows: Tensor) -> Tensor:
        """vectors[..., d] of the words with these row numbers, for rows of any shape."""
        n_own = len(self.own)
        if not len(self.rest) or int(rows.max()) < n_own:
            return nn.functional.embedding(rows, self.own, padding_idx=0)
        beyond = rows >= n_own
        found = nn.functional.embedding(rows.masked_fill(beyond, 0), self.own, padding_idx=0)
        given = nn.functional.embedding((rows - n_own).clamp(min=0), self.rest)
        return torch.where(beyond[..., None], given, found)


def _share_memory(vectors: NDArray[np.float32]) -> Tensor:
    """A tensor over the same memory, which may be large; torch needs it to be writeable."""
    return torch.from_numpy(vectors if vectors.flags.writeable else vectors.copy())


class ByteDropout(nn.Module):
    """Dropout by random bytes: ten times as fast as drawing a float for each number, as torch does.

    The rate is rounded to a multiple of 1/256, and the numbers that are kept are scaled by exactly that rate.
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
