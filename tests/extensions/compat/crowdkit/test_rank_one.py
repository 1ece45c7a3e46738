from __future__ import annotations

import numpy as np
from tests.extensions.compat.crowdkit.small_answers import planted_answers

from crowdlogic.extensions.compat.crowdkit import MMSR, MajorityVote


def test_liars_have_negative_skills() -> None:
    answers, truth = planted_answers(0, tasks=600, workers=20, each=8, labels=2, liars=5)

    made = MMSR()
    labels = made.fit_predict(answers)

    assert {worker for worker, skill in made.skills_.items() if skill < 0} == {f"w{j}" for j in range(5)}
    assert (labels.to_numpy() == truth.to_numpy()).mean() > 0.95
    assert (MajorityVote().fit_predict(answers).to_numpy() == truth.to_numpy()).mean() < 0.95


def test_scores_are_votes_by_skill() -> None:
    answers, _ = planted_answers(1)

    made = MMSR()
    scores = made.fit_predict_score(answers)

    assert scores is made.scores_
    assert scores.equals(MajorityVote().fit_predict_proba(answers, made.skills_))
    assert list(made.skills_.index) == list(answers["worker"].unique())
    assert np.diff(made.loss_history_)[5:].max() <= 0


def test_without_rounds_the_start_answers() -> None:
    assert len(MMSR(n_iter=0).fit_predict(planted_answers(2)[0])) == 300
