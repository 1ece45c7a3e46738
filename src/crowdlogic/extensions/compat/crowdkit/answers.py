"""Conversion between crowd-kit's data frames (task, worker, label) and integer codes, and shared helpers.

Axes: i task, j worker, k label.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse

from crowdlogic.numerics.arrays import Bools, Floats, Ints, sum_by

COLUMNS = ["task", "worker", "label"]
"""Required columns of a data frame of answers."""


@dataclass(frozen=True, eq=False)
class AnswerTable:
    """Sparse counts of tasks x pairs of a worker and a label, restricted to pairs that occur. Axis: p pair.

    Attributes:
        by_task: by_task[i, p].
        by_pair: by_pair[p, i], the same transposed.
        first: first[p], the first row of the pair.
        worker: worker[p].
        label: label[p].
        n_workers: Number of workers.
        n_labels: Number of labels.
    """

    by_task: Any
    by_pair: Any
    first: Ints
    worker: Ints
    label: Ints
    n_workers: int
    n_labels: int

    def evidence(self, log_errors: Floats) -> Floats:
        """Return evidence[i, k], the sum of log_errors[p, k] over the answers to task i."""
        return np.asarray(self.by_task @ log_errors)

    def match_evidence(self, extra: Floats) -> Floats:
        """Return evidence[i, k], the sum of extra[p] over the answers k to task i."""
        return self.evidence(np.where(self.label[:, None] == np.arange(self.n_labels), extra[:, None], 0.0))

    def counts(self, q: Floats) -> Floats:
        """Return counts[p, k], the expected number of answers of each pair with true label k."""
        return np.asarray(self.by_pair @ q)

    def hits(self, q: Floats) -> Floats:
        """Return hits[p], the expected number of correct answers of each pair."""
        return self.counts(q)[np.arange(len(self.label)), self.label]

    def given(self) -> Floats:
        """Return given[p], the number of answers of each pair."""
        return np.asarray(self.by_pair.sum(axis=1), dtype=np.float64)

    def sum_by_worker(self, values: Floats) -> Floats:
        """Return the sum of values[p] or values[p, k] over each worker's pairs."""
        first = np.searchsorted(self.worker, np.arange(self.n_workers))
        return np.asarray(np.add.reduceat(values, first, axis=0))


@dataclass(frozen=True, eq=False)
class Answers:
    """Answers as integer codes.

    Attributes:
        task: task[row].
        worker: worker[row].
        label: label[row].
        tasks: Names of the tasks, sorted or in order of appearance.
        workers: Names of the workers, sorted or in order of appearance.
        labels: Names of the labels, sorted.
    """

    task: Ints
    worker: Ints
    label: Ints
    tasks: Any
    workers: Any
    labels: Any

    def scores(self, weight: Floats | None = None) -> Floats:
        """Return score[i, k], the number of answers k to task i, or the sum of their weights."""
        cell = self.task * np.int64(len(self.labels)) + self.label
        shape = (len(self.tasks), len(self.labels))
        return sum_by(cell, shape[0] * shape[1], weight).reshape(shape)

    def distinct(self) -> Bools:
        """Return a mask of the first row of each combination of task, worker and label."""
        key = (self.task * np.int64(max(len(self.workers), 1)) + self.worker) * max(len(self.labels), 1) + self.label
        return np.asarray(~pd.Series(key).duplicated().to_numpy())

    def take(self, rows: Bools | Ints) -> Answers:
        """Return the selected rows, with unchanged names."""
        return Answers(self.task[rows], self.worker[rows], self.label[rows], self.tasks, self.workers, self.labels)

    def table(self) -> AnswerTable:
        """Return the answers as sparse matrices for the sums of EM."""
        n_labels = max(len(self.labels), 1)
        pair, pairs = compact_codes(self.worker * np.int64(n_labels) + self.label)
        first = np.zeros(len(pairs), dtype=np.int64)
        first[pair[::-1]] = np.arange(len(pair))[::-1]  # assigned in reverse, so that the first row wins
        # A sparse matrix of ones by task and pair, in which repeated entries add up
        row, column = self.task, pair
        if len(row) and (np.diff(row) < 0).any():
            order = np.argsort(row, kind="stable")
            row, column = row[order], column[order]
        starts = np.concatenate([[0], np.cumsum(np.bincount(row, minlength=len(self.tasks)))])
        small = np.int32 if len(row) < 2**31 else np.int64
        entries: Any = (np.ones(len(row)), column.astype(small), starts.astype(small))
        forward = sparse.csr_array(entries, shape=(len(self.tasks), len(pairs)))
        return AnswerTable(
            forward,
            forward.T,
            first=first,
            worker=pairs // n_labels,
            label=pairs % n_labels,
            n_workers=len(self.workers),
            n_labels=len(self.labels),
        )

    def task_labels(self, best: Ints, order: Ints | None = None) -> Any:
        """Return `labels_`: the name of each task's label."""
        series = pd.Series(self.labels.take(best), index=self.tasks, name="agg_label")
        return series if order is None else series.iloc[order]

    def task_frame(self, values: Floats, order: Ints | None = None) -> Any:
        """Return `probas_`: one row per task, one column per label."""
        rows, index = (values, self.tasks) if order is None else (values[order], self.tasks.take(order))
        return pd.DataFrame(rows, index=index, columns=self.labels)

    def worker_series(self, values: Floats, name: str, order: Ints | None = None) -> Any:
        """Return a series with one value per worker."""
        series = pd.Series(values, index=self.workers, name=name)
        return series if order is None else series.iloc[order]


