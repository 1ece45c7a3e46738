"""Measure agreement among annotators beyond chance."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from crowdlogic.metrics.agreement import Agreement, agreement
from crowdlogic.workflows.inputs import InputOptions, ResultTable


@dataclass(frozen=True, kw_only=True)
class AgreementOptions:
    """The options of `measure_agreement`.

    Attributes:
        labels: The file of labels.
        replicates: Number of bootstrap replicates for the intervals.
        level: The level of the intervals.
        seed: Random seed.
        input: Options for reading the labels.
    """

    labels: str
    replicates: int = 1000
    level: float = 0.95
    seed: int = 0
    input: InputOptions = field(default_factory=InputOptions)


@dataclass(frozen=True, kw_only=True)
class AgreementResult:
    """Result of `measure_agreement`: every coefficient of agreement with its interval.

    Attributes:
        labels: The file of labels.
        level: The level of the intervals.
        coefficients: The coefficients.
        notices: Notices on the labels and on undefined coefficients.
    """

    labels: str
    level: float
    coefficients: Sequence[Agreement]
    notices: tuple[str, ...]

    def table(self) -> ResultTable:
        """Return one row per coefficient."""
        rows = [(one.title, one.value, one.low, one.high) for one in self.coefficients]
        columns = ["coefficient", "value", f"from ({self.level:.0%})", "to"]
        return ResultTable(title=f"agreement in {self.labels}", columns=columns, rows=rows)

    def figures(self) -> dict[str, Any]:
        """Return the coefficients as plain data, by name."""
        return {one.name: asdict(one) for one in self.coefficients}


def measure_agreement(options: AgreementOptions) -> AgreementResult:
    """Measure the agreement among the annotators in a file of labels."""
    labels = options.input.read_crowd(options.labels).labels
    found = agreement(labels, replicates=options.replicates, level=options.level, seed=options.seed)
    undefined = [f"{one.title} is undefined: {one.reason}." for one in found if one.reason]
    return AgreementResult(
        labels=options.labels,
        level=options.level,
        coefficients=found,
        notices=(*labels.intake.messages(), *undefined),
    )
