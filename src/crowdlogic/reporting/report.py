"""From labels, beliefs and a run to a Report, and from a Report to JSON."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from crowdlogic import __version__
from crowdlogic.data.wording import pluralise
from crowdlogic.registry import PAGES
from crowdlogic.reporting.findings import ReportFinding, Summary, TaskKind, Urgency, sort_by_importance
from crowdlogic.reporting.inputs import Context, Explain, ReportInputs, ReportLimits, explain_nothing
from crowdlogic.reporting.page import load_pages
from crowdlogic.truth.comparison import MethodResult

SUMMARY_LENGTH = 8
"""Sentences of the summary."""
MOST_ABOUT_ONE = 2
"""Maximum number of findings of a page about single annotators, rules or methods; the others are on their pages."""


@dataclass(frozen=True, kw_only=True, repr=False)
class Report:
    """Everything that a report says.

    Attributes:
        title: What the report is of: the name of the folder of the run or estimate.
        subject: The method and the size of the data, in a phrase.
        made: When it was made, as ISO 8601.
        version: Of crowdlogic.
        task: Documents, tags or spans.
        classes: The names of the classes.
        summary: The most important findings.
        pages: The findings of every page that has any, by the page's name, in order.
    """

    title: str
    subject: str
    made: str
    version: str
    task: TaskKind
    classes: tuple[str, ...]
    summary: Summary
    pages: Mapping[str, Any]

    def __repr__(self) -> str:
        first = self.summary.findings[0].text if self.summary.findings else "nothing was found"
        return f"Report({self.subject}; {', '.join(self.pages)}: {first})"


def make_report(
    inputs: ReportInputs,
    *,
    title: str,
    made_at: str,
    explain: Explain = explain_nothing,
    compared: Sequence[MethodResult] = (),
    limits: ReportLimits | None = None,
    seed: int = 0,
) -> Report:
    """Compute every page of a report.

    Args:
        inputs: Labels, beliefs, items, gold and run.
        title: The title of the report.
        made_at: When it is made, as ISO 8601.
        explain: Gives the evidence of units; called once, with all units that are shown with evidence.
        compared: Results of other methods on the same labels.
        limits: How long tables may be.
        seed: Random seed of bootstrap intervals.
    """
    pages = load_pages()
    context = Context(inputs=inputs, limits=limits or ReportLimits(), compared=compared, seed=seed)
    # The evidence of every unit that some page asks for, from one call of `explain`
    units = np.unique(np.concatenate([page.evidence_units(context) for page in pages.values()])).astype(np.int64)
    evidence = dict(zip(units.tolist(), explain(units), strict=True)) if len(units) else {}
    context = replace(context, evidence=evidence)
    computed = {name: page.compute(context) for name, page in pages.items()}
    found: dict[str, Any] = {}
    for name, page in computed.items():
        if page is not None:
            named = tuple(replace(finding, page=name) for finding in page.findings)
            found[name] = replace(page, findings=named)
    labels = inputs.labels
    subject = (
        f"{inputs.estimate.method} on {pluralise(labels.n_labels, 'label')} of {pluralise(len(labels.items), 'item')} "
        f"by {pluralise(len(labels.annotators), 'annotator')}"
    )
    return Report(
        title=title,
        subject=subject,
        made=made_at,
        version=__version__,
        task=inputs.task,
        classes=inputs.class_names,
        summary=summarise([finding for page in found.values() for finding in page.findings]),
        pages=found,
    )


def summarise(findings: Sequence[ReportFinding]) -> Summary:
    """Return the most important findings, urgent ones first, with only a few about a single annotator or rule."""
    ordered = sort_by_importance(findings)
    chosen: list[ReportFinding] = []
    for finding in ordered:
        if _is_covered(finding, chosen):
            continue
        alike = sum(one.page == finding.page and one.about is not None for one in chosen)
        if len(chosen) < SUMMARY_LENGTH and (finding.about is None or alike < MOST_ABOUT_ONE):
            chosen.append(finding)
    rest = [one for one in ordered if one not in chosen and not _is_covered(one, chosen)]
    others = Counter(one.page for one in rest if one.severity is not Urgency.know)
    urgency = list(Urgency)
    return Summary(tuple(sorted(chosen, key=lambda one: urgency.index(one.severity))), tuple(others.items()))


def _is_covered(finding: ReportFinding, chosen: Sequence[ReportFinding]) -> bool:
    """Return whether a sentence about several annotators already says the same of this one."""
    return finding.about is not None and any(
        one.is_collective and one.page == finding.page and one.severity == finding.severity for one in chosen
    )


def to_json(report: Report) -> str:
    """Return the report as one JSON object with a key for every page, null where it is left out; NaN is null, too."""
    fields = {name: value for name, value in vars(report).items() if name != "pages"}
    document = {**fields, **{name: report.pages.get(name) for name in PAGES}}
    try:
        return json.dumps(document, ensure_ascii=False, allow_nan=False, default=vars)
    except ValueError:  # a number is not finite: replacing it takes a slower pass over everything
        plain = json.loads(json.dumps(document, default=vars), parse_constant=lambda _: None)
        return json.dumps(plain, ensure_ascii=False, allow_nan=False)
