"""crowd-kit's frame of answers (task, worker, label) as codes, and codes back as its series and frames.

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
"""What a frame of answers has."""


@dataclass(frozen=True, eq=False)
class AnswerTable:
    """How often each task got each pair of a worker and a label, pairs that occur only. Axis: p pair.

    Attributes:
        by_task: by_task[i, p].
        by_pair: by_pair[p, i], the same transposed.
        first: first[p], the first row with the pair.
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
        """evidence[i, k], the sum of log_errors[p, k] over the answers to task i."""
        return np.asarray(self.by_task @ log_errors)

    def match_evidence(self, extra: Floats) -> Floats:
        """evidence[i, k], the sum of extra[p] over the answers k to task i."""
        return self.evidence(np.where(self.label[:, None] == np.arange(self.n_labels), extra[:, None], 0.0))

    def counts(self, q: Floats) -> Floats:
        """counts[p, k], the expected number of answers of each pair where the truth is k."""
        return np.asarray(self.by_pair @ q)

    def hits(self, q: Floats) -> Floats:
        """hits[p], the expected number of answers of each pair that are right."""
        return self.counts(q)[np.arange(len(self.label)), self.label]

    def given(self) -> Floats:
        """given[p], the number of answers of each pair."""
        return np.asarray(self.by_pair.sum(axis=1), dtype=np.float64)

    def sum_by_worker(self, values: Floats) -> Floats:
        """The sum of values[p] or values[p, k] over each worker's pairs."""
        first = np.searchsorted(self.worker, np.arange(self.n_workers))
        return np.asarray(np.add.reduceat(values, first, axis=0))


@dataclass(frozen=True, eq=False)
class Answers:
    """A frame of answers, coded.

    Attributes:
        task: task[row].
        worker: worker[row].
        label: label[row].
        tasks: The names of the tasks, sorted or in the order of the data.
        workers: The names of the workers, likewise.
        labels: The names of the labels, sorted.
    """

    task: Ints
    worker: Ints
    label: Ints
    tasks: Any
    workers: Any
    labels: Any

    def scores(self, weight: Floats | None = None) -> Floats:
        """score[i, k], the number of answers k to task i, or the sum of their weights."""
        cell = self.task * np.int64(len(self.labels)) + self.label
        shape = (len(self.tasks), len(self.labels))
        return sum_by(cell, shape[0] * shape[1], weight).reshape(shape)

    def distinct(self) -> Bools:
        """Which rows are the first of their task, worker and label."""
        key = (self.task * np.int64(max(len(self.workers), 1)) + self.worker) * max(len(self.labels), 1) + self.label
        return np.asarray(~pd.Series(key).duplicated().to_numpy())

    def take(self, rows: Bools | Ints) -> Answers:
        """Some of the rows; the names stay."""
        return Answers(self.task[rows], self.worker[rows], self.label[rows], self.tasks, self.workers, self.labels)

    def table(self) -> AnswerTable:
        """The answers as sparse matrices, for the sums of EM."""
        n_labels = max(len(self.labels), 1)
        pair, pairs = compact_codes(self.worker * np.int64(n_labels) + self.label)
        forward = _csr_of_ones(self.task, pair, (len(self.tasks), len(pairs)))
        return AnswerTable(
            forward,
            forward.T,
            first=_first_rows(pair, len(pairs)),
            worker=pairs // n_labels,
            label=pairs % n_labels,
            n_workers=len(self.workers),
            n_labels=len(self.labels),
        )

    def task_labels(self, best: Ints, order: Ints | None = None) -> Any:
        """`labels_`: the name of each task's label."""
        series = pd.Series(self.labels.take(best), index=self.tasks, name="agg_label")
        return series if order is None else series.iloc[order]

    def task_frame(self, values: Floats, order: Ints | None = None) -> Any:
        """`probas_`: a row for each task, a column for each label."""
        rows, index = (values, self.tasks) if order is None else (values[order], self.tasks.take(order))
        return pd.DataFrame(rows, index=index, columns=self.labels)

    def worker_series(self, values: Floats, name: str, order: Ints | None = None) -> Any:
        """A number for each worker."""
        series = pd.Series(values, index=self.workers, name=name)
        return series if order is None else series.iloc[order]


def code_answers(data: Any, *, by_appearance: bool = False) -> Answers:
    """The codes of a frame with the columns task, worker and label; a row in which one is missing does not count.

    Args:
        data: The frame.
        by_appearance: Whether tasks and workers stay in the order of the data; else they are sorted.
    """
    given = data if set(COLUMNS) <= set(data.columns) else data[COLUMNS]  # which says what is missing
    sort = not by_appearance
    (task, tasks), (worker, workers) = (_code(given[name], sort=sort) for name in COLUMNS[:2])
    label, labels = _code(given["label"])
    coded = Answers(task, worker, label, tasks.rename("task"), workers.rename("worker"), labels.rename("label"))
    whole = (task >= 0) & (worker >= 0) & (label >= 0)
    return coded if whole.all() else coded.take(whole)


def _code(column: Any, *, sort: bool = True) -> tuple[Ints, Any]:
    """Codes of a column, and its values; in the order of appearance, where they cannot be sorted."""
    codes, values = pd.factorize(column)
    codes, index = np.asarray(codes, dtype=np.int64), pd.Index(values)
    if not sort:
        return codes, index
    try:
        order = index.argsort()
    except TypeError:
        return codes, index
    rank = np.full(len(order) + 1, -1)  # the last entry is that of a missing value, whose code is -1
    rank[order] = np.arange(len(order))
    return rank[codes], index.take(order)


