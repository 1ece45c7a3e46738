from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.special import logsumexp, softmax
from tests.extensions.compat.crowdkit.small_answers import YES_NO

from crowdlogic.extensions.compat.crowdkit.answers import (
    appearance,
    best_labels,
    code_answers,
    compact_codes,
    posterior,
)


def test_names_are_sorted_and_codes_point_at_them() -> None:
    answers = code_answers(YES_NO.iloc[::-1])

    assert list(answers.tasks) == ["t1", "t2", "t3"]
    assert list(answers.labels) == ["no", "yes"]
    np.testing.assert_array_equal(answers.tasks[answers.task], YES_NO["task"].iloc[::-1])
    np.testing.assert_array_equal(answers.labels[answers.label], YES_NO["label"].iloc[::-1])


def test_scores_count_answers_or_add_up_weights() -> None:
    answers = code_answers(YES_NO)

    np.testing.assert_array_equal(answers.scores(), [[1, 2], [1, 2], [3, 0]])
    np.testing.assert_array_equal(answers.scores(np.arange(9.0)), [[0, 3], [5, 7], [21, 0]])


def test_a_missing_column_is_a_key_error_as_in_crowd_kit() -> None:
    with pytest.raises(KeyError, match="worker"):
        code_answers(YES_NO.drop(columns="worker"))


def test_a_row_without_a_label_does_not_count() -> None:
    frame = pd.concat([YES_NO, pd.DataFrame({"task": ["t1"], "worker": ["w4"], "label": [None]})])

    np.testing.assert_array_equal(code_answers(frame).scores(), code_answers(YES_NO).scores())


def test_distinct_rows_are_the_first_of_their_kind() -> None:
    answers = code_answers(pd.concat([YES_NO, YES_NO.head(2)]))

    assert answers.distinct().tolist() == [True] * 9 + [False] * 2


def test_labels_that_cannot_be_sorted_keep_their_order() -> None:
    frame = YES_NO.assign(label=[1, "x", 1, "x", 1, "x", 1, "x", 1])

    assert list(code_answers(frame).labels) == [1, "x"]


def test_sums_over_pairs_by_plain_loops() -> None:
    answers = code_answers(pd.concat([YES_NO, YES_NO.head(1)]))
    table, rng = answers.table(), np.random.default_rng(0)
    q, log_errors = rng.random((3, 2)), rng.random((len(table.label), 2))
    pairs = list(zip(table.worker.tolist(), table.label.tolist(), strict=True))
    counts, evidence = np.zeros((len(pairs), 2)), np.zeros((3, 2))
    for i, j, n in zip(answers.task, answers.worker, answers.label, strict=True):
        counts[pairs.index((j, n))] += q[i]
        evidence[i] += log_errors[pairs.index((j, n))]

    np.testing.assert_allclose(table.counts(q), counts, rtol=1e-12)
    np.testing.assert_allclose(table.evidence(log_errors), evidence, rtol=1e-12)
    np.testing.assert_allclose(table.hits(q), [counts[p, n] for p, (_, n) in enumerate(pairs)], rtol=1e-12)
    np.testing.assert_allclose(table.match_evidence(np.ones(len(pairs))), answers.scores(), rtol=1e-12)
    np.testing.assert_array_equal(table.sum_by_worker(table.given()), [4, 3, 3])


@pytest.mark.parametrize("spread", [3, 10**6])
def test_compact_codes_are_those_of_sorted_distinct_keys(spread: int) -> None:
    keys = np.random.default_rng(0).integers(spread, size=200)

    codes, found = compact_codes(keys)

    assert found.tolist() == sorted(set(keys.tolist()))
    np.testing.assert_array_equal(found[codes], keys)


def test_sums_do_not_depend_on_the_order_of_the_rows() -> None:
    answers = code_answers(pd.concat([YES_NO, YES_NO.head(2)]))
    shuffled = answers.take(np.random.default_rng(0).permutation(len(answers.task)))
    q = np.random.default_rng(1).random((3, 2))

    np.testing.assert_allclose(shuffled.table().counts(q), answers.table().counts(q), rtol=1e-12)


def test_first_rows_of_pairs_by_a_plain_loop() -> None:
    answers = code_answers(YES_NO.iloc[::-1])
    table = answers.table()

    rows = list(zip(answers.worker.tolist(), answers.label.tolist(), strict=True))

    assert table.first.tolist() == [rows.index(pair) for pair in zip(table.worker, table.label, strict=True)]


def test_missing_values_have_no_code_and_the_rest_is_sorted() -> None:
    frame = YES_NO.assign(label=["no", None, "yes", "no", None, "yes", "no", "yes", "yes"])

    answers = code_answers(frame)

    assert list(answers.labels) == ["no", "yes"]
    assert answers.labels.take(answers.label).tolist() == [name for name in frame["label"] if isinstance(name, str)]


def test_posteriors_are_those_of_a_softmax() -> None:
    scores = np.random.default_rng(0).normal(scale=300, size=(6, 3))

    q, log_sum = posterior(scores)

    np.testing.assert_allclose(q, softmax(scores, axis=1), rtol=1e-12)
    np.testing.assert_allclose(log_sum, logsumexp(scores, axis=1), rtol=1e-12)


def test_names_may_stay_in_the_order_of_the_data() -> None:
    answers = code_answers(YES_NO.iloc[::-1], by_appearance=True)

    assert (list(answers.tasks), list(answers.workers)) == (["t3", "t2", "t1"], ["w3", "w2", "w1"])
    assert list(answers.labels) == ["no", "yes"]


def test_order_of_appearance_and_first_of_the_best() -> None:
    assert appearance(np.array([2, 0, 2, 1])).tolist() == [2, 0, 1]
    assert best_labels(np.array([[1.0, 1.0], [0.0, 2.0]])).tolist() == [0, 1]
