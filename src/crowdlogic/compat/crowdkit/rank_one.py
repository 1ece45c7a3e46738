"""MMSR, as crowd-kit has it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from crowdlogic.compat.crowdkit.aggregator import Aggregator
from crowdlogic.compat.crowdkit.answers import appearance, code_answers
from crowdlogic.compat.crowdkit.voting import MajorityVote
from crowdlogic.numerics.convergence import Convergence
from crowdlogic.truth.mmsr import compare_pairs, complete_rank_one, signed_skills, vote_weights


@dataclass
class MMSR(Aggregator):
    """Skills by robust completion of the matrix of agreements between workers.

    Attributes:
        n_iter: Maximum number of rounds.
        tol: The rounds stop when the matrix changes by less.
        random_state: Random seed of the first skills.
        labels_: The label of each task, after predict.
        scores_: The sum of the weights of each label, over that of all, after predict.
        skills_: The weight of each worker's vote.
        loss_history_: How far each round changed the matrix.
    """

    n_iter: int = 10000
    tol: float = 1e-10
    random_state: int | None = 0

    def __post_init__(self) -> None:
        super().__post_init__()
        self.scores_: Any
        self.skills_: Any
        self.loss_history_: list[float] = []

    def fit(self, data: Any) -> MMSR:
        """Find the skills."""
        answers = code_answers(data)
        order = appearance(answers.worker)
        place = np.empty_like(
            order
        )  # where each worker comes in the data, which is where the random start is drawn for
        place[order] = np.arange(len(order))
        pairs = compare_pairs(answers.task, answers.worker, answers.label, n_annotators=len(answers.workers))
        first = np.random.RandomState(self.random_state).uniform(size=len(order))[place]
        limits = Convergence(max_iterations=max(self.n_iter, 1), tolerance=self.tol)
        if self.n_iter:
            skill, self.loss_history_, _ = complete_rank_one(pairs, first, first, limits)
        else:
            skill, self.loss_history_ = first, []
        weight = vote_weights(signed_skills(pairs, skill), pairs)
        self.skills_ = answers.worker_series(weight, "skill", order)
        return self

    def predict(self, data: Any) -> Any:
        """The labels of these tasks, by the skills."""
        return self._apply(data).labels_

    def predict_score(self, data: Any) -> Any:
        """The weight of each label, by the skills."""
        self._apply(data)
        return self.scores_

    def fit_predict(self, data: Any) -> Any:
        """Fit, and give the label of each task."""
        return self.fit(data).predict(data)

    def fit_predict_score(self, data: Any) -> Any:
        """Fit, and give the weight of each label."""
        return self.fit(data).predict_score(data)

    def _apply(self, data: Any) -> MajorityVote:
        voted = MajorityVote().fit(data, self.skills_)
        self.labels_, self.scores_ = voted.labels_, voted.probas_
        return voted
