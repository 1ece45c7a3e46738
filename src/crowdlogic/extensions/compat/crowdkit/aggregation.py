"""crowd-kit's aggregators: majority votes, Dawid-Skene, GLAD, KOS, M-MSR and MACE.

Axes: i task, j worker, n given label, k true label, p pair of a worker and a label.
"""

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
    """Normalise the scores of each task to sum to one (to minus one if negative skills outweigh the others)."""
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(scores / np.abs(scores.sum(axis=1, keepdims=True)))


@dataclass
class MajorityVote(ProbabilityAggregator):
    """Majority vote, optionally weighted by the workers' skills.

    Attributes:
        default_skill: Skill of workers without a given skill, with `on_missing_skill="value"`.
        on_missing_skill: Treatment of answers by workers without a skill: error, ignore or value.
        labels_: Label of each task.
        probas_: Share of each label.
        skills_: Share of each worker's answers that agree with `labels_`.
    """

    default_skill: float | None = None
    on_missing_skill: str = "error"

    def fit(self, data: Any, skills: Any = None) -> MajorityVote:
        """Count the answers, weighted by `skills` if given (a series by worker)."""
        answers = code_answers(data)
        if skills is None:
            scores = answers.scores()
        else:
            known, given = self._answer_skills(answers, skills)
            if not known.all():  # only the known rows, and the labels that occur in them
                kept = answers.take(known)
                used = np.sort(appearance(kept.label))
                code, labels = np.searchsorted(used, kept.label), kept.labels.take(used)
                answers = Answers(kept.task, kept.worker, code, kept.tasks, kept.workers, labels)
            scores = answers.scores(given[known])
        best = best_labels(probabilities := vote_probabilities(scores))
        self.probas_ = answers.task_frame(probabilities)
        self.labels_ = answers.task_labels(best)
        skill = worker_accuracy(answers, best, answers.distinct())
        self.skills_ = answers.worker_series(skill, "skill").dropna()
        return self

    def fit_predict(self, data: Any, skills: Any = None) -> Any:
        """Fit and return the label of each task."""
        return self.fit(data, skills).labels_

    def fit_predict_proba(self, data: Any, skills: Any = None) -> Any:
        """Fit and return the share of each label."""
        return self.fit(data, skills).probas_

    def _answer_skills(self, answers: Answers, skills: Any) -> tuple[Bools, Floats]:
        """Return a mask of the answers that count, and the skill of each answer's worker."""
        if self.on_missing_skill != "value" and self.default_skill is not None:
            raise OptionError('default_skill requires on_missing_skill="value".')
        given = np.asarray(skills.reindex(answers.workers), dtype=np.float64)[answers.worker]
        missing = np.isnan(given)
        if self.on_missing_skill == "value":
            if self.default_skill is None:
                raise OptionError('on_missing_skill="value" requires default_skill.')
            return np.ones(len(given), dtype=bool), np.where(missing, self.default_skill, given)
        if self.on_missing_skill == "error":
            if missing.any():
                raise OptionError(
                    f"{np.count_nonzero(missing):,} answers are by workers without a skill. Give a skill for every "
                    f'worker, or set on_missing_skill to "ignore" or "value".'
                )
        elif self.on_missing_skill != "ignore":
            raise OptionError(f"on_missing_skill: expected one of error, ignore, value; got {self.on_missing_skill!r}.")
        lost = len(answers.tasks) - len(appearance(answers.task[~missing]))
        if lost:
            raise OptionError(f"{lost:,} tasks have no worker with a skill. Give at least one skill for every task.")
        return ~missing, given


