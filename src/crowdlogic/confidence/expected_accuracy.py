"""Range of the number of wrong answers of an estimate.

Labels alone do not reveal how strongly errors are correlated. Without gold the range spans from independent errors to
errors that all labels of an item share (`truth.dependence`); with gold items drawn at random it is an exact interval.
Where annotators share more mistakes than public crowds do, there is no range, and `low` and `high` are NaN.

Axes: i unit.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from crowdlogic.data.estimate import Calibration, Estimate
from crowdlogic.data.wording import approximate, pluralise
from crowdlogic.errors import OptionError, require_kind
from crowdlogic.numerics.arrays import Floats

GOLD_TO_LABEL = 100
"""Number of random gold items that is recommended: with them, a share is known within 10 points."""


@dataclass(frozen=True, kw_only=True)
class ExpectedAccuracy:
    """The expected share of right answers, with a range.

    Attributes:
        mean: The mean confidence.
        low: Lower end of the range; NaN if it cannot be estimated.
        high: Upper end of the range; NaN if it cannot be estimated.
        n: Number of answers whose truth is not known; the figures are about these.
        calibration: Calibration of the answers.
    """

    mean: float
    low: float
    high: float
    n: int
    calibration: Calibration

    def __repr__(self) -> str:
        if not self.is_known:
            return f"ExpectedAccuracy(unknown: {self.calibration.unknown}; of {self.n:,})"
        return f"ExpectedAccuracy({self.mean:.3f}, from {self.low:.3f} to {self.high:.3f}, of {self.n:,})"

    @property
    def is_known(self) -> bool:
        """Whether there is a range."""
        return math.isfinite(self.low)

    @property
    def mistakes(self) -> tuple[int, int]:
        """The fewest and the most wrong answers; 0 and all answers if there is no range."""
        if not self.is_known:
            return 0, self.n
        return round(self.n * (1 - self.high)), round(self.n * (1 - self.low))

    @property
    def expected_mistakes(self) -> float:
        """The expected number of wrong answers: the sum of 1 - confidence over the answers whose truth is unknown."""
        return self.n * (1.0 - self.mean)


def expected_accuracy(estimate: Estimate) -> ExpectedAccuracy | None:
    """Return the expected share of right answers; None if the truth of every answer is known.

    Raises an error if the estimate is not calibrated, as the result of a method's own `infer`: the mean of such a
    posterior is usually far too high.

    Args:
        estimate: A calibrated estimate, such as that of `crowdlogic.aggregate`, or the outcome of a training.
    """
    estimate = getattr(estimate, "estimate", estimate)
    remedy = "Write expected_accuracy(crowdlogic.aggregate(labels))."
    require_kind(estimate, Estimate, "expected_accuracy", remedy)
    if estimate.calibration is None:
        raise OptionError(
            f"expected_accuracy: the confidence of this estimate ({estimate.method}) is not calibrated; it is the "
            f"method's own posterior. Use crowdlogic.aggregate(labels, method) in place of method.infer(labels), or "
            f"crowdlogic.truth.state_confidence(labels, estimate)."
        )
    confidence = _uncertain(estimate)
    if not len(confidence):
        return None
    return accuracy_range(float(confidence.mean()), n=len(confidence), calibration=estimate.calibration)


def accuracy_range(mean: float, *, n: int, calibration: Calibration) -> ExpectedAccuracy:
    """Return the expected accuracy of n answers with that mean confidence; its range includes the mean."""
    low, high = math.nan, math.nan
    if calibration.fewest_wrong is not None and calibration.most_wrong is not None:
        low = min(max(1.0 - calibration.most_wrong / n, 0.0), mean)
        high = max(min(1.0 - calibration.fewest_wrong / n, 1.0), mean)
    return ExpectedAccuracy(mean=mean, low=low, high=high, n=n, calibration=calibration)


def describe_mistakes(expected: ExpectedAccuracy, noun: str = "label", *, option: str = "--anchors") -> str:
    """Return a sentence on the number of wrong answers, its assumptions, and how to find out."""
    said = describe_range(expected, noun)
    if expected.calibration.checked or expected.n <= GOLD_TO_LABEL:
        return f"{said}."
    within = f"Label {GOLD_TO_LABEL} items at random and give them with {option} to know it within 10 points."
    return f"{said}. {within}"


def describe_range(expected: ExpectedAccuracy, noun: str, *, which: str = "") -> str:
    """Say how many answers are likely wrong, without a final period; `which` specifies the answers that are counted."""
    few, many = expected.mistakes
    of_all = f"{pluralise(expected.n, noun)}{which}"
    if not expected.is_known:
        why = f": {expected.calibration.unknown}" if expected.calibration.unknown else ""
        return f"The number of wrong answers cannot be estimated from these labels alone{why}"
    n, checked = round(expected.expected_mistakes), expected.calibration.checked
    if checked:
        by = f"judging by {pluralise(checked, 'item')} labelled at random"
        return f"About {n:,} of {of_all} are likely wrong (95% interval: {few:,} to {many:,}), {by}"
    ends = f"{few:,} if annotators err independently, {many:,} if they share their mistakes"
    return f"About {n:,} of {of_all} are likely wrong: {ends}"


def describe_spans(estimate: Estimate) -> str:
    """Say how many spans of an estimate of tags are likely wrong, by their confidence; empty without spans."""
    from crowdlogic.data.character_spans import span_confidence

    spans, confidence = span_confidence(estimate)
    if not len(spans):
        return ""
    wrong = float((1.0 - confidence).sum())
    return (
        f"{approximate(wrong).capitalize()} of {len(spans):,} spans are likely wrong (boundaries or type), if "
        f"your annotators made the same mistakes as often as those of a public data set of named entities; check some "
        f"at random to be sure."
    )


def describe_source(calibration: Calibration) -> str:
    """Say what single confidences rest on."""
    if calibration.anchors:
        return f"judging by {pluralise(calibration.anchors, 'item')} labelled at random"
    return f"if your annotators share mistakes as those of {calibration.source} do"


def _uncertain(estimate: Estimate) -> Floats:
    """Return the confidence of every answer whose truth is not known."""
    confidence = estimate.confidence[estimate.answered]
    return confidence[confidence < 1.0]