def compact_codes(keys: Ints) -> tuple[Ints, Ints]:
    """The codes of keys that are not negative, and the keys behind the codes, sorted."""
    if not len(keys) or keys.max() > 4 * len(keys):
        codes, found = pd.factorize(keys, sort=True)
        return np.asarray(codes, dtype=np.int64), np.asarray(found)
    present = np.zeros(int(keys.max()) + 1, dtype=bool)  # a table of all keys: no hashing
    present[keys] = True
    return np.asarray((np.cumsum(present) - 1)[keys]), np.flatnonzero(present)


def _csr_of_ones(row: Ints, column: Ints, shape: tuple[int, int]) -> Any:
    """A sparse matrix of how often each row and column meet; repeated entries add up."""
    if len(row) and (np.diff(row) < 0).any():
        order = np.argsort(row, kind="stable")
        row, column = row[order], column[order]
    starts = np.concatenate([[0], np.cumsum(np.bincount(row, minlength=shape[0]))])
    small = np.int32 if len(row) < 2**31 else np.int64
    return sparse.csr_array((np.ones(len(row)), column.astype(small), starts.astype(small)), shape=shape)


def _first_rows(codes: Ints, count: int) -> Ints:
    """The first row in which each code stands."""
    first = np.zeros(count, dtype=np.int64)
    first[codes[::-1]] = np.arange(len(codes))[::-1]  # of several rows the last one written counts: the first
    return first


def appearance(codes: Ints) -> Ints:
    """The codes in the order in which they first appear."""
    return np.asarray(pd.unique(codes))


def posterior(scores: Floats) -> tuple[Floats, Floats]:
    """q[i, k] and the log of each row's sum, of log scores; column by column, since there are few columns."""
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
    """The first of the labels with the highest score."""
    return np.asarray(scores.argmax(axis=1)) if scores.size else np.zeros(len(scores), dtype=np.int64)


# What crowd-kit's aggregators share: `fit`, then `fit_predict` and `fit_predict_proba` from what it left.


@dataclass
class Aggregator:
    """The base of the aggregators.

    Attributes:
        labels_: The label of each task, once fitted.
    """

    def __post_init__(self) -> None:
        self.labels_: Any

    def fit(self, data: Any) -> Any:
        """Fit to a frame with task, worker and label."""
        raise NotImplementedError

    def fit_predict(self, data: Any) -> Any:
        """Fit, and give the label of each task."""
        return self.fit(data).labels_


@dataclass
class ProbabilityAggregator(Aggregator):
    """An aggregator with `probas_`, the probability of each label for each task."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.probas_: Any

    def fit_predict_proba(self, data: Any) -> Any:
        """Fit, and give the probabilities of each task's labels."""
        return self.fit(data).probas_


# How often answers are right, and the small functions on frames that crowd-kit keeps beside it.

GROUPS = ("task", "worker", "true_label")
"""What an accuracy can be asked for by."""


def get_accuracy(data: Any, true_labels: Any, by: str | None = None) -> Any:
    """The share of answers that are right, by weight where there is a column `weight`.

    Args:
        data: A frame with task, worker and label, and possibly weight.
        true_labels: A series of the right labels, by task. A task may have several.
        by: What to group by: task, worker or true_label; None for one number.
    """
    columns = [*COLUMNS, *(["weight"] if "weight" in data.columns else [])]
    truth = pd.Series(true_labels, name="true_label")
    joined = data[columns].join(truth, on="task") if len(data) else data[columns].assign(true_label=[])
    joined = joined[joined["true_label"].notna()]
    weight = joined["weight"].to_numpy(np.float64) if "weight" in joined.columns else np.ones(len(joined))
    score = weight * (joined["label"].to_numpy() == joined["true_label"].to_numpy())
    scored = joined.assign(weight=weight, score=score)
    # an answer that is right by one of several true labels is right, and counts once
    scored = scored.sort_values("score", kind="stable").drop_duplicates(COLUMNS, keep="last")
    if by is None:
        return scored["score"].sum() / scored["weight"].sum()
    groups = scored.groupby(by)
    return groups["score"].sum() / groups["weight"].sum()


def worker_accuracy(answers: Answers, best: Ints, counted: Bools) -> Floats:
    """skill[j], the share of a worker's distinct answers that are the best label of their task; NaN without answers."""
    rows = slice(None) if counted.all() else counted
    worker, size = answers.worker[rows], len(answers.workers)
    right = (best[answers.task[rows]] == answers.label[rows]).astype(np.float64)
    given = np.bincount(worker, minlength=size)
    with np.errstate(invalid="ignore"):
        return np.asarray(sum_by(worker, size, right) / given)


def gold_accuracy(data: Any, true_labels: Any) -> Any:
    """The skills of the workers who answered a task whose right label is known."""
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
    """The column with the highest value in each row, the first of several."""
    return proba.idxmax(axis="columns") if proba.size else pd.Series([], dtype="O")


def normalize_rows(scores: Any) -> Any:
    """The rows of a frame scaled to sum to one."""
    return scores.div(scores.sum(axis=1), axis=0)
