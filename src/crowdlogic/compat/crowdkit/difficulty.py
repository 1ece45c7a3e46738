"""GLAD, as crowd-kit has it: EM whose M-step is a conjugate gradient search, from abilities and difficulties of one.

Axes: i task, j worker, k label.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from scipy.optimize import minimize
from scipy.special import expit, log_expit

from crowdlogic.compat.crowdkit.aggregator import ProbabilityAggregator
from crowdlogic.compat.crowdkit.answers import Answers, best_labels, code_answers
from crowdlogic.numerics.arrays import Floats
from crowdlogic.numerics.logspace import normalise
from crowdlogic.numerics.sums import sum_by

LOG_NORMAL = -0.5 * np.log(2.0 * np.pi)
"""The log density of a standard normal distribution at its mean."""


@dataclass(frozen=True, eq=False)
class AbilityModel:
    """The answers with the priors of the parameters.

    Attributes:
        answers: The answers.
        log_prior: log_prior[k].
        ability_mean: The prior mean of each ability.
        ease_mean: The prior mean of each log beta.
    """

    answers: Answers
    log_prior: Floats
    ability_mean: Floats
    ease_mean: Floats

    def e_step(self, ability: Floats, ease: Floats) -> Floats:
        """q[i, k] given the parameters."""
        answers, n_labels = self.answers, len(self.log_prior)
        x = ability[answers.worker] * np.exp(ease)[answers.task]
        wrong = log_expit(-x) - np.log(max(n_labels - 1, 1))
        return normalise(answers.scores(log_expit(x) - wrong) + self.log_prior)[0]

    def objective(self, hit: Floats, ability: Floats, ease: Floats) -> float:
        """The expected log-likelihood of the answers, where hit[row] is the belief in a row's label, and log priors."""
        answers, n_labels = self.answers, len(self.log_prior)
        x = ability[answers.worker] * np.exp(ease)[answers.task]
        # log sigmoid(-x) = log sigmoid(x) - x, so one logarithm serves both
        found = log_expit(x) - (1.0 - hit) * (x + np.log(max(n_labels - 1, 1)))
        distance = ((ability - self.ability_mean) ** 2).sum() + ((ease - self.ease_mean) ** 2).sum()
        value = float(found.sum()) - 0.5 * float(distance) + (len(ability) + len(ease)) * LOG_NORMAL
        return -np.inf if np.isnan(value) else value

    def gradient(self, hit: Floats, ability: Floats, ease: Floats) -> Floats:
        """The gradient of the objective in abilities, then log betas."""
        answers, beta = self.answers, np.exp(ease)
        alpha, scale = ability[answers.worker], beta[answers.task]
        slope = (hit - expit(alpha * scale)) * scale
        by_ability = sum_by(answers.worker, len(ability), slope) - (ability - self.ability_mean)
        by_ease = sum_by(answers.task, len(ease), slope * alpha) - (ease - self.ease_mean)
        return np.concatenate([by_ability, by_ease])


@dataclass
class GLAD(ProbabilityAggregator):
    """An ability per worker, a difficulty per task.

    Attributes:
        n_iter: Maximum number of iterations.
        tol: The iterations stop when the loss rises by less.
        silent: Not used; nothing is printed.
        labels_priors: The prior of each label, a series; equal if None.
        alphas_priors_mean: The prior mean of each worker's ability, a series; 1 if None.
        betas_priors_mean: The prior mean of each task's log beta, a series; 1 if None.
        m_step_max_iter: Maximum number of iterations of the search in an M-step.
        m_step_tol: When the search stops.
        labels_: The label of each task.
        probas_: The probability of each label for each task.
        alphas_: The ability of each worker.
        betas_: The log of beta of each task; the larger, the easier.
        loss_history_: The loss, per answer, after each iteration.
    """

    n_iter: int = 100
    tol: float = 1e-5
    silent: bool = True
    labels_priors: Any = None
    alphas_priors_mean: Any = None
    betas_priors_mean: Any = None
    m_step_max_iter: int = 25
    m_step_tol: float = 1e-2

    def __post_init__(self) -> None:
        super().__post_init__()
        self.alphas_: Any
        self.betas_: Any
        self.loss_history_: list[float] = []

    def fit(self, data: Any) -> GLAD:
        """Fit by EM."""
        self.loss_history_ = []
        model = self._model(code_answers(data))
        answers = model.answers
        ability, ease = np.ones(len(answers.workers)), np.ones(len(answers.tasks))
        q = model.e_step(ability, ease)
        loss = model.objective(q[answers.task, answers.label], ability, ease)
        for _ in range(self.n_iter):
            last = loss
            q = model.e_step(ability, ease)
            hit = q[answers.task, answers.label]
            ability, ease = self._m_step(model, hit, ability, ease)
            # crowd-kit divides by the rows of its long table: one for every answer and label
            loss = model.objective(hit, ability, ease) / (len(answers.task) * len(answers.labels))
            self.loss_history_.append(loss)
            if loss - last < self.tol:
                break
        self.probas_ = answers.task_frame(q).rename_axis(columns="variable")
        self.labels_ = answers.task_labels(best_labels(q))
        self.alphas_ = answers.worker_series(ability, "alpha")
        self.betas_ = pd.Series(ease, index=answers.tasks, name="beta")
        return self

    def _model(self, answers: Answers) -> AbilityModel:
        if self.labels_priors is None:
            log_prior = np.full(len(answers.labels), -np.log(max(len(answers.labels), 1)))
        else:
            names = pd.Index(self.labels_priors.index).rename("label")
            code = names.get_indexer(answers.labels)[answers.label]
            answers = Answers(answers.task, answers.worker, code, answers.tasks, answers.workers, names)
            log_prior = np.log(self.labels_priors.to_numpy(np.float64))
        return AbilityModel(
            answers,
            log_prior,
            _prior_mean(self.alphas_priors_mean, answers.workers),
            _prior_mean(self.betas_priors_mean, answers.tasks),
        )

    def _m_step(self, model: AbilityModel, hit: Floats, ability: Floats, ease: Floats) -> tuple[Floats, Floats]:
        """Search for better abilities and difficulties along conjugate gradients."""
        size = len(ability)

        def loss(x: Floats) -> float:
            return -model.objective(hit, x[:size], x[size:])

        def slope(x: Floats) -> Floats:
            return -model.gradient(hit, x[:size], x[size:])

        start: Floats = np.concatenate([ability, ease])
        limits: Any = {"disp": False, "maxiter": self.m_step_max_iter}
        found: Any = minimize(loss, start, jac=slope, method="CG", tol=self.m_step_tol, options=limits)
        return found.x[:size], found.x[size:]


def _prior_mean(given: Any, names: Any) -> Floats:
    """The prior means by name; 1 if none are given."""
    return np.ones(len(names)) if given is None else given.reindex(names).to_numpy(np.float64)