def code_answers(data: Any, *, by_appearance: bool = False) -> Answers:
    """Encode a data frame with task, worker and label; rows with missing values are ignored.

    Args:
        data: Data frame of answers.
        by_appearance: Whether tasks and workers keep the order of the data instead of being sorted.
    """
    given = data if set(COLUMNS) <= set(data.columns) else data[COLUMNS]  # raises an error if one is missing
    sort = not by_appearance
    (task, tasks), (worker, workers) = (_code(given[name], sort=sort) for name in COLUMNS[:2])
    label, labels = _code(given["label"])
    coded = Answers(task, worker, label, tasks.rename("task"), workers.rename("worker"), labels.rename("label"))
    whole = (task >= 0) & (worker >= 0) & (label >= 0)
    return coded if whole.all() else coded.take(whole)


def _code(column: Any, *, sort: bool = True) -> tuple[Ints, Any]:
    """Return the codes and values of a column; values that cannot be sorted keep their order of appearance."""
    codes, values = pd.factorize(column)
    codes, index = np.asarray(codes, dtype=np.int64), pd.Index(values)
    if not sort:
        return codes, index
    try:
        order = index.argsort()
    except TypeError:
        return codes, index
    rank = np.full(len(order) + 1, -1)  # the last entry is for missing values, whose code is -1
    rank[order] = np.arange(len(order))
    return rank[codes], index.take(order)


def compact_codes(keys: Ints) -> tuple[Ints, Ints]:
    """Return compact codes of non-negative keys, and the sorted distinct keys."""
    if not len(keys) or keys.max() > 4 * len(keys):
        codes, found = pd.factorize(keys, sort=True)
        return np.asarray(codes, dtype=np.int64), np.asarray(found)
    present = np.zeros(int(keys.max()) + 1, dtype=bool)  # a lookup table of all keys, which avoids hashing
    present[keys] = True
    return np.asarray((np.cumsum(present) - 1)[keys]), np.flatnonzero(present)


def appearance(codes: Ints) -> Ints:
    """Return the distinct codes in order of appearance."""
    return np.asarray(pd.unique(codes))


def posterior(scores: Floats) -> tuple[Floats, Floats]:
    """Return the softmax q[i, k] of log scores and each row's log-sum-exp; loops over the few columns."""
    peak = scores[:, 0].copy()
    for column in scores.T[1:]:
        np.maximum(peak, column, out=peak)
    q = np.exp(scores - peak[:, None])
    total = q[:, 0].copy()
    for column in q.T[1:]:
        total += column
    q /= total[:, None]
    return q, np.log(total) + peak


