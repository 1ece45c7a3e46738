"""MACE, as crowd-kit has it: each worker knows the label, or spams by a strategy of their own.

Axes: i task, j worker, n given label, k true label, p pair of a worker and a label.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import digamma

from crowdlogic.compat.crowdkit.aggregator import ProbabilityAggregator
from crowdlogic.compat.crowdkit.answers import (
    Answers,
    AnswerTable,
    appearance,
    best_labels,
    code_answers,
    posterior,
)
from crowdlogic.errors import OptionError
from crowdlogic.numerics.arrays import Floats

STRATEGY_COUNT = 10.0
"""The prior count of each label in a strategy, with method="vb"."""


@dataclass
class MACE(ProbabilityAggregator):
    """Knowing or spamming, by variational Bayes or EM.

    Attributes:
        n_restarts: Number of random starts; the one with the highest likelihood is kept.
        n_iter: Number of iterations from each.
        method: vb or em.
        smoothing: Not used: with method="em" 0.01 / labels is added to every count.
        default_noise: How far the first parameters are spread.
        alpha: The prior count of spamming, with method="vb".
        beta: The prior count of knowing, with method="vb".
        random_state: Random seed of the first start; the others follow it.
        verbose: Not used; nothing is printed.
        labels_: The label of each task.
        probas_: The probability of each label for each task.
        spamming_: spamming_[j], how much worker j spams and knows; workers in the order of the data.
        thetas_: thetas_[j, n], how often worker j, spamming, gives label n; both in the order of the data.
    """

    n_restarts: int = 10
    n_iter: int = 50
    method: str = "vb"
    smoothing: float = 0.1
    default_noise: float = 0.5
    alpha: float = 0.5
    beta: float = 0.5
    random_state: int = 0
    verbose: int = 0

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.method not in ("vb", "em"):
            raise OptionError(f"method: {self.method!r} is none of vb, em.")
        self.spamming_: Floats
        self.thetas_: Floats

    def fit(self, data: Any) -> MACE:
        """Fit from every start, and keep the likeliest."""
        answers = code_answers(data)
        table = answers.table()
        starts = (self._first(answers, restart) for restart in range(self.n_restarts))
        fits = [self._iterate(table, *start) for start in starts]
        spamming, thetas, _ = max(fits, key=lambda fit: fit[2])
        q, _ = _e_step(table, spamming, thetas)
        tasks, workers, labels = (appearance(part) for part in (answers.task, answers.worker, answers.label))
        self.spamming_, self.thetas_ = spamming[workers], thetas[workers][:, labels]
        self.probas_ = answers.task_frame(q, tasks).iloc[:, labels]
        self.labels_ = answers.task_labels(best_labels(q), tasks)
        return self

    def _first(self, answers: Answers, restart: int) -> tuple[Floats, Floats]:
        """Random parameters; those of the first start are crowd-kit's."""
        shapes = ((len(answers.workers), 2), (len(answers.workers), len(answers.labels)))
        seed = self.random_state + restart
        drawn = [np.random.RandomState(seed).uniform(1, 2 + self.default_noise, size=shape) for shape in shapes]
        workers, labels = appearance(answers.worker), appearance(answers.label)
        spamming, thetas = (part / part.sum(axis=1, keepdims=True) for part in drawn)
        first_spamming, first_thetas = np.empty_like(spamming), np.empty_like(thetas)
        first_spamming[workers] = spamming
        first_thetas[np.ix_(workers, labels)] = thetas
        return first_spamming, first_thetas

    def _iterate(self, table: AnswerTable, spamming: Floats, thetas: Floats) -> tuple[Floats, Floats, float]:
        """Some iterations from a start: the parameters, and the log-likelihood of the answers."""
        given = table.given()
        for _ in range(self.n_iter):
            q, _ = _e_step(table, spamming, thetas)
            known = table.hits(q) * _knowing_share(table, spamming, thetas)
            strategy = np.zeros_like(thetas)
            strategy[table.worker, table.label] = np.maximum(given - known, 0.0)
            counts = np.stack([strategy.sum(axis=1), table.sum_by_worker(known)], axis=1)
            spamming, thetas = self._m_step(counts, strategy)
        return spamming, thetas, _e_step(table, spamming, thetas)[1]

    def _m_step(self, counts: Floats, strategy: Floats) -> tuple[Floats, Floats]:
        if self.method == "vb":
            return _expected(counts + np.array([self.alpha, self.beta])), _expected(strategy + STRATEGY_COUNT)
        added = 0.01 / strategy.shape[1]
        smooth = [part + added for part in (counts, strategy)]
        first, second = (part / part.sum(axis=1, keepdims=True) for part in smooth)
        return first, second


def _expected(counts: Floats) -> Floats:
    """Exp E[log p] of a Dirichlet with these counts, row by row."""
    return np.asarray(np.exp(digamma(counts) - digamma(counts.sum(axis=1, keepdims=True))))


def _knowing_share(table: AnswerTable, spamming: Floats, thetas: Floats) -> Floats:
    """[p], the probability that an answer which is right comes from knowing."""
    knowing = spamming[table.worker, 1]
    return np.asarray(knowing / (spamming[table.worker, 0] * thetas[table.worker, table.label] + knowing))


def _e_step(table: AnswerTable, spamming: Floats, thetas: Floats) -> tuple[Floats, float]:
    """q[i, k], and the log-likelihood of the answers."""
    spam = spamming[table.worker, 0] * thetas[table.worker, table.label]
    differ = np.log(spam)
    agree = np.log(spam + spamming[table.worker, 1])
    q, log_sum = posterior(table.match_evidence(agree - differ) - np.log(table.n_labels))
    return q, float(log_sum.sum()) + float(table.given() @ differ)
