"""What the pages of one report are computed from."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar, cast

from crowdlogic.errors import OptionError
from crowdlogic.report.evidence import AnswerEvidence
from crowdlogic.report.inputs import ReportInputs
from crowdlogic.truth.comparison import MethodResult

T = TypeVar("T")


@dataclass(frozen=True, kw_only=True)
class ReportLimits:
    """How long the tables of a report may be; what is left out is counted.

    Attributes:
        items: Items in doubt, and likely mistakes in the gold.
        annotators: Rows of annotators.
        rules: Rows of rules.
        text: Characters of a text.
    """

    items: int = 500
    annotators: int = 200
    rules: int = 200
    text: int = 600

    def __post_init__(self) -> None:
        for name, least in (("items", 0), ("annotators", 0), ("rules", 0), ("text", 1)):
            if getattr(self, name) < least:
                raise OptionError(f"{name}: {getattr(self, name)} is not valid. Give {least} or more.")


@dataclass(frozen=True, eq=False, kw_only=True)
class Context:
    """What the pages of one report are computed from.

    Attributes:
        inputs: Labels, beliefs, items, gold and run.
        limits: How long tables may be.
        compared: Results of other methods on the same labels.
        seed: Random seed of bootstrap intervals.
        evidence: Why units got their answers, by unit, for those that some page shows.
    """

    inputs: ReportInputs
    limits: ReportLimits = field(default_factory=ReportLimits)
    compared: Sequence[MethodResult] = ()
    seed: int = 0
    evidence: Mapping[int, AnswerEvidence | None] = field(default_factory=dict)
    _results: dict[Callable[[Any], Any], Any] = field(default_factory=dict, repr=False)

    def once(self, compute: Callable[[Context], T]) -> T:
        """The result of a function of this context, computed on first use: for what several pages need."""
        if compute not in self._results:
            self._results[compute] = compute(self)
        return cast("T", self._results[compute])
