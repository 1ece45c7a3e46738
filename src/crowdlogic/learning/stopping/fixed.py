"""Run a fixed number of epochs and keep the last one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from crowdlogic.classifiers.protocol import Arrays

if TYPE_CHECKING:
    from crowdlogic.learning.epoch import Epoch


class FixedEpochs:
    """Keeps every epoch until the next one; the stopping score only counts them."""

    def __init__(self, epochs: int) -> None:
        self.epochs = self.patience = epochs
        self._done = 0

    def judge(self, epoch: Epoch, scores: Mapping[str, float]) -> tuple[float, bool]:  # noqa: ARG002
        """How many epochs came before, and that this one is kept."""
        self._done += 1
        return float(self._done - 1), True

    def arrays(self) -> Arrays:
        """Nothing: the history says how many epochs are done."""
        return {}

    def restore(self, arrays: Arrays, kept: float, done: int) -> None:  # noqa: ARG002
        """Resume after some epochs."""
        self._done = done
