from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, KFold
from tests.extensions.compat.small_crowds import two_clouds

from crowdlogic import DawidSkene
from crowdlogic.data import from_matrix
from crowdlogic.errors import OptionError
from crowdlogic.extensions.compat.scikit_learn import TruthEstimator
from crowdlogic.registry import TRUTH_METHODS
from crowdlogic.truth.methods import needs_sequences


@pytest.mark.parametrize("name", [name for name in TRUTH_METHODS if not needs_sequences(name)])
def test_every_truth_method_is_an_estimator(name: str) -> None:
    _, given, truth = two_clouds()

    made = TruthEstimator(name).fit(given)

    assert (made.labels_ == truth).mean() > 0.75
    assert (made.predict(given) == made.labels_).mean() > 0.9
    np.testing.assert_allclose(made.predict_proba(given).sum(axis=1), 1.0, rtol=1e-9)


def test_predictions_for_the_training_items_are_the_methods_beliefs() -> None:
    _, given, _ = two_clouds()

    made = TruthEstimator("dawid-skene").fit(given)

    np.testing.assert_allclose(made.predict_proba(given), made.label_distributions_, rtol=0, atol=1e-3)
    np.testing.assert_allclose(made.label_distributions_, DawidSkene().infer(from_matrix(given)).beliefs, rtol=1e-9)


def test_a_method_without_confusion_matrices_gets_counted_ones() -> None:
    _, given, _ = two_clouds()
    made = TruthEstimator("majority").fit(given)
    counts = np.full((2, 2), 0.5)
    for row, q in zip(given, made.label_distributions_, strict=True):
        if row[0] >= 0:
            counts[:, row[0]] += q

    np.testing.assert_allclose(made.confusion_[0], counts / counts.sum(axis=1, keepdims=True), rtol=1e-9)


def test_options_are_parameters() -> None:
    made = TruthEstimator("dawid-skene").set_params(method__smoothing=0.5)

    assert made.get_params()["method__smoothing"] == 0.5
    assert made.method == DawidSkene(smoothing=0.5)
    assert clone(made).get_params()["method__smoothing"] == 0.5
    with pytest.raises(ValueError, match="Did you mean 'method__smoothing'"):
        made.set_params(method__smooth=1)
    with pytest.raises(OptionError, match="is not a truth method"):
        TruthEstimator(3).fit([[1]])


def test_grid_search_by_held_out_annotations_and_by_gold() -> None:
    _, given, truth = two_clouds()
    grid = {"method": ["majority", "dawid-skene"]}

    blind = GridSearchCV(TruthEstimator(), grid, cv=KFold(3)).fit(given)
    by_gold = GridSearchCV(TruthEstimator(), grid, cv=KFold(3)).fit(given, truth)

    assert blind.best_score_ < 0 < by_gold.best_score_


def test_a_long_frame() -> None:
    frame = pd.DataFrame({"item": [0, 0, 1], "annotator": ["a", "b", "a"], "label": ["x", "x", "y"]})

    assert TruthEstimator("majority").fit_predict(frame).tolist() == ["x", "y"]


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (np.zeros(3), "Reshape your data"),
        (np.zeros((0, 2)), "0 sample"),
        (np.zeros((2, 0)), r"0 feature\(s\)"),
        (np.full((2, 2), np.nan), "no item has an annotation"),
    ],
)
def test_what_is_no_matrix_is_refused(given: np.ndarray, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        TruthEstimator().fit(given)


def test_other_annotators_are_refused() -> None:
    made = TruthEstimator().fit(two_clouds()[1])

    with pytest.raises(ValueError, match="X has 2 features, but TruthEstimator is expecting 6 features as input"):
        made.predict(np.zeros((3, 2)))
