"""Weighted taggings of whole sequences as targets of a CRF, against enumeration of all paths."""

from __future__ import annotations

import numpy as np
from tests.classifiers.test_crf import (
    OFFSETS,
    TAGS,
    all_paths,
    classifier,
    features_of,
    loss_by_hand,
    potentials,
    slope,
)

from crowdlogic.classifiers.crf import objective
from crowdlogic.extensions.paper.crf_ma import TagPaths, counts_from_paths, path_scores


def test_the_score_of_a_path_over_the_partition_function_is_its_probability() -> None:
    model, features = potentials(), features_of()
    made, corpus = classifier(model, features)
    paths = TagPaths(np.array([0, 1, 2, 3, 0, 1, 2]), np.array([0, 2, 1, 2, 1, 1, 0]), np.array([0, 3, 4, 7]))

    scores = path_scores(made.unary(corpus), model, paths)

    log_p = scores - made.marginals(corpus).log_partition[[0, 2, 0]]
    unary = features @ model.weights
    expected = [
        all_paths(model, unary[:3])[0, 2, 1],
        all_paths(model, unary[3:4])[2,],
        all_paths(model, unary[:3])[1, 1, 0],
    ]
    np.testing.assert_allclose(log_p, expected, rtol=1e-10)


def test_the_loss_of_weighted_paths_is_that_of_each_path_alone() -> None:
    model, features = potentials(), features_of()
    paths = TagPaths(np.array([0, 1, 2, 0, 1, 2, 3]), np.array([0, 2, 1, 0, 1, 1, 2]), np.array([0, 3, 6, 7]))

    counts = counts_from_paths(paths, np.array([0.25, 0.5, 2.0]), OFFSETS, TAGS)
    loss, _ = objective(model, features[:4], counts, 0.1)

    # three units of a sequence that counts 0.75 in all, one of a sequence that counts 2; nobody tagged the last one
    units = 3 * 0.75 + 2.0
    said = [(0.25, 0, 3, {(0, 2, 1): 1.0}), (0.5, 0, 3, {(0, 1, 1): 1.0}), (2.0, 3, 4, {(2,): 1.0})]
    by_hand = [(weight / units, begin, end, one) for weight, begin, end, one in said]
    np.testing.assert_array_equal(counts.unit, [0, 1, 2, 3])
    np.testing.assert_allclose(loss, loss_by_hand(model, features, by_hand, 0.1), rtol=1e-10)


def test_the_gradient_of_weighted_paths_is_that_of_differences() -> None:
    model, features = potentials(4), features_of()
    paths = TagPaths(np.array([0, 1, 2, 0, 1, 2, 3]), np.array([0, 2, 1, 0, 1, 1, 2]), np.array([0, 3, 6, 7]))
    counts = counts_from_paths(paths, np.array([0.25, 0.5, 2.0]), OFFSETS, TAGS)

    _, gradient = objective(model, features[counts.unit], counts, 0.1)

    np.testing.assert_allclose(gradient.flat, slope(model, features[counts.unit], counts, 0.1), rtol=1e-5, atol=1e-8)
