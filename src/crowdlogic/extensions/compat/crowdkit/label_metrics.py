"""crowd-kit's metrics: consistency, uncertainty, alpha_krippendorff and accuracy_on_aggregates.

Axes: i task (or worker), k label.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import entropy

from crowdlogic.errors import LabelError
from crowdlogic.extensions.compat.crowdkit.aggregation import MajorityVote
from crowdlogic.extensions.compat.crowdkit.answers import COLUMNS, get_accuracy
from crowdlogic.numerics.arrays import Floats, Ints, sum_by

Distance = Callable[[Hashable, Hashable], float]


class MissingSkillError(LabelError, AssertionError):
    """A worker's skill or a required column is missing; crowd-kit raises an AssertionError."""


def consistency(answers: Any, workers_skills: Any = None, aggregator: Any = None, by_task: bool = False) -> Any:
    """Return the posterior probability of each task's aggregated label given the workers' skills, or its mean.

    Args:
        answers: Data frame with task, worker and label.
        workers_skills: Series of skills by worker; the aggregator's skills if None.
        aggregator: Aggregation method; MajorityVote if None.
        by_task: Whether to return a series by task.
    """
    _check_columns(answers)
    aggregator = MajorityVote() if aggregator is None else aggregator
    aggregated = aggregator.fit_predict(answers)
    skills = _aggregator_skills(aggregator) if workers_skills is None else workers_skills
    task, tasks = pd.factorize(answers["task"], sort=True)
    label, labels = pd.factorize(answers["label"])
    p = _label_probabilities(label, len(labels), skills.reindex(answers["worker"]).to_numpy(np.float64))
    order = np.argsort(task, kind="stable")
    likelihood = np.multiply.reduceat(p[order], np.searchsorted(task[order], np.arange(len(tasks))), axis=0)
    total = likelihood.sum(axis=1)
    chosen = likelihood[np.arange(len(tasks)), pd.Index(labels).get_indexer(aggregated.reindex(tasks))]
    found = pd.Series(np.where(total > 0, chosen / np.where(total > 0, total, 1.0), 0.0), pd.Index(tasks, name="task"))
    return found if by_task else found.mean()


def uncertainty(
    answers: Any, workers_skills: Any = None, aggregator: Any = None, compute_by: str = "task", aggregate: bool = True
) -> Any:
    """Return the skill-weighted entropy of the labels of each task or worker, or its mean.

    Args:
        answers: Data frame with task, worker and label.
        workers_skills: Series of skills by worker; the aggregator's skills if None, or 1 without an aggregator.
        aggregator: Aggregation method that provides the skills.
        compute_by: task or worker.
        aggregate: Whether to return the mean instead of a series.
    """
    _check_columns(answers)
    if workers_skills is None and aggregator is not None:
        workers_skills = _aggregator_skills(aggregator.fit(answers))
    if workers_skills is None:
        skill = np.ones(len(answers))
    else:
        skill = workers_skills.reindex(answers["worker"]).to_numpy(np.float64)
    if np.isnan(skill).any():
        missing = sorted({str(name) for name in answers["worker"][np.isnan(skill)]})
        raise MissingSkillError(f"No skill for {', '.join(missing[:8])}. Give a skill for every worker.")
    group, groups = pd.factorize(answers[compute_by], sort=True)
    label, labels = pd.factorize(answers["label"])
    p = _label_probabilities(label, len(labels), skill)
    total = np.stack([sum_by(group, len(groups), p[:, k]) for k in range(len(labels))], axis=1)
    found = pd.Series(entropy(total, axis=1), index=pd.Index(groups, name=compute_by))
    return found.mean() if aggregate else found


def _label_probabilities(label: Ints, n_labels: int, skill: Floats) -> Floats:
    """Return p[row, k]: the skill for the row's label, and the rest divided equally among the other labels."""
    rest = (1.0 - skill) / max(n_labels - 1, 1)
    return np.where(np.arange(n_labels) == label[:, None], skill[:, None], rest[:, None])


def _aggregator_skills(aggregator: Any) -> Any:
    if not hasattr(aggregator, "skills_"):
        raise MissingSkillError(f"{type(aggregator).__name__} has no skills. Give workers_skills.")
    return aggregator.skills_


def _check_columns(answers: Any) -> None:
    if not isinstance(answers, pd.DataFrame):
        raise TypeError(f"answers must be a pandas DataFrame, not {type(answers).__name__}.")
    for name in COLUMNS:
        if name not in answers:
            raise MissingSkillError(f"answers have no column {name!r}. Give a DataFrame with task, worker and label.")


def alpha_krippendorff(answers: Any, distance: Distance | None = None) -> float:
    """Return Krippendorff's alpha, the agreement beyond chance.

    Args:
        answers: Data frame with task, worker and label.
        distance: Distance between two labels, from 0 to 1; if None, 0 for equal labels and 1 otherwise.
    """
    _check_columns(answers)
    task, tasks = pd.factorize(answers["task"])
    label, labels = pd.factorize(answers["label"])
    count = sum_by(task * np.int64(len(labels)) + label, len(tasks) * len(labels), None).reshape(-1, len(labels))
    count = count[count.sum(axis=1) > 1]
    apart = 1.0 - np.eye(len(labels))
    if distance is not None:
        apart = np.array([[distance(one, other) for other in labels] for one in labels], dtype=np.float64)
    size, total = count.sum(axis=1), count.sum(axis=0)
    observed = float((_pair_distance(count, apart) * size).sum()) / float(total.sum())
    expected = float(_pair_distance(total[None], apart)[0])
    return 1.0 - observed / expected if expected > 0 else 1.0


def _pair_distance(count: Floats, apart: Floats) -> Floats:
    """Return the mean distance between two labels drawn from each row's counts."""
    size = count.sum(axis=1)
    return np.asarray(((count @ apart) * count).sum(axis=1) / (size * (size - 1)))


def accuracy_on_aggregates(answers: Any, aggregator: Any = None, aggregates: Any = None, by: str | None = None) -> Any:
    """Return the share of answers that equal the aggregated label.

    Args:
        answers: Data frame with task, worker and label.
        aggregator: Aggregation method; MajorityVote if None.
        aggregates: Series of aggregated labels by task, if already computed.
        by: Group by task, worker or true_label; None for a single number.
    """
    if aggregates is None:
        aggregates = (MajorityVote() if aggregator is None else aggregator).fit_predict(answers)
    return get_accuracy(answers, aggregates, by=by)