@dataclass
class SkillAggregator(ProbabilityAggregator):
    """Aggregator that fits `skills_` and predicts by votes weighted with these skills."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.skills_: Any

    def predict(self, data: Any) -> Any:
        """Return the label of each task by weighted vote."""
        return self._apply(data).labels_

    def predict_proba(self, data: Any) -> Any:
        """Return the share of each label by weighted vote."""
        return self._apply(data).probas_

    def fit_predict(self, data: Any) -> Any:
        """Fit and return the label of each task."""
        return self.fit(data).predict(data)

    def fit_predict_proba(self, data: Any) -> Any:
        """Fit and return the share of each label."""
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
        labels_: Label of each task, set by `predict`.
        probas_: Share of each label, set by `predict`.
        skills_: Share of each worker's answers that agree with the majority.
    """

    def fit(self, data: Any) -> Wawa:
        """Compute each worker's agreement with the majority vote."""
        answers = code_answers(data)
        skill = worker_accuracy(answers, best_labels(answers.scores()), answers.distinct())
        self.skills_ = answers.worker_series(skill, "skill").dropna()
        return self


@dataclass
class GoldMajorityVote(SkillAggregator):
    """Votes weighted by each worker's accuracy on tasks with known labels.

    Attributes:
        labels_: Label of each task, set by `predict`.
        probas_: Share of each label, set by `predict`.
        skills_: Accuracy of each worker on the tasks with known labels.
    """

    def fit(self, data: Any, true_labels: Any = None) -> GoldMajorityVote:
        """Compute the accuracies from a series of true labels."""
        if true_labels is None:
            raise OptionError("GoldMajorityVote needs true_labels: a series of the true label of some tasks.")
        self.skills_ = gold_accuracy(data[["task", "worker", "label"]], true_labels)
        return self

    def fit_predict(self, data: Any, true_labels: Any = None) -> Any:
        """Fit and return the label of each task."""
        return self.fit(data, true_labels).predict(data)

    def fit_predict_proba(self, data: Any, true_labels: Any = None) -> Any:
        """Fit and return the share of each label."""
        return self.fit(data, true_labels).predict_proba(data)


@dataclass
class ZeroBasedSkill(SkillAggregator):
    """Votes weighted by skills, updated iteratively towards each worker's agreement with the votes.

    Attributes:
        n_iter: Maximum number of steps.
        lr_init: Initial learning rate.
        lr_steps_to_reduce: Number of steps between reductions of the learning rate.
        lr_reduce_factor: Factor by which the learning rate is multiplied at each reduction.
        eps: Amount by which the initial skills exceed the accuracy of a random guess.
        labels_: Label of each task, set by `predict`.
        probas_: Share of each label, set by `predict`.
        skills_: Skill of each worker.
    """

    n_iter: int = 100
    lr_init: float = 1.0
    lr_steps_to_reduce: int = 20
    lr_reduce_factor: float = 0.5
    eps: float = 1e-5

    def fit(self, data: Any) -> ZeroBasedSkill:
        """Fit the skills."""
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


NO_KNOWN_TASKS = (np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64))
"""Empty codes of tasks and labels, if no true labels are known."""
EPSILON = 1e-10
"""Minimum probability of a label or an error."""


@dataclass
class EMAggregator(ProbabilityAggregator):
    """Base class of the two Dawid-Skene models, with their results as data frames.

    Attributes:
        n_iter: Maximum number of iterations.
        tol: Iteration stops when the objective increases by less than this.
        labels_: Label of each task.
        probas_: Probability of each label for each task.
        priors_: Share of each label.
        errors_: Probability of each given label (rows, by worker) for each true label (columns).
        loss_history_: Lower bound on the log-likelihood per answer, after each iteration.
    """

    n_iter: int = 100
    tol: float = 1e-5

    def __post_init__(self) -> None:
        super().__post_init__()
        self.priors_: Any
        self.errors_: Any
        self.loss_history_: list[float] = []

    def _stops(self, loss: float) -> bool:
        """Record the loss of an iteration and return whether EM has converged."""
        last = self.loss_history_[-1] if self.loss_history_ else -np.inf
        self.loss_history_.append(loss)
        return loss - last < self.tol

    def _keep_empty(self) -> None:
        self.probas_, self.errors_ = pd.DataFrame(), pd.DataFrame()
        self.priors_, self.labels_ = pd.Series(dtype=float, name="prior"), pd.Series(dtype=float, name="agg_label")

    def _keep(self, answers: Answers, q: Floats, prior: Floats, errors: Any) -> None:
        """Store the results as data frames; tasks keep the data's order, but are sorted after 0 iterations."""
        self.probas_ = answers.task_frame(q)
        self.labels_ = answers.task_labels(best_labels(q))
        if not self.loss_history_:
            self.probas_, self.labels_ = self.probas_.sort_index(), self.labels_.sort_index()
        self.priors_ = pd.Series(prior, index=answers.labels, name="prior")
        self.errors_ = errors


