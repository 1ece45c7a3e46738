"""The whole report."""

from __future__ import annotations

from dataclasses import dataclass

from crowdlogic.report.findings.annotators import AnnotatorFindings
from crowdlogic.report.findings.basics import Summary
from crowdlogic.report.findings.comparison import ComparisonFindings
from crowdlogic.report.findings.labels import LabelFindings
from crowdlogic.report.findings.overview import Overview
from crowdlogic.report.findings.rules import RuleFindings
from crowdlogic.report.findings.training import TrainingFindings


@dataclass(frozen=True)
class Report:
    """Everything.

    Attributes:
        title: What the report is of: the name of the run's or estimate's folder.
        made: When, as ISO 8601.
        version: Of crowdlogic.
        classes: The names of the classes.
        summary: The headlines.
        overview: Always there, as are labels and annotators.
        labels: Which labels to check.
        annotators: Whom to trust.
        rules: Which rules to keep; None without rules.
        training: How the fit went; None without a run.
        comparison: Several methods; None unless asked for.
    """

    title: str
    made: str
    version: str
    classes: tuple[str, ...]
    summary: Summary
    overview: Overview
    labels: LabelFindings
    annotators: AnnotatorFindings
    rules: RuleFindings | None = None
    training: TrainingFindings | None = None
    comparison: ComparisonFindings | None = None
