from __future__ import annotations

import pandas as pd
from pandas.testing import assert_series_equal
from tests.extensions.compat.crowdkit.small_answers import YES_NO

from crowdlogic.extensions.compat.crowdkit.answers import (
    best_labels,
    code_answers,
    get_accuracy,
    get_most_probable_labels,
    gold_accuracy,
    normalize_rows,
    worker_accuracy,
)

TRUTH = pd.Series({"t1": "yes", "t2": "yes"})


def by_hand(by: str) -> dict[str, float]:
    """The shares of right answers, row by row."""
    right: dict[str, list[bool]] = {}
    for row in YES_NO.itertuples():
        if row.task in TRUTH:
            right.setdefault(getattr(row, by), []).append(row.label == TRUTH[row.task])
    return {name: sum(each) / len(each) for name, each in sorted(right.items())}


def test_accuracy_overall_and_by_group() -> None:
    assert get_accuracy(YES_NO, TRUTH) == 4 / 6
    assert get_accuracy(YES_NO, TRUTH, by="worker").to_dict() == by_hand("worker")
    assert get_accuracy(YES_NO, TRUTH, by="task").to_dict() == by_hand("task")


def test_weights_count() -> None:
    weighted = YES_NO.assign(weight=[1, 5, 1, 1, 1, 1, 9, 9, 9])

    assert get_accuracy(weighted, TRUTH) == 8 / 10


def test_an_answer_that_is_one_of_several_truths_is_right_once() -> None:
    truth = pd.Series(["yes", "no"], index=["t1", "t1"])

    assert get_accuracy(YES_NO, truth) == 1.0


def test_the_quick_ways_agree_with_the_general_one() -> None:
    answers = code_answers(YES_NO)
    best = best_labels(answers.scores())
    voted = answers.task_labels(best)

    quick = answers.worker_series(worker_accuracy(answers, best, answers.distinct()), "skill")

    assert_series_equal(quick, get_accuracy(YES_NO, voted, by="worker"), check_names=False)
    assert_series_equal(gold_accuracy(YES_NO, TRUTH), get_accuracy(YES_NO, TRUTH, by="worker"), check_names=False)


def test_repeated_answers_count_once() -> None:
    twice = pd.concat([YES_NO, YES_NO.head(1)])

    assert_series_equal(gold_accuracy(twice, TRUTH), gold_accuracy(YES_NO, TRUTH))


def test_rows_sum_to_one_and_the_first_of_the_best_is_taken() -> None:
    scores = pd.DataFrame([[2.0, 2.0], [1.0, 3.0]], columns=["a", "b"], index=["x", "y"])

    assert normalize_rows(scores).to_numpy().tolist() == [[0.5, 0.5], [0.25, 0.75]]
    assert get_most_probable_labels(scores).to_dict() == {"x": "a", "y": "b"}
    assert get_most_probable_labels(pd.DataFrame()).empty
