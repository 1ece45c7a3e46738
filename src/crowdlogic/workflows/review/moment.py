"""What a review believes at one moment, between two re-fits: everything that its queue, views and filters need.

Axes: i unit, s item.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl

from crowdlogic.data.labels import CrowdLabels
from crowdlogic.data.names import as_text
from crowdlogic.numerics.arrays import Bools, Floats, Ints
from crowdlogic.planning.decisions import Decisions
from crowdlogic.planning.review_order import expected_mistakes_removed
from crowdlogic.planning.review_queue import RANDOM_SHARE
from crowdlogic.workflows.review.answers import AnswerForm
from crowdlogic.workflows.review.evidence import UnitEvidence, annotator_confusion, run_evidence, vote_evidence
from crowdlogic.workflows.review.material import ReviewFit, ReviewMaterial
from crowdlogic.workflows.review.queue import QueueFilter, ServingOrder, expected_mistakes
from crowdlogic.workflows.review.standing import AnnotatorStanding, annotator_standings
from crowdlogic.workflows.review.views import ItemViewer


@dataclass(frozen=True, eq=False, kw_only=True)
class ReviewMoment:
    """What is believed, and what follows from it.

    Attributes:
        number: How many fits there were before.
        fit: What is believed.
        order: Which item comes next.
        mistakes: mistakes[s], how many units of an item are likely wrong.
        standings: How the annotators stand.
        viewer: Shows items.
        confusion: confusion[j, m, n], for the evidence of votes; None where it would be too large.
    """

    number: int
    fit: ReviewFit
    order: ServingOrder
    mistakes: Floats
    standings: tuple[AnnotatorStanding, ...]
    viewer: ItemViewer
    confusion: Floats | None

    @cached_property
    def item_confidence(self) -> Floats:
        """confidence[s], of a sentence that of its least sure token; 0 where there is no answer."""
        estimate = self.fit.estimate
        sure = np.nan_to_num(estimate.confidence, nan=0.0)
        if estimate.offsets is None:
            return sure
        starts, ends = estimate.offsets[:-1], estimate.offsets[1:]
        least = np.ones(len(starts))
        full = np.flatnonzero(ends > starts)
        if len(full):
            least[full] = np.minimum.reduceat(sure, starts[full])
        return least

    def evidence(self, labels: CrowdLabels, item: int) -> list[UnitEvidence]:
        """Why an item has its answer."""
        if self.fit.learned is not None:
            return run_evidence(self.fit.learned, labels.items[item])
        if self.confusion is None:
            return []
        return vote_evidence(labels, self.fit.estimate, self.confusion, item)


@dataclass(frozen=True, kw_only=True)
class ServingOptions:
    """How items are served and shown: the share of random ones, their seed, and whether annotators have names."""

    share: float = RANDOM_SHARE
    seed: int = 0
    hide_names: bool = False


def make_moment(
    material: ReviewMaterial, fit: ReviewFit, decisions: Decisions, *, number: int, options: ServingOptions
) -> ReviewMoment:
    """Everything that follows from a fit with some decisions."""
    labels, estimate = material.labels, fit.estimate
    removed = expected_mistakes_removed(labels, estimate, decisions=decisions, before=material.committee)
    standings = annotator_standings(labels, estimate)
    viewer = ItemViewer(
        form=AnswerForm(labels),
        corpus=material.corpus,
        estimate=estimate,
        standings=standings,
        classifier=None if fit.learned is None else fit.learned.epoch.p,
        hide_names=options.hide_names,
    )
    return ReviewMoment(
        number=number,
        fit=fit,
        order=ServingOrder(labels=labels, removed=removed, share=options.share, seed=options.seed),
        mistakes=expected_mistakes(estimate),
        standings=standings,
        viewer=viewer,
        confusion=annotator_confusion(labels, estimate),
    )


@dataclass(eq=False)
class ItemSearch:
    """Finds the items that fit a filter; what does not change between fits is computed once."""

    material: ReviewMaterial
    form: AnswerForm

    @cached_property
    def _words(self) -> pl.Series:
        """Name and text of every item, in lower case."""
        names, corpus = as_text(self.material.labels.items), self.material.corpus
        if corpus is None:
            return names.str.to_lowercase()
        if corpus.tokens is not None and corpus.offsets is not None:
            texts = [" ".join(corpus.sentence(s)) for s in range(len(names))]
        else:
            texts = list(corpus.texts or [""] * len(names))
        return (names + "\n" + pl.Series(texts, dtype=pl.String)).str.to_lowercase()

    def find(self, wanted: QueueFilter, moment: ReviewMoment) -> Bools:
        """fits[s], whether an item fits, whatever its state."""
        sure = moment.item_confidence
        fits: Bools = (sure >= wanted.least_confidence) & (sure <= wanted.most_confidence)
        if wanted.answer is not None:
            fits &= self._with_units(self._answered(wanted.answer, moment.fit.estimate.answer))
        if wanted.annotator is not None:
            fits &= self._labelled_by(wanted.annotator, moment)
        if wanted.rule is not None:
            fits &= self._touched_by(wanted.rule)
        if wanted.search:
            fits &= self._words.str.contains(wanted.search.lower(), literal=True).to_numpy()
        return fits

    def _answered(self, name: str, answer: Ints) -> Ints:
        """The units with that class, or in a span of that type."""
        tag_set = self.form.tag_set
        if tag_set is None:
            codes: list[Any] = [k for k, own in enumerate(self.form.class_names) if own == name]
        else:
            codes = [k for k, kind in enumerate(tag_set.kind) if kind >= 0 and tag_set.types[int(kind)] == name]
        return np.flatnonzero(np.isin(answer, codes))

    def _labelled_by(self, name: str, moment: ReviewMoment) -> Bools:
        labels = self.material.labels
        people = [j for j in range(len(labels.annotators)) if moment.viewer.annotator_name(j) == name]
        return self._with_units(labels.unit[np.isin(labels.annotator, people)])

    def _touched_by(self, rule: int) -> Bools:
        rules = self.material.rules
        known = rules is not None and 0 <= rule < len(rules.units)
        return self._with_units(rules.units[rule] if rules is not None and known else np.zeros(0, dtype=np.int64))

    def _with_units(self, units: Ints) -> Bools:
        """The items that have one of these units."""
        fits = np.zeros(len(self.material.labels.items), dtype=bool)
        fits[self.material.labels.item_of_unit[units]] = True
        return fits
