"""CRF-MA: a conditional random field for tags, where exactly one annotator of each sequence is right.

[RPR14] Rodrigues, Pereira and Ribeiro, "Sequence labeling with multiple annotators", 2014. Each sequence has a latent
choice among its annotators: j with a probability proportional to choice[j]. The tags of the chosen annotator come from
the CRF, those of the others are uniform over all tags. By EM:

    right[c] ~ choice[j] p(tags of c | words)                      # E: c a copy, one annotator's tags of one sequence
    choice <- from right;  CRF <- most of sum_c right[c] log p(tags of c | words)                                  # M

As in the paper: the model and EM, with a Gaussian prior on the CRF's potentials (its ridge) and a prior on the choice.
Different, or not specified in the available text: the features are those of our other classifiers (words, their shapes
and affixes, two neighbours on either side); EM is initialised with the agreement of a copy with the others of its
sequence (from uniform weights, it converges to trusting annotators with few tags); the first M-step is long, and the
others are a few steps of L-BFGS from the previous solution, so this is generalised EM; the choice is normalised among
the annotators of a sequence, which makes its M-step that of [H04]; EM stops by the dev set like all our methods. The
likelihood is not tempered.

The belief about a training sequence is the posterior of the model: the tags of all annotators, weighted by right[c]. It
never contains a tag that nobody gave; the CRF's marginals are `Epoch.p`, and they are the answer for unlabelled
sequences. Predictions are the CRF's marginals. Only the draw of held-out labels, without a dev set, is random.

[H04] Hunter, "MM algorithms for generalized Bradley-Terry models", 2004.

Axes: i unit, j annotator, k tag, s sequence, c copy (one annotator's tags of one sequence).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from crowdlogic.annotators.confusion import ConfusionMatrices
from crowdlogic.classifiers.crf import CRF, TINY, CRFClassifier, CRFPotentials, ExpectedCounts, sequence_offsets
from crowdlogic.classifiers.protocol import PROGRESS, Arrays
from crowdlogic.data.corpus import Corpus
from crowdlogic.data.estimate import Beliefs
from crowdlogic.data.labels import CrowdLabels
from crowdlogic.data.wording import pluralise
from crowdlogic.errors import FormatError, LabelError, OptionError
from crowdlogic.learning.learned import Learned, make_learned
from crowdlogic.learning.method import FitMixin, TrainingData, idle_teacher, prepare_plain_task
from crowdlogic.learning.stopping import TrainingLimits
from crowdlogic.learning.task import Task
from crowdlogic.learning.training import Epoch, EpochCallback, FitCheckpoint, TrainingPass, passes
from crowdlogic.numerics.arrays import Floats, Ints, check_amounts, sum_by

PSEUDO_COUNT = 0.3
"""Pseudo-count of every tag of a unit when copies are compared with each other."""
CHOICE_UPDATES = 20
"""Number of updates of the choice per M-step; each is cheaper than a step of L-BFGS."""
CHOICE = PROGRESS + "choice"
OWN_CRF = CRF(steps=30)
"""Default conditional random field."""
ANNOTATORS = ConfusionMatrices()
"""Model for estimating the annotators' reliability."""


