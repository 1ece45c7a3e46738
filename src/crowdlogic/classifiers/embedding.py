"""Word vectors inside a network: rows that may be trained, and behind them rows that never are.

Axes: s sequence, t place, v word, d dimension.
"""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn


class Embedding(nn.Module):
    """vectors[v, d] of all words: the corpus' own first, parameters when tuned; the rest are never trained.

    Row 0 is padding; its vector is zero and stays so, since no gradient reaches it.
    """

    own: Tensor
    rest: Tensor

    def __init__(self, own: NDArray[np.float32], rest: NDArray[np.float32], *, tuned: bool) -> None:
        super().__init__()
        if tuned:
            self.own = nn.Parameter(torch.from_numpy(own.copy()))
        else:
            self.register_buffer("own", _shared(own))
        self.register_buffer("rest", _shared(rest))

    @property
    def size(self) -> int:
        """The number of dimensions."""
        return int(self.own.shape[1])

    def forward(self, rows: Tensor) -> Tensor:
        """vectors[..., d] of the words in some rows, of any shape."""
        n_own = len(self.own)
        if not len(self.rest) or int(rows.max()) < n_own:
            return nn.functional.embedding(rows, self.own, padding_idx=0)
        beyond = rows >= n_own
        found = nn.functional.embedding(rows.masked_fill(beyond, 0), self.own, padding_idx=0)
        given = nn.functional.embedding((rows - n_own).clamp(min=0), self.rest)
        return torch.where(beyond[..., None], given, found)


def _shared(vectors: NDArray[np.float32]) -> Tensor:
    """A tensor over the same memory, which may be large; torch wants to be able to write there."""
    return torch.from_numpy(vectors if vectors.flags.writeable else vectors.copy())
