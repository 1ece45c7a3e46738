from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from tests.extensions.compat.crowdkit.small_answers import planted_answers

from crowdlogic.errors import LabelError
from crowdlogic.extensions.compat.crowdkit import KOS, MajorityVote


def messages_by_hand(answers: pd.DataFrame, rounds: int) -> dict[object, str]:
    """Karger, Oh and Shah's Algorithm 1 with plain loops, from crowd-kit's random start."""
    positive = answers["label"].iloc[0]
    sign = {(row.task, row.worker): 1.0 if row.label == positive else -1.0 for row in answers.itertuples()}
    first = np.random.RandomState(0).normal(1, 1, size=len(sign))
    y = dict(zip(sign, first, strict=True))
    for _ in range(rounds):
        x = {(i, j): sum(sign[a, b] * y[a, b] for a, b in sign if a == i and b != j) for i, j in sign}
        y = {(i, j): sum(sign[a, b] * x[a, b] for a, b in sign if b == j and a != i) for i, j in sign}
    score = {i: sum(sign[a, b] * y[a, b] for a, b in sign if a == i) for i, _ in sign}
    other = next(label for label in answers["label"] if label != positive)
    return {i: positive if value > 0 else other for i, value in score.items()}


def test_messages_by_plain_loops() -> None:
    answers, _ = planted_answers(0, tasks=15, workers=6, labels=2, each=4)

    assert KOS(n_iter=4).fit_predict(answers).to_dict() == messages_by_hand(answers, 4)


def test_liars_are_read_backwards() -> None:
    answers, truth = planted_answers(1, labels=2, workers=20, each=5, liars=6)

    right = [(kind().fit_predict(answers).to_numpy() == truth.to_numpy()).mean() for kind in (KOS, MajorityVote)]

    assert right[0] > right[1] + 0.1


def test_two_labels_only() -> None:
    with pytest.raises(LabelError, match="KOS supports two labels, got 3"):
        KOS().fit(planted_answers(0)[0])


def test_where_no_message_says_anything_the_votes_decide() -> None:
    frame = pd.DataFrame({"task": [1, 2], "worker": ["a", "b"], "label": ["x", "y"]})

    assert KOS().fit_predict(frame).to_dict() == {1: "x", 2: "y"}