@dataclass(frozen=True)
class CRFMA(FitMixin):
    """CRF-MA method ([RPR14]).

    Attributes:
        classifier: The conditional random field.
        first_steps: Number of L-BFGS steps in the first M-step; later M-steps use the classifier's own.
        prior: Pseudo-count of sequences on which each annotator was right and wrong.
        limits: Limits of EM and stopping criterion; the random seed only determines the held-out labels.
    """

    classifier: CRF = OWN_CRF
    first_steps: int = 100
    prior: float = 1.0
    limits: TrainingLimits = TrainingLimits()

    name = "crf-ma"
    own_classifier: ClassVar[CRF] = OWN_CRF

    def __post_init__(self) -> None:
        super().__post_init__()
        check_amounts(self, positive=("prior", "first_steps"))
        if not isinstance(self.classifier, CRF):
            raise OptionError(f"{self.name} requires a crf, not {self.classifier.name}. Use two-stage instead.")

    def learn(
        self, data: TrainingData, *, checkpoint: FitCheckpoint | None = None, callback: EpochCallback | None = None
    ) -> Learned:
        """Learn from crowd labels; rules are not supported."""
        task = prepare_plain_task(self.name, data, self.limits)
        for training in passes(task, self.limits, checkpoint=checkpoint, callback=callback):
            crf = self._run(training)
        task = training.task
        epoch = training.outcome
        if task.held_labels is not None:  # the answers use all labels
            epoch = believe(task, task.labels, collect_copies(task.labels), crf, epoch.loss)
        learned = make_learned(self.name, training, epoch)
        choice = {"choice": crf.choice / crf.choice.sum()}
        return replace(learned, classifier=crf.crf, estimate=replace(learned.estimate, parameters=choice))

    def _run(self, training: TrainingPass) -> CRFWithChoice:
        """Run EM for one pass."""
        task = training.task
        copies = collect_copies(task.training_labels)
        crf = CRFWithChoice(self.classifier.build(task.corpus, task.labels.classes, seed=self.limits.seed), copies)
        training.begin(
            classifier=crf, teacher=idle_teacher(task), model=ANNOTATORS, targets=copies.mix(copies.agreement())
        )
        for t in training.epochs():
            right = copies.agreement() if t == 1 else crf.e_step(task.corpus, copies).right
            loss = crf.m_step(task.corpus, copies, right, self.prior, steps=self.first_steps if t == 1 else None)
            training.record(believe(task, task.training_labels, copies, crf, loss))
        training.finish(lambda epoch: believe(task, task.training_labels, copies, crf, epoch.loss))
        return crf


def believe(task: Task, labels: CrowdLabels, copies: Copies, crf: CRFWithChoice, loss: float) -> Epoch:
    """Return an epoch with the weighted tags of all annotators, or the CRF's marginals for unlabelled units."""
    seen = crf.e_step(task.corpus, copies)
    labelled = (labels.labels_per_unit() > 0)[:, None]
    q = np.where(labelled, copies.mix(seen.right), seen.p)
    annotators = ANNOTATORS.m_step(ANNOTATORS.observe(labels), q)
    return Epoch(
        loss=loss,
        k=0.0,
        p=seen.p,
        q_a=q,
        q_b=q,
        q_f=q,
        annotators=annotators,
        objective=seen.log_evidence / labels.n_labels,
    )


@dataclass(frozen=True, eq=False)
class TagPaths:
    """Taggings of whole sequences, concatenated. A sequence may have several; no path is empty.

    Attributes:
        unit: The unit of each step.
        tag: The tag of each step.
        offsets: offsets[c] is the first step of path c, offsets[-1] the number of steps.
    """

    unit: Ints
    tag: Ints
    offsets: Ints

    @property
    def onward(self) -> Ints:
        """Steps that have a predecessor in the same path."""
        return np.asarray(np.setdiff1d(np.arange(len(self.unit)), self.offsets[:-1], assume_unique=True))


@dataclass(frozen=True, eq=False, kw_only=True)
class Copies:
    """Copies (annotators' tags of whole sequences), sorted by sequence.

    Attributes:
        paths: The tags.
        sequence: sequence[c], the tagged sequence.
        annotator: annotator[c], the annotator.
        first: Index of the first copy of each tagged sequence.
        n_annotators: Number of annotators.
        n_tags: Number of tags.
        n_units: Number of units, tagged or not.
    """

    paths: TagPaths
    sequence: Ints
    annotator: Ints
    first: Ints
    n_annotators: int
    n_tags: int
    n_units: int

    @property
    def beside(self) -> Ints:
        """beside[c], the number of copies of the sequence of c."""
        return np.repeat(*[np.diff(np.append(self.first, len(self.sequence)))] * 2)

    def total(self, values: Floats) -> Floats:
        """Return total[c], the sum of values[c] over all copies of its sequence."""
        return np.repeat(np.add.reduceat(values, self.first), self.beside[self.first])

    def shares(self, scores: Floats) -> tuple[Floats, Floats]:
        """Return right[c], the softmax of scores[c] over the copies of a sequence, and the log of its sums."""
        top = np.maximum.reduceat(scores, self.first)
        scaled = np.exp(scores - np.repeat(top, self.beside[self.first]))
        total = self.total(scaled)
        return scaled / total, top + np.log(total[self.first])

    def agreement(self) -> Floats:
        """Return right[c] from the probability of the tags of c if each is drawn from the votes of the others."""
        cell = self.paths.unit * self.n_tags + self.paths.tag
        alike = np.bincount(cell, minlength=self.n_units * self.n_tags)[cell] - 1
        others = np.repeat(self.beside, np.diff(self.paths.offsets)) - 1
        step = np.log((alike + PSEUDO_COUNT) / (others + PSEUDO_COUNT * self.n_tags))
        return self.shares(np.add.reduceat(step, self.paths.offsets[:-1]))[0]

    def mix(self, right: Floats) -> Beliefs:
        """Return q[i, k], all tags weighted by right[c]; uniform for units without labels."""
        step = np.repeat(right, np.diff(self.paths.offsets))
        cell = self.paths.unit * self.n_tags + self.paths.tag
        q = np.bincount(cell, weights=step, minlength=self.n_units * self.n_tags).reshape(-1, self.n_tags)
        return np.where(q.sum(axis=1, keepdims=True) > 0, q, 1.0 / self.n_tags)


