from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from tests.extensions.compat.crowdkit.small_answers import YES_NO, planted_answers

from crowdlogic import agreement, from_frame
from crowdlogic.extensions.compat.crowdkit import (
    KOS,
    MajorityVote,
    Wawa,
    accuracy_on_aggregates,
    alpha_krippendorff,
    consistency,
    uncertainty,
)


def test_alpha_is_krippendorffs() -> None:
    answers, _ = planted_answers(0)
    labels = from_frame(answers)
    ours = next(one for one in agreement(labels, replicates=0) if one.name == "alpha")

    assert alpha_krippendorff(answers) == pytest.approx(ours.value, rel=1e-12)
    assert alpha_krippendorff(YES_NO.assign(label="yes")) == 1.0


def test_alpha_with_a_distance() -> None:
    answers = pd.DataFrame({"task": [1, 1, 2, 2], "worker": ["a", "b"] * 2, "label": [1, 2, 5, 5]})
    # observed: |1 - 2| once in two tasks; expected: the mean distance of two of the labels 1, 2, 5, 5
    expected = np.mean([1, 4, 4, 3, 3, 0])

    assert alpha_krippendorff(answers, lambda a, b: abs(a - b)) == pytest.approx(1 - 0.5 / expected)


def test_consistency_is_the_posterior_of_the_label() -> None:
    skill = {"w1": 0.6, "w2": 0.9, "w3": 0.7}
    yes, no = (1 - 0.6) * 0.9 * 0.7, 0.6 * (1 - 0.9) * (1 - 0.7)

    by_task = consistency(YES_NO, pd.Series(skill), by_task=True)

    assert by_task["t1"] == pytest.approx(yes / (yes + no))
    assert consistency(YES_NO, pd.Series(skill)) == pytest.approx(by_task.mean())
    assert consistency(YES_NO) == pytest.approx(consistency(YES_NO, MajorityVote().fit(YES_NO).skills_))


def test_uncertainty_by_task_and_by_worker() -> None:
    found = uncertainty(YES_NO, aggregate=False)
    two_to_one = -(1 / 3) * np.log(1 / 3) - (2 / 3) * np.log(2 / 3)

    np.testing.assert_allclose(found, [two_to_one, two_to_one, 0], rtol=0, atol=1e-9)
    assert uncertainty(YES_NO, compute_by="worker", aggregate=False).index.name == "worker"
    assert uncertainty(YES_NO, aggregator=Wawa()) > 0
    with pytest.raises(KeyError):
        uncertainty(YES_NO, compute_by="day")


def test_what_is_missing_is_named() -> None:
    with pytest.raises(AssertionError, match=r"No skill for w3\. Give a skill for every worker\."):
        uncertainty(YES_NO, pd.Series({"w1": 1, "w2": 1}))
    with pytest.raises(AssertionError, match="KOS has no skills"):
        consistency(YES_NO, aggregator=KOS())
    with pytest.raises(AssertionError, match="answers have no column 'worker'"):
        consistency(YES_NO.drop(columns="worker"))
    with pytest.raises(TypeError, match="answers must be a pandas DataFrame, not dict"):
        alpha_krippendorff({})


def test_accuracy_on_aggregates() -> None:
    assert accuracy_on_aggregates(YES_NO) == 7 / 9
    assert accuracy_on_aggregates(YES_NO, aggregates=pd.Series({"t3": "yes"})) == 0.0
    assert accuracy_on_aggregates(YES_NO, by="worker").to_dict() == {"w1": 2 / 3, "w2": 1.0, "w3": 2 / 3}
