from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from tests.extensions.compat.crowdkit.small_answers import planted_answers

from crowdlogic.errors import OptionError
from crowdlogic.extensions.compat.crowdkit import MACE


def e_step_by_hand(made: MACE, answers: pd.DataFrame) -> pd.DataFrame:
    """The posterior with plain loops, from the parameters that a fit left (in the order of the data)."""
    workers, labels = list(answers["worker"].unique()), list(answers["label"].unique())
    scores = pd.DataFrame(1.0, index=made.probas_.index, columns=made.probas_.columns)
    for row in answers.itertuples():
        j, n = workers.index(row.worker), labels.index(row.label)
        for truth in labels:
            scores.loc[row.task, truth] *= made.spamming_[j, 0] * made.thetas_[j, n] + made.spamming_[j, 1] * (
                truth == row.label
            )
    return scores.div(scores.sum(axis=1), axis=0)


@pytest.mark.parametrize("method", ["vb", "em"])
def test_probabilities_follow_from_the_parameters(method: str) -> None:
    answers, _ = planted_answers(0, tasks=40)

    made = MACE(n_restarts=2, n_iter=10, method=method).fit(answers)

    np.testing.assert_allclose(made.probas_, e_step_by_hand(made, answers), rtol=0, atol=1e-9)


def test_a_spammer_is_found_with_their_strategy() -> None:
    answers, _ = planted_answers(1)
    answers.loc[answers["worker"] == "w0", "label"] = "dog"

    made = MACE().fit(answers)

    workers, labels = list(answers["worker"].unique()), list(answers["label"].unique())
    assert made.spamming_[:, 0].argmax() == workers.index("w0")
    assert made.thetas_[workers.index("w0")].argmax() == labels.index("dog")


def test_the_order_of_the_rows_does_not_matter_to_who_is_who() -> None:
    answers, _ = planted_answers(2)

    one, other = (MACE(n_restarts=1).fit(frame) for frame in (answers, answers.iloc[::-1]))

    np.testing.assert_array_equal(one.labels_.sort_index(), other.labels_.sort_index())


def test_the_first_start_is_crowd_kits() -> None:
    answers, _ = planted_answers(3)
    drawn = np.random.RandomState(0).uniform(1, 2.5, size=(12, 3))

    made = MACE(n_restarts=1, n_iter=0).fit(answers)

    # workers and labels in the order of the data, as crowd-kit numbers them
    np.testing.assert_allclose(made.thetas_, drawn / drawn.sum(axis=1, keepdims=True), rtol=1e-12)


def test_another_method_is_refused() -> None:
    with pytest.raises(OptionError, match="method: expected one of vb, em; got 'gibbs'"):
        MACE(method="gibbs")
