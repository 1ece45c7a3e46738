"""How many answers of a whole estimate should be right, with an interval that includes what differs between data sets.

The mean confidence is right on average over data sets; on a single one it is off by `spread`, and finitely many items
add their own chance. m items checked at random say how far it is off here: their error is combined with the spread as
two measurements of one number.

Axes: i unit.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from crowdlogic.data.character_spans import span_confidence
from crowdlogic.data.estimate import Calibration, Estimate
from crowdlogic.data.wording import approximate, pluralise
from crowdlogic.errors import OptionError, require_kind
from crowdlogic.numerics.arrays import Floats
from crowdlogic.numerics.intervals import student_quantile

LEVEL = 0.95
"""The level of the interval."""
CHECKED = 30
"""How many items checked at random the advice speaks of: enough to fit the scale by them."""


@dataclass(frozen=True, kw_only=True)
class ExpectedAccuracy:
    """The expected share of right answers.

    Attributes:
        mean: The mean confidence.
        low: Lower end of the interval.
        high: Upper end of the interval.
        n: How many answers that is: those whose truth is not known.
        calibration: What the confidence rests on.
    """

    mean: float
    low: float
    high: float
    n: int
    calibration: Calibration

    def __repr__(self) -> str:
        rests_on = self.calibration.source
        return f"ExpectedAccuracy({self.mean:.3f}, from {self.low:.3f} to {self.high:.3f}, of {self.n:,}; {rests_on})"

    @property
    def mistakes(self) -> tuple[int, int]:
        """The fewest and the most wrong answers that are likely."""
        return round(self.n * (1 - self.high)), round(self.n * (1 - self.low))

    @property
    def expected_mistakes(self) -> float:
        """The expected number of wrong answers: the sum of 1 - confidence over the answers whose truth is unknown."""
        return self.n * (1.0 - self.mean)

    def half_width_after(self, checked: int) -> float:
        """Half the width of the interval if so many items were checked at random beyond those that were."""
        return _half_width(self.mean, self.n, self.calibration, checked=self.calibration.anchors + checked)


def expected_accuracy(estimate: Estimate) -> ExpectedAccuracy | None:
    """Return the expected share of right answers; None where the truth of every answer is known.

    Raises an error if the estimate is not calibrated, as that of a method's own `infer`: the mean of such a posterior
    is mostly far too high.

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
    return accuracy_interval(float(confidence.mean()), n=len(confidence), calibration=estimate.calibration)


def accuracy_interval(mean: float, *, n: int, calibration: Calibration) -> ExpectedAccuracy:
    """The interval around the mean confidence of n answers."""
    half = _half_width(mean, n, calibration, checked=calibration.anchors)
    low, high = max(mean - half, 0.0), min(mean + half, 1.0)
    return ExpectedAccuracy(mean=mean, low=low, high=high, n=n, calibration=calibration)


def describe_mistakes(expected: ExpectedAccuracy, noun: str = "label") -> str:
    """How many answers are likely wrong, what that rests on, and what checking some at random would change."""
    said = f"{describe_share_wrong(expected, noun)}, {describe_source(expected.calibration)}"
    if expected.n <= CHECKED:
        return f"{said}."
    narrowed = round(expected.n * expected.half_width_after(CHECKED))
    if expected.calibration.anchors:
        return f"{said}; {CHECKED} more would narrow this to about ±{narrowed:,}."
    return (
        f"{said} (fewer if they err independently). To know better, check {CHECKED} items at random and give them with "
        f"--anchors: that narrows it to about ±{narrowed:,}."
    )


def describe_share_wrong(expected: ExpectedAccuracy, noun: str, *, which: str = "") -> str:
    """Say how many answers are expected to be wrong, with the interval; `which` says more of the answers counted."""
    few, many = expected.mistakes
    interval = f" ({100 * LEVEL:g}% interval: {few:,} to {many:,})" if few < many else ""
    n = round(expected.expected_mistakes)
    return f"About {n:,} of {pluralise(expected.n, noun)}{which} are likely wrong{interval}"


def describe_spans(estimate: Estimate) -> str:
    """How many spans of an estimate of tags are likely wrong, by their confidence; empty without spans."""
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
    """What a confidence rests on, in words."""
    if calibration.anchors:
        return f"judging by {pluralise(calibration.anchors, 'item')} checked at random"
    return f"if your annotators made the same mistakes as often as those of {calibration.source}"


def _uncertain(estimate: Estimate) -> Floats:
    """The confidence of every answer whose truth is not known."""
    confidence = estimate.confidence[estimate.answered]
    return confidence[confidence < 1.0]


def _half_width(mean: float, n: int, calibration: Calibration, *, checked: int) -> float:
    variance = mean * (1.0 - mean)
    between = calibration.spread**2
    if checked:
        between = 1.0 / (1.0 / between + checked / variance) if variance > 0 else 0.0
    return float(student_quantile((1.0 + LEVEL) / 2.0, calibration.sets) * np.sqrt(between + variance / n))
