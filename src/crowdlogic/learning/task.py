"""What a fit is given, made ready: labels and corpora over the same items and classes, and what is kept apart."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from crowdlogic.classifiers.protocol import derive_seed
from crowdlogic.data.corpus import UNKNOWN, Corpus, align
from crowdlogic.data.labels import CrowdLabels
from crowdlogic.data.names import Classes, ClassName, merge_classes
from crowdlogic.errors import CorpusError
from crowdlogic.learning.scoring import is_scorable
from crowdlogic.learning.stopping import HeldOut, Limits
from crowdlogic.numerics.arrays import Floats


@dataclass(frozen=True, eq=False)
class Task:
    """Everything a fit looks at.

    Attributes:
        corpus: The training items.
        labels: All labels.
        learnt: The labels to learn from.
        held: The labels kept apart, when stopping looks at them.
        dev: Items with gold to stop by.
        watched: Items that are only scored, by name.
        held_out: How labels were kept apart; None when none were.
        again: Whether this is the second pass: what the first kept apart is learnt from, too.
    """

    corpus: Corpus
    labels: CrowdLabels
    learnt: CrowdLabels
    held: CrowdLabels | None = None
    dev: Corpus | None = None
    watched: Mapping[str, Corpus] = field(default_factory=dict)
    held_out: HeldOut | None = None
    again: bool = False

    @property
    def refits(self) -> bool:
        """Whether labels kept apart tell when enough is learnt, and all labels are then learnt anew."""
        return self.dev is None and self.held_out is not None and self.held_out.refit

    @property
    def averaged(self) -> int:
        """Over how many epochs at least that second pass averages the classifier's weights."""
        return 1 if self.held_out is None else self.held_out.average

    def whole(self) -> Task:
        """The task of the second pass: nothing is kept apart."""
        return replace(self, learnt=self.labels, held=None, held_out=None, again=True)

    def limits(self, epochs: int, patience: int) -> Limits:
        """When to stop: with the patience given when gold decides, else with that of the labels kept apart."""
        by_labels = self.dev is None and self.held_out is not None
        return Limits(epochs, self.held_out.patience if by_labels and self.held_out is not None else patience)

    @property
    def counted(self) -> Floats:
        """weight[i]: 1 for a unit that somebody labelled, else 0: nothing is learnt from an item nobody looked at."""
        return (self.learnt.labels_per_unit() > 0).astype(np.float64)


def task_of(
    corpus: Corpus,
    labels: CrowdLabels,
    *,
    dev: Corpus | None,
    watched: Mapping[str, Corpus] | None,
    held_out: HeldOut | None,
    seed: int,
    keep: bool = False,
) -> Task:
    """Align everything, and keep labels apart when there is no dev gold (or when they are needed anyway: `keep`)."""
    labels, corpus = align(labels, corpus)
    if labels.weight is not None:
        labels = labels.take(labels.weight > 0)  # a label of weight 0 says nothing
    if not labels.n_labels:
        raise CorpusError("There are no labels to learn from. Bring a table of item, annotator, label.")
    if labels.n_classes < 2:
        raise CorpusError(
            f"There is nothing to learn: all labels are {labels.classes[0]!r}. Bring two classes or more."
        )
    classes = _all_classes(labels, corpus, dev, watched)
    labels, corpus = labels.with_classes(classes), corpus.with_classes(classes)
    dev = None if dev is None else _checked(dev, corpus, "dev")
    learnt, held = labels, None
    if held_out is not None and (dev is None or keep):
        learnt, held = held_out.split(labels, seed=derive_seed(seed, "held out"))
    others = {name: _checked(other, corpus, name) for name, other in (watched or {}).items()}
    return Task(corpus, labels, learnt, held, dev, others, None if held is None else held_out)


def _all_classes(
    labels: CrowdLabels, corpus: Corpus, dev: Corpus | None, watched: Mapping[str, Corpus] | None
) -> Classes:
    """The classes of the labels, and those that only gold has."""
    used: list[ClassName] = []
    for other in (corpus, dev, *(watched or {}).values()):
        if other is not None and other.gold is not None:
            used += [other.classes[k] for k in np.unique(other.gold[other.gold != UNKNOWN])]
    return merge_classes(labels.classes, used)


def _checked(other: Corpus, corpus: Corpus, name: str) -> Corpus:
    if other.is_sequential != corpus.is_sequential:
        raise CorpusError(f"The {name} items are of another kind than the training items: documents beside sequences.")
    if not is_scorable(other):
        raise CorpusError(f"The {name} items have no gold. Give gold with them, or leave them out.")
    return other.with_classes(corpus.classes)


def annotator_weights(task: Task) -> Floats:
    """weight[i], the number of annotators of a unit's item over the mean number ([LNCL] eq. 10); 0 where none."""
    item, _, _ = task.learnt.annotations()
    count = np.bincount(item, minlength=len(task.learnt.items)).astype(np.float64)
    mean = count[count > 0].mean()
    return np.asarray((count / mean)[task.learnt.item_of_unit] * task.counted)
