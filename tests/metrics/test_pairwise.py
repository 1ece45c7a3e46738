"""Agreement of pairs against scikit-learn and statsmodels, and the jackknife against finite differences."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import polars as pl
import pytest
from sklearn.metrics import cohen_kappa_score
from statsmodels.stats import inter_rater

from crowdlogic.data.frames import from_arrays, from_matrix
from crowdlogic.data.labels import CrowdLabels
from crowdlogic.metrics.agreement import label_pairs, mean_kappa_influence, pairwise_agreement
from crowdlogic.numerics.arrays import Floats, Ints


def given(seed: int, *, units: int = 50, annotators: int = 6, holes: float = 0.5) -> Ints:
    """Labels in 3 classes, -1 where there is none; the last annotator shares nothing with the first."""
    rng = np.random.default_rng(seed)
    shape = (units, annotators)
    matrix = np.where(rng.random(shape) < 0.6, rng.integers(3, size=units)[:, None], rng.integers(3, size=shape))
    matrix[rng.random(shape) < holes] = -1
    matrix[:10, :3], matrix[:10, 3:] = np.arange(3), -1
    matrix[10:, 0] = np.where(matrix[10:, -1] >= 0, -1, matrix[10:, 0])
    return matrix


@pytest.mark.parametrize("seed", range(4))
def test_kappas_are_scikit_learns_and_statsmodels(seed: int) -> None:
    matrix = given(seed)
    table = pairwise_agreement(from_matrix(matrix, classes="xyz"))
    found = {(int(a), int(b)): p for p, (a, b) in enumerate(zip(table.a, table.b, strict=True))}

    for a, b in combinations(range(6), 2):
        one, other = matrix[(matrix[:, [a, b]] >= 0).all(axis=1)][:, [a, b]].T
        if not len(one):
            assert (a, b) not in found
            continue
        counts = np.zeros((3, 3))
        np.add.at(counts, (one, other), 1)
        p = found.pop((a, b))
        assert table.shared[p] == len(one)
        assert table.agreement[p] == pytest.approx((one == other).mean(), abs=1e-12)
        assert table.kappa[p] == pytest.approx(cohen_kappa_score(one, other), abs=1e-12)
        assert table.kappa[p] == pytest.approx(inter_rater.cohens_kappa(counts).kappa, abs=1e-12)
    assert not found
    assert (0, 5) not in zip(table.a, table.b, strict=True)


def test_the_mean_is_weighted_by_what_pairs_share() -> None:
    table = pairwise_agreement(from_matrix(given(0), classes="xyz"))

    enough = table.shared >= 13
    assert 0 < enough.sum() < len(table)
    assert table.mean_kappa(1) == pytest.approx(np.average(table.kappa, weights=table.shared), abs=1e-12)
    assert table.mean_kappa(13) == pytest.approx(
        np.average(table.kappa[enough], weights=table.shared[enough]), abs=1e-12
    )
    assert np.isnan(table.mean_kappa(51))


def test_a_pair_with_one_class_throughout_has_no_kappa_and_no_part_in_the_mean() -> None:
    labels = from_matrix([[0, 0, -1], [0, 0, -1], [-1, 0, 0], [-1, 1, 1], [-1, 1, 0]])

    table = pairwise_agreement(labels)

    assert np.isnan(table.kappa[0])
    assert table.agreement.tolist() == pytest.approx([1.0, 2 / 3])
    assert table.kappa[1] == pytest.approx(0.4, abs=1e-12)
    assert table.mean_kappa(1) == pytest.approx(0.4, abs=1e-12)


def test_every_meeting_of_two_annotators_is_met_once() -> None:
    matrix = given(1)
    labels = from_matrix(matrix, classes="xyz")

    met = [
        (int(labels.unit[r]), int(labels.annotator[r]), int(labels.annotator[q]))
        for rows, others in label_pairs(labels)
        for r, q in zip(rows, others, strict=True)
    ]

    expected = [(i, a, b) for i in range(50) for a, b in combinations(np.flatnonzero(matrix[i] >= 0).tolist(), 2)]
    assert sorted(met) == expected


def mean_kappa(matrix: Ints, weight: Floats, min_shared: int) -> float:
    """The mean kappa of units that count by a weight, straight from the definition."""
    total = shared = 0.0
    for a, b in combinations(range(matrix.shape[1]), 2):
        both = (matrix[:, [a, b]] >= 0).all(axis=1)
        table = np.zeros((3, 3))
        np.add.at(table, (matrix[both, a], matrix[both, b]), weight[both])
        if not both.any() or both.sum() < min_shared:
            continue
        p = table / table.sum()
        chance = p.sum(axis=0) @ p.sum(axis=1)
        if chance < 1 - 1e-12:
            total += table.sum() * (np.trace(p) - chance) / (1 - chance)
            shared += table.sum()
    return total / shared


@pytest.mark.parametrize("min_shared", [1, 8])
@pytest.mark.parametrize("seed", range(3))
def test_the_influence_of_a_unit_is_the_slope_of_the_mean(seed: int, min_shared: int) -> None:
    matrix = given(seed, units=30)
    labels = from_matrix(matrix, classes="xyz")
    step = 1e-5 * np.eye(30)
    slopes = [(mean_kappa(matrix, 1 + up, min_shared) - mean_kappa(matrix, 1 - up, min_shared)) / 2e-5 for up in step]

    influence = mean_kappa_influence(labels, pairwise_agreement(labels), min_shared=min_shared)

    assert np.abs(influence).max() > 0.001
    np.testing.assert_allclose(influence, slopes, rtol=0, atol=1e-8)
    assert influence.sum() == pytest.approx(0, abs=1e-12)


def test_many_annotators_who_share_little_count_the_same_as_few() -> None:
    """With 3,000 annotators the table of pairs is too empty to be held in full, and is searched instead."""
    matrix = given(2)
    few = from_matrix(matrix, classes="xyz")
    spread = np.array([5, 700, 701, 1500, 2100, 2999])
    many = CrowdLabels(
        unit=few.unit,
        annotator=spread[few.annotator],
        label=few.label,
        items=few.items,
        annotators=pl.Series(np.arange(3000)),
        classes=few.classes,
    )

    table, sparse_table = pairwise_agreement(few), pairwise_agreement(many)

    np.testing.assert_array_equal(sparse_table.a, spread[table.a])
    np.testing.assert_array_equal(sparse_table.b, spread[table.b])
    np.testing.assert_allclose(sparse_table.kappa, table.kappa, rtol=0, atol=1e-12)
    np.testing.assert_allclose(
        mean_kappa_influence(many, pairwise_agreement(many)),
        mean_kappa_influence(few, pairwise_agreement(few)),
        rtol=0,
        atol=1e-12,
    )


def test_permuting_annotators_permutes_the_pairs() -> None:
    labels = from_matrix(given(3), classes="xyz")
    turned = from_matrix(given(3)[:, ::-1], classes="xyz")

    ours, theirs = (
        {frozenset((flip(a), flip(b))): kappa for a, b, kappa in zip(t.a, t.b, t.kappa, strict=True)}
        for t, flip in ((pairwise_agreement(labels), int), (pairwise_agreement(turned), lambda j: 5 - int(j)))
    )

    assert ours == pytest.approx(theirs, abs=1e-12)


def test_nobody_shares_anything_in_a_table_without_pairs() -> None:
    for labels in (from_arrays([], [], []), from_arrays(["u", "v"], ["a", "b"], ["x", "y"])):
        table = pairwise_agreement(labels)

        assert len(table) == 0
        assert np.isnan(table.mean_kappa())
        assert not mean_kappa_influence(labels, pairwise_agreement(labels)).any()
