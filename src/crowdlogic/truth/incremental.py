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
    """A method, the labels it has seen and its estimate of them. `Incremental.start` makes the first one.

    Attributes:
        method: The method.
        labels: All labels so far.
        estimate: The present estimate.
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
        """Return the first estimate, ready to be updated."""
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
        """Add new labels and refit to all labels, starting from the present beliefs.

        Args:
            labels: The new labels; items and annotators are matched by name.
            corpus: The new items, for methods that use them.
            duplicates: What to do when an annotator labels an item again: error, first, last or keep.
            fitting: Options of the fit; its `start` is replaced by the present estimate.
        """
        together = concatenate([self.labels, labels], duplicates=duplicates)
        items = merge_corpora(self.corpus, corpus)
        if items is not None:
            together, items = align(together, items)
        estimate = self.method.infer(together, items, fitting=replace(fitting, start=self.estimate))
        return replace(self, labels=together, estimate=estimate, corpus=items)