def best_labels(scores: Floats) -> Ints:
    """Return the label with the highest score of each task; ties go to the first."""
    return np.asarray(scores.argmax(axis=1)) if scores.size else np.zeros(len(scores), dtype=np.int64)


@dataclass
class Aggregator:
    """Base class of crowd-kit's aggregators.

    Attributes:
        labels_: Label of each task, set by `fit` or `predict`.
    """

    def __post_init__(self) -> None:
        self.labels_: Any

    def fit(self, data: Any) -> Any:
        """Fit to a data frame with task, worker and label."""
        raise NotImplementedError

    def fit_predict(self, data: Any) -> Any:
        """Fit and return the label of each task."""
        return self.fit(data).labels_


@dataclass
class ProbabilityAggregator(Aggregator):
    """Aggregator with `probas_`, the probability of each label for each task."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.probas_: Any

    def fit_predict_proba(self, data: Any) -> Any:
        """Fit and return the probabilities of each task's labels."""
        return self.fit(data).probas_


GROUPS = ("task", "worker", "true_label")
"""Columns by which an accuracy can be grouped."""


def get_accuracy(data: Any, true_labels: Any, by: str | None = None) -> Any:
    """Return the share of correct answers, weighted by the column `weight` if present.

    Args:
        data: Data frame with task, worker, label and optionally weight.
        true_labels: Series of the true labels by task. A task may have several.
        by: Group by task, worker or true_label; None for a single number.
    """
    columns = [*COLUMNS, *(["weight"] if "weight" in data.columns else [])]
    truth = pd.Series(true_labels, name="true_label")
    joined = data[columns].join(truth, on="task") if len(data) else data[columns].assign(true_label=[])
    joined = joined[joined["true_label"].notna()]
    weight = joined["weight"].to_numpy(np.float64) if "weight" in joined.columns else np.ones(len(joined))
    score = weight * (joined["label"].to_numpy() == joined["true_label"].to_numpy())
    scored = joined.assign(weight=weight, score=score)
    # an answer is correct if it matches any of several true labels, and counts once
    scored = scored.sort_values("score", kind="stable").drop_duplicates(COLUMNS, keep="last")
    if by is None:
        return scored["score"].sum() / scored["weight"].sum()
    groups = scored.groupby(by)
    return groups["score"].sum() / groups["weight"].sum()


def worker_accuracy(answers: Answers, best: Ints, counted: Bools) -> Floats:
    """Return skill[j], the share of distinct answers that are the task's best label; NaN without answers."""
    rows = slice(None) if counted.all() else counted
    worker, size = answers.worker[rows], len(answers.workers)
    right = (best[answers.task[rows]] == answers.label[rows]).astype(np.float64)
    given = np.bincount(worker, minlength=size)
    with np.errstate(invalid="ignore"):
        return np.asarray(sum_by(worker, size, right) / given)


def gold_accuracy(data: Any, true_labels: Any) -> Any:
    """Return the accuracy of each worker on tasks with a known true label."""
    if not len(data) or not true_labels.index.is_unique:
        return get_accuracy(data, true_labels, by="worker").rename("skill")
    answers = code_answers(data)
    known = true_labels.reindex(answers.tasks)
    position = answers.labels.get_indexer(known)
    rows = known.notna().to_numpy()[answers.task] & answers.distinct()
    skill = worker_accuracy(answers, np.where(position < 0, -1, position), rows)
    seen = np.sort(appearance(answers.worker[rows]))
    return answers.worker_series(skill, "skill").iloc[seen]


def get_most_probable_labels(proba: Any) -> Any:
    """Return the column with the highest value in each row; ties go to the first."""
    return proba.idxmax(axis="columns") if proba.size else pd.Series([], dtype="O")


def normalize_rows(scores: Any) -> Any:
    """Scale the rows of a data frame to sum to one."""
    return scores.div(scores.sum(axis=1), axis=0)
