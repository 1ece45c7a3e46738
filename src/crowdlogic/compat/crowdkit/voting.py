"""MajorityVote, Wawa, GoldMajorityVote and ZeroBasedSkill, as crowd-kit has them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from crowdlogic.compat.crowdkit.accuracy import gold_accuracy, worker_accuracy
from crowdlogic.compat.crowdkit.aggregator import ProbabilityAggregator
from crowdlogic.compat.crowdkit.answers import Answers, appearance, best_labels, code_answers
from crowdlogic.errors import OptionError
from crowdlogic.numerics.arrays import Bools, Floats
from crowdlogic.truth.zero_based_skill import LearningRate, learn_skills


def vote_probabilities(scores: Floats) -> Floats:
    """The scores of each task scaled to sum to one (to minus one, where negative skills outweigh the others)."""
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(scores / np.abs(scores.sum(axis=1, keepdims=True)))


@dataclass
class MajorityVote(ProbabilityAggregator):
    """The label with the most answers, or with the largest sum of its workers' skills.

    Attributes:
        default_skill: The skill of a worker without one, with `on_missing_skill="value"`.
        on_missing_skill: What to do with answers of workers without a skill: error, ignore or value.
        labels_: The label of each task.
        probas_: The share of each label.
        skills_: The share of each worker's answers that agree with `labels_`.
    """

    default_skill: float | None = None
    on_missing_skill: str = "error"

    def fit(self, data: Any, skills: Any = None) -> MajorityVote:
        """Count the answers, by skill if skills are given (a series by worker)."""
        answers = code_answers(data)
        if skills is None:
            scores = answers.scores()
        else:
            known, given = self._answer_skills(answers, skills)
            answers = answers if known.all() else _without(answers, known)
            scores = answers.scores(given[known])
        best = best_labels(probabilities := vote_probabilities(scores))
        self.probas_ = answers.task_frame(probabilities)
        self.labels_ = answers.task_labels(best)
        skill = worker_accuracy(answers, best, answers.distinct())
        self.skills_ = answers.worker_series(skill, "skill").dropna()
        return self

    def fit_predict(self, data: Any, skills: Any = None) -> Any:
        """Fit, and give the label of each task."""
        return self.fit(data, skills).labels_

    def fit_predict_proba(self, data: Any, skills: Any = None) -> Any:
        """Fit, and give the share of each label."""
        return self.fit(data, skills).probas_

    def _answer_skills(self, answers: Answers, skills: Any) -> tuple[Bools, Floats]:
        """Which answers count, and the skill of each answer's worker."""
        if self.on_missing_skill != "value" and self.default_skill is not None:
            raise OptionError('default_skill is used but on_missing_skill is not "value".')
        given = np.asarray(skills.reindex(answers.workers), dtype=np.float64)[answers.worker]
        missing = np.isnan(given)
        if self.on_missing_skill == "value":
            if self.default_skill is None:
                raise OptionError('on_missing_skill is "value" but there is no default_skill.')
            return np.ones(len(given), dtype=bool), np.where(missing, self.default_skill, given)
        if self.on_missing_skill == "error":
            if missing.any():
                raise OptionError(
                    f"{np.count_nonzero(missing):,} answers are of workers without a skill. Give a skill for every "
                    f'worker, or on_missing_skill="ignore" or "value".'
                )
        elif self.on_missing_skill != "ignore":
            raise OptionError(f"on_missing_skill: {self.on_missing_skill!r} is none of error, ignore, value.")
        lost = len(answers.tasks) - len(appearance(answers.task[~missing]))
        if lost:
            raise OptionError(f"{lost:,} tasks have no worker with a skill. Give at least one skill for every task.")
        return ~missing, given


def _without(answers: Answers, known: Bools) -> Answers:
    """The answers of some rows, over the labels that these use."""
    kept = answers.take(known)
    used = np.sort(appearance(kept.label))
    position = np.full(len(kept.labels), -1)
    position[used] = np.arange(len(used))
    return Answers(kept.task, kept.worker, position[kept.label], kept.tasks, kept.workers, kept.labels.take(used))


