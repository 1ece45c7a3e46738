"""scikit-learn's own checks of estimators. What is expected to fail is named here, with its reason."""

from __future__ import annotations

from typing import Any

import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.utils.estimator_checks import check_estimator

from crowdlogic.extensions.compat.scikit_learn import CrowdClassifier, CrowdTagger, TruthEstimator
from crowdlogic.registry import TRUTH_METHODS
from crowdlogic.truth.methods import needs_sequences

COLUMN = {
    "check_supervised_y_2d": "A matrix with one column is the annotations of one annotator: there is nothing to warn of."
}
OWN_CLASSES = dict.fromkeys(
    ("check_estimator_sparse_array", "check_estimator_sparse_matrix"),
    "It expects a probability for each class of y; the classes of a truth method are the labels in X, y is not looked at.",
)
QUICK: list[tuple[Any, dict[str, str]]] = [
    (CrowdClassifier(epochs=3), COLUMN),
    (CrowdTagger(), {}),
    (TruthEstimator(), OWN_CLASSES),
]
SLOW: list[tuple[Any, dict[str, str]]] = [
    (CrowdClassifier(), COLUMN),
    (CrowdClassifier(LogisticRegression(max_iter=1000), epochs=5), COLUMN),
    (CrowdClassifier(GaussianNB(), epochs=3, annotators="one-coin"), COLUMN),
    *((TruthEstimator(name), OWN_CLASSES) for name in TRUTH_METHODS if not needs_sequences(name) and name != "ebcc"),
]


def outcomes(estimator: Any, expected: dict[str, str]) -> dict[str, list[str]]:
    """The names of the checks by their status; those expected to fail are xfail when they do."""
    found: dict[str, list[str]] = {}
    for one in check_estimator(estimator, expected_failed_checks=expected, on_fail=None, on_skip=None):
        found.setdefault(one["status"], []).append(one["check_name"])
    return found


def check(estimator: Any, expected: dict[str, str], least: int) -> None:
    found = outcomes(estimator, expected)

    assert found.get("failed", []) == []
    assert set(found.get("xfail", [])) == set(expected)
    assert len(found["passed"]) >= least


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("estimator", "expected"), QUICK, ids=lambda value: type(value).__name__)
def test_the_checks_of_scikit_learn(estimator: Any, expected: dict[str, str]) -> None:
    check(estimator, expected, 1 if isinstance(estimator, CrowdTagger) else 35)


@pytest.mark.heavy
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("estimator", "expected"), SLOW, ids=str)
def test_the_checks_of_scikit_learn_with_other_parts(estimator: Any, expected: dict[str, str]) -> None:
    check(estimator, expected, 35)
