"""Run one or two passes over the epochs of a fit: the part of the training loop that all methods share.

    for training in passes(task, limits, ...):           # a second pass, with all labels, where held-out labels decided
        training.begin(classifier, ...)                   # resumes from a checkpoint, when there is one
        for t in training.epochs():                       # until the stopping rule or the maximum number of epochs
            ...                                           # the steps of the method
            training.record(Epoch(...))                   # scores, history, the best epoch, checkpoint, callback
        training.finish(reevaluate)                       # the classifier of the best epoch, or an average

The first pass is not trained on held-out labels, so a second pass starts again with the same seed and all labels. The
likelihood of held-out labels shows when a fit has reached its plateau; epochs on the plateau are statistically
indistinguishable, so the second pass averages their weights ([ASGD]), which is better than most of them.

[ASGD] Polyak and Juditsky, "Acceleration of stochastic approximation by averaging", 1992; started when a score no
longer improves, as in Merity et al., "Regularizing and optimizing LSTM language models", 2018.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Protocol, TypeAlias, TypedDict

import numpy as np
from numpy.typing import NDArray

from crowdlogic.annotators.protocol import AnnotatorModel, Annotators
from crowdlogic.classifiers.protocol import (
    PROGRESS,
    Architecture,
    Arrays,
    ChainClassifier,
    Classifier,
    averageable_weights,
    build,
    derive_seed,
    fit_epoch,
    predict,
    predict_units,
    state_of,
    supports_averaging,
)
from crowdlogic.data.chain_beliefs import AnyBeliefs, ChainBeliefs, unit_beliefs
from crowdlogic.data.corpus import Corpus
from crowdlogic.data.estimate import Beliefs
from crowdlogic.data.names import Classes
from crowdlogic.errors import DataError, OptionError
from crowdlogic.learning.posterior import Teacher
from crowdlogic.learning.stopping import FixedEpochs, StoppingRule, TrainingLimits
from crowdlogic.learning.task import Task, is_scorable, score
from crowdlogic.numerics.arrays import Floats, Ints

# Results of an epoch: beliefs, parameters and a row of the history. Axes: i unit, k class, l rule.


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class Epoch:
    """Beliefs about the training items and parameters after an epoch.

    Attributes:
        loss: Mean loss of the classifier.
        k: The imitation.
        p: p[i, k], predictions of the classifier.
        q_a: q_a[i, k], posterior of classifier and crowd (eq. 13).
        q_b: q_b[i, k], projection of q_a by the rules (eq. 15).
        q_f: q_f[i, k], mixture of q_a and q_b (eq. 9): the targets of the next epoch.
        annotators: Parameters of the annotators (eq. 12).
        objective: Log evidence of the labels under classifier and annotators, per label; NaN if not computed.
        factors: factors[l], learnt multipliers of the rules' weights; None if they are not learnt.
        pair: pair[i, k, k'] of q_f for chains of tags; None if units are independent.
    """

    loss: float
    k: float
    p: Beliefs
    q_a: Beliefs
    q_b: Beliefs
    q_f: Beliefs
    annotators: Annotators
    objective: float = float("nan")
    factors: Floats | None = None
    pair: NDArray[Any] | None = None

    @property
    def targets(self) -> AnyBeliefs:
        """Return q_f; for chains of tags, with beliefs about neighbouring pairs."""
        return self.q_f if self.pair is None else ChainBeliefs(self.q_f, self.pair)

    def __repr__(self) -> str:
        n_units, n_classes = self.q_f.shape
        return f"Epoch(loss {self.loss:.4f}, k {self.k:.2f}, beliefs of {n_units:,} units in {n_classes} classes)"


class Views(TypedDict):
    """Beliefs of an Epoch by field name."""

    p: Beliefs
    q_a: Beliefs
    q_b: Beliefs
    q_f: Beliefs
    pair: NDArray[Any] | None


def make_views(*, p: AnyBeliefs, q_a: AnyBeliefs, q_b: AnyBeliefs, q_f: AnyBeliefs) -> Views:
    """Return beliefs as fields of an Epoch; pairs are only kept for q_f, in the precision of a checkpoint."""
    pair = q_f.pair.astype(np.float32) if isinstance(q_f, ChainBeliefs) else None
    return Views(p=unit_beliefs(p), q_a=unit_beliefs(q_a), q_b=unit_beliefs(q_b), q_f=unit_beliefs(q_f), pair=pair)


VIEWS = ("p", "q_a", "q_b", "q_f")
"""Names of the beliefs of an Epoch."""

NUMBERS = ("loss", "k", "objective")
"""Names of the numbers of an Epoch."""


@dataclass(frozen=True, kw_only=True)
class HistoryRow:
    """Row of the training history.

    Attributes:
        epoch: Number of the epoch, starting at 1.
        loss: Mean loss of the classifier.
        k: The imitation.
        stopping: The stopping score.
        change: Share of training units whose answer changed.
        objective: Log evidence of the labels, per label.
        seconds: Duration.
        scores: Other scores by name: inference, dev student, test teacher, ... In the last row of a pass with averaged
            weights, the scores are those of the average, unlike the rest of the row.
        kept: Whether this became the best epoch.
        refit: Whether it belongs to the second pass, with all labels, where the stopping score only counts epochs.
    """

    epoch: int
    loss: float
    k: float
    stopping: float
    change: float
    objective: float
    seconds: float
    scores: Mapping[str, float] = field(default_factory=dict)
    kept: bool = False
    refit: bool = False


EpochCallback: TypeAlias = Callable[[HistoryRow, int], None]
"""Callback after each epoch, called with its row of the history and the maximum number of epochs."""


# Protocol for checkpoints. `store.checkpoints.RunCheckpoint` implements it for a run directory.


class FitCheckpoint(Protocol):
    """Protocol for saving the state of a running fit."""

    def save(self, last: Arrays, best: Arrays, note: Mapping[str, Any]) -> None:
        """Replace the checkpoint."""

    def load(self) -> tuple[Arrays, Arrays, Mapping[str, Any]] | None:
        """Return the last epoch, the best epoch and the note; None if nothing was saved yet."""

    def second(self) -> FitCheckpoint:
        """Return the checkpoint of the second pass, stored next to this one."""


# Cross-fitting: each training item is predicted by a classifier that was not trained on it.
#
# A network soon memorises its training items, including the errors in their labels, and then outvotes the annotators in
# eq. 13 with their own errors. Therefore additional networks are trained, each without one part of the items, and
# predict the part that they were not trained on. New items are predicted by the network trained on all items.
#
# [CF18] Chernozhukov et al., "Double/debiased machine learning", 2018, section 3. Axes: i unit, k class, f fold.


class CrossFitted:
    """A classifier trained on all items, and one per fold trained without the items of the fold.

    Attributes:
        whole: The classifier trained on all items.
    """

    def __init__(
        self,
        whole: Classifier,
        others: Sequence[Classifier],
        fold: Ints,
        corpus: Corpus,
        *,
        n_classes: int | None = None,
    ) -> None:
        self.whole, self._others, self._fold, self._corpus = whole, tuple(others), fold, corpus
        self._n_classes = n_classes
        self.averages = supports_averaging(whole)

    def fit_epoch(self, corpus: Corpus, targets: Beliefs, weights: Floats | None = None) -> float:
        """Train all classifiers for one epoch; return the mean loss of the one trained on all items."""
        loss = fit_epoch(self.whole, corpus, targets, weights)
        sample_weight = np.ones(corpus.n_units) if weights is None else weights
        for f, other in enumerate(self._others):
            fit_epoch(other, corpus, targets, np.where(self._fold == f, 0.0, sample_weight))
        return loss

    def predict_proba(self, corpus: Corpus) -> Beliefs:
        """Return p[i, k], for training items by classifiers not trained on them, for others by `whole`."""
        if corpus is not self._corpus:
            return predict_units(self.whole, corpus, n_classes=self._n_classes)
        p = np.stack([predict_units(other, corpus, n_classes=self._n_classes) for other in self._others])
        return np.asarray(p[self._fold, np.arange(len(self._fold))])

    def arrays(self) -> Arrays:
        """Return the state of the classifier for new items and, to resume training, of the others."""
        others = {
            f"{PROGRESS}fold{f}.{name}": array
            for f, other in enumerate(self._others)
            for name, array in state_of(other).items()
        }
        return state_of(self.whole) | others

    def restore(self, arrays: Arrays) -> None:
        """Set the states of all classifiers."""
        begin = f"{PROGRESS}fold"
        self.whole.restore({name: array for name, array in arrays.items() if not name.startswith(begin)})
        for f, other in enumerate(self._others):
            mine = f"{begin}{f}."
            other.restore({n.removeprefix(mine): array for n, array in arrays.items() if n.startswith(mine)})


SINGLE_FOLDS = 5
"""Default number of folds if most units have one label."""

MIN_CROSS_FITTED = 50
"""Minimum number of items for cross-fitting by default; in smaller sets the folds would leave too little to learn
from."""


def build_classifier(
    architecture: Architecture,
    corpus: Corpus,
    classes: Classes,
    *,
    seed: int,
    folds: int | None = 1,
    single: bool = False,
) -> Classifier:
    """Build a classifier, a cross-fitted one if there are two folds or more.

    Args:
        architecture: The hyper-parameters.
        corpus: The training items.
        classes: The classes.
        seed: Random seed.
        folds: Number of folds; 1 disables cross-fitting, None uses it if `single` is true and it is possible.
        single: Whether most units have only one label.
    """
    whole = build(architecture, corpus, classes, seed=seed)
    if folds is None:
        possible = not isinstance(whole, ChainClassifier) and len(corpus.items) >= MIN_CROSS_FITTED
        folds = SINGLE_FOLDS if single and possible else 1
    if folds == 1:
        return whole
    if isinstance(whole, ChainClassifier):
        raise OptionError(
            f"folds: {architecture.name} models chains of tags, for which cross-fitting is not available. Use folds = "
            f"1."
        )
    seeds = [derive_seed(seed, f"fold {f}") for f in range(folds)]
    others = [build(architecture, corpus, classes, seed=one) for one in seeds]
    return CrossFitted(whole, others, fold_of_units(corpus, folds, seed=seed), corpus, n_classes=len(classes))


def fold_of_units(corpus: Corpus, folds: int, *, seed: int) -> Ints:
    """Return fold[i], drawn by item; the sizes of folds differ by at most one."""
    n_items = len(corpus.items)
    fold = np.random.default_rng(derive_seed(seed, "folds")).permutation(np.arange(n_items) % folds)
    return fold if corpus.offsets is None else np.repeat(fold, np.diff(corpus.offsets))


def answering(classifier: Classifier) -> Classifier:
    """Return the classifier that predicts new items."""
    return classifier.whole if isinstance(classifier, CrossFitted) else classifier


CLASSIFIER, ANNOTATORS, MEAN = "classifier.", "annotators.", "mean."
"""Prefixes of the names of arrays in a checkpoint."""

PAIR = "pair"
"""Name of the beliefs about pairs of neighbours in a checkpoint."""

TARGETS = "targets"
"""Name of the targets of the next epoch in a checkpoint, stored if they differ from the q_f of the last one."""

Reevaluate: TypeAlias = Callable[[Epoch], Epoch]
"""Function that runs the M-step and E-step after an epoch, with the current classifier."""


def passes(
    task: Task, limits: TrainingLimits, *, checkpoint: FitCheckpoint | None, callback: EpochCallback | None
) -> Iterator[TrainingPass]:
    """Yield the first pass and, if held-out labels chose the epoch, a second one with all labels."""
    first = TrainingPass(task, limits, checkpoint=checkpoint, callback=callback)
    yield first
    if task.refits:
        second = None if checkpoint is None else checkpoint.second()
        yield TrainingPass(task.with_all_labels(), limits, checkpoint=second, callback=callback, first=first)


class TrainingPass:
    """State of a pass: the targets, the history, the best epoch.

    Attributes:
        task: The labels and items of this pass.
        first: The first pass, if this is the second one.
        classifier: The classifier being trained.
        teacher: The rules.
        targets: Targets of the next epoch: q_f, with beliefs about pairs of neighbours if tags form chains.
        factors: Learned multipliers of the rules' weights, if they are learned.
        history: One row for each completed epoch.
        best: The best epoch so far.
        best_epoch: Number of the best epoch.
        averaged_from: First epoch whose weights are averaged; None if they are not averaged.
    """

    def __init__(
        self,
        task: Task,
        limits: TrainingLimits,
        *,
        checkpoint: FitCheckpoint | None,
        callback: EpochCallback | None,
        first: TrainingPass | None = None,
    ) -> None:
        self.task, self.first = task, first
        self._limits, self._checkpoint, self._callback = limits, checkpoint, callback
        self.history: list[HistoryRow] = []
        self.best: Epoch | None = None
        self.best_epoch = 0
        self.averaged_from: int | None = None
        self._best_arrays: Arrays = {}
        self._mean: Arrays = {}
        self._started = 0.0
        self._warms_up = False

    def begin(
        self,
        *,
        classifier: Classifier,
        teacher: Teacher,
        model: AnnotatorModel,
        targets: AnyBeliefs,
        factors: Floats | None = None,
    ) -> None:
        """Start with a new classifier and the first targets, or resume from a checkpoint."""
        self.classifier, self.teacher, self.model = classifier, teacher, model
        self.targets, self.factors = targets, factors
        self.stopping: StoppingRule = self._refit_rule() or self.task.stopping_rule(self._limits, model)
        self._resume()

    @property
    def q_f(self) -> Beliefs:
        """Targets of the next epoch, q_f[i, k]."""
        return unit_beliefs(self.targets)

    def _refit_rule(self) -> StoppingRule | None:
        """Return the rule for the second pass: as many epochs as the first one chose, the last of them averaged."""
        if self.first is None:
            return None
        best = max(self.first.history, key=lambda row: row.stopping).epoch
        # A run that is resumed with fewer epochs may already have run more.
        most = max(self._limits.epochs, len(self.first.history))
        length = min(max(self.first.best_epoch, best + self.first.task.min_averaged_epochs - 1), most)
        if supports_averaging(self.classifier) and self.first.task.min_averaged_epochs > 1 and length > best:
            self.averaged_from = best
            return FixedEpochs(length)
        return FixedEpochs(self.first.best_epoch)

    def epochs(self) -> Iterator[int]:
        """Yield the numbers of the epochs to run, starting at 1, until the stopping rule ends the pass."""
        while len(self.history) < self.stopping.epochs:
            if self.best is not None and len(self.history) - self.best_epoch >= self.stopping.patience:
                break
            self._started = time.perf_counter()
            yield len(self.history) + 1
        if self.best is None:
            raise OptionError("No epoch was run.")

    def record(self, epoch: Epoch, *, targets: Beliefs | None = None) -> None:
        """Score an epoch, keep it if it is the best, write the checkpoint, call the callback.

        Args:
            epoch: The epoch.
            targets: Targets of the next epoch, as beliefs of units; default q_f.
        """
        _require_numbers(epoch, len(self.history) + 1, self.classifier)
        scores = self._scores(epoch)
        stopping, is_kept = self.stopping.judge(epoch, scores)
        row = HistoryRow(
            epoch=len(self.history) + 1,
            loss=epoch.loss,
            k=epoch.k,
            stopping=stopping,
            change=float((epoch.q_f.argmax(axis=1) != self.q_f.argmax(axis=1)).mean()),
            objective=epoch.objective,
            seconds=time.perf_counter() - self._started,
            scores=scores,
            kept=is_kept,
            refit=self.first is not None,
        )
        self.targets, self.factors = epoch.targets if targets is None else targets, epoch.factors
        self._warms_up = targets is not None
        if is_kept:
            self.best, self.best_epoch, self._best_arrays = epoch, row.epoch, state_of(self.classifier)
        self.history.append(row)
        # Add the weights of the epoch to their running mean
        if self.averaged_from is not None and row.epoch >= self.averaged_from:
            count = row.epoch - self.averaged_from + 1
            weights = averageable_weights(self._best_arrays)  # the last epoch of this pass is the best one
            for name, new in weights.items():
                mean = self._mean.get(name, new)
                self._mean[name] = np.asarray(mean + (new - mean) / np.asarray(count, dtype=new.dtype))
        if self._checkpoint is not None:
            best = {} if self.best is None else {name: getattr(self.best, name) for name in NUMBERS}
            note = {
                "best_epoch": self.best_epoch,
                "best": best,
                "history": [asdict(row) for row in self.history],
                "averaged_from": self.averaged_from,
            }
            self._checkpoint.save(self._last_state(), self._best_state(), note)
        if self._callback is not None:
            self._callback(row, self.stopping.epochs)

    def finish(self, reevaluate: Reevaluate) -> None:
        """Set the classifier to the best epoch, or to the average of weights, whose beliefs are then recomputed."""
        self.classifier.restore(self._best_arrays | self._mean)
        if self._mean and self.best is not None:
            self.best = reevaluate(self.best)
            self.history[-1] = replace(self.history[-1], scores=self._scores(self.best))

    @property
    def outcome(self) -> Epoch:
        """The best epoch of a completed pass."""
        if self.best is None:
            raise OptionError("No epoch was run.")
        return self.best

    def _scores(self, epoch: Epoch) -> dict[str, float]:
        """Return all scores; only the score of the dev items is used for stopping."""
        scores = {} if not is_scorable(self.task.corpus) else {"inference": score(self.task.corpus, epoch.targets)}
        teacher = self.teacher.reweight(epoch.factors)
        watched = dict(self.task.watched) | ({} if self.task.dev is None else {"dev": self.task.dev})
        for name, corpus in watched.items():
            student = predict(self.classifier, corpus)
            scores[f"{name} student"] = score(corpus, student)
            if name != "dev" and not teacher.is_idle:
                scores[f"{name} teacher"] = score(corpus, teacher.project(corpus, student, student, self.classifier))
        return scores

    def _last_state(self) -> Arrays:
        targets = {"q_f": self.q_f} | ({} if self.factors is None else {"factors": self.factors})
        targets |= {PAIR: self.targets.pair} if isinstance(self.targets, ChainBeliefs) else {}
        # This array has a separate name: if the last epoch is the best one, its q_f is not written twice.
        targets |= {TARGETS: self.q_f} if self._warms_up else {}
        return _add_prefix(state_of(self.classifier), CLASSIFIER) | targets

    def _best_state(self) -> Arrays:
        if self.best is None:
            return {}
        left = {name: getattr(self.best, name) for name in VIEWS}
        left |= {} if self.best.factors is None else {"factors": self.best.factors}
        left |= {} if self.best.pair is None else {PAIR: self.best.pair}
        left |= _add_prefix(self.best.annotators.arrays(), ANNOTATORS) | _add_prefix(self._mean, MEAN)
        return _add_prefix(self._best_arrays, CLASSIFIER) | left | self.stopping.arrays()

    def _resume(self) -> None:
        """Resume from the checkpoint, if there is one whose average covers the same epochs."""
        found = None if self._checkpoint is None else self._checkpoint.load()
        if found is None:
            return
        last, best, note = found
        too_far = self.first is not None and len(note["history"]) > self.stopping.epochs
        if too_far or note.get("averaged_from") != self.averaged_from:
            return
        self.classifier.restore(strip_prefix(last, CLASSIFIER))
        q_f, self.factors = np.asarray(last.get(TARGETS, last["q_f"])), last.get("factors")
        self.targets = ChainBeliefs(q_f, np.asarray(last[PAIR])) if PAIR in last and TARGETS not in last else q_f
        self.history = [HistoryRow(**row) for row in note["history"]]
        self.best_epoch, self._best_arrays = note["best_epoch"], strip_prefix(best, CLASSIFIER)
        views: dict[str, Any] = {name: np.asarray(best[name]) for name in VIEWS}
        self.best = Epoch(
            **note["best"],
            **views,
            annotators=self.model.load(strip_prefix(best, ANNOTATORS)),
            factors=best.get("factors"),
            pair=best.get(PAIR),
        )
        self._mean = strip_prefix(best, MEAN)
        self.stopping.restore(best, self.history[self.best_epoch - 1].stopping, len(self.history))


def _require_numbers(epoch: Epoch, number: int, classifier: Classifier) -> None:
    """Raise an error if an epoch diverged: neither later epochs nor predictions could recover."""
    if np.isnan(epoch.loss) or not all(np.isfinite(getattr(epoch, name)).all() for name in VIEWS):
        remedy = "Look for extreme values among the features."
        if hasattr(getattr(answering(classifier), "training", None), "learning_rate"):
            remedy = (
                "Lower the learning rate (--set classifier.training.learning_rate=...), or look for extreme values "
                "among the features."
            )
        raise DataError(f"Epoch {number} diverged: its loss or its beliefs are not finite. {remedy}")


def _add_prefix(arrays: Mapping[str, NDArray[Any]], prefix: str) -> Arrays:
    return {f"{prefix}{name}": array for name, array in arrays.items()}


def strip_prefix(arrays: Mapping[str, NDArray[Any]], prefix: str) -> Arrays:
    """Return the arrays whose names begin with a prefix, with the prefix removed."""
    return {name.removeprefix(prefix): array for name, array in arrays.items() if name.startswith(prefix)}
