"""Class proportions: how frequent each class is, for truth methods that look at no items.

Axes: k class.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from crowdlogic.annotators.confusion import SMOOTHING
from crowdlogic.annotators.protocol import FLOOR
from crowdlogic.numerics import dirichlet
from crowdlogic.numerics.arrays import Floats
from crowdlogic.numerics.logspace import safe_log


@dataclass(frozen=True)
class ClassProportions:
    """The posterior mode under a Dirichlet prior.

    Attributes:
        smoothing: Units added to every class.
    """

    smoothing: float = SMOOTHING

    def from_totals(self, totals: Floats) -> Floats:
        """prior[k] from totals[k], the expected number of units of each class."""
        padded = np.maximum(totals + self.smoothing, FLOOR)
        return np.asarray(padded / padded.sum())

    def log(self, prior: Floats) -> Floats:
        """Log prior[k]."""
        return safe_log(prior)

    def log_prior(self, prior: Floats) -> float:
        """What smoothing adds to the log-likelihood, up to a constant."""
        return self.smoothing * float(safe_log(prior).sum()) if self.smoothing else 0.0

    def mean(self, prior: Floats) -> Floats:
        """The proportions themselves."""
        return prior


@dataclass(frozen=True)
class VariationalProportions:
    """The Dirichlet posterior.

    Attributes:
        count: Prior count of each class: one number, or one for each class.
    """

    count: float | Floats = 1.0

    def from_totals(self, totals: Floats) -> Floats:
        """Concentrations[k] from totals[k], the expected number of units of each class."""
        return np.asarray(totals + self.count)

    def log(self, concentration: Floats) -> Floats:
        """E[log p]."""
        return dirichlet.expected_log(concentration, axis=0)

    def log_prior(self, concentration: Floats) -> float:
        """Minus the divergence of the posterior from the prior."""
        return -dirichlet.divergence(concentration, np.asarray(self.count, dtype=np.float64), axis=0)

    def mean(self, concentration: Floats) -> Floats:
        """The posterior mean."""
        return np.asarray(concentration / concentration.sum())
