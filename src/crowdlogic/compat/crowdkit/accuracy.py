"""How often answers are right, and the small functions on frames that crowd-kit keeps beside it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from crowdlogic.compat.crowdkit.answers import COLUMNS, Answers, appearance, code_answers
from crowdlogic.numerics.arrays import Bools, Floats, Ints
from crowdlogic.numerics.sums import sum_by

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
