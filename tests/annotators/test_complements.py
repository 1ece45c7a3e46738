"""Partial labels as evidence for the complement: sums, shares, and the counts of an M-step by enumeration."""

from __future__ import annotations

import numpy as np

from crowdlogic.annotators.label_sums import add_complements, share_by_counts, split_complements


def table(seed: int = 0, annotators: int = 2, classes: int = 4) -> np.ndarray:
    """p(n | m) of each annotator, [j, n, m]."""
    return np.random.default_rng(seed).dirichlet(np.ones(classes), size=(annotators, classes)).transpose(0, 2, 1)


def test_a_complement_has_the_probability_of_the_other_classes() -> None:
    p = table()

    extended = np.exp(add_complements(np.log(p)))

    np.testing.assert_allclose(extended[:, :4], p, rtol=1e-12)
    np.testing.assert_allclose(extended[:, 4:], 1 - p, rtol=1e-12)


def test_a_complement_of_a_certain_answer_is_impossible_and_of_an_impossible_one_certain() -> None:
    certain = np.full((1, 3, 1), -np.inf)
    certain[0, 1, 0] = 0.0

    complements = add_complements(certain)[0, 3:, 0]

    assert complements[1] == -np.inf
    np.testing.assert_allclose(complements[[0, 2]], 0.0, atol=1e-15)


def test_counts_of_a_complement_go_to_its_classes_by_their_posterior() -> None:
    p, counts = table(), np.random.default_rng(1).random((2, 8, 4))

    whole = split_complements(counts, np.log(p))

    expected = counts[:, :4].copy()
    for j, n, other, m in np.ndindex(2, 4, 4, 4):
        if other != n:
            expected[j, other, m] += counts[j, 4 + n, m] * p[j, other, m] / (1 - p[j, n, m])
    np.testing.assert_allclose(whole, expected, rtol=1e-12)
    np.testing.assert_allclose(whole.sum(), counts.sum(), rtol=1e-12)


def test_without_parameters_a_complement_is_shared_as_whole_labels_were() -> None:
    counts = np.zeros((1, 6, 1))
    counts[0, :, 0] = [8.0, 2.0, 0.0, 0.0, 0.0, 12.0]  # 12 times "not the third"

    np.testing.assert_allclose(share_by_counts(counts)[0, :, 0], [8 + 12 * 9 / 12, 2 + 12 * 3 / 12, 0.0])


def test_with_two_classes_a_complement_is_the_other_class() -> None:
    counts = np.array([[[1.0], [2.0], [3.0], [4.0]]])

    np.testing.assert_allclose(share_by_counts(counts)[0, :, 0], [1 + 4, 2 + 3])
    np.testing.assert_allclose(split_complements(counts, np.log(np.array([[[0.3], [0.7]]])))[0, :, 0], [5, 5])