@dataclass
class DawidSkene(EMAggregator):
    """Dawid-Skene model: one confusion matrix per worker, fitted by maximum likelihood.

    Attributes:
        initial_error_strategy: Use of `initial_error` for the initial error matrices: assign, addition or None.
    """

    initial_error_strategy: str | None = None

    def fit(self, data: Any, true_labels: Any = None, initial_error: Any = None) -> DawidSkene:
        """Fit by EM.

        Args:
            data: Data frame with task, worker and label.
            true_labels: Series of the true labels of some tasks, which then stay fixed.
            initial_error: Error matrices from earlier data, as a data frame by worker and label.
        """
        self.loss_history_ = []
        answers = _with_gold_labels(code_answers(data, by_appearance=True), true_labels)
        if not len(answers.task):
            self._keep_empty()
            return self
        # The codes of the tasks with known labels, and of these labels
        table, known = answers.table(), NO_KNOWN_TASKS
        if true_labels is not None:
            task, label = answers.tasks.get_indexer(true_labels.index), answers.labels.get_indexer(true_labels)
            rows = (task >= 0) & (label >= 0)
            known = task[rows], label[rows]
        q = _certain(_vote_shares(answers), known)
        counts, per_task = table.counts(q), np.bincount(answers.task).astype(np.float64)
        errors, prior, first = normalise_errors(table, counts), _mean(q), None
        if self.initial_error_strategy is not None and initial_error is not None:
            first = self._initial_errors(_error_frame(answers, table, counts), initial_error)
            # errors[p, k], with the minimum probability for missing rows
            names = [answers.workers.take(table.worker), answers.labels.take(table.label)]
            found = first.reindex(index=pd.MultiIndex.from_arrays(names), columns=list(answers.labels))
            errors = np.nan_to_num(found.to_numpy(np.float64), nan=EPSILON)
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
        """Fit and return the label of each task."""
        return self.fit(data, true_labels, initial_error).labels_

    def fit_predict_proba(self, data: Any, true_labels: Any = None, initial_error: Any = None) -> Any:
        """Fit and return the probabilities of each task's labels."""
        return self.fit(data, true_labels, initial_error).probas_

    def _initial_errors(self, counts: Any, initial_error: Any) -> Any:
        """Return the initial error matrices as a data frame, from counts and `initial_error`."""
        if list(initial_error.index.names) != ["worker", "label"]:
            raise OptionError(
                f"initial_error must be indexed by worker and label, not by {list(initial_error.index.names)}."
            )
        if self.initial_error_strategy == "assign":
            missing = counts.index[~counts.index.isin(initial_error.index)].get_level_values("worker").unique()
            if len(missing):
                raise OptionError(
                    f"initial_error has no matrix for {len(missing)} workers, such as {missing[0]!r}. Add all workers "
                    f"of the data to initial_error."
                )
            by_worker = initial_error.groupby("worker", sort=False).sum()
            if bool((initial_error <= 1.0).all().all()) and not np.allclose(by_worker, 1.0):
                raise OptionError("Every column of a worker's error matrix in initial_error must sum to 1.0.")
            chosen = initial_error
        elif self.initial_error_strategy == "addition":
            chosen = counts.add(initial_error.reindex(columns=counts.columns), fill_value=0.0)
        else:
            raise OptionError(
                f"initial_error_strategy: expected one of assign, addition; got {self.initial_error_strategy!r}."
            )
        clipped = chosen.clip(lower=EPSILON)
        return clipped / clipped.groupby("worker", sort=False).sum()


