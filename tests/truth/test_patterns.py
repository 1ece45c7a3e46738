from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from crowdlogic.data import from_matrix
from crowdlogic.data.labels import CrowdLabels
from crowdlogic.truth.fitting import find_patterns, paying_patterns


def labels_of(unit: int, labels: CrowdLabels) -> tuple[tuple[int, int], ...]:
    rows = labels.unit == unit
    return tuple(zip(labels.annotator[rows].tolist(), labels.label[rows].tolist(), strict=True))


@settings(max_examples=60, deadline=None)
@given(st.data(), st.integers(0, 30), st.integers(1, 4), st.integers(1, 4))
def test_units_share_a_pattern_exactly_when_their_labels_are_equal(
    data: st.DataObject, n_units: int, n_annotators: int, n_classes: int
) -> None:
    cell = st.integers(-1, n_classes - 1)
    row = st.lists(cell, min_size=n_annotators, max_size=n_annotators)
    matrix = np.array(data.draw(st.lists(row, min_size=n_units, max_size=n_units)), dtype=int).reshape(-1, n_annotators)
    labels = from_matrix(matrix, classes=range(n_classes))

    found = find_patterns(labels)

    assert found is not None
    rows = [tuple(row) for row in matrix.tolist()]
    assert [rows[found.unit[p]] for p in found.pattern] == rows
    assert {rows[unit]: times for unit, times in zip(found.unit, found.times, strict=True)} == Counter(rows)


def test_known_classes_divide_a_pattern() -> None:
    labels = from_matrix(np.zeros((4, 2), dtype=int), classes=["x", "y"])

    found = find_patterns(labels, np.array([-1, 1, -1, 0]))

    assert found is not None
    assert found.pattern.tolist() == [0, 2, 0, 1]
    assert found.times.tolist() == [2, 1, 1]


def test_partial_labels_are_other_labels() -> None:
    labels = replace(
        from_matrix(np.zeros((3, 1), dtype=int), classes=["x", "y"]), negated=np.array([False, True, False])
    )

    found = find_patterns(labels)

    assert found is not None
    assert found.pattern.tolist() == [0, 1, 0]


def test_weights_repeated_labels_and_many_annotators_have_no_patterns() -> None:
    labels = from_matrix(np.zeros((4, 2), dtype=int))
    twice = replace(labels, unit=labels.unit * 0, annotator=labels.annotator * 0)

    assert find_patterns(replace(labels, weight=np.ones(8))) is None
    assert find_patterns(twice) is None
    assert find_patterns(from_matrix(np.zeros((4, 60), dtype=int), classes=range(5))) is None


def test_patterns_pay_where_they_are_few() -> None:
    rng = np.random.default_rng(0)
    few = from_matrix(rng.integers(0, 3, (30_000, 4)))
    many = from_matrix(rng.integers(0, 10, (30_000, 8)))
    small = from_matrix(rng.integers(0, 3, (1_000, 4)))

    found = paying_patterns(few)

    assert found is not None
    assert len(found) == 81
    assert paying_patterns(many) is None
    assert paying_patterns(small) is None
