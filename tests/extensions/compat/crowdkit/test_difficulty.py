from __future__ import annotations

import numpy as np
import pandas as pd
from scipy.optimize import approx_fprime
from scipy.stats import norm
from tests.extensions.compat.crowdkit.small_answers import planted_answers

from crowdlogic.extensions.compat.crowdkit import GLAD
from crowdlogic.extensions.compat.crowdkit.aggregation import AbilityModel
from crowdlogic.extensions.compat.crowdkit.answers import code_answers


def small_model() -> AbilityModel:
    answers = code_answers(planted_answers(0, tasks=12, workers=5, each=3)[0])
    return AbilityModel(answers, np.log(np.full(3, 1 / 3)), np.ones(5), np.ones(12))


def test_the_e_step_by_plain_loops() -> None:
    model, rng = small_model(), np.random.default_rng(0)
    ability, ease = rng.normal(1, 0.5, 5), rng.normal(1, 0.5, 12)
    scores = np.full((12, 3), 1 / 3)
    for task, worker, label in zip(model.answers.task, model.answers.worker, model.answers.label, strict=True):
        right = 1 / (1 + np.exp(-ability[worker] * np.exp(ease[task])))
        scores[task] *= np.where(np.arange(3) == label, right, (1 - right) / 2)

    q = model.e_step(ability, ease)

    np.testing.assert_allclose(q, scores / scores.sum(axis=1, keepdims=True), rtol=1e-9)


def test_objective_and_gradient() -> None:
    model, rng = small_model(), np.random.default_rng(1)
    x, hit = rng.normal(1, 0.5, 17), rng.random(len(model.answers.task))
    right = 1 / (1 + np.exp(-x[model.answers.worker] * np.exp(x[5:][model.answers.task])))
    value = (hit * np.log(right) + (1 - hit) * np.log((1 - right) / 2)).sum() + norm.logpdf(x, loc=1).sum()

    slope = approx_fprime(x, lambda x: model.objective(hit, x[:5], x[5:]), 1e-7)

    np.testing.assert_allclose(model.objective(hit, x[:5], x[5:]), value, rtol=1e-9)
    np.testing.assert_allclose(model.gradient(hit, x[:5], x[5:]), slope, rtol=0, atol=1e-4)


def test_priors_are_taken_from_series() -> None:
    answers, _ = planted_answers(2, tasks=20)
    priors = pd.Series({"emu": 1 - 2e-12, "cat": 1e-12, "dog": 1e-12})
    workers, tasks = answers["worker"].unique(), answers["task"].unique()

    made = GLAD(
        n_iter=2,
        labels_priors=priors,
        alphas_priors_mean=pd.Series(5.0, index=workers),
        betas_priors_mean=pd.Series(0.0, index=tasks),
    ).fit(answers)

    assert list(made.probas_.columns) == ["emu", "cat", "dog"]
    assert (made.labels_ == "emu").mean() > 0.5
    assert made.alphas_.mean() > GLAD(n_iter=2).fit(answers).alphas_.mean()


def test_without_iterations_every_worker_is_alike() -> None:
    made = GLAD(n_iter=0).fit(planted_answers(3)[0])

    assert (made.alphas_ == 1).all()
    assert made.loss_history_ == []
