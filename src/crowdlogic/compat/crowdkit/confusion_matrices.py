"""DawidSkene and OneCoinDawidSkene, as crowd-kit has them: maximum likelihood by EM, from the shares of the answers.

Axes: i task, j worker, k true label, p pair of a worker and a label.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from crowdlogic.compat.crowdkit.aggregator import ProbabilityAggregator
from crowdlogic.compat.crowdkit.answers import (
    Answers,
    AnswerTable,
    best_labels,
    code_answers,
    posterior,
)
from crowdlogic.errors import OptionError
from crowdlogic.numerics.arrays import Floats, Ints

NOTHING = (np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64))
"""No task whose label is known."""
EPSILON = 1e-10
"""The least probability, of a label as of an error."""


@dataclass
class EMAggregator(ProbabilityAggregator):
    """What both models share: probabilities, priors and errors as frames.

    Attributes:
        n_iter: Maximum number of iterations.
        tol: The iterations stop when the loss rises by less.
        labels_: The label of each task.
        probas_: The probability of each label for each task.
        priors_: The share of each label.
        errors_: For each worker and label given, the probability of giving it by the true label (columns).
        loss_history_: The bound on the log-likelihood, per answer, after each iteration.
    """

    n_iter: int = 100
    tol: float = 1e-5

    def __post_init__(self) -> None:
        super().__post_init__()
        self.priors_: Any
        self.errors_: Any
        self.loss_history_: list[float] = []

    def _stops(self, loss: float) -> bool:
        """Keep the loss of an iteration, and say whether it is the last."""
        last = self.loss_history_[-1] if self.loss_history_ else -np.inf
        self.loss_history_.append(loss)
        return loss - last < self.tol

    def _keep_empty(self) -> None:
        self.probas_, self.errors_ = pd.DataFrame(), pd.DataFrame()
        self.priors_, self.labels_ = pd.Series(dtype=float, name="prior"), pd.Series(dtype=float, name="agg_label")

    def _keep(self, answers: Answers, q: Floats, prior: Floats, errors: Any) -> None:
        """The results as frames; tasks are in the order of the data once there was an iteration, and sorted before."""
        self.probas_ = answers.task_frame(q)
        self.labels_ = answers.task_labels(best_labels(q))
        if not self.loss_history_:
            self.probas_, self.labels_ = self.probas_.sort_index(), self.labels_.sort_index()
        self.priors_ = pd.Series(prior, index=answers.labels, name="prior")
        self.errors_ = errors


@dataclass
class DawidSkene(EMAggregator):
    """A confusion matrix per worker.

    Attributes:
        initial_error_strategy: What `initial_error` does to the first error matrices: assign, addition or nothing.
    """

    initial_error_strategy: str | None = None

    def fit(self, data: Any, true_labels: Any = None, initial_error: Any = None) -> DawidSkene:
        """Fit by EM.

        Args:
            data: A frame with task, worker and label.
            true_labels: A series of the true labels of some tasks, which are then certain.
            initial_error: Error matrices from earlier work, as a frame by worker and label.
        """
        self.loss_history_ = []
        answers = _with_gold_labels(code_answers(data, by_appearance=True), true_labels)
        if not len(answers.task):
            self._keep_empty()
            return self
        table, known = answers.table(), _known_tasks(answers, true_labels)
        q = _certain(_vote_shares(answers), known)
        counts, per_task = table.counts(q), np.bincount(answers.task).astype(np.float64)
        errors, prior, first = normalise_errors(table, counts), _mean(q), None
        if self.initial_error_strategy is not None and initial_error is not None:
            first = self._initial_errors(_error_frame(answers, table, counts), initial_error)
            errors = _pair_errors(first, answers, table)
        for _ in range(self.n_iter):
            scores = table.evidence(_log(errors)) + _log(prior)
            q, log_sum = posterior(scores)
            q = _certain(q, known)
            counts = table.counts(q)
            errors, prior, first = normalise_errors(table, counts), _mean(q), None
            entropy = _entropy(q, scores, log_sum, known)
            if self._stops(_loss(float((counts * _log(errors)).sum()) + entropy, q, prior, per_task)):
                break
        self._keep(answers, q, prior, _error_frame(answers, table, errors) if first is None else first)
        return self

    def fit_predict(self, data: Any, true_labels: Any = None, initial_error: Any = None) -> Any:
        """Fit, and give the label of each task."""
        return self.fit(data, true_labels, initial_error).labels_

    def fit_predict_proba(self, data: Any, true_labels: Any = None, initial_error: Any = None) -> Any:
        """Fit, and give the probabilities of each task's labels."""
        return self.fit(data, true_labels, initial_error).probas_

    def _initial_errors(self, counts: Any, initial_error: Any) -> Any:
        """The first error matrices as a frame, from counts and earlier work."""
        if list(initial_error.index.names) != ["worker", "label"]:
            raise OptionError(
                f"initial_error must be indexed by worker and label, not by {list(initial_error.index.names)}."
            )
        if self.initial_error_strategy == "assign":
            _check_assigned(counts, initial_error)
            chosen = initial_error
        elif self.initial_error_strategy == "addition":
            chosen = counts.add(initial_error.reindex(columns=counts.columns), fill_value=0.0)
        else:
            raise OptionError(f"initial_error_strategy: {self.initial_error_strategy!r} is none of assign, addition.")
        clipped = chosen.clip(lower=EPSILON)
        return clipped / clipped.groupby("worker", sort=False).sum()


