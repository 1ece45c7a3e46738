"""Imitation: k(t), the weight of q_b in an epoch's targets ([LNCL] eq. 9), epochs counted from 1."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from crowdlogic.errors import OptionError
from crowdlogic.registry import IMITATIONS

Imitation: TypeAlias = Callable[[int], float]
IMITATIONS.serves(Imitation)


@dataclass(frozen=True)
class GrowingImitation:
    """Schedule k(t) = min(maximum, 1 - base^t), which grows as the classifier learns.

    The paper uses base 0.94 without a limit for sentiment, and base 0.90 with a limit of 0.8 for named entities.
    """

    name = "growing"

    base: float = 0.94
    maximum: float = 1.0

    def __post_init__(self) -> None:
        if not (0 <= self.base <= 1 and 0 <= self.maximum <= 1):
            raise OptionError(
                f"imitation: base and maximum must lie between 0 and 1, got {self.base} and {self.maximum}."
            )

    def __call__(self, epoch: int) -> float:
        """Return the imitation of an epoch."""
        return min(self.maximum, 1.0 - self.base**epoch)


@dataclass(frozen=True)
class ConstantImitation:
    """Schedule with the same k in every epoch."""

    name = "constant"

    k: float = 0.5

    def __post_init__(self) -> None:
        if not 0 <= self.k <= 1:
            raise OptionError(f"imitation: k must lie between 0 and 1, got {self.k}.")

    def __call__(self, epoch: int) -> float:  # noqa: ARG002 (independent of the epoch)
        """Return the imitation of an epoch."""
        return self.k


def imitation_at(schedule: Imitation, epoch: int) -> float:
    """Return the k of an epoch after validation, since user-defined functions may return anything."""
    k = float(schedule(epoch))
    if not 0 <= k <= 1:
        raise OptionError(f"imitation: epoch {epoch} has k = {k}; it must lie between 0 and 1.")
    return k
