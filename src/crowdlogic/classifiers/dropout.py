"""Dropout by random bytes: a byte of chance for each number, where torch draws a float, which takes ten times as long.

The share left out is a multiple of 1/256, the nearest to what was asked; what is kept is scaled by exactly that.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn


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
