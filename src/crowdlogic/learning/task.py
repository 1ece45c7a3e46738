"""The inputs of a fit: labels and corpora aligned to the same items and classes, and the held-out labels."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from crowdlogic.annotators.label_sums import find_labelling_functions
from crowdlogic.annotators.protocol import AnnotatorModel, Annotators
from crowdlogic.classifiers.protocol import derive_seed
from crowdlogic.data.blocks import Shards, anchor_classes
from crowdlogic.data.chain_beliefs import AnyBeliefs, ChainBeliefs, answers, independent_pairs
from crowdlogic.data.corpus import UNKNOWN, Corpus, align
from crowdlogic.data.estimate import Beliefs, KnownTruths, drawn_at_random
from crowdlogic.data.labels import CrowdLabels
from crowdlogic.data.names import Classes, ClassName, merge_classes
from crowdlogic.data.tagging import is_span_tag_set
from crowdlogic.errors import CorpusError
from crowdlogic.learning.posterior import Posterior
from crowdlogic.learning.stopping import HeldOut, StoppingRule, TrainingLimits
from crowdlogic.metrics.scores import accuracy
from crowdlogic.numerics.arrays import Floats, Ints
from crowdlogic.numerics.logspace import LOG_ZERO
from crowdlogic.registry import STOPPING_RULES

# Score of a set of answers: accuracy for documents, span F1 for BIO tags.


def is_scorable(corpus: Corpus) -> bool:
    """Return whether any unit has gold."""
    return corpus.gold is not None and bool((corpus.gold != UNKNOWN).any())


def score(corpus: Corpus, beliefs: AnyBeliefs) -> float:
    """Return the accuracy, or conlleval's span F1 if the classes are span tags."""
    return score_answers(corpus, answers(beliefs, corpus.offsets))


def score_answers(corpus: Corpus, answer: Ints) -> float:
    """Return the same score as `score`, for answers."""
    gold = np.asarray(corpus.gold)
    if corpus.offsets is not None and is_span_tag_set(corpus.classes):
        from crowdlogic.metrics.spans import span_scores

        return float(span_scores(gold, answer, corpus.offsets, corpus.classes).f1)
    return float(accuracy(gold, answer))


def score_name(classes: Classes, *, sequential: bool) -> str:
    """Return the name of the score."""
    return "span F1" if sequential and is_span_tag_set(classes) else "accuracy"


@dataclass(frozen=True, eq=False, kw_only=True)
class Task:
    """Inputs of a fit, aligned to the same items and classes.

    Attributes:
        corpus: The training items.
        labels: All labels.
        training_labels: The labels used for training.
        held_labels: The held-out labels, if any.
        dev: Items with gold for early stopping.
        watched: Items that are only scored, by name.
        held_out: Options with which labels were held out; None if none were.
        known: known[i], the class of a unit whose truth is known, UNKNOWN elsewhere; empty if no truth is known.
        sampled: Like `known`, for items that were drawn at random, which may be used for calibration; None if all were.
    """

    corpus: Corpus
    labels: CrowdLabels
    training_labels: CrowdLabels
    held_labels: CrowdLabels | None = None
    dev: Corpus | None = None
    watched: Mapping[str, Corpus] = field(default_factory=dict)
    held_out: HeldOut | None = None
    known: Ints = field(default_factory=lambda: np.empty(0, dtype=np.int32))
    sampled: Ints | None = None

    def clamp(self, beliefs: Beliefs) -> Beliefs:
        """Return the beliefs, set to certainty where the truth is known."""
        if not len(self.known):
            return beliefs
        units = np.flatnonzero(self.known != UNKNOWN)
        clamped = beliefs.copy()
        clamped[units] = np.eye(beliefs.shape[1])[self.known[units]]
        return clamped

    def clamp_targets(self, beliefs: AnyBeliefs) -> AnyBeliefs:
        """Return targets set to certainty where the truth is known; in chains, neighbours become independent of it."""
        if not isinstance(beliefs, ChainBeliefs):
            return self.clamp(beliefs)
        if not len(self.known):
            return beliefs
        q, pair, is_known = self.clamp(beliefs.q), beliefs.pair.copy(), self.known != UNKNOWN
        touched = is_known | np.append(False, is_known[:-1])
        pair[touched] = independent_pairs(q, np.asarray(self.corpus.offsets))[touched]
        return ChainBeliefs(q, pair)

    def clamp_posterior(self, posterior: Posterior) -> Posterior:
        """Return the posterior, set to certainty where the truth is known."""

        def clamped(p: AnyBeliefs, annotators: Annotators, crowd: Shards) -> tuple[AnyBeliefs, float]:
            if isinstance(p, ChainBeliefs):
                if p.scores is not None:
                    # Other tags are impossible where the truth is known, which informs the neighbours
                    units = np.flatnonzero(self.known != UNKNOWN)
                    other = np.zeros_like(p.q)
                    other[units] = LOG_ZERO
                    other[units, self.known[units]] = 0.0
                    p = replace(p, scores=p.scores.add(other))
                return posterior(p, annotators, crowd)
            q_a, objective = posterior(p, annotators, crowd)
            return self.clamp_targets(q_a), objective

        return clamped if len(self.known) else posterior

    @property
    def refits(self) -> bool:
        """Whether held-out labels choose the epoch and a second pass is then trained on all labels."""
        return self.dev is None and self.held_out is not None and self.held_out.refit

    @property
    def min_averaged_epochs(self) -> int:
        """Minimum number of epochs over which the second pass averages the classifier's weights."""
        return 1 if self.held_out is None else self.held_out.average

    def with_all_labels(self) -> Task:
        """Return the task of the second pass, in which nothing is held out."""
        return replace(self, training_labels=self.labels, held_labels=None, held_out=None)

    def stopping_rule(self, limits: TrainingLimits, model: AnnotatorModel) -> StoppingRule:
        """Return the stopping rule named by the limits; by default one for the dev set or held-out labels, if any."""
        by_functions = find_labelling_functions(self.labels).any() and limits.held_out is not None
        otherwise = "settled" if by_functions else "fixed"
        default = "dev" if self.dev is not None else "held-out" if self.held_labels is not None else otherwise
        rule: StoppingRule = STOPPING_RULES.load(limits.stopping or default).for_task(self, limits, model)
        return rule

    @property
    def unit_weights(self) -> Floats:
        """weight[i], 1 for a unit with labels or a known truth, otherwise 0."""
        learnt = self.training_labels.labels_per_unit() > 0
        return (learnt | (self.known != UNKNOWN) if len(self.known) else learnt).astype(np.float64)


