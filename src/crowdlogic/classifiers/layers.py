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


class Dropout(nn.Module):
    """Leaves out a share of the numbers in training, and scales the others up."""

    def __init__(self, share: float) -> None:
        super().__init__()
        self.out_of_256 = min(round(share * 256), 255)

    def forward(self, x: Tensor) -> Tensor:
        """The same as it is given when not training."""
        if not self.training or not self.out_of_256:
            return x
        chance = torch.empty((x.numel() + 7) // 8, dtype=torch.int64, device=x.device).random_(-(2**63), None)
        kept = chance.view(torch.uint8)[: x.numel()].view(x.shape) >= self.out_of_256
        return x * kept.to(x.dtype).mul_(256 / (256 - self.out_of_256))