def _check_assigned(counts: Any, initial_error: Any) -> None:
    """Refuse matrices to assign that lack a worker, or that are no probabilities."""
    missing = counts.index[~counts.index.isin(initial_error.index)].get_level_values("worker").unique()
    if len(missing):
        raise OptionError(
            f"initial_error has no matrix for {len(missing)} workers, such as {missing[0]!r}. All the workers in data "
            f"should be in initial_error."
        )
    by_worker = initial_error.groupby("worker", sort=False).sum()
    if bool((initial_error <= 1.0).all().all()) and not np.allclose(by_worker, 1.0):
        raise OptionError("The sum of each worker's error matrix in initial_error should be 1.0 in every column.")


def _with_gold_labels(answers: Answers, true_labels: Any) -> Answers:
    """The same answers over the labels of the known tasks as well."""
    if true_labels is None:
        return answers
    used = true_labels[true_labels.index.isin(answers.tasks)]
    labels = answers.labels.union(pd.Index(used.unique()).difference(answers.labels)).rename("label")
    if len(labels) == len(answers.labels):
        return answers
    code = labels.get_indexer(answers.labels)[answers.label]
    return Answers(answers.task, answers.worker, code, answers.tasks, answers.workers, labels)


def _known_tasks(answers: Answers, true_labels: Any) -> tuple[Ints, Ints]:
    """The codes of the tasks whose label is known, and of these labels."""
    if true_labels is None:
        return NOTHING
    task, label = answers.tasks.get_indexer(true_labels.index), answers.labels.get_indexer(true_labels)
    rows = (task >= 0) & (label >= 0)
    return task[rows], label[rows]


def _vote_shares(answers: Answers) -> Floats:
    scores = answers.scores()
    return np.asarray(scores / scores.sum(axis=1, keepdims=True))


def _certain(q: Floats, known: tuple[Ints, Ints]) -> Floats:
    """The beliefs, with certainty where the label is known."""
    task, label = known
    if len(task):
        q[task] = 0.0
        q[task, label] = 1.0
    return q


def normalise_errors(table: AnswerTable, counts: Floats) -> Floats:
    """errors[p, k] from expected counts: over the labels that a worker ever gave, each column sums to one."""
    kept = np.maximum(counts, EPSILON)
    return np.asarray(kept / table.sum_by_worker(kept)[table.worker])


def _log(values: Floats) -> Floats:
    return np.log(np.maximum(values, EPSILON))