def _with_gold_labels(answers: Answers, true_labels: Any) -> Answers:
    """Return the answers with the labels of the known tasks added to the labels."""
    if true_labels is None:
        return answers
    used = true_labels[true_labels.index.isin(answers.tasks)]
    labels = answers.labels.union(pd.Index(used.unique()).difference(answers.labels)).rename("label")
    if len(labels) == len(answers.labels):
        return answers
    code = labels.get_indexer(answers.labels)[answers.label]
    return Answers(answers.task, answers.worker, code, answers.tasks, answers.workers, labels)


def _vote_shares(answers: Answers) -> Floats:
    scores = answers.scores()
    return np.asarray(scores / scores.sum(axis=1, keepdims=True))


def _certain(q: Floats, known: tuple[Ints, Ints]) -> Floats:
    """Set the beliefs of tasks with known labels to certainty, in place."""
    task, label = known
    if len(task):
        q[task] = 0.0
        q[task, label] = 1.0
    return q


def normalise_errors(table: AnswerTable, counts: Floats) -> Floats:
    """Return errors[p, k] from expected counts; each column sums to one over the labels a worker gave."""
    kept = np.maximum(counts, EPSILON)
    return np.asarray(kept / table.sum_by_worker(kept)[table.worker])


def _log(values: Floats) -> Floats:
    return np.log(np.maximum(values, EPSILON))


def _mean(q: Floats) -> Floats:
    """Return the mean of each column, as a matrix product for speed."""
    return np.asarray(np.full(len(q), 1.0 / len(q)) @ q)


def _entropy(q: Floats, scores: Floats, log_sum: Floats, known: tuple[Ints, Ints] = NO_KNOWN_TASKS) -> float:
    """Return the entropy of q = softmax(scores) as the sum of log_sum - q * scores, without more logarithms."""
    unsure = float(log_sum.sum()) - float(np.vdot(q, scores))
    task, label = known
    # a known task has zero entropy: remove its contribution
    return unsure - float((log_sum[task] - scores[task, label]).sum()) if len(task) else unsure


def _loss(expected: float, q: Floats, prior: Floats, per_task: Floats) -> float:
    """Return crowd-kit's loss per answer: the expected log-likelihood and entropy, and the log prior."""
    return (expected + float(per_task @ q @ _log(prior))) / float(per_task.sum())


def _error_frame(answers: Answers, table: AnswerTable, errors: Floats) -> Any:
    """Return `errors_`: one row per worker and given label, in the order of the data."""
    at = np.argsort(table.first)
    index = pd.MultiIndex.from_arrays(
        [answers.workers.take(table.worker[at]), answers.labels.take(table.label[at])], names=["worker", "label"]
    )
    return pd.DataFrame(errors[at], index=index, columns=answers.labels.rename(None))


