"""What crowd-kit's aggregators share: `fit`, then `fit_predict` and `fit_predict_proba` from what it left."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass
class Aggregator:
    """The base of the aggregators.

    Attributes:
        labels_: The label of each task, once fitted.
    """

    def __post_init__(self) -> None:
        self.labels_: Any

    def fit(self, data: Any) -> Any:
        """Fit to a frame with task, worker and label."""
        raise NotImplementedError

    def fit_predict(self, data: Any) -> Any:
        """Fit, and give the label of each task."""
        return self.fit(data).labels_


@dataclass
class ProbabilityAggregator(Aggregator):
    """An aggregator with `probas_`, the probability of each label for each task."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.probas_: Any

    def fit_predict_proba(self, data: Any) -> Any:
        """Fit, and give the probabilities of each task's labels."""
        return self.fit(data).probas_
