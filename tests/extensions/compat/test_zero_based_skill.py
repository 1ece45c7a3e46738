from __future__ import annotations

import numpy as np
import pytest
from tests.truth.planted import planted

from crowdlogic.data.frames import from_matrix
from crowdlogic.errors import OptionError
from crowdlogic.extensions.compat.zero_based_skill import LearningRate, ZeroBasedSkill, learn_skills
from crowdlogic.truth.weighting import Wawa


def test_a_first_whole_step_is_the_agreement_with_the_majority() -> None:
    labels = planted(0, units=60).labels

    one = ZeroBasedSkill(iterations=1).infer(labels)

    np.testing.assert_allclose(one.reliability, Wawa().infer(labels).reliability, rtol=1e-9)


def test_steps_shrink_by_the_learning_rate() -> None:
    found = learn_skills(lambda _: np.array([1.0]), np.zeros(1), iterations=5, rate=LearningRate(0.5, 0.1, 3))

    # two steps of 0.5, then three of 0.05
    np.testing.assert_allclose(found, 1 - 0.5**2 * 0.95**3, rtol=1e-12)


def test_steps_end_where_nothing_moves() -> None:
    calls: list[int] = []

    def agreeing(skill: np.ndarray) -> np.ndarray:
        calls.append(1)
        return np.full_like(skill, 0.5)

    assert learn_skills(agreeing, np.zeros(2), iterations=100, rate=LearningRate()).tolist() == [0.5, 0.5]
    assert len(calls) == 2


def test_an_annotator_who_always_disagrees_loses_all_weight() -> None:
    given = np.repeat(np.array([0, 1, 2, 0, 1, 2])[:, None], 4, axis=1)
    given[:, 3] = (given[:, 3] + 1) % 3
    labels = from_matrix(np.vstack([given, [[-1, -1, -1, 2]]]))

    estimate = ZeroBasedSkill().infer(labels)

    np.testing.assert_allclose(estimate.reliability, [1, 1, 1, 1 / 7], rtol=1e-9)
    assert estimate.answer.tolist() == [0, 1, 2, 0, 1, 2, 2]


@pytest.mark.parametrize("options", [{"iterations": -1}, {"margin": 0.0}, {"rate": LearningRate(every=0)}])
def test_options_that_make_no_sense_are_refused(options: dict[str, object]) -> None:
    with pytest.raises(OptionError, match="zero-based-skill: iterations must be 0 or more"):
        ZeroBasedSkill(**options)
