"""Sequential annotators: an annotator's tag depends on the truth and on their previous tag.

[SG19] Simpson and Gurevych, "A Bayesian approach for sequence tagging with crowds", 2019: the "seq" annotator model
(section 3.1) with its variational posterior (section 4). An annotator has a confusion matrix for each previous tag of
their own, which models spans that begin or end too late; the first token of a sequence counts as following O. Prior
counts of invalid pairs of tags are moved as in the authors' program: from I- after O to B- of the type, from I- after
another type's B- to that type's own I-.

Axes: i unit, j annotator, m true tag, n given tag, p the same annotator's previous tag. In `table` annotator j after
tag p is row j * K + p, K being the number of tags.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from crowdlogic.annotators.label_sums import check_size
from crowdlogic.annotators.protocol import (
    Anchors,
    Arrays,
    StoredTables,
    check_correlation,
    expected_counts,
)
from crowdlogic.data.blocks import Engine, Shards, make_shards
from crowdlogic.data.estimate import Beliefs
from crowdlogic.data.labels import CrowdLabels
from crowdlogic.data.names import Classes
from crowdlogic.data.tagging import BEGIN, INSIDE, OUTSIDE, is_span_tag_set, parse_tags
from crowdlogic.errors import OptionError
from crowdlogic.numerics.arrays import Floats, Ints, check_amounts
from crowdlogic.numerics.logspace import dirichlet_divergence, dirichlet_mean, expected_log

INVALID_COUNT = 1e-3
"""Prior count of an annotator's invalid pair of tags, such as I-PER after O."""


@dataclass(frozen=True)
class Sequential:
    """One confusion matrix for each annotator and each of their previous tags ([SG19]).

    Attributes:
        diagonal: Prior count of right tags beyond `spread`, for each truth and previous tag.
        spread: Prior count of all wrong tags together.
        correlation: Correlation of annotators' errors at one token; 0 assumes independence.
    """

    diagonal: float = 10.0
    spread: float = 10.0
    correlation: float = 0.0

    name = "sequential"

    def __post_init__(self) -> None:
        check_amounts(self, positive=("diagonal", "spread"))
        check_correlation(self)

    def observe(self, labels: CrowdLabels, *, anchors: Anchors | None = None, threads: int | None = None) -> Shards:
        """Arrange labels: one annotator for each pair of an annotator and a previous tag."""
        if labels.offsets is None:
            raise OptionError(
                f"{self.name} annotators are for tags of the tokens of sentences. These labels are of single items; "
                f"use confusion, variational or one-coin annotators for them."
            )
        check_size(self.name, len(labels.annotators) * labels.n_classes, labels.n_classes)
        return make_shards(by_previous_tag(labels), anchors=anchors, threads=threads, partial=True)

    def m_step(self, shards: Shards, q: Beliefs) -> PreviousTagTables:
        """Return posteriors from beliefs."""
        return self.from_counts(shards, expected_counts(shards, q))

    def from_counts(self, shards: Engine, counts: Floats) -> PreviousTagTables:
        """Return posteriors from counts[j * K + p, n, m]."""
        return PreviousTagTables(counts + self._tiled_prior(shards), self.correlation)

    def log_prior(self, shards: Engine, arrays: Mapping[str, Floats]) -> float:
        """Return minus the divergence of the posteriors from their prior."""
        return -dirichlet_divergence(arrays["table"], self._tiled_prior(shards), axis=1)

    def load(self, arrays: Mapping[str, Floats]) -> PreviousTagTables:
        """Return posteriors from their array."""
        return PreviousTagTables(arrays["table"], self.correlation)

    def _tiled_prior(self, shards: Engine) -> Floats:
        return np.tile(self.prior(shards.classes), (shards.n_annotators // shards.n_classes, 1, 1))

    def prior(self, classes: Classes) -> Floats:
        """Return prior counts [p, n, m]."""
        n_tags = len(classes)
        wrong = self.spread / max(n_tags - 1, 1)
        counts = np.full((n_tags, n_tags, n_tags), wrong) + np.eye(n_tags) * (self.diagonal + self.spread - wrong)
        return _move_invalid(counts, classes) if is_span_tag_set(classes) else counts


@dataclass(frozen=True, eq=False)
class PreviousTagTables(StoredTables):
    """table[j * K + p, n, m], the Dirichlet posterior of the label n of annotator j after tag p if the truth is m."""

    @property
    def log_table(self) -> Floats:
        """Return E[log p], [j * K + p, n, m]."""
        return expected_log(self.table, axis=1)

    @property
    def confusion(self) -> Floats:
        """Return confusion[j, m, n], averaged over previous tags by their frequency."""
        return dirichlet_mean(self._by_previous.sum(axis=1).transpose(0, 2, 1), axis=2)

    @property
    def _by_previous(self) -> Floats:
        n_tags = self.table.shape[1]
        return self.table.reshape(-1, n_tags, n_tags, n_tags)

    def summaries(self) -> Arrays:
        """Return sequential[j, p, m, n], the probability of label n of annotator j after tag p if the truth is m."""
        return {"sequential": dirichlet_mean(self._by_previous.transpose(0, 1, 3, 2), axis=3)}


def by_previous_tag(labels: CrowdLabels) -> CrowdLabels:
    """Return the labels by (annotator, previous tag) pairs: annotator j after tag p becomes annotator j * K + p."""
    n_annotators, n_tags = len(labels.annotators), labels.n_classes
    pairs = labels.annotator.astype(np.int64) * n_tags + previous_tags(labels)
    names = pl.Series(np.arange(n_annotators * n_tags))
    return replace(labels, annotator=pairs, annotators=names, kind=None)


def previous_tags(labels: CrowdLabels) -> Ints:
    """Return previous[row], the tag that the same annotator gave to the previous unit; O (or the first tag) if none.

    After a partial label, the previous tag is unknown, which is treated as no previous tag.
    """
    outside = labels.classes.index("O") if "O" in labels.classes else 0
    n_annotators = len(labels.annotators)
    # Rows are sorted by unit and annotator, so the key is sorted, and the row of (unit - 1, annotator) can be searched.
    key = labels.unit.astype(np.int64) * n_annotators + labels.annotator
    at = np.minimum(np.searchsorted(key, key - n_annotators), max(len(key) - 1, 0))
    item = labels.item_of_unit
    found = (key[at] == key - n_annotators) & (item[labels.unit] == item[np.maximum(labels.unit - 1, 0)])
    if labels.negated is not None:
        found &= ~labels.negated[at]
    return np.where(found, labels.label[at], outside)


def _move_invalid(counts: Floats, classes: Classes) -> Floats:
    """Return prior counts with those of invalid pairs moved to the tag that the annotator probably meant."""
    tags = parse_tags(classes)
    code = {(int(p), int(t)): k for k, (p, t) in enumerate(zip(tags.prefix, tags.kind, strict=True))}
    outside = code.get((OUTSIDE, -1))
    for kind in range(len(tags.types)):
        inside = code.get((INSIDE, kind))
        if inside is None:
            continue
        if outside is not None:
            _move(counts[outside], inside, code.get((BEGIN, kind)))
        for other in range(len(tags.types)):
            if other != kind:
                if (BEGIN, other) in code:
                    _move(counts[code[BEGIN, other]], inside, code.get((INSIDE, other)))
                if (INSIDE, other) in code:
                    _move(counts[code[INSIDE, other]], inside, None)
    return counts


def _move(counts: Floats, source: int, target: int | None) -> None:
    if target is not None:
        counts[target] += counts[source] - INVALID_COUNT
    counts[source] = INVALID_COUNT
