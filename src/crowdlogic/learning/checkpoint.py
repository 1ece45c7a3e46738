"""What a fit asks of a checkpoint; `store.checkpoints.RunCheckpoint` is one in a run directory."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from crowdlogic.classifiers.protocol import Arrays


class FitCheckpoint(Protocol):
    """Keeps the state of a fit while it runs."""

    def save(self, last: Arrays, best: Arrays, note: Mapping[str, Any]) -> None:
        """Replace the checkpoint."""

    def load(self) -> tuple[Arrays, Arrays, Mapping[str, Any]] | None:
        """The last epoch, the best one and the note; None when there is nothing yet."""

    def second(self) -> FitCheckpoint:
        """The checkpoint of the second pass, beside this one."""
