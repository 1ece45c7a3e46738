"""Findings: everything that a report says, as plain frozen dataclasses. A page shows them; it computes nothing.

Numbers are Python's own, None where there is none; names of items, annotators and classes are text as it came, however
hostile: whoever shows it escapes it. Long tables are cut, and say of how many. Shares lie in [0, 1].

    Report
    ├── summary      Summary: the headline sentences, most important first
    ├── overview     Overview
    ├── labels       LabelFindings: confidence, the items most in doubt, likely mistakes in the gold
    ├── annotators   AnnotatorFindings: a row each, with flags, drift and span mistakes; pairs
    ├── rules        RuleFindings; None without rules
    ├── training     TrainingFindings; None without a run
    └── comparison   ComparisonFindings; None unless several methods were asked for

Axes: i unit, j annotator, k class, m true class, n given label, l rule.
"""

from crowdlogic.report.findings.annotators import (
    AnnotatorFindings,
    AnnotatorRow,
    Confused,
    Drift,
    Flag,
    FlagKind,
    PairAgreement,
    SpanMistakes,
    TimeBin,
)
from crowdlogic.report.findings.basics import Figure, Finding, Histogram, Page, Setting, Severity, Summary, Task
from crowdlogic.report.findings.comparison import ComparisonFindings, MethodRow
from crowdlogic.report.findings.labels import (
    Belief,
    Evidence,
    LabelFindings,
    Reading,
    ShownItem,
    Source,
    Span,
    TaggedSentence,
    Term,
    Threshold,
    Vote,
)
from crowdlogic.report.findings.overview import CalibrationBin, ClassShare, Coefficient, Overview, Score
from crowdlogic.report.findings.report import Report
from crowdlogic.report.findings.rules import Flip, RuleFindings, RuleRow
from crowdlogic.report.findings.training import EpochRow, StudentTeacher, TrainingFindings, ViewScore

__all__ = [
    "AnnotatorFindings",
    "AnnotatorRow",
    "Belief",
    "CalibrationBin",
    "ClassShare",
    "Coefficient",
    "ComparisonFindings",
    "Confused",
    "Drift",
    "EpochRow",
    "Evidence",
    "Figure",
    "Finding",
    "Flag",
    "FlagKind",
    "Flip",
    "Histogram",
    "LabelFindings",
    "MethodRow",
    "Overview",
    "Page",
    "PairAgreement",
    "Reading",
    "Report",
    "RuleFindings",
    "RuleRow",
    "Score",
    "Setting",
    "Severity",
    "ShownItem",
    "Source",
    "Span",
    "SpanMistakes",
    "StudentTeacher",
    "Summary",
    "TaggedSentence",
    "Task",
    "Term",
    "Threshold",
    "TimeBin",
    "TrainingFindings",
    "ViewScore",
    "Vote",
]
