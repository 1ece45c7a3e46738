"""The state of fitted estimators as arrays."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.tree import DecisionTreeClassifier

from crowdlogic.classifiers.scikit import (
    TrainingExamples,
    attributes_suffice,
    fit_estimator,
    load_examples,
    numeric_attributes,
    refit_estimator,
    restore_attributes,
)
from crowdlogic.errors import FormatError


def test_a_unit_becomes_a_copy_for_each_class_that_is_believed_in() -> None:
    examples = TrainingExamples(
        np.array([[1.0], [2.0]]), np.array([[0.25, 0.75, 0.0], [1e-9, 0.5, 0.5]]), np.array([2.0, 1.0])
    )

    features, label, weight = examples.copies()

    np.testing.assert_array_equal(features[:, 0], [1, 1, 2, 2])
    np.testing.assert_array_equal(label, [0, 1, 1, 2])
    np.testing.assert_array_equal(weight, [0.5, 1.5, 0.5, 0.5])


def planted_examples(seed: int = 0) -> TrainingExamples:
    rng = np.random.default_rng(seed)
    return TrainingExamples(rng.normal(size=(80, 4)), rng.dirichlet(np.ones(3), size=80), rng.random(80))


@pytest.mark.parametrize("is_sparse", [False, True])
def test_examples_come_back_from_their_arrays(is_sparse: bool) -> None:
    examples = planted_examples()
    if is_sparse:
        table = sparse.csr_array(np.where(examples.features > 0, examples.features, 0.0))
        examples = TrainingExamples(table, examples.targets, examples.weights)

    again = load_examples(examples.arrays(), n_features=4)

    dense = [part.features.toarray() if is_sparse else part.features for part in (examples, again)]
    np.testing.assert_array_equal(*dense)
    np.testing.assert_array_equal(again.targets, examples.targets)
    np.testing.assert_array_equal(again.weights, examples.weights)


def test_numbers_alone_restore_a_linear_model_but_no_tree() -> None:
    examples = planted_examples()
    linear, tree = LogisticRegression(), DecisionTreeClassifier(random_state=0)
    fitted, grown = fit_estimator(linear, examples), fit_estimator(tree, examples)

    twin = restore_attributes(linear, numeric_attributes(fitted))

    np.testing.assert_array_equal(twin.predict_proba(examples.features), fitted.predict_proba(examples.features))
    assert attributes_suffice(fitted, linear, examples, partial=False)
    assert not attributes_suffice(grown, tree, examples, partial=False)


def test_a_running_average_predicts_from_its_numbers_but_is_not_trained_on_from_them() -> None:
    examples, unfitted = planted_examples(), SGDClassifier(loss="log_loss", average=True, random_state=0)
    fitted = fit_estimator(unfitted, examples)

    assert attributes_suffice(fitted, unfitted, examples, partial=False)
    assert not attributes_suffice(fitted, unfitted, examples, partial=True)


def test_an_estimator_is_fitted_again_to_the_same_predictions_or_refused() -> None:
    examples, tree = planted_examples(), DecisionTreeClassifier(random_state=0, max_depth=3)
    probe = fit_estimator(tree, examples).predict_proba(examples.probe.features)

    again = refit_estimator(tree, examples, probe)

    np.testing.assert_array_equal(again.predict_proba(examples.probe.features), probe)
    assert len(probe) == 64
    with pytest.raises(FormatError) as caught:
        refit_estimator(tree, examples, probe[:, ::-1])
    assert str(caught.value) == (
        "DecisionTreeClassifier, fitted to its examples again, predicts different probabilities. Use the scikit-learn version that it was fitted with, or train it again."
    )