@dataclass
class SkillAggregator(ProbabilityAggregator):
    """An aggregator whose fit gives `skills_`; votes weighted by these answer any frame."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.skills_: Any

    def predict(self, data: Any) -> Any:
        """The labels of these tasks, by the skills."""
        return self._apply(data).labels_

    def predict_proba(self, data: Any) -> Any:
        """The share of each label, by the skills."""
        return self._apply(data).probas_

    def fit_predict(self, data: Any) -> Any:
        """Fit, and give the label of each task."""
        return self.fit(data).predict(data)

    def fit_predict_proba(self, data: Any) -> Any:
        """Fit, and give the share of each label."""
        return self.fit(data).predict_proba(data)

    def _apply(self, data: Any) -> MajorityVote:
        if not hasattr(self, "skills_"):
            from sklearn.exceptions import NotFittedError

            raise NotFittedError(f"This {type(self).__name__} is not fitted. Call fit first.")
        voted = MajorityVote().fit(data, self.skills_)
        self.labels_, self.probas_ = voted.labels_, voted.probas_
        return voted


@dataclass
class Wawa(SkillAggregator):
    """Votes weighted by each worker's agreement with the majority.

    Attributes:
        labels_: The label of each task, after predict.
        probas_: The share of each label, after predict.
        skills_: The share of each worker's answers that agree with the majority.
    """

    def fit(self, data: Any) -> Wawa:
        """Count the answers, and each worker's agreement with them."""
        answers = code_answers(data)
        skill = worker_accuracy(answers, best_labels(answers.scores()), answers.distinct())
        self.skills_ = answers.worker_series(skill, "skill").dropna()
        return self


@dataclass
class GoldMajorityVote(SkillAggregator):
    """Votes weighted by each worker's accuracy on tasks whose label is known.

    Attributes:
        labels_: The label of each task, after predict.
        probas_: The share of each label, after predict.
        skills_: The accuracy of each worker on the known tasks.
    """

    def fit(self, data: Any, true_labels: Any = None) -> GoldMajorityVote:
        """Find the accuracies, by a series of the true labels."""
        if true_labels is None:
            raise OptionError("GoldMajorityVote needs true_labels: a series of the true label of some tasks.")
        self.skills_ = gold_accuracy(data[["task", "worker", "label"]], true_labels)
        return self

    def fit_predict(self, data: Any, true_labels: Any = None) -> Any:
        """Fit, and give the label of each task."""
        return self.fit(data, true_labels).predict(data)

    def fit_predict_proba(self, data: Any, true_labels: Any = None) -> Any:
        """Fit, and give the share of each label."""
        return self.fit(data, true_labels).predict_proba(data)


@dataclass
class ZeroBasedSkill(SkillAggregator):
    """Votes weighted by skills that follow each worker's agreement with the votes in small steps.

    Attributes:
        n_iter: Maximum number of steps.
        lr_init: The first learning rate.
        lr_steps_to_reduce: After how many steps the learning rate falls.
        lr_reduce_factor: What it is multiplied by then.
        eps: How far above the share of a random guess every skill starts.
        labels_: The label of each task, after predict.
        probas_: The share of each label, after predict.
        skills_: The skill of each worker.
    """

    n_iter: int = 100
    lr_init: float = 1.0
    lr_steps_to_reduce: int = 20
    lr_reduce_factor: float = 0.5
    eps: float = 1e-5

    def fit(self, data: Any) -> ZeroBasedSkill:
        """Learn the skills."""
        answers = code_answers(data)
        counted = answers.distinct()

        def agreeing(skill: Floats) -> Floats:
            scores = answers.scores(skill[answers.worker])
            return worker_accuracy(answers, best_labels(vote_probabilities(scores)), counted)

        start = np.full(len(answers.workers), 1.0 / max(len(answers.labels), 1) + self.eps)
        rate = LearningRate(self.lr_init, self.lr_reduce_factor, self.lr_steps_to_reduce)
        skill = learn_skills(agreeing, start, iterations=self.n_iter, rate=rate)
        self.skills_ = pd.Series(skill, index=answers.workers, name="skill")
        return self
