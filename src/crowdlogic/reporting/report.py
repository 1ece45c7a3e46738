"""Compute all pages of a report and its summary, and convert a report to JSON."""

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
"""Maximum number of sentences in the summary."""
MOST_ABOUT_ONE = 2
"""Maximum number of findings about single annotators, rules or methods per page in the summary."""


@dataclass(frozen=True, kw_only=True, repr=False)
class Report:
    """Content of a report.

    Attributes:
        title: Title, such as the name of the folder of the run.
        subject: Method and size of the data.
        made: Time of creation as ISO 8601.
        version: Version of crowdlogic.
        task: Documents, tags or spans.
        classes: Names of the classes.
        summary: The most important findings.
        pages: Findings by page, in order, for pages with findings.
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
        inputs: Labels, estimate, items, gold and run.
        title: Title of the report.
        made_at: Time of creation as ISO 8601.
        explain: Function that returns the evidence of units; called once, with all units that are shown.
        compared: Results of other methods on the same labels.
        limits: Maximum lengths of tables.
        seed: Random seed of bootstrap intervals.
    """
    pages = load_pages()
    context = Context(inputs=inputs, limits=limits or ReportLimits(), compared=compared, seed=seed)
    # The evidence of all units that pages show, from a single call of `explain`
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
    """Select the most important findings, with only a few about single annotators or rules; urgent ones come first."""
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
    """Return whether a chosen finding about several annotators includes this one."""
    return finding.about is not None and any(
        one.is_collective and one.page == finding.page and one.severity == finding.severity for one in chosen
    )


def to_json(report: Report) -> str:
    """Return the report as a JSON object with one key per page; pages that are left out and NaN are null."""
    fields = {name: value for name, value in vars(report).items() if name != "pages"}
    document = {**fields, **{name: report.pages.get(name) for name in PAGES}}
    try:
        return json.dumps(document, ensure_ascii=False, allow_nan=False, default=vars)
    except ValueError:  # a number is not finite; replacing it requires a second, slower pass
        plain = json.loads(json.dumps(document, default=vars), parse_constant=lambda _: None)
        return json.dumps(plain, ensure_ascii=False, allow_nan=False)
