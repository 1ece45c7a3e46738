"""The alternative annotator test: judges as good as people pass, worse ones do not."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import false_discovery_control, ttest_1samp
from tests.confidence.planted_crowds import crowd

from crowdlogic.confidence.alternative_annotator import alternative_annotator_test
from crowdlogic.data.labels import CrowdLabels
from crowdlogic.numerics.arrays import find_discoveries


def people_and_judge(seed: int, *, people: float, judge: float) -> tuple[CrowdLabels, np.ndarray]:
    """Four people and a judge of these accuracies over 120 items of three classes."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(3, size=120)
    said = [
        np.where(rng.random(120) < right, truth, (truth + rng.integers(1, 3, 120)) % 3)
        for right in [people] * 4 + [judge]
    ]
    return crowd(np.stack(said[:4], axis=1), 3), said[4]


@pytest.mark.parametrize(("judge", "passes"), [(0.95, True), (0.8, True), (0.4, False)])
def test_a_judge_passes_if_it_is_as_close_to_people_as_they_are(judge: float, passes: bool) -> None:
    outcomes = []
    for seed in range(8):
        found = alternative_annotator_test(*people_and_judge(seed, people=0.8, judge=judge))
        assert found is not None
        outcomes.append(found.passes)

    assert np.mean(outcomes) >= 0.85 if passes else np.mean(outcomes) <= 0.15


def test_the_figures_are_those_of_the_definition() -> None:
    labels, judge = people_and_judge(1, people=0.8, judge=0.7)
    table = labels.label.reshape(120, 4)

    found = alternative_annotator_test(labels, judge)

    p_values, advantage = [], []
    for j in range(4):
        others = np.delete(table, j, axis=1)
        of_judge = (others == judge[:, None]).mean(axis=1)
        of_person = (others == table[:, [j]]).mean(axis=1)
        wins, loses = of_judge >= of_person, of_person >= of_judge
        p_values.append(ttest_1samp(loses.astype(float) - wins, 0.2, alternative="less").pvalue)
        advantage.append(wins.mean())
    assert found is not None
    assert found.people == 4
    assert found.judge_advantage == pytest.approx(np.mean(advantage))
    assert found.winning_rate == np.mean(false_discovery_control(p_values, method="by") <= 0.05)


def test_the_false_discovery_rate_is_that_of_scipy() -> None:
    p_values = np.random.default_rng(0).random(20) ** 4

    found = find_discoveries(p_values, 0.05, dependent=True)

    assert found.tolist() == (false_discovery_control(p_values, method="by") <= 0.05).tolist()
    assert 0 < found.sum() < 20


def test_people_with_few_common_items_are_left_out() -> None:
    labels, judge = people_and_judge(0, people=0.8, judge=0.8)
    few = np.where(np.arange(120) < 29, judge, -1)

    assert alternative_annotator_test(labels, few) is None
