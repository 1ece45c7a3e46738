"""Protocol for annotator models: an M-step, and the evidence of the labels under its parameters.

    shards = model.observe(labels)                 # the labels as the model counts them, arranged once
    annotators = model.m_step(shards, q)           # parameters from beliefs ([LNCL] eq. 12)
    annotators.evidence(shards)                    # evidence[i, k] = log p(labels of i | t_i = k) ([LNCL] eq. 13)
    annotators.terms(shards)                       # the contribution of each label, for explanations

Methods for sequences compute the M-step from expected counts (`CountModel`), which are part of the E-step.

Annotators who make mistakes on the same units are not independent. Models with a `correlation` above 0
divide the evidence of a unit by the design effect of its labels; counts of the M-step stay whole.

[LNCL] "Learning from Noisy Crowd Labels with Logics". [KISH65] Kish, "Survey Sampling", 1965, section 5.4.
Axes: i unit, j annotator, k class, m true class, n given label.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol, TypeAlias, runtime_checkable

import numpy as np

from crowdlogic.annotators.label_sums import add_complements, check_size, label_terms, sum_evidence, tally
from crowdlogic.data.blocks import Engine, Shards, make_shards
from crowdlogic.data.estimate import Beliefs
from crowdlogic.data.labels import CrowdLabels, require_whole_labels
from crowdlogic.errors import OptionError
from crowdlogic.numerics.arrays import Floats
from crowdlogic.numerics.logspace import design_effect
from crowdlogic.registry import ANNOTATOR_MODELS

Arrays: TypeAlias = dict[str, Floats]
"""Parameters by name, as stored in checkpoints and runs."""

Anchors: TypeAlias = Mapping[Any, Any]
"""Known truths: item -> true class, or the tags of a sequence."""


class Annotators(Protocol):
    """Protocol for the parameters of all annotators."""

    @property
    def confusion(self) -> Floats:
        """confusion[j, m, n], the probability of label n of annotator j if the truth is m; a summary for all models."""

    def evidence(self, shards: Shards) -> Floats:
        """Return evidence[i, k], the log probability of the labels of unit i given class k, up to a constant."""

    def terms(self, shards: Shards) -> Floats:
        """Return terms[row, k], the contribution of each label to the evidence of its unit; 0 for weight 0."""

    def arrays(self) -> Arrays:
        """Return the parameters by name."""


@ANNOTATOR_MODELS.serves
@runtime_checkable
class AnnotatorModel(Protocol):
    """Protocol for annotator models: their options, and the estimation of their parameters."""

    @property
    def name(self) -> str:
        """Name of the model in `registry.ANNOTATOR_MODELS`."""

    @property
    def correlation(self) -> float:
        """Correlation of annotators' errors at one unit; 0 for a model that assumes independence."""

    def observe(self, labels: CrowdLabels, *, anchors: Anchors | None = None, threads: int | None = None) -> Shards:
        """Arrange labels for this model, once for every table of labels."""

    def m_step(self, shards: Shards, q: Beliefs) -> Annotators:
        """Return parameters from beliefs ([LNCL] eq. 12)."""

    def load(self, arrays: Mapping[str, Floats]) -> Annotators:
        """Return parameters from `Annotators.arrays`."""


class TableAnnotators:
    """Parameters that consist of a table of log probabilities for each annotator.

    Attributes:
        correlation: Correlation of annotators' errors at one unit; 0 assumes independence.
    """

    correlation: float = 0.0

    @property
    def log_table(self) -> Floats:
        """log_table[j, n, m], log p(label n of annotator j | the truth is m)."""
        raise NotImplementedError

    @property
    def confusion(self) -> Floats:
        """confusion[j, m, n], the probability of label n of annotator j if the truth is m."""
        raise NotImplementedError

    def evidence(self, shards: Shards) -> Floats:
        """Return evidence[i, m], the sum of log_table[j, n, m] over the labels of i, divided by their design effect."""
        found = sum_evidence(shards, self.log_table)
        if self.correlation:
            for part in shards.parts:
                found[part.units] /= design_effect(np.diff(part.starts), self.correlation)[:, None]
        return found

    def terms(self, shards: Shards) -> Floats:
        """Return terms[row, m], log_table[j, n, m] times the weight of the label, divided by the design effect."""
        log_table = add_complements(self.log_table) if shards.partial else self.log_table
        found = np.concatenate([label_terms(part, log_table) for part in shards.parts])
        if self.correlation:
            counts = np.concatenate([np.repeat(n, n) for n in (np.diff(part.starts) for part in shards.parts)])
            found /= design_effect(counts, self.correlation)[:, None]
        return found

    def arrays(self) -> Arrays:
        """Return the parameters by name."""
        raise NotImplementedError

    def summaries(self) -> Arrays:
        """Return further parameters to report beyond `confusion`, by name."""
        return {}


@dataclass(frozen=True, eq=False)
class StoredTables(TableAnnotators):
    """Parameters that are a table of each annotator.

    Attributes:
        table: table[j, n, m], the probability that annotator j says n where the truth is m, or its concentration.
        correlation: Correlation of annotators' errors at one unit; 0 assumes independence.
    """

    table: Floats
    correlation: float = 0.0

    def arrays(self) -> Arrays:
        """Return the table."""
        return {"table": self.table}


class MatrixModel:
    """`observe` of models with one matrix per annotator."""

    name: ClassVar[str]
    takes_partial_labels: ClassVar[bool] = True

    def observe(self, labels: CrowdLabels, *, anchors: Anchors | None = None, threads: int | None = None) -> Shards:
        """Arrange labels: one matrix per annotator."""
        check_size(self.name, len(labels.annotators), labels.n_classes)
        if not self.takes_partial_labels:
            require_whole_labels(labels, f"{self.name} annotators")
        return make_shards(labels, anchors=anchors, threads=threads, partial=self.takes_partial_labels)


class CountModel(Protocol):
    """Protocol for models whose parameters follow from expected counts, so that the E-step can collect these."""

    def observe(self, labels: CrowdLabels, *, anchors: Anchors | None = None, threads: int | None = None) -> Shards:
        """Arrange labels for this model."""

    def from_counts(self, shards: Engine, counts: Floats) -> TableAnnotators:
        """Return parameters from counts[j, n, m], the expected number of labels n that j gave to units of class m."""

    def log_prior(self, shards: Engine, arrays: Mapping[str, Floats]) -> float:
        """Return the contribution of the prior to the objective: its log density, or minus the divergence from it."""

    def load(self, arrays: Mapping[str, Floats]) -> TableAnnotators:
        """Return parameters from their arrays."""


def check_correlation(model: Any) -> None:
    """Raise an error for an invalid correlation."""
    if not 0 <= model.correlation <= 1:
        raise OptionError(f"{model.name}: correlation must be between 0 and 1, got {model.correlation}.")


def expected_counts(shards: Engine, q: Beliefs) -> Floats:
    """Return counts[j, n, m], the expected number of labels n that j gave to units of class m.

    Partial labels are divided among their classes in proportion to the complete labels.
    """
    return tally(shards, np.asarray(q, dtype=np.float64)).counts