def collect_copies(labels: CrowdLabels) -> Copies:
    """Return the copies in the labels, which must be complete sequences."""
    sequence, annotator, copy = labels.annotations()
    if labels.offsets is None:
        raise LabelError("crf-ma requires tagged sequences, but these are labels of documents. Choose another method.")
    if labels.weight is not None and (labels.weight != 1).any():
        raise LabelError("crf-ma does not support weights of labels. Remove them, or choose another method.")
    order = np.argsort(copy, kind="stable")
    unit, tag = labels.unit[order].astype(np.int64), labels.label[order].astype(np.int64)
    sizes = np.bincount(copy, minlength=len(sequence))
    begin = np.concatenate([[0], np.cumsum(sizes)])
    # Rows are sorted by unit, so a whole copy of a sequence is as long as it and its unit always advances.
    stuck = np.bincount(copy[order][1:][(np.diff(unit) == 0) & (np.diff(copy[order]) == 0)], minlength=len(sequence))
    wrong = np.flatnonzero((sizes != np.diff(labels.offsets)[sequence]) | (stuck > 0))
    if len(wrong):
        c = int(wrong[0])
        who, what = labels.annotators[int(annotator[c])], labels.items[int(sequence[c])]
        raise LabelError(
            f"{who!r} gave {pluralise(int(sizes[c]), 'tag')} for the "
            f"{pluralise(int(np.diff(labels.offsets)[sequence[c]]), 'token')} "
            f"of {what!r}. crf-ma "
            f"needs one for each: complete them, or remove them."
        )
    return Copies(
        paths=TagPaths(unit, tag, begin),
        sequence=sequence,
        annotator=annotator,
        first=np.flatnonzero(np.diff(sequence, prepend=-1)),
        n_annotators=len(labels.annotators),
        n_tags=labels.n_classes,
        n_units=labels.n_units,
    )


@dataclass(frozen=True, eq=False)
class CopyPosterior:
    """Result of an E-step: right[c], the CRF's marginals p[i, k], and the log evidence of all tags."""

    right: Floats
    p: Beliefs
    log_evidence: float


