"""A checkpoint in memory, which can interrupt a fit."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from crowdlogic.classifiers.protocol import Arrays


class MemoryCheckpoint:
    """Keeps the state of a fit, and interrupts it once when a pass has had so many epochs.

    Attributes:
        stop_after: The number of epochs; None never interrupts.
    """

    def __init__(self, stop_after: int | None = None) -> None:
        self.stop_after = stop_after
        self._state: tuple[Arrays, Arrays, Mapping[str, Any]] | None = None
        self._second: MemoryCheckpoint | None = None

    def save(self, last: Arrays, best: Arrays, note: Mapping[str, Any]) -> None:
        self._state = (*({name: array.copy() for name, array in arrays.items()} for arrays in (last, best)), dict(note))
        if len(note["history"]) == self.stop_after:
            self.stop_after = None
            raise KeyboardInterrupt

    def load(self) -> tuple[Arrays, Arrays, Mapping[str, Any]] | None:
        return self._state

    def second(self) -> MemoryCheckpoint:
        self._second = self._second or MemoryCheckpoint()
        return self._second
