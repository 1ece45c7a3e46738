"""What a stopping rule is, and the limits that all of them share."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from crowdlogic.classifiers.protocol import Arrays
from crowdlogic.errors import OptionError
from crowdlogic.learning.stopping.held_out import HeldOut

if TYPE_CHECKING:
    from crowdlogic.learning.epoch import Epoch


@dataclass(frozen=True, kw_only=True)
class TrainingLimits:
    """How long a fit goes on, what stops it, and its random seed.

    Attributes:
        epochs: Maximum number of epochs.
        patience: Epochs without a better dev score before stopping; held-out labels have their own (`held_out`).
        held_out: The labels to hold out for early stopping when there is no dev gold; None runs all epochs and keeps
            the last.
        seed: Random seed.
    """

    epochs: int = 30
    patience: int = 5
    held_out: HeldOut | None = HeldOut()
    seed: int = 0

    def __post_init__(self) -> None:
        if self.epochs < 1 or self.patience < 1:
            raise OptionError(f"epochs and patience must be 1 or more, not {self.epochs} and {self.patience}.")
        if self.seed < 0:
            raise OptionError(f"seed must be 0 or more, not {self.seed}.")


class StoppingRule(Protocol):
    """Scores every epoch of a pass and decides whether it replaces the best one."""

    @property
    def epochs(self) -> int:
        """Maximum number of epochs."""

    @property
    def patience(self) -> int:
        """Epochs in a row that are not kept before the pass ends."""

    def judge(self, epoch: Epoch, scores: Mapping[str, float]) -> tuple[float, bool]:
        """The stopping score of an epoch, and whether it is the one to keep from now on."""

    def arrays(self) -> Arrays:
        """Its state, for a checkpoint."""

    def restore(self, arrays: Arrays, kept: float, done: int) -> None:
        """Go on after `done` epochs, of which the one that is kept has the score `kept`."""
