"""What annotator models share."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from crowdlogic.annotators.confusion import ConfusionMatrices
from crowdlogic.annotators.label_sums import MOST_CELLS, check_size, weigh_terms
from crowdlogic.annotators.protocol import AnnotatorModel, expected_counts
from crowdlogic.annotators.sequential import Sequential
from crowdlogic.data.blocks import make_shards
from crowdlogic.data.frames import from_arrays
from crowdlogic.errors import OptionError
from crowdlogic.numerics.arrays import sum_by
from crowdlogic.registry import ANNOTATOR_MODELS, registry_serving

LABELS = from_arrays(["a", "a", "b"], ["x", "y", "x"], [0, 1, 1])


def test_expected_counts_are_sums_over_labels() -> None:
    q = np.array([[0.2, 0.8], [0.6, 0.4]])

    counts = expected_counts(make_shards(LABELS), q)

    # counts[j, n, m]: x said 0 of a and 1 of b, y said 1 of a
    np.testing.assert_allclose(counts, [[[0.2, 0.8], [0.6, 0.4]], [[0.0, 0.0], [0.2, 0.8]]], rtol=1e-12)


def test_terms_count_by_weight_and_a_label_of_weight_0_says_nothing() -> None:
    said = np.array([[-1.0, -np.inf], [-2.0, -3.0], [-np.inf, -1.0]])

    plain = weigh_terms(make_shards(LABELS).parts[0], said)
    weighed = weigh_terms(make_shards(replace(LABELS, weight=np.array([1.0, 0.5, 0.0]))).parts[0], said)

    np.testing.assert_array_equal(plain, said)
    np.testing.assert_array_equal(weighed, [[-1.0, -np.inf], [-1.0, -1.5], [0.0, 0.0]])


def test_matrices_beyond_memory_are_refused() -> None:
    check_size("confusion", 50_000, 31)

    with pytest.raises(OptionError) as refused:
        check_size("confusion", 50_000, 1_000)

    assert MOST_CELLS == 50_000_000
    assert str(refused.value) == (
        "confusion keeps a 1,000 x 1,000 confusion matrix for each of 50,000 annotators, 400.0 GB. Use one-coin or "
        "mace, which need little memory per annotator, or merge classes."
    )


@pytest.mark.parametrize("threads", [1, 2])
def test_labels_that_depend_on_each_other_say_less(threads: int) -> None:
    labels = from_arrays(list("aaabbc"), list("xyzxyx"), [0, 1, 1, 1, 1, 0], classes=(0, 1))
    q = np.array([[0.2, 0.8], [0.6, 0.4], [0.5, 0.5]])
    free, tied = ConfusionMatrices(), ConfusionMatrices(correlation=0.5)
    shards = free.observe(labels, threads=threads)

    whole, less = (model.m_step(shards, q) for model in (free, tied))

    np.testing.assert_array_equal(less.table, whole.table)  # the M-step counts every label
    divisor = np.array([1 + 0.5 * 2, 1 + 0.5, 1.0])[:, None]  # three labels, two, one
    np.testing.assert_allclose(less.evidence(shards), whole.evidence(shards) / divisor, rtol=1e-12)
    terms = less.terms(shards)
    added = np.stack([sum_by(labels.unit, 3, terms[:, k]) for k in range(2)], axis=1)
    np.testing.assert_allclose(added, less.evidence(shards), rtol=1e-12)


@pytest.mark.parametrize("correlation", [-0.1, 1.1, float("nan")])
def test_a_correlation_that_is_none_is_refused(correlation: float) -> None:
    with pytest.raises(OptionError) as refused:
        Sequential(correlation=correlation)

    assert str(refused.value) == f"sequential: correlation must be between 0 and 1, got {correlation}."


@pytest.mark.parametrize("name", ANNOTATOR_MODELS)
def test_models_are_known_by_the_name_they_have(name: str) -> None:
    model = ANNOTATOR_MODELS.create(name)

    assert isinstance(model, AnnotatorModel)
    assert model.name == name
    assert registry_serving(AnnotatorModel) is ANNOTATOR_MODELS