class CRFWithChoice:
    """Conditional random field with choice[j], the weight of annotator j in the choice of the right one."""

    def __init__(self, crf: CRFClassifier, copies: Copies) -> None:
        self.crf, self.choice = crf, np.ones(copies.n_annotators)

    def m_step(self, corpus: Corpus, copies: Copies, right: Floats, prior: float, *, steps: int | None = None) -> float:
        """Update choice and CRF towards the right copies and return the CRF's loss."""
        self.choice = update_choice(copies, right, self.choice, prior=prior)
        wanted = counts_from_paths(copies.paths, right, sequence_offsets(corpus), copies.n_tags)
        return self.crf.fit_counts(corpus, wanted, steps=steps)

    def e_step(self, corpus: Corpus, copies: Copies) -> CopyPosterior:
        """Return the posterior probability that each copy is right."""
        unary, found = self.crf.unary(corpus), self.crf.marginals(corpus)
        log_p = path_scores(unary, self.crf.potentials, copies.paths) - found.log_partition[copies.sequence]
        weight = self.choice[copies.annotator]
        right, log_sum = copies.shares(log_p + np.log(weight / copies.total(weight)))
        # The tags of the others are uniform over all tags.
        others = float(((copies.beside - 1) / copies.beside * np.diff(copies.paths.offsets)).sum())
        return CopyPosterior(right, found.q, float(log_sum.sum()) - others * np.log(copies.n_tags))

    def fit_epoch(self, corpus: Corpus, targets: Beliefs, weights: Floats | None = None) -> float:
        """Train only the CRF."""
        return self.crf.fit_epoch(corpus, targets, weights)

    def predict_proba(self, corpus: Corpus) -> Beliefs:
        """Return p[i, k], the CRF's marginals."""
        return self.crf.predict_proba(corpus)

    def arrays(self) -> Arrays:
        """Return the state of the CRF and the choice."""
        return self.crf.arrays() | {CHOICE: self.choice.copy()}

    def restore(self, arrays: Arrays) -> None:
        """Restore a state returned by `arrays`."""
        if CHOICE not in arrays or arrays[CHOICE].shape != self.choice.shape:
            raise FormatError(f"These arrays belong to another fit: {CHOICE} must have {len(self.choice)} entries.")
        self.crf.restore(arrays)
        self.choice = np.array(arrays[CHOICE])


def update_choice(
    copies: Copies, right: Floats, choice: Floats, *, prior: float, rounds: int = CHOICE_UPDATES
) -> Floats:
    """Run the M-step of choice[j]: iterations of [H04], none of which decreases the expected log posterior.

    The prior of each choice[j] is a gamma distribution with shape 1 + prior and rate prior, so that its mode is 1.
    Sequences with a single annotator carry no information.
    """
    several = copies.beside > 1
    won = np.bincount(copies.annotator[several], weights=right[several], minlength=copies.n_annotators)
    for _ in range(rounds):
        met = (1.0 / copies.total(choice[copies.annotator]))[several]
        lost = np.bincount(copies.annotator[several], weights=met, minlength=copies.n_annotators)
        choice = (prior + won) / (prior + lost)
    return choice


def counts_from_paths(paths: TagPaths, weights: Floats, offsets: Ints, n_tags: int) -> ExpectedCounts:
    """Return the counts of weighted paths. The weight of a sequence is the sum over its paths.

    Args:
        paths: Taggings of whole sequences.
        weights: weights[c] of each path.
        offsets: offsets[s] is the first unit of sequence s of the corpus.
        n_tags: Number of tags.
    """
    lengths = np.diff(offsets)
    sequence = np.searchsorted(offsets, paths.unit[paths.offsets[:-1]], side="right") - 1
    share = np.bincount(sequence, weights=weights, minlength=len(lengths))
    kept = share > 0
    total = max(float((share * lengths).sum()), TINY)
    step = np.repeat(weights, np.diff(paths.offsets)) / total  # the weight of each step of each path
    unit = np.flatnonzero(np.repeat(kept, lengths))
    first, onward = paths.offsets[:-1], paths.onward
    pairs = paths.tag[onward - 1] * n_tags + paths.tag[onward]
    return ExpectedCounts(
        unit=unit,
        offsets=np.append(0, np.cumsum(lengths[kept])),
        share=share[kept] / total,
        tags=sum_by(paths.unit * n_tags + paths.tag, int(offsets[-1]) * n_tags, step).reshape(-1, n_tags)[unit],
        start=sum_by(paths.tag[first], n_tags, step[first]),
        transitions=sum_by(pairs, n_tags * n_tags, step[onward]).reshape(n_tags, n_tags),
    )


def path_scores(unary: Floats, model: CRFPotentials, paths: TagPaths) -> Floats:
    """Return score[c] of each path: log p(y | x) plus the log partition function."""
    step = unary[paths.unit, paths.tag]
    step[paths.offsets[:-1]] += model.start[paths.tag[paths.offsets[:-1]]]
    step[paths.onward] += model.transitions[paths.tag[paths.onward - 1], paths.tag[paths.onward]]
    return np.asarray(np.add.reduceat(step, paths.offsets[:-1]) if len(step) else np.zeros(0))
