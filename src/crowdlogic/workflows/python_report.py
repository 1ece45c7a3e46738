"""A report from Python, of whatever one has at hand: a run, what `fit` gave, labels or a frame of them, or a path."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from crowdlogic.data.frames import as_labels
from crowdlogic.data.item_tables import texts_beside_labels
from crowdlogic.data.labels import CrowdLabels
from crowdlogic.errors import OptionError
from crowdlogic.learning.learned import Learned
from crowdlogic.learning.saved_run import Run, to_record
from crowdlogic.report.evidence import Explain, explain_nothing
from crowdlogic.report.inputs import ReportInputs, inputs_from_estimate, inputs_from_run
from crowdlogic.report.report import make_report
from crowdlogic.truth.calibrated import infer_calibrated
from crowdlogic.workflows.report import (
    ReportOptions,
    WrittenReport,
    check_page,
    timestamp,
    write_page,
    write_report,
)
from crowdlogic.workflows.report_evidence import absent_notice, report_explainer
from crowdlogic.workflows.truth_methods import configured_method, suggest_method


def report_to_html(source: Any, out: str | Path = "report.html") -> WrittenReport:
    """Write one page on whom to trust, which labels to check and which rules to keep.

    Args:
        source: A run, what `fit` gave, labels or a frame of them (which are then aggregated first), or a path: the
            folder of a run, or a file of labels.
        out: The file of the page; its figures go beside it, as JSON.
    """
    if isinstance(source, str | Path):
        return write_report(ReportOptions(folder=str(source), out=str(out)))
    check_page(str(out))
    inputs, explain, notices = _inputs(source)
    title = source.folder.resolve().name if isinstance(source, Run) else inputs.estimate.method
    report = make_report(inputs, title=title, made_at=timestamp(), explain=explain)
    write_page(out, report)
    return WrittenReport(report=report, page=Path(out), plots=(), notices=notices)


def _inputs(source: Any) -> tuple[ReportInputs, Explain, tuple[str, ...]]:
    """What the report is about, how its items are explained, and what cannot be told."""
    if isinstance(source, Run | Learned):
        learned = source.learned if isinstance(source, Run) else source
        record = source.record if isinstance(source, Run) else to_record(learned, {"method": {}})
        return inputs_from_run(record), report_explainer(learned), absent_notice(learned)
    if not isinstance(source, CrowdLabels) and not hasattr(source, "columns"):
        raise OptionError(
            f"report_to_html: {type(source).__name__} cannot be reported on. Give what fit or load_run gave, labels or "
            f"a frame of them, or the path of a run or of a file of labels."
        )
    labels = as_labels(source, "report_to_html")
    corpus = None if isinstance(source, CrowdLabels) else texts_beside_labels(source)
    estimate = infer_calibrated(configured_method(suggest_method(labels)[0]), labels, corpus)
    return inputs_from_estimate(estimate, labels, corpus), explain_nothing, ()
