from __future__ import annotations

import inspect

import pandas as pd
import pytest
from tests.extensions.compat.crowdkit.small_answers import planted_answers

from crowdlogic.extensions.compat import crowdkit
from crowdlogic.extensions.compat.crowdkit.answers import Aggregator, ProbabilityAggregator

KINDS = [kind for name in crowdkit.__all__ if inspect.isclass(kind := getattr(crowdkit, name))]
NAMES = {"labels_": "agg_label", "skills_": "skill", "priors_": "prior", "alphas_": "alpha", "betas_": "beta"}
"""How crowd-kit names the series that a fit leaves."""


def fitted(kind: type, answers: pd.DataFrame, truth: pd.Series) -> Aggregator:
    made = kind()
    made.fit_predict(answers, truth) if kind is crowdkit.GoldMajorityVote else made.fit_predict(answers)
    return made


def test_every_aggregator_of_crowd_kit_for_classification_is_here() -> None:
    assert {kind.__name__ for kind in KINDS} == {
        "DawidSkene", "OneCoinDawidSkene", "GLAD", "MACE", "KOS", "MMSR", "MajorityVote", "GoldMajorityVote", "Wawa",
        "ZeroBasedSkill",
    }  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
def test_most_tasks_get_their_true_label(kind: type) -> None:
    answers, truth = planted_answers(0, labels=2 if kind is crowdkit.KOS else 3)

    found = fitted(kind, answers, truth).labels_

    assert found.index.name == "task"
    assert (found.sort_index().to_numpy() == truth.to_numpy()).mean() > 0.85


@pytest.mark.parametrize("kind", KINDS)
def test_series_have_the_names_of_crowd_kit(kind: type) -> None:
    made = fitted(kind, *planted_answers(1, labels=2))

    series = {name: value for name, value in vars(made).items() if isinstance(value, pd.Series)}

    assert {name: value.name for name, value in series.items()} == {name: NAMES[name] for name in series}


@pytest.mark.parametrize("kind", [kind for kind in KINDS if issubclass(kind, ProbabilityAggregator)])
def test_probabilities_have_a_row_per_task_and_sum_to_one(kind: type) -> None:
    made = fitted(kind, *planted_answers(2))

    assert made.probas_.index.name == "task"
    assert sorted(made.probas_.columns) == ["cat", "dog", "emu"]
    assert made.probas_.sum(axis=1).to_numpy() == pytest.approx(1.0)
    pd.testing.assert_series_equal(made.probas_.idxmax(axis=1), made.labels_, check_names=False)


@pytest.mark.parametrize("kind", KINDS)
def test_true_and_false_are_labels(kind: type) -> None:
    answers, truth = planted_answers(3, labels=2)
    answers, truth = answers.assign(label=answers["label"] == "cat"), truth == "cat"

    found = fitted(kind, answers, truth).labels_

    assert found.dtype == bool
    assert (found.sort_index().to_numpy() == truth.to_numpy()).mean() > 0.8


def test_what_is_not_fitted_has_no_results() -> None:
    assert not hasattr(crowdkit.Wawa(), "skills_")
    with pytest.raises(NotImplementedError):
        Aggregator().fit(planted_answers(0)[0])
