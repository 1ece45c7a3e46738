"""Stop by the student's score on a dev set with gold: the first epoch with the best score is kept."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from crowdlogic.classifiers.protocol import Arrays

if TYPE_CHECKING:
    from crowdlogic.learning.epoch import Epoch

DEV_STUDENT = "dev student"
"""The name of the score that decides."""


class DevScore:
    """Keeps the first epoch with the best dev score."""

    def __init__(self, epochs: int, patience: int) -> None:
        self.epochs, self.patience = epochs, patience
        self._best: float | None = None

    def judge(self, epoch: Epoch, scores: Mapping[str, float]) -> tuple[float, bool]:  # noqa: ARG002 (scores decide)
        """The dev score, and whether none was as good before."""
        score = scores[DEV_STUDENT]
        is_kept = self._best is None or score > self._best
        if is_kept:
            self._best = score
        return score, is_kept

    def arrays(self) -> Arrays:
        """Nothing: the history has the scores."""
        return {}

    def restore(self, arrays: Arrays, kept: float, done: int) -> None:  # noqa: ARG002
        """Resume with the best score so far."""
        self._best = kept
