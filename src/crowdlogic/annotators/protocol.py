"""The protocol of annotator models: an M-step, and the evidence of the labels under its parameters.

    shards = model.observe(labels)                 # the labels as the model counts them, arranged once
    annotators = model.m_step(shards, q)           # parameters from beliefs ([LNCL] eq. 12)
    annotators.evidence(shards)                    # evidence[i, k] = log p(labels of i | t_i = k) ([LNCL] eq. 13)
    annotators.terms(shards)                       # the same label by label, for explanations

Methods for sequences take the M-step from expected counts (`CountModel`), which one sweep
over the labels gives together with the E-step.

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

from crowdlogic.annotators.label_sums import add_complements, check_size, sum_evidence, tally
from crowdlogic.data.blocks import Engine, Shard, Shards, make_shards
from crowdlogic.data.estimate import Beliefs
from crowdlogic.data.labels import CrowdLabels, require_whole_labels
from crowdlogic.errors import OptionError
from crowdlogic.numerics.arrays import Floats
from crowdlogic.numerics.logspace import design_effect
from crowdlogic.registry import ANNOTATOR_MODELS

Arrays: TypeAlias = dict[str, Floats]
"""Parameters by name, as a checkpoint or a run directory holds them."""

Anchors: TypeAlias = Mapping[Any, Any]
"""item -> true class, or the tags of a sequence."""


class Annotators(Protocol):
    """The parameters of all annotators."""

    @property
    def confusion(self) -> Floats:
        """confusion[j, m, n], how annotator j answers n where the truth is m: a summary that every model can give."""

    def evidence(self, shards: Shards) -> Floats:
        """evidence[i, k], the log probability of the labels of unit i if its class is k, up to a constant per unit."""

    def terms(self, shards: Shards) -> Floats:
        """Return terms[row, k], what each label adds to the evidence of its unit; a label of weight 0 adds nothing."""

    def arrays(self) -> Arrays:
        """Return the parameters by name."""


@ANNOTATOR_MODELS.serves
@runtime_checkable
class AnnotatorModel(Protocol):
    """The options of a model, and how its parameters are estimated."""

    @property
    def name(self) -> str:
        """The model's name in `registry.ANNOTATOR_MODELS`."""

    @property
    def correlation(self) -> float:
        """Correlation of annotators' errors at one unit; 0 for a model that assumes independence."""

    def observe(self, labels: CrowdLabels, *, anchors: Anchors | None = None, threads: int | None = None) -> Shards:
        """Arrange labels for this model: once for every table of labels."""

    def m_step(self, shards: Shards, q: Beliefs) -> Annotators:
        """Return parameters from beliefs ([LNCL] eq. 12)."""

    def load(self, arrays: Mapping[str, Floats]) -> Annotators:
        """Return parameters from `Annotators.arrays`."""


class TableAnnotators:
    """Parameters that give each annotator a table of log probabilities.

    Attributes:
        correlation: How far the errors of annotators at one unit go together; 0 takes them to be independent.
    """

    correlation: float = 0.0

    @property
    def log_table(self) -> Floats:
        """log_table[j, n, m], log p(annotator j says n | the truth is m)."""
        raise NotImplementedError

    @property
    def confusion(self) -> Floats:
        """confusion[j, m, n], how annotator j answers n where the truth is m."""
        raise NotImplementedError

    def evidence(self, shards: Shards) -> Floats:
        """evidence[i, m], the sum of log_table[j, n, m] over the labels of unit i, divided by their design effect."""
        found = sum_evidence(shards, self.log_table)
        if self.correlation:
            for part in shards.parts:
                found[part.units] /= design_effect(np.diff(part.starts), self.correlation)[:, None]
        return found

    def terms(self, shards: Shards) -> Floats:
        """terms[row, m], log_table[j, n, m] of each label times its weight, divided by the unit's design effect."""
        log_table = add_complements(self.log_table) if shards.partial else self.log_table
        found = np.concatenate([weigh_terms(part, log_table[part.annotator, part.label]) for part in shards.parts])
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
        correlation: How far the errors of annotators at one unit go together; 0 takes them to be independent.
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
    """A model whose parameters follow from expected counts, so that one sweep is an E-step and an M-step."""

    def observe(self, labels: CrowdLabels, *, anchors: Anchors | None = None, threads: int | None = None) -> Shards:
        """Arrange labels for this model."""

    def from_counts(self, shards: Engine, counts: Floats) -> TableAnnotators:
        """Return parameters from counts[j, n, m], the expected number of labels n that j gave to units of class m."""

    def log_prior(self, shards: Engine, arrays: Mapping[str, Floats]) -> float:
        """Return what the prior adds to the objective: its log density, or minus the divergence from it."""

    def load(self, arrays: Mapping[str, Floats]) -> TableAnnotators:
        """Return parameters from their arrays."""


def check_correlation(model: Any) -> None:
    """Refuse a model whose correlation is none."""
    if not 0 <= model.correlation <= 1:
        raise OptionError(f"{model.name}: correlation must lie from 0 to 1, not at {model.correlation}.")


def weigh_terms(shard: Shard, terms: Floats) -> Floats:
    """terms[row, k] times the weight of each label; 0 for a label of weight 0, even where the term is infinite."""
    if not len(shard.weight):
        return terms
    weight = shard.weight[:, None]
    return np.where(weight > 0, terms, 0.0) * weight


def expected_counts(shards: Engine, q: Beliefs, log_table: Floats | None = None) -> Floats:
    """Return counts[j, n, m], the expected number of labels n that j gave to units of class m.

    Partial labels are shared among their classes by log_table[j, n, m] if given, else as the whole ones were.
    """
    return tally(shards, np.asarray(q, dtype=np.float64), log_table=log_table).counts
