"""Word vectors inside a network: rows that may be trained, and behind them rows that never are.

Axes: s sequence, t place, v word, d dimension.
"""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn


class Embedding(nn.Module):
    """vectors[v, d] of all words: the first are parameters when tuned, the rest buffers.

    Row 0 is padding; its vector is zero and stays so.
    """

    own: Tensor
    rest: Tensor

    def __init__(self, vectors: NDArray[np.float32], n_own: int, *, tuned: bool) -> None:
        super().__init__()
        own = torch.from_numpy(vectors[:n_own].copy())
        if tuned:
            self.own = nn.Parameter(own)
        else:
            self.register_buffer("own", own)
        self.register_buffer("rest", torch.from_numpy(vectors[n_own:].copy()))

    @property
    def size(self) -> int:
        """The number of dimensions."""
        return int(self.own.shape[1])

    def forward(self, rows: Tensor) -> Tensor:
        """vectors[s, t, d] of the words at each place."""
        n_own = len(self.own)
        if self.training or not len(self.rest) or int(rows.max()) < n_own:
            return nn.functional.embedding(rows.clamp(max=n_own - 1), self.own, padding_idx=0)
        found = nn.functional.embedding(rows.clamp(max=n_own - 1), self.own)
        beyond = rows >= n_own
        found[beyond] = self.rest[rows[beyond] - n_own]
        return found