@dataclass
class OneCoinDawidSkene(EMAggregator):
    """Dawid-Skene model with one accuracy per worker and equally likely errors.

    Attributes:
        skills_: Accuracy of each worker.
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
        right, wrong = (np.exp(part)[table.worker] for part in _coin_logs(skill, table.n_labels))
        same = table.label[:, None] == np.arange(table.n_labels)
        errors = np.where(same, right[:, None], wrong[:, None])
        self._keep(answers, q, prior, _error_frame(answers, table, errors))
        return self


def _coin_logs(skill: Floats, n_labels: int) -> tuple[Floats, Floats]:
    """Return the log-probability of the true label and of each wrong label."""
    wrong = (1.0 - skill) / max(n_labels - 1, 1)
    return (np.log(np.clip(skill, EPSILON, 1.0 - EPSILON)), np.log(np.clip(wrong, EPSILON, 1.0 - EPSILON)))


LOG_NORMAL = -0.5 * np.log(2.0 * np.pi)
"""Log density of the standard normal distribution at its mean."""


@dataclass(frozen=True, eq=False)
class AbilityModel:
    """GLAD's likelihood for a set of answers, with the priors of its parameters.

    Attributes:
        answers: The answers.
        log_prior: log_prior[k], the log prior of each label.
        ability_mean: Prior mean of each ability.
        ease_mean: Prior mean of each log beta.
    """

    answers: Answers
    log_prior: Floats
    ability_mean: Floats
    ease_mean: Floats

    def e_step(self, ability: Floats, ease: Floats) -> Floats:
        """Return q[i, k] given the parameters."""
        answers, n_labels = self.answers, len(self.log_prior)
        x = ability[answers.worker] * np.exp(ease)[answers.task]
        wrong = log_expit(-x) - np.log(max(n_labels - 1, 1))
        return normalise(answers.scores(log_expit(x) - wrong) + self.log_prior)[0]

    def objective(self, hit: Floats, ability: Floats, ease: Floats) -> float:
        """Return expected log-likelihood plus log priors; hit[row] is the belief in the row's label."""
        answers, n_labels = self.answers, len(self.log_prior)
        x = ability[answers.worker] * np.exp(ease)[answers.task]
        # log sigmoid(-x) = log sigmoid(x) - x, so one logarithm is enough
        found = log_expit(x) - (1.0 - hit) * (x + np.log(max(n_labels - 1, 1)))
        distance = ((ability - self.ability_mean) ** 2).sum() + ((ease - self.ease_mean) ** 2).sum()
        value = float(found.sum()) - 0.5 * float(distance) + (len(ability) + len(ease)) * LOG_NORMAL
        return -np.inf if np.isnan(value) else value

    def gradient(self, hit: Floats, ability: Floats, ease: Floats) -> Floats:
        """Return the gradient of the objective with respect to abilities and log betas, concatenated."""
        answers, beta = self.answers, np.exp(ease)
        alpha, scale = ability[answers.worker], beta[answers.task]
        slope = (hit - expit(alpha * scale)) * scale
        by_ability = sum_by(answers.worker, len(ability), slope) - (ability - self.ability_mean)
        by_ease = sum_by(answers.task, len(ease), slope * alpha) - (ease - self.ease_mean)
        return np.concatenate([by_ability, by_ease])


@dataclass
class GLAD(ProbabilityAggregator):
    """GLAD: one ability per worker and one difficulty per task, fitted by EM with conjugate gradients.

    Attributes:
        n_iter: Maximum number of iterations.
        tol: Iteration stops when the objective increases by less than this.
        silent: Ignored; nothing is printed.
        labels_priors: Series of prior probabilities of the labels; equal if None.
        alphas_priors_mean: Series of prior means of the workers' abilities; 1 if None.
        betas_priors_mean: Series of prior means of the tasks' log beta; 1 if None.
        m_step_max_iter: Maximum number of conjugate gradient iterations in an M-step.
        m_step_tol: Tolerance of the conjugate gradient search.
        labels_: Label of each task.
        probas_: Probability of each label for each task.
        alphas_: Ability of each worker.
        betas_: Log of beta of each task; larger is easier.
        loss_history_: Objective per answer and label, after each iteration.
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
            # crowd-kit divides by the rows of its long table: one row per answer and label
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
        """Maximise the objective over abilities and difficulties by conjugate gradients."""
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
    """Return the prior means by name; 1 if not given."""
    return np.ones(len(names)) if given is None else given.reindex(names).to_numpy(np.float64)


@dataclass
class KOS(Aggregator):
    """KOS: message passing between tasks and workers, for two labels.

    Attributes:
        n_iter: Number of iterations.
        random_state: Random seed of the initial messages.
        labels_: Label of each task.
    """

    n_iter: int = 100
    random_state: int = 0

    def fit(self, data: Any) -> KOS:
        """Pass messages from a random initialisation."""
        if not data.size:
            self.labels_ = pd.Series([], dtype="O", name="agg_label")
            return self
        answers = code_answers(data)
        if len(answers.labels) != 2:
            raise LabelError(f"KOS supports two labels, got {len(answers.labels)}. Use another method.")
        positive = answers.label[0]  # the label that comes first in the data
        sign = np.where(answers.label == positive, 1.0, -1.0)
        first = np.random.RandomState(self.random_state).normal(loc=1, scale=1, size=len(sign))
        message = pass_messages(answers.task, answers.worker, sign, first, iterations=self.n_iter)
        score = sum_by(answers.task, len(answers.tasks), sign * message)
        votes = sum_by(answers.task, len(answers.tasks), sign)
        score = np.where(score == 0, votes, score)  # break ties by majority vote
        self.labels_ = answers.task_labels(np.where(score >= 0, positive, 1 - positive))
        return self


@dataclass
class MMSR(Aggregator):
    """M-MSR: skills from robust completion of the matrix of pairwise agreements.

    Attributes:
        n_iter: Maximum number of iterations.
        tol: Iteration stops when the matrix changes by less than this.
        random_state: Random seed of the initial skills.
        labels_: Label of each task, set by `predict`.
        scores_: Normalised weight of each label, set by `predict`.
        skills_: Weight of each worker's vote.
        loss_history_: Change of the matrix in each iteration.
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
        """Fit the skills."""
        answers = code_answers(data)
        order = appearance(answers.worker)
        place = np.empty_like(order)  # position by first appearance, in which order the random start is drawn
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
        """Return the label of each task by weighted vote."""
        return self._apply(data).labels_

    def predict_score(self, data: Any) -> Any:
        """Return the normalised weight of each label."""
        self._apply(data)
        return self.scores_

    def fit_predict(self, data: Any) -> Any:
        """Fit and return the label of each task."""
        return self.fit(data).predict(data)

    def fit_predict_score(self, data: Any) -> Any:
        """Fit and return the normalised weight of each label."""
        return self.fit(data).predict_score(data)

    def _apply(self, data: Any) -> MajorityVote:
        voted = MajorityVote().fit(data, self.skills_)
        self.labels_, self.scores_ = voted.labels_, voted.probas_
        return voted