def _mean(q: Floats) -> Floats:
    """The mean of each column, by a product, which is quicker."""
    return np.asarray(np.full(len(q), 1.0 / len(q)) @ q)


def _entropy(q: Floats, scores: Floats, log_sum: Floats, known: tuple[Ints, Ints] = NOTHING) -> float:
    """The entropy of q, the softmax of scores: without another logarithm, sum of log_sum - q * scores."""
    unsure = float(log_sum.sum()) - float(np.vdot(q, scores))
    task, label = known
    # a known task has none, but counts in the sums by its label's score
    return unsure - float((log_sum[task] - scores[task, label]).sum()) if len(task) else unsure


def _loss(expected: float, q: Floats, prior: Floats, per_task: Floats) -> float:
    """crowd-kit's loss per answer: what is expected of answers and beliefs, and the log prior for every answer."""
    return (expected + float(per_task @ q @ _log(prior))) / float(per_task.sum())


def _error_frame(answers: Answers, table: AnswerTable, errors: Floats) -> Any:
    """`errors_`: a row for each worker and label given, in the order of the data."""
    at = np.argsort(table.first)
    index = pd.MultiIndex.from_arrays(
        [answers.workers.take(table.worker[at]), answers.labels.take(table.label[at])], names=["worker", "label"]
    )
    return pd.DataFrame(errors[at], index=index, columns=answers.labels.rename(None))


def _pair_errors(frame: Any, answers: Answers, table: AnswerTable) -> Floats:
    """errors[p, k] of a frame by worker and label; the least probability where it has no row."""
    names = [answers.workers.take(table.worker), answers.labels.take(table.label)]
    rows = frame.reindex(index=pd.MultiIndex.from_arrays(names), columns=list(answers.labels))
    return np.asarray(np.nan_to_num(rows.to_numpy(np.float64), nan=EPSILON))


@dataclass
class OneCoinDawidSkene(EMAggregator):
    """One accuracy per worker; what is not right is any of the other labels.

    Attributes:
        skills_: The accuracy of each worker.
    """

    def fit(self, data: Any) -> OneCoinDawidSkene:
        """Fit by EM."""
        self.loss_history_ = []
        answers = code_answers(data, by_appearance=True)
        if not len(answers.task):
            self._keep_empty()
            return self
        table = answers.table()
        given = table.sum_by_worker(table.given())
        q = _vote_shares(answers)
        skill, prior = table.sum_by_worker(table.hits(q)) / given, _mean(q)
        per_task = np.bincount(answers.task).astype(np.float64)
        for _ in range(self.n_iter):
            right, wrong = _coin_logs(skill, table.n_labels)
            scores = table.match_evidence((right - wrong)[table.worker]) + _log(prior)
            q, log_sum = posterior(scores)
            hits = table.sum_by_worker(table.hits(q))
            skill, prior = hits / given, _mean(q)
            right, wrong = _coin_logs(skill, table.n_labels)
            expected = float(hits @ right + (given - hits) @ wrong) + _entropy(q, scores, log_sum)
            if self._stops(_loss(expected, q, prior, per_task)):
                break
        self.skills_ = answers.worker_series(skill, "skill")
        self._keep(answers, q, prior, _error_frame(answers, table, _coin_errors(table, skill)))
        return self


def _coin_logs(skill: Floats, n_labels: int) -> tuple[Floats, Floats]:
    """Log p of the right label and of each wrong one."""
    wrong = (1.0 - skill) / max(n_labels - 1, 1)
    return (np.log(np.clip(skill, EPSILON, 1.0 - EPSILON)), np.log(np.clip(wrong, EPSILON, 1.0 - EPSILON)))


def _coin_errors(table: AnswerTable, skill: Floats) -> Floats:
    """errors[p, k] of accuracies."""
    right, wrong = (np.exp(part)[table.worker] for part in _coin_logs(skill, table.n_labels))
    same = table.label[:, None] == np.arange(table.n_labels)
    return np.where(same, right[:, None], wrong[:, None])
