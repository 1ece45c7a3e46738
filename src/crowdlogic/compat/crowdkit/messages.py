"""KOS, as crowd-kit has it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from crowdlogic.compat.crowdkit.aggregator import Aggregator
from crowdlogic.compat.crowdkit.answers import code_answers
from crowdlogic.errors import LabelError
from crowdlogic.numerics.sums import sum_by
from crowdlogic.truth.kos import pass_messages


@dataclass
class KOS(Aggregator):
    """Messages between tasks and workers; two labels only.

    Attributes:
        n_iter: Number of rounds.
        random_state: Random seed of the first messages.
        labels_: The label of each task.
    """

    n_iter: int = 100
    random_state: int = 0

    def fit(self, data: Any) -> KOS:
        """Pass messages from a random start."""
        if not data.size:
            self.labels_ = pd.Series([], dtype="O", name="agg_label")
            return self
        answers = code_answers(data)
        if len(answers.labels) != 2:
            raise LabelError(f"KOS is for two labels; these answers have {len(answers.labels)}. Use another method.")
        positive = answers.label[0]  # the label that comes first in the data
        sign = np.where(answers.label == positive, 1.0, -1.0)
        first = np.random.RandomState(self.random_state).normal(loc=1, scale=1, size=len(sign))
        message = pass_messages(answers.task, answers.worker, sign, first, iterations=self.n_iter)
        score = sum_by(answers.task, len(answers.tasks), sign * message)
        votes = sum_by(answers.task, len(answers.tasks), sign)
        score = np.where(score == 0, votes, score)  # where no message says anything, the votes decide
        self.labels_ = answers.task_labels(np.where(score >= 0, positive, 1 - positive))
        return self
