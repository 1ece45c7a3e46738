"""MajorityVote, Wawa, GoldMajorityVote and ZeroBasedSkill, as crowd-kit has them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from scipy.optimize import minimize
from scipy.special import digamma, expit, log_expit

from crowdlogic.errors import LabelError, OptionError
from crowdlogic.extensions.compat.crowdkit.answers import (
    Aggregator,
    Answers,
    AnswerTable,
    ProbabilityAggregator,
    appearance,
    best_labels,
    code_answers,
    gold_accuracy,
    posterior,
    worker_accuracy,
)
from crowdlogic.extensions.compat.kos import pass_messages
from crowdlogic.extensions.compat.m_msr import compare_pairs, complete_rank_one, signed_skills, vote_weights
from crowdlogic.extensions.compat.zero_based_skill import LearningRate, learn_skills
from crowdlogic.numerics.arrays import Bools, Floats, Ints, sum_by
from crowdlogic.numerics.convergence import Convergence
from crowdlogic.numerics.logspace import normalise


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
            raise OptionError(f"on_missing_skill: expected one of error, ignore, value; got {self.on_missing_skill!r}.")
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


# DawidSkene and OneCoinDawidSkene, as crowd-kit has them: maximum likelihood by EM, from the shares of the answers.
#
# Axes: i task, j worker, k true label, p pair of a worker and a label.

NO_KNOWN_TASKS = (np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64))
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
            raise OptionError(
                f"initial_error_strategy: expected one of assign, addition; got {self.initial_error_strategy!r}."
            )
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
        return NO_KNOWN_TASKS
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


def _entropy(q: Floats, scores: Floats, log_sum: Floats, known: tuple[Ints, Ints] = NO_KNOWN_TASKS) -> float:
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


# GLAD, as crowd-kit has it: EM whose M-step is a conjugate gradient search, from abilities and difficulties of one.
#
# Axes: i task, j worker, k label.

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


# KOS, as crowd-kit has it.


@dataclass
class KOS(Aggregator):
    """Messages between tasks and workers; two labels only.

    Attributes:
        n_iter: Number of rounds.
        random_state: Random seed of the first messages.
        labels_: The label of each task.
    """

    n_iter: int = 100
    random_state: int = 0

    def fit(self, data: Any) -> KOS:
        """Pass messages from a random start."""
        if not data.size:
            self.labels_ = pd.Series([], dtype="O", name="agg_label")
            return self
        answers = code_answers(data)
        if len(answers.labels) != 2:
            raise LabelError(f"KOS is for two labels; these answers have {len(answers.labels)}. Use another method.")
        positive = answers.label[0]  # the label that comes first in the data
        sign = np.where(answers.label == positive, 1.0, -1.0)
        first = np.random.RandomState(self.random_state).normal(loc=1, scale=1, size=len(sign))
        message = pass_messages(answers.task, answers.worker, sign, first, iterations=self.n_iter)
        score = sum_by(answers.task, len(answers.tasks), sign * message)
        votes = sum_by(answers.task, len(answers.tasks), sign)
        score = np.where(score == 0, votes, score)  # where no message says anything, the votes decide
        self.labels_ = answers.task_labels(np.where(score >= 0, positive, 1 - positive))
        return self


# MMSR, as crowd-kit has it.


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


# MACE, as crowd-kit has it: each worker knows the label, or spams by a strategy of their own.
#
# Axes: i task, j worker, n given label, k true label, p pair of a worker and a label.

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
            raise OptionError(f"method: expected one of vb, em; got {self.method!r}.")
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
