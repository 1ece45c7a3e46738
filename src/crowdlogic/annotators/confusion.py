"""Confusion matrices: the probability of each label, for each annotator and true class.

[DS79] Dawid and Skene, "Maximum likelihood estimation of observer error-rates using the EM algorithm", 1979.
[KG12] Kim and Ghahramani, "Bayesian classifier combination", 2012.
[LNCL] "Learning from Noisy Crowd Labels with Logics", eq. 12.

`ConfusionMatrices` is the posterior mode under a Dirichlet prior: `smoothing` additional labels in every cell, and
`trust` additional labels on the diagonal. Without trust, the most likely explanation of a single vote against a
frequent class is an annotator who always answers the opposite, so the vote would count as evidence for another class.
`VariationalConfusion` keeps the whole posterior, so that an annotator with few labels has little influence.

Axes: j annotator, m true class, n given label.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from crowdlogic.annotators.label_sums import FLOOR, SMOOTHING, TRUST
from crowdlogic.annotators.protocol import MatrixModel, StoredTables, check_correlation, expected_counts
from crowdlogic.data.blocks import Shards
from crowdlogic.data.estimate import Beliefs
from crowdlogic.numerics.arrays import Floats, check_amounts
from crowdlogic.numerics.logspace import expected_log, safe_log


@dataclass(frozen=True)
class ConfusionMatrices(MatrixModel):
    """One matrix per annotator, estimated by its posterior mode ([DS79] eq. 2.3; [LNCL] eq. 12).

    Attributes:
        smoothing: Number of labels added to every cell; 0 is maximum likelihood.
        trust: Number of labels added to each diagonal cell in addition.
        correlation: Correlation of annotators' errors at one unit; 0 assumes independence.
    """

    smoothing: float = SMOOTHING
    trust: float = TRUST
    correlation: float = 0.0

    name = "confusion"

    def __post_init__(self) -> None:
        check_amounts(self, not_negative=("smoothing", "trust"))
        check_correlation(self)

    def m_step(self, shards: Shards, q: Beliefs) -> Confusion:
        """Return matrices from beliefs."""
        return Confusion(
            confusion_table(expected_counts(shards, q), smoothing=self.smoothing, trust=self.trust), self.correlation
        )

    def load(self, arrays: Mapping[str, Floats]) -> Confusion:
        """Return matrices from their array."""
        return Confusion(arrays["table"], self.correlation)


@dataclass(frozen=True)
class AssumedAccuracy(ConfusionMatrices):
    """Confusion matrices with a given accuracy, equal for all classes and annotators; nothing is estimated.

    Attributes:
        accuracy: Assumed probability that a label is right; the other classes share the rest.
    """

    accuracy: float = 0.85

    name = "assumed-accuracy"

    def m_step(self, shards: Shards, q: Beliefs) -> Confusion:
        """Return the same matrix for each annotator, independent of the beliefs."""
        table = np.full(expected_counts(shards, q).shape, (1.0 - self.accuracy) / max(q.shape[1] - 1, 1))
        diagonal = np.arange(q.shape[1])
        table[:, diagonal, diagonal] = self.accuracy
        return Confusion(table, self.correlation)


@dataclass(frozen=True, eq=False)
class Confusion(StoredTables):
    """table[j, n, m], the probability that annotator j gives label n if the truth is m."""

    @property
    def log_table(self) -> Floats:
        """Return log_table[j, n, m]."""
        return safe_log(self.table)

    @property
    def confusion(self) -> Floats:
        """Return confusion[j, m, n]."""
        return self.table.transpose(0, 2, 1)


@dataclass(frozen=True)
class VariationalConfusion(MatrixModel):
    """One matrix per annotator with a Dirichlet posterior over every row ([KG12]).

    Attributes:
        diagonal: Prior count of right labels, in each class, of every annotator.
        off_diagonal: Prior count of each wrong label.
        correlation: Correlation of annotators' errors at one unit; 0 assumes independence.
    """

    diagonal: float = 2.0
    off_diagonal: float = 0.5
    correlation: float = 0.0

    name = "variational"

    def __post_init__(self) -> None:
        check_amounts(self, positive=("diagonal", "off_diagonal"))
        check_correlation(self)

    def m_step(self, shards: Shards, q: Beliefs) -> Concentrations:
        """Return posteriors from beliefs."""
        counts = expected_counts(shards, q)
        return Concentrations(counts + self.prior(counts.shape[1]), self.correlation)

    def load(self, arrays: Mapping[str, Floats]) -> Concentrations:
        """Return the posteriors of the matrices, given their array."""
        return Concentrations(arrays["table"], self.correlation)

    def prior(self, n_classes: int) -> Floats:
        """Return prior counts [n, m] of an annotator's labels."""
        return np.asarray(np.eye(n_classes) * (self.diagonal - self.off_diagonal) + self.off_diagonal)


@dataclass(frozen=True, eq=False)
class Concentrations(StoredTables):
    """table[j, n, m], the Dirichlet posterior of the labels n of annotator j if the truth is m."""

    @property
    def log_table(self) -> Floats:
        """Return E[log p], [j, n, m]."""
        return expected_log(self.table, axis=1)

    @property
    def confusion(self) -> Floats:
        """Return confusion[j, m, n], the posterior mean."""
        return np.asarray((self.table / self.table.sum(axis=1, keepdims=True)).transpose(0, 2, 1))


def confusion_table(counts: Floats, *, smoothing: float = 0.0, trust: float = 0.0) -> Floats:
    """Return table[j, n, m], the share of label n among the labels of j for class m, from counts[j, n, m]."""
    padded = np.maximum(counts, FLOOR) if smoothing == 0 else counts + smoothing
    if trust:
        padded = padded + trust * np.eye(counts.shape[1])
    return np.asarray(padded / padded.sum(axis=1, keepdims=True))
