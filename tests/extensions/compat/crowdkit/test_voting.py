from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError
from tests.extensions.compat.crowdkit.small_answers import YES_NO, planted_answers

from crowdlogic.errors import OptionError
from crowdlogic.extensions.compat.crowdkit import GoldMajorityVote, MajorityVote, Wawa, ZeroBasedSkill
from crowdlogic.extensions.compat.crowdkit.aggregation import vote_probabilities

SKILLS = pd.Series({"w1": 3.0, "w2": 1.0, "w3": 1.0})


def test_votes_and_agreement_with_them() -> None:
    made = MajorityVote().fit(YES_NO)

    assert made.labels_.to_dict() == {"t1": "yes", "t2": "yes", "t3": "no"}
    np.testing.assert_allclose(made.probas_["no"], [1 / 3, 1 / 3, 1], rtol=1e-12)
    assert made.skills_.to_dict() == {"w1": 2 / 3, "w2": 1.0, "w3": 2 / 3}


def test_skills_weigh_the_votes() -> None:
    made = MajorityVote()

    assert made.fit_predict(YES_NO, SKILLS).to_dict() == {"t1": "no", "t2": "yes", "t3": "no"}
    np.testing.assert_allclose(made.fit_predict_proba(YES_NO, SKILLS).loc["t1"], [0.6, 0.4], rtol=1e-12)


def test_a_tie_goes_to_the_first_label() -> None:
    frame = pd.DataFrame({"task": [1, 1], "worker": ["a", "b"], "label": ["z", "y"]})

    assert MajorityVote().fit_predict(frame).to_dict() == {1: "y"}


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({}, 'or set on_missing_skill to "ignore" or "value".'),
        ({"on_missing_skill": "drop"}, "on_missing_skill: expected one of error, ignore, value; got 'drop'."),
        ({"on_missing_skill": "value"}, 'on_missing_skill="value" requires default_skill.'),
        ({"default_skill": 1.0}, 'default_skill requires on_missing_skill="value".'),
    ],
)
def test_workers_without_a_skill(options: dict[str, object], words: str) -> None:
    with pytest.raises(OptionError) as refused:
        MajorityVote(**options).fit(YES_NO, SKILLS.drop("w1"))

    assert str(refused.value).endswith(words)


def test_workers_without_a_skill_can_be_left_out_or_get_one() -> None:
    few = SKILLS.drop("w1")

    left_out = MajorityVote(on_missing_skill="ignore").fit(YES_NO, few)
    given = MajorityVote(on_missing_skill="value", default_skill=9.0).fit(YES_NO, few)

    assert list(left_out.skills_.index) == ["w2", "w3"]
    assert given.labels_["t1"] == "no"
    with pytest.raises(OptionError, match="3 tasks have no worker with a skill"):
        MajorityVote(on_missing_skill="ignore").fit(YES_NO, pd.Series([], dtype=float))


def test_wawa_is_a_vote_by_agreement_with_the_vote() -> None:
    voted = MajorityVote().fit(YES_NO)

    made = Wawa()

    assert made.fit_predict_proba(YES_NO).equals(MajorityVote().fit_predict_proba(YES_NO, voted.skills_))
    assert made.skills_.equals(voted.skills_)


def test_gold_makes_the_skills() -> None:
    made = GoldMajorityVote()

    labels = made.fit_predict(YES_NO, pd.Series({"t1": "no", "t3": "no"}))

    assert made.skills_.to_dict() == {"w1": 1.0, "w2": 0.5, "w3": 0.5}
    assert labels["t1"] == "no"
    with pytest.raises(OptionError, match="needs true_labels"):
        GoldMajorityVote().fit(YES_NO)


def test_predict_needs_a_fit() -> None:
    with pytest.raises(NotFittedError, match=r"This Wawa is not fitted\. Call fit first\."):
        Wawa().predict(YES_NO)


def test_zero_based_skills_follow_agreement_step_by_step() -> None:
    answers, _ = planted_answers(4, tasks=40)
    skill = pd.Series(1 / 3 + 1e-5, index=sorted(answers["worker"].unique()))
    for step in range(1, 8):
        rate = 0.5 ** (step // 3)
        agreeing = MajorityVote().fit(answers, skill).skills_
        skill = skill + rate * (agreeing - skill)

    made = ZeroBasedSkill(n_iter=7, lr_steps_to_reduce=3).fit(answers)

    np.testing.assert_allclose(made.skills_, skill, rtol=1e-12)
    assert ZeroBasedSkill(n_iter=0).fit(answers).skills_.to_numpy() == pytest.approx(1 / 3 + 1e-5)


def test_shares_sum_to_one() -> None:
    np.testing.assert_allclose(vote_probabilities(np.array([[1.0, 3.0]])), [[0.25, 0.75]], rtol=1e-12)


def test_negative_skills_never_turn_the_order_of_the_labels() -> None:
    labels = MajorityVote().fit_predict(YES_NO, pd.Series({"w1": -5.0, "w2": 1.0, "w3": 1.0}))

    assert labels["t1"] == "yes"
