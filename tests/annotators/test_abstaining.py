"""Annotators who mostly abstain, such as labelling functions."""

from __future__ import annotations

import numpy as np

from crowdlogic.annotators.abstaining import Abstaining
from crowdlogic.annotators.confusion import ConfusionMatrices
from crowdlogic.annotators.label_sums import find_labelling_functions
from crowdlogic.data.frames import from_arrays, from_matrix


def test_a_function_that_only_says_one_class_is_known_by_when_it_speaks() -> None:
    given = np.full((100, 1), -1)
    given[:30, 0] = 1  # it speaks of 30 of the 40 units of class 1, and of none of class 0
    labels = from_matrix(given, classes=("ham", "spam"))
    q = np.eye(2)[(np.arange(100) < 40).astype(int)]
    model = Abstaining(smoothing=0.0, trust=0.0)
    shards = model.observe(labels)

    found = model.m_step(shards, q)

    np.testing.assert_allclose(found.confusion[0, :, 1], [0.0, 0.75], atol=1e-9)
    usual = ConfusionMatrices()
    silent = usual.m_step(usual.observe(labels), q).confusion[0, :, 1]
    assert found.confusion[0, 1, 1] / found.confusion[0, 0, 1] > 1e6
    assert abs(np.log(silent[1] / silent[0])) < 6  # the usual matrix hardly tells the classes apart


def test_annotators_are_labelling_functions_where_most_labels_are_of_those_with_one_class() -> None:
    one_sided = np.where(np.random.default_rng(0).random((20, 3)) < 0.5, [[0, 1, 1]], -1)
    both = np.arange(20)[:, None] % 2

    assert find_labelling_functions(from_matrix(one_sided, classes=("a", "b"))).tolist() == [True, True, True]
    mixed = find_labelling_functions(from_matrix(np.hstack([one_sided[:, :1], both, both]), classes=("a", "b")))
    assert mixed.tolist() == [False, False, False]


def test_half_of_the_labels_is_not_most_of_them() -> None:
    half = np.array([[0, 0], [0, 1], [0, 0], [0, 1]])

    assert not find_labelling_functions(from_matrix(half, classes=("a", "b"))).any()
    assert find_labelling_functions(from_matrix(half[:, [0, 0, 1]], classes=("a", "b"))).tolist() == [True, True, False]


def test_what_is_missing_to_one_is_abstention() -> None:
    labels = from_arrays(["a", "b", "c"], ["f", "f", "g"], [1, 1, 0])
    q = np.array([[0.5, 0.5], [0.0, 1.0], [1.0, 0.0]])
    model = Abstaining(smoothing=0.0, trust=0.0)

    found = model.m_step(model.observe(labels), q).confusion

    np.testing.assert_allclose(found[0], [[0.0, 0.5 / 1.5], [0.0, 1.5 / 1.5]], rtol=0, atol=1e-9)
    np.testing.assert_allclose(found[1], [[1.0 / 1.5, 0.0], [0.0, 0.0]], rtol=0, atol=1e-9)


def test_a_table_without_any_class_has_no_labelling_functions() -> None:
    labels = from_arrays(["u", "v"], ["a", "b"], [None, None])

    assert find_labelling_functions(labels).tolist() == [False, False]
