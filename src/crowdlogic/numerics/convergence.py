"""Stopping criterion of iterative methods."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from crowdlogic.errors import OptionError


@dataclass(frozen=True, kw_only=True)
class Convergence:
    """Stopping criterion: a maximum number of iterations, or a small enough change.

    Attributes:
        max_iterations: Maximum number of iterations.
        tolerance: Largest change that counts as converged; None stops when nothing changes.
    """

    max_iterations: int = 1000
    tolerance: float | None = 1e-7

    def __post_init__(self) -> None:
        if self.max_iterations < 1:
            raise OptionError(f"max_iterations must be at least 1, got {self.max_iterations:g}.")
        if self.tolerance is not None and not (np.isfinite(self.tolerance) and self.tolerance >= 0):
            raise OptionError(f"tolerance must be at least 0, got {self.tolerance:g}.")

    def is_reached(self, change: float) -> bool:
        """Return whether a change is small enough."""
        return bool(change <= (self.tolerance or 0.0))