def prepare_task(
    corpus: Corpus,
    labels: CrowdLabels,
    *,
    dev: Corpus | None = None,
    watched: Mapping[str, Corpus] | None = None,
    anchors: Mapping[Any, Any] | None = None,
    limits: TrainingLimits,
) -> Task:
    """Align all inputs, and hold out labels if there is no dev gold.

    Args:
        corpus: The items.
        labels: Their labels.
        dev: Items with gold for early stopping.
        watched: Items with gold that are only scored.
        anchors: item -> true class, where it is known.
        limits: Number of epochs, stopping rule and held-out labels.
    """
    labels, corpus = align(labels, corpus)
    if labels.weight is not None:
        labels = labels.take(labels.weight > 0)  # a label of weight 0 has no effect
    if not labels.n_labels:
        raise CorpusError("There are no labels to learn from. Supply a table of item, annotator, label.")
    if labels.n_classes < 2:
        raise CorpusError(
            f"There is nothing to learn: all labels are {labels.classes[0]!r}. Supply labels of at least two classes."
        )
    # The classes of the labels, followed by those that only occur in gold
    used: list[ClassName] = []
    for other in (corpus, dev, *(watched or {}).values()):
        if other is not None and other.gold is not None:
            used += [other.classes[k] for k in np.unique(other.gold[other.gold != UNKNOWN])]
    classes = merge_classes(labels.classes, used)
    labels, corpus = labels.with_classes(classes), corpus.with_classes(classes)
    if limits.stopping == "held-out" and dev is not None:  # the dev set is only scored
        watched, dev = {**(watched or {}), "dev": dev}, None
    dev = None if dev is None else _check_gold(dev, corpus, "dev")
    training, held, how = labels, None, limits.held_out
    if how is not None and dev is None and holds_out(labels, limits):
        training, held = how.split(labels, seed=derive_seed(limits.seed, "held out"))
    return Task(
        corpus=corpus,
        labels=labels,
        training_labels=training,
        held_labels=held,
        dev=dev,
        watched={name: _check_gold(other, corpus, name) for name, other in (watched or {}).items()},
        held_out=None if held is None else how,
        known=anchor_classes(labels, anchors),
        sampled=anchor_classes(labels, drawn_at_random(anchors)) if isinstance(anchors, KnownTruths) else None,
    )


def holds_out(labels: CrowdLabels, limits: TrainingLimits) -> bool:
    """Return whether labels are held out for early stopping if there is no dev gold.

    Labelling functions follow from the items, so their held-out labels show how well a classifier imitates them, not
    how often it is right. By default a fit to them stops when the answers have settled.
    """
    if limits.held_out is None or limits.stopping == "fixed":
        return False
    return limits.stopping is not None or not find_labelling_functions(labels).any()


def _check_gold(other: Corpus, corpus: Corpus, name: str) -> Corpus:
    if other.is_sequential != corpus.is_sequential:
        raise CorpusError(f"The {name} items and the training items must both be documents or both be sequences.")
    if not is_scorable(other):
        raise CorpusError(f"The {name} items have no gold. Add gold, or leave them out.")
    return other.with_classes(corpus.classes)


def annotator_weights(task: Task) -> Floats:
    """Return weight[i], the number of annotators of a unit's item over the mean number ([LNCL] eq. 10)."""
    item, _, _ = task.training_labels.annotations()
    count = np.bincount(item, minlength=len(task.training_labels.items)).astype(np.float64)
    mean = count[count > 0].mean()
    return np.asarray((count / mean)[task.training_labels.item_of_unit] * task.unit_weights)