STRATEGY_COUNT = 10.0
"""Prior count of each label in a spamming strategy, with method="vb"."""


@dataclass
class MACE(ProbabilityAggregator):
    """MACE: each worker knows the label or spams by an individual strategy; variational Bayes or EM.

    Attributes:
        n_restarts: Number of random restarts; the one with the highest likelihood is kept.
        n_iter: Number of iterations per restart.
        method: vb or em.
        smoothing: Ignored: with method="em", 0.01 / labels is added to every count.
        default_noise: Spread of the random initial parameters.
        alpha: Prior count of spamming, with method="vb".
        beta: Prior count of knowing, with method="vb".
        random_state: Random seed of the first restart, incremented for each further restart.
        verbose: Ignored; nothing is printed.
        labels_: Label of each task.
        probas_: Probability of each label for each task.
        spamming_: spamming_[j], the weights of spamming and knowing; workers in the order of the data.
        thetas_: thetas_[j, n], weight of label n when worker j spams; both in the order of the data.
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
        """Fit from every random start and keep the fit with the highest likelihood."""
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
        """Draw random initial parameters; those of the first restart equal crowd-kit's."""
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
        """Run the iterations from a start; return the parameters and the log-likelihood."""
        given = table.given()
        for _ in range(self.n_iter):
            q, _ = _e_step(table, spamming, thetas)
            # known[p], the expected number of correct answers that come from knowing rather than spamming
            knowing, spam = spamming[table.worker, 1], spamming[table.worker, 0] * thetas[table.worker, table.label]
            known = table.hits(q) * (knowing / (spam + knowing))
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
    """Return exp(E[log p]) of Dirichlet distributions, one per row of counts."""
    return np.asarray(np.exp(digamma(counts) - digamma(counts.sum(axis=1, keepdims=True))))


def _e_step(table: AnswerTable, spamming: Floats, thetas: Floats) -> tuple[Floats, float]:
    """Return q[i, k] and the log-likelihood of the answers."""
    spam = spamming[table.worker, 0] * thetas[table.worker, table.label]
    differ = np.log(spam)
    agree = np.log(spam + spamming[table.worker, 1])
    q, log_sum = posterior(table.match_evidence(agree - differ) - np.log(table.n_labels))
    return q, float(log_sum.sum()) + float(table.given() @ differ)
