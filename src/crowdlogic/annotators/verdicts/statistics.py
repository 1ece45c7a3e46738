"""How every annotator answers, by labels and beliefs: the figures that flags are decided by.

Skill is Cohen's kappa between an annotator's labels and the believed truth of what they labelled: (right - chance) /
(1 - chance), where chance is how often labels with the same frequencies, given at random, would be right. It is 1 for
an annotator who is always right, 0 for guessing or always the same label, and negative for worse than chance. Its
interval is that of the share of right labels, so the flags become careful by themselves where labels are few.

Axes: j annotator, m true class, n given label.

[COHEN60] Cohen: A coefficient of agreement for nominal scales. Educational and Psychological Measurement 20, 1960.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from crowdlogic.annotators.protocol import MOST_CELLS
from crowdlogic.annotators.verdicts.scores import LEVEL, AnnotatorScores
from crowdlogic.engines.shards import make_shards
from crowdlogic.engines.sweeps import tally
from crowdlogic.numerics.arrays import Floats, Ints
from crowdlogic.numerics.intervals import credible_interval

SMOOTHING = 0.5
"""Pseudo-counts over each row of a smoothed confusion matrix."""


@dataclass(frozen=True, eq=False, kw_only=True)
class ConfusionStatistics:
    """Expected confusion counts of every annotator, and what follows from them.

    Attributes:
        names: The annotators' names.
        classes: The classes, as text.
        counts: counts[j, m, n], expected number of labels n where the truth is m; without classes where they would
            not fit into memory.
        n_labels: n_labels[j], labels given.
        n_items: n_items[j], items labelled.
        n_compared: n_compared[j], those of them that something else speaks of, too, such as another annotator's label;
            None for all.
        level: The level of the intervals.
    """

    names: tuple[str, ...]
    classes: tuple[str, ...]
    counts: Floats
    n_labels: Ints
    n_items: Ints
    n_compared: Ints | None = None
    level: float = LEVEL

    @cached_property
    def given(self) -> Floats:
        """given[j], the weight of all labels of j."""
        return np.asarray(self.counts.sum(axis=(1, 2)))

    @cached_property
    def right(self) -> Floats:
        """right[j], the expected weight of the right ones."""
        return np.asarray(np.einsum("jmm->j", self.counts))

    @cached_property
    def label_share(self) -> Floats:
        """label_share[j, n], how often each label is given."""
        return np.asarray(self.counts.sum(axis=1) / np.maximum(self.given, 1e-300)[:, None])

    @cached_property
    def truth_share(self) -> Floats:
        """truth_share[j, m], how common each class is among what j labelled."""
        return np.asarray(self.counts.sum(axis=2) / np.maximum(self.given, 1e-300)[:, None])

    @cached_property
    def chance(self) -> Floats:
        """chance[j], how often labels with the same frequencies, given at random, would be right."""
        return np.asarray((self.label_share * self.truth_share).sum(axis=1))

    @property
    def smoothed(self) -> Floats:
        """confusion[j, m, n], with SMOOTHING pseudo-counts over each row."""
        counts = self.counts + SMOOTHING / max(self.counts.shape[1], 1)
        return np.asarray(counts / counts.sum(axis=2, keepdims=True))

    @cached_property
    def skill(self) -> tuple[Floats, Floats, Floats]:
        """skill[j] with both ends of its interval at the usual level."""
        return self.skill_at(self.level)

    def skill_at(self, level: float) -> tuple[Floats, Floats, Floats]:
        """skill[j] ([COHEN60]) with both ends of its interval; NaN where chance is 1, or nothing was labelled."""
        room = np.where((self.given > 0) & (self.chance < 1 - 1e-9), 1 - self.chance, np.nan)
        low, high = credible_interval(self.right, self.given, level)
        share = self.right / np.maximum(self.given, 1e-300)
        return (share - self.chance) / room, (low - self.chance) / room, (high - self.chance) / room


def confusion_statistics(scores: AnnotatorScores) -> ConfusionStatistics:
    """The confusion statistics of all annotators."""
    labels, size = scores.labels, len(scores.labels.annotators)
    counts: Floats = np.zeros((size, 0, 0))
    if labels.n_labels and size * labels.n_classes**2 <= MOST_CELLS:
        counts = tally(make_shards(labels, partial=True), scores.estimate.beliefs).counts.transpose(0, 2, 1)
    return ConfusionStatistics(
        names=tuple(str(name) for name in labels.annotators),
        classes=tuple(str(name) for name in labels.classes),
        counts=counts,
        n_labels=scores.n_labels,
        n_items=scores.n_items,
        n_compared=scores.n_compared,
    )
