"""Small crowds whose figures can be worked out by hand."""

from __future__ import annotations

from typing import Any

import numpy as np

from crowdlogic.data.corpus import Corpus, documents
from crowdlogic.data.estimate import Estimate, make_estimate
from crowdlogic.data.frames import from_dict
from crowdlogic.data.labels import CrowdLabels
from crowdlogic.reporting.inputs import Context, ReportInputs, ReportLimits, inputs_from_estimate
from crowdlogic.reporting.report import Report, make_report
from crowdlogic.truth.methods import truth_method

VOTES = {
    "u1": {"ann": "x", "bob": "x", "cat": "x"},
    "u2": {"ann": "x", "bob": "y", "cat": "x"},
    "u3": {"ann": "y", "bob": "y"},
    "u4": {"ann": "y"},
}
BELIEFS = np.array([[0.99, 0.01], [0.8, 0.2], [0.1, 0.9], [0.5, 0.5]])


def small_crowd(votes: dict[str, dict[str, str]] | None = None, classes: tuple[str, ...] = ("x", "y")) -> CrowdLabels:
    return from_dict(VOTES if votes is None else votes, classes=classes)


def estimate_with(labels: CrowdLabels, beliefs: Any = BELIEFS, **options: Any) -> Estimate:
    return make_estimate(labels, "by-hand", np.asarray(beliefs, dtype=np.float64), **options)


def small_texts(gold: list[str | None] | None = None) -> Corpus:
    return documents(["u1", "u2", "u3", "u4"], ["one", "two", "three", "four"], gold=gold)


def small_inputs(gold: list[str | None] | None = None) -> ReportInputs:
    labels = small_crowd()
    return inputs_from_estimate(estimate_with(labels), labels, small_texts(gold))


def inputs_by(method: str, labels: CrowdLabels, corpus: Corpus | None = None) -> ReportInputs:
    """The inputs of a report on what a method makes of some labels."""
    return inputs_from_estimate(truth_method(method).infer(labels), labels, corpus)


def context_of(inputs: ReportInputs, **limits: int) -> Context:
    return Context(inputs=inputs, limits=ReportLimits(**limits))


def report_on(inputs: ReportInputs, **options: Any) -> Report:
    return make_report(inputs, title="test", made_at="2026-01-01T00:00:00+00:00", **options)


def all_sentences(report: Report) -> list[str]:
    """Every sentence of every page."""
    return [finding.text for page in report.pages.values() for finding in page.findings]
