"""From labels, beliefs and a run to a Report, and from a Report to JSON."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from crowdlogic import __version__
from crowdlogic.errors import OptionError
from crowdlogic.report.comparing import comparison_of
from crowdlogic.report.courses import training_of
from crowdlogic.report.doubts import labels_of
from crowdlogic.report.findings import Finding, Page, Report, Severity, Summary
from crowdlogic.report.material import Material
from crowdlogic.report.overviews import overview_of
from crowdlogic.report.people import annotators_of, people_of
from crowdlogic.report.rulings import rules_of
from crowdlogic.report.shown import Explain, Showing, unexplained
from crowdlogic.report.wording import by_importance
from crowdlogic.store.files import to_plain
from crowdlogic.truth.comparison import MethodResult

HEADLINES = 8
"""Sentences of the summary."""
ALIKE = 2
"""Of these, at most so many about single annotators, or single rules: the rest is on their pages."""


@dataclass(frozen=True)
class Limits:
    """How much of a long table a report holds; what is left out is counted.

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
                raise OptionError(f"{name}: {getattr(self, name)} asked for. Give {least} or more.")


def report_of(
    made: Material,
    *,
    title: str,
    made_at: str,
    explain: Explain = unexplained,
    compared: Sequence[MethodResult] = (),
    limits: Limits | None = None,
    seed: int = 0,
) -> Report:
    """Everything that there is to say.

    Args:
        made: The material.
        title: What to call it.
        made_at: When, as ISO 8601.
        explain: Why units got their answers, for the few that are shown.
        compared: Other methods on the same labels.
        limits: How long tables may be.
        seed: The seed of the intervals' resamples.
    """
    held = limits or Limits()
    people = people_of(made)
    showing = Showing(made, people.reliability, held.text, explain)
    overview = overview_of(made, seed=seed)
    labels = labels_of(made, showing, most=held.items)
    annotators = annotators_of(made, people, most=held.annotators)
    rules = rules_of(made, showing, most=held.rules)
    training = training_of(made)
    comparison = comparison_of(compared, made.estimate.method, overview.n_gold)
    pages = (overview, labels, annotators, rules, training, comparison)
    findings = [finding for page in pages if page is not None for finding in page.findings]
    return Report(
        title,
        made_at,
        __version__,
        made.class_names,
        summary_of(findings),
        overview,
        labels,
        annotators,
        rules,
        training,
        comparison,
    )


def summary_of(findings: Sequence[Finding]) -> Summary:
    """The most important findings, what to act on first; of single annotators and rules only the first few each."""
    ordered = by_importance(findings)
    chosen: list[Finding] = []
    for finding in ordered:
        if _is_told(finding, chosen):
            continue
        alike = sum(one.page == finding.page and one.about is not None for one in chosen)
        if len(chosen) < HEADLINES and (finding.about is None or alike < ALIKE):
            chosen.append(finding)
    others = sum(one.severity is not Severity.know for one in ordered if one not in chosen)
    urgency = list(Severity)
    return Summary(tuple(sorted(chosen, key=lambda one: urgency.index(one.severity))), others)


def _is_told(finding: Finding, chosen: Sequence[Finding]) -> bool:
    """Whether the sentence about everybody who should not be trusted says it already of a single annotator."""
    return finding.about is not None and any(
        one.page == finding.page == Page.annotators and one.severity == finding.severity and one.about is None
        for one in chosen
    )


def as_json(report: Report) -> str:
    """The report as one JSON object; what is not a number is null."""
    try:
        return json.dumps(report, ensure_ascii=False, allow_nan=False, default=vars)
    except ValueError:  # there is one: it takes longer to find it
        figures: dict[str, Any] = to_plain(asdict(report))
        return json.dumps(figures, ensure_ascii=False, allow_nan=False)
