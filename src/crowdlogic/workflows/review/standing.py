"""How annotators stand at a moment of a review: reliability with its interval, and the verdict on each.

The same figures and words as in the table of annotators (`annotators.summary`), which says what they mean.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from crowdlogic.annotators.summary import annotator_table
from crowdlogic.data.estimate import Estimate
from crowdlogic.data.labels import CrowdLabels
from crowdlogic.report.findings import round_figure

NO_FLAG = "ok"
"""The verdict on an annotator whom nothing is wrong with."""


@dataclass(frozen=True, kw_only=True)
class AnnotatorStanding:
    """One annotator.

    Attributes:
        name: The name.
        n_labels: How many labels they gave.
        reliability: The expected share of right labels, or F1 of spans; None without labels.
        low: The lower end of its interval.
        high: The upper end.
        flag: The verdict: what is wrong with them, such as careless, or ok.
        reason: The verdict in a sentence; empty where nothing is wrong.
    """

    name: str
    n_labels: int
    reliability: float | None
    low: float | None
    high: float | None
    flag: str = NO_FLAG
    reason: str = ""


def annotator_standings(labels: CrowdLabels, estimate: Estimate) -> tuple[AnnotatorStanding, ...]:
    """Every annotator, in the order of the labels."""
    return tuple(_standing(row) for row in annotator_table(labels, estimate).iter_rows(named=True))


def _standing(row: Mapping[str, Any]) -> AnnotatorStanding:
    has_labels = bool(row["labels"])
    ends = [round_figure(row[f"reliability{end}"]) if has_labels else None for end in ("", "_low", "_high")]
    return AnnotatorStanding(
        name=str(row["annotator"]),
        n_labels=int(row["labels"]),
        reliability=ends[0],
        low=ends[1],
        high=ends[2],
        flag=row["verdict"] or NO_FLAG,
        reason=row["reason"] or "",
    )
