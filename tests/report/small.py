"""Small crowds whose figures can be worked out by hand."""

from __future__ import annotations

from typing import Any

import numpy as np

from crowdlogic.data.corpus import Corpus, documents
from crowdlogic.data.estimate import Estimate, make_estimate
from crowdlogic.data.frames import from_dict
from crowdlogic.data.labels import CrowdLabels
from crowdlogic.report.findings import Report
from crowdlogic.report.material import Material, of_estimate
from crowdlogic.report.reports import report_of

VOTES = {
    "u1": {"ann": "x", "bob": "x", "cat": "x"},
    "u2": {"ann": "x", "bob": "y", "cat": "x"},
    "u3": {"ann": "y", "bob": "y"},
    "u4": {"ann": "y"},
}
BELIEFS = np.array([[0.99, 0.01], [0.8, 0.2], [0.1, 0.9], [0.5, 0.5]])


def crowd(votes: dict[str, dict[str, str]] | None = None, classes: tuple[str, ...] = ("x", "y")) -> CrowdLabels:
    return from_dict(VOTES if votes is None else votes, classes=classes)


def believed(labels: CrowdLabels, beliefs: Any = BELIEFS, **options: Any) -> Estimate:
    return make_estimate(labels, "by-hand", np.asarray(beliefs, dtype=np.float64), **options)


def texts(gold: list[str | None] | None = None) -> Corpus:
    return documents(["u1", "u2", "u3", "u4"], ["one", "two", "three", "four"], gold=gold)


def material(gold: list[str | None] | None = None) -> Material:
    labels = crowd()
    return of_estimate(believed(labels), labels, texts(gold))


def reported(made: Material, **options: Any) -> Report:
    return report_of(made, title="test", made_at="2026-01-01T00:00:00+00:00", **options)


def said(report: Report) -> list[str]:
    """Every sentence of every page."""
    pages = (report.overview, report.labels, report.annotators, report.rules, report.training, report.comparison)
    return [finding.text for page in pages if page is not None for finding in page.findings]
