"""Incremental truth inference: new labels update an estimate without starting over."""

from __future__ import annotations

from dataclasses import dataclass, replace

from crowdlogic.data.corpus import Corpus, align, merge_corpora
from crowdlogic.data.estimate import Estimate
from crowdlogic.data.intake.contract import Duplicates
from crowdlogic.data.joining import concatenate
from crowdlogic.data.labels import CrowdLabels
from crowdlogic.truth.fitting import DEFAULT_FIT, Fitting
from crowdlogic.truth.methods import TruthMethod, infer_truth


@dataclass(frozen=True, eq=False, kw_only=True)
class Incremental:
    """Method with the labels it has seen and their estimate. Create one with `Incremental.start`.

    Attributes:
        method: The method.
        labels: All labels so far.
        estimate: The current estimate.
        corpus: The items, for methods that use them.
    """

    method: TruthMethod
    labels: CrowdLabels
    estimate: Estimate
    corpus: Corpus | None = None

    @classmethod
    def start(
        cls,
        method: TruthMethod,
        labels: CrowdLabels,
        corpus: Corpus | None = None,
        *,
        fitting: Fitting = DEFAULT_FIT,
    ) -> Incremental:
        """Fit the first labels, and return an object that can be updated."""
        estimate = infer_truth(method, labels, corpus, fitting=fitting)
        return cls(method=method, labels=labels, estimate=estimate, corpus=corpus)

    def update(
        self,
        labels: CrowdLabels,
        corpus: Corpus | None = None,
        *,
        duplicates: Duplicates | str = Duplicates.error,
        fitting: Fitting = DEFAULT_FIT,
    ) -> Incremental:
        """Add new labels and refit to all labels, starting from the current beliefs.

        Args:
            labels: The new labels; items and annotators are matched by name.
            corpus: The new items, for methods that use them.
            duplicates: Policy for repeated labels of an item by one annotator: error, first, last or keep.
            fitting: Options of the fit; its `start` is replaced by the current estimate.
        """
        together = concatenate([self.labels, labels], duplicates=duplicates)
        items = merge_corpora(self.corpus, corpus)
        if items is not None:
            together, items = align(together, items)
        estimate = self.method.infer(together, items, fitting=replace(fitting, start=self.estimate))
        return replace(self, labels=together, estimate=estimate, corpus=items)
