"""Write a report on a run, an estimate or labels as one HTML page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from crowdlogic.classifiers.protocol import AbsentClassifier
from crowdlogic.confidence.annotator_verdicts import FlagKind
from crowdlogic.confidence.calibration import infer_calibrated
from crowdlogic.data.estimate import Answers
from crowdlogic.data.evidence import UnitEvidence
from crowdlogic.data.files import STANDARD_STREAM, InputFile, write_bytes, written_together
from crowdlogic.data.formats.protocol import detect_format, formats_by_suffix
from crowdlogic.data.frames import as_labels, texts_beside_labels
from crowdlogic.data.labels import CrowdLabels
from crowdlogic.data.reading import read_answers, read_labels
from crowdlogic.data.wording import list_names, pluralise, shorten_name
from crowdlogic.errors import FormatError, MissingDataError, OptionError
from crowdlogic.learning.explain import explain_all, is_explicable, unit_evidence
from crowdlogic.learning.learned import Learned
from crowdlogic.learning.saved_run import Run, check_record, load_run, to_record
from crowdlogic.numerics.arrays import Ints
from crowdlogic.reporting.figures import write_figures
from crowdlogic.reporting.html import to_html
from crowdlogic.reporting.inputs import (
    Explain,
    ReportInputs,
    ReportLimits,
    explain_nothing,
    inputs_from_estimate,
    inputs_from_run,
)
from crowdlogic.reporting.report import Report, make_report, to_json
from crowdlogic.rules.packing import missing_functions
from crowdlogic.store.estimates import NAMES, load_estimate
from crowdlogic.store.files import is_run
from crowdlogic.store.runs import read_run
from crowdlogic.truth.comparison import MethodResult, compare_methods, score_estimate
from crowdlogic.workflows.aggregate import (
    AggregateOptions,
    choose_for_labels,
    collect_warnings,
    configured_method,
    methods_to_compare,
    open_in_memory,
    suggest_method,
)
from crowdlogic.workflows.inputs import InputOptions, check_outputs, require_folder

# The report does not import `learning`: the evidence of a run is handed to it as a function (docs/decisions/0006).


def report_explainer(learned: Learned) -> Explain:
    """Return a function that explains the answers of a run, or `explain_nothing` if its method cannot be explained."""
    if not is_explicable(learned):
        return explain_nothing
    corpus = learned.task.corpus
    item_of_unit = learned.task.labels.item_of_unit
    begins = np.arange(corpus.n_units) if corpus.offsets is None else corpus.offsets[item_of_unit]

    def explain(units: Ints) -> Sequence[UnitEvidence | None]:
        items, at = np.unique(item_of_unit[units], return_inverse=True)
        found = explain_all(learned, corpus.items.gather(items).to_list())
        places = (units - begins[units]).tolist()
        return [
            unit_evidence(found[n], i, token=i if corpus.is_sequential else None)
            for n, i in zip(at, places, strict=True)
        ]

    return explain


def absent_notice(learned: Learned) -> tuple[str, ...]:
    """Return a notice if rules need a classifier that is not saved with the run, so they cannot be explained."""
    classifier = learned.classifier
    if not isinstance(classifier, AbsentClassifier) or learned.teacher.is_idle:
        return ()
    return (classifier.notice,) if learned.teacher.ground(learned.task.corpus).texts else ()


Subject: TypeAlias = tuple[ReportInputs, Explain, tuple[str, ...]]
"""Subject of a report: its inputs, how its items are explained, and notices."""


@dataclass(frozen=True, kw_only=True)
class ReportOptions:
    """The options of `write_report`.

    Attributes:
        folder: The folder of a run or of an estimate; or a file of labels, which are then aggregated first.
        out: The file of the page.
        labels: For an estimate: the file of the labels it was made from.
        items: For an estimate or labels: the file of the items.
        gold: A file with the truth of some items.
        anchors: For labels: a file of items whose truth is known, as `aggregate` takes it.
        groups: For labels: a file of annotator and group, as `aggregate` takes it.
        ordered: For labels: whether the classes are ordered, as `aggregate` takes it.
        methods: Truth methods to compare with; None for no comparison.
        figures: A folder for all plots; None to write none.
        evidence: For a run: whether doubtful items are explained.
        max_items: Maximum number of doubtful items.
        seed: Random seed.
        input: Options for reading the labels.
    """

    folder: str
    out: str = "report.html"
    labels: str | None = None
    items: str | None = None
    gold: str | None = None
    anchors: str | None = None
    groups: str | None = None
    ordered: bool | None = None
    methods: Sequence[str] | None = None
    figures: str | None = None
    evidence: bool = True
    max_items: int = 500
    seed: int = 0
    input: InputOptions = field(default_factory=InputOptions)


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class WrittenReport:
    """Result of `write_report`.

    Attributes:
        report: The report.
        page: The file of the page.
        plots: How many plots were written, where to, and why there is no PNG, in words; empty without plots.
        notices: Notices about the labels and the explanations.
    """

    report: Report
    page: Path
    plots: tuple[str, ...]
    notices: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return f"WrittenReport({str(self.page)!r}: {self.report!r})"

    @property
    def message(self) -> str:
        """The most important finding, who is flagged, and where the page is."""
        first = self.report.summary.findings[0].text
        return f"{first}{describe_flagged(self.report)} -> {describe_page(self.page)}"


def write_report(options: ReportOptions) -> WrittenReport:
    """Make a report and write it."""
    check_page(options.out)
    check_outputs(
        (options.out, Path(options.out).with_suffix(".json"), options.figures),
        read=(options.folder, options.labels, options.items, options.gold, options.anchors, options.groups),
    )
    home = Path(options.folder)
    subject = _aggregate_inputs(options) if is_labels(options.folder) else _read_inputs(options)
    written = _write(
        subject,
        options.out,
        home.resolve().name,
        methods=options.methods,
        max_items=options.max_items,
        seed=options.seed,
    )
    if options.figures is None:
        return written
    figures = write_figures(written.report, options.figures)
    without = "" if figures.missing is None else f"; no PNG: {figures.missing}"
    return replace(written, plots=(f"{pluralise(len(figures.svg), 'plot')} -> {options.figures}{without}",))


def _write(
    subject: Subject, out: str | Path, title: str, *, methods: Sequence[str] | None, max_items: int, seed: int
) -> WrittenReport:
    """Make the report on a subject, and write its page."""
    inputs, explain, notices = subject
    compared: list[MethodResult] = []
    if methods is not None:  # other methods on the same labels, and the one that the report is about
        names = methods_to_compare(methods, inputs.labels, option="--compare")
        chosen = [configured_method(name, seed=seed) for name in names]
        compared = compare_methods(chosen, inputs.labels, inputs.corpus, gold=inputs.gold_answers)
        compared += compare_itself(inputs, {one.name for one in compared})
    report = make_report(
        inputs,
        title=title,
        made_at=timestamp(),
        explain=explain,
        compared=compared,
        limits=ReportLimits(items=max_items),
        seed=seed,
    )
    write_page(out, report)
    return WrittenReport(report=report, page=Path(out), plots=(), notices=notices)


def check_page(out: str) -> None:
    """Raise an error for an output file that cannot be written, before any work is done."""
    if Path(out).suffix.lower() not in (".html", ".htm"):
        raise OptionError(f"{out}: a report is a page with its figures beside it. Name an .html file.")
    require_folder(out)


def is_labels(source: str) -> bool:
    """Return whether the source of a report is labels: a file, the folder of an export, or a name with a suffix."""
    home = Path(source)
    if not home.is_dir():
        return source == STANDARD_STREAM or home.is_file() or (not home.exists() and bool(formats_by_suffix(source)))
    if is_run(home) or (home / NAMES).is_file():
        return False
    try:
        detect_format(InputFile(source))
    except FormatError:
        return False
    return True


def _aggregate_inputs(options: ReportOptions) -> Subject:
    """Aggregate labels with the defaults of `aggregate`, and return the result as the subject of a report."""
    if options.labels is not None:
        raise OptionError(
            f"{options.folder}: this is already a file of labels. Leave --labels out, or name an estimate."
        )
    if options.folder == STANDARD_STREAM:
        raise OptionError("A report needs a file of labels, not standard input.")
    by_file = options.input.by_file(options.folder, options.items, options.gold)
    gold = None if options.gold is None else by_file[options.gold].read_answers(options.gold)
    aggregating = AggregateOptions(
        labels=options.folder,
        out=STANDARD_STREAM,  # nothing is written
        anchors=options.anchors,
        groups=options.groups,
        ordered=options.ordered,
        seed=options.seed,
        input=by_file[options.folder],
    )
    with open_in_memory(aggregating) as opened, collect_warnings() as warned:
        method, reason = choose_for_labels(aggregating, opened)
        fitted, crowd = opened.fit(method), opened.crowd
    corpus = crowd.corpus if options.items is None else by_file[options.items].read_corpus(options.items)
    why = f", chosen because {reason}" if reason else ""
    said = f"{options.folder}: aggregated by {method.name}{why}."
    notices = (*opened.notices, *warned, *fitted.notices, said)
    return inputs_from_estimate(fitted.estimate, crowd.labels, corpus, gold), explain_nothing, notices


def _read_inputs(options: ReportOptions) -> Subject:
    """Read the subject of a report: a run, or an estimate with its labels."""
    home = Path(options.folder)
    for option, given in (("anchors", options.anchors), ("groups", options.groups), ("ordered", options.ordered)):
        if given is not None:
            raise OptionError(
                f"{home}: --{option} applies to labels only, and this folder contains answers. Pass it to `aggregate`."
            )
    if is_run(home):
        return _run_inputs(home, options)
    if not (home / NAMES).is_file():
        raise MissingDataError(
            f"{home}: this folder contains neither a run nor an estimate. Name a file of labels, or a folder that "
            f"`train` or `aggregate --save` wrote."
        )
    if options.labels is None:
        raise OptionError(f"{home}: an estimate does not contain the labels. Pass them: --labels FILE.")
    by_file = options.input.by_file(options.labels, options.items, options.gold)
    gold = None if options.gold is None else by_file[options.gold].read_answers(options.gold)
    crowd = by_file[options.labels].read_crowd(options.labels)
    corpus = crowd.corpus if options.items is None else by_file[options.items].read_corpus(options.items)
    return inputs_from_estimate(load_estimate(home), crowd.labels, corpus, gold), explain_nothing, ()


def _run_inputs(home: Path, options: ReportOptions) -> Subject:
    gold = None if options.gold is None else options.input.read_answers(options.gold)
    if options.labels is not None or options.items is not None:
        raise OptionError(f"{home}: a run contains its labels and items. Leave --labels and --items out.")
    record = read_run(home)
    absent = () if record.rules is None else missing_functions(record.rules)
    if options.evidence and not absent:
        run = load_run(home)
        return inputs_from_run(run.record, gold), report_explainer(run), absent_notice(run)
    check_record(home, record)
    notices: tuple[str, ...] = ()
    if options.evidence:
        loaded = f"crowdlogic.load_run({str(home)!r}, vocabulary=vocabulary)"
        notices = (
            f"{home}: {' and '.join(absent)} {'is' if len(absent) == 1 else 'are'} Python code that the run does not "
            f"hold, so the page does not say why doubtful items got their answers. In Python, with the same "
            f"predicates, it does: crowdlogic.report({loaded}).",
        )
    return inputs_from_run(record, gold), explain_nothing, notices


def compare_itself(inputs: ReportInputs, known: set[str]) -> list[MethodResult]:
    """Return the estimate that the report is about as the result of a method, unless that method is known already."""
    name, gold = inputs.estimate.method, inputs.gold_answers
    record = inputs.record
    seconds = [row.get("seconds") for row in (*record.history, *record.refit_history)] if record is not None else []
    total = sum(s for s in seconds if s is not None) if seconds else float("nan")
    scores = {} if gold is None else score_estimate(inputs.estimate, gold)
    return [] if name in known else [MethodResult(name, inputs.estimate, total, scores)]


def write_page(out: str | Path, report: Report) -> None:
    """Write the page, and its figures as JSON beside it."""
    page = Path(out)
    with written_together():
        write_bytes(page.with_suffix(".json"), to_json(report).encode("utf-8", "backslashreplace"))
        write_bytes(page, to_html(report).encode("utf-8", "backslashreplace"))


def describe_flagged(report: Report) -> str:
    """Return a sentence that names the flagged annotators and their flags, except for too few labels."""
    rows = report.pages["annotators"].rows if "annotators" in report.pages else ()
    kinds = [(row.name, [flag.kind for flag in row.flags if flag.kind != FlagKind.few]) for row in rows]
    named = [f"{shorten_name(name)} ({', '.join(found)})" for name, found in kinds if found]
    return f" Flagged: {list_names(named)}." if named else ""


def describe_page(page: Path) -> str:
    """Return a description of the page and the JSON file with its figures."""
    return f"{page} ({page.with_suffix('.json').name} beside it)"


def timestamp() -> str:
    """Return the time, to the second, in UTC."""
    return datetime.now(UTC).isoformat(timespec="seconds")


# The function for Python: a report on a run, a fit, labels or a frame of labels, or a path.


def report(
    source: Any,
    out: str | Path = "report.html",
    *,
    gold: Answers | str | Path | None = None,
    methods: Sequence[str] | None = None,
    max_items: int = 500,
    seed: int = 0,
) -> WrittenReport:
    """Write one page on whom to trust, which labels to check and which rules to keep, as the command `report` does.

    Args:
        source: A run, the result of `fit`, labels or a frame of labels (which are aggregated first), or a path: the
            folder of a run, or a file of labels.
        out: The file of the page; its figures are written as JSON beside it.
        gold: The truth of some items: Answers, or a file.
        methods: Truth methods to compare with; None for no comparison.
        max_items: Maximum number of doubtful items.
        seed: Random seed.
    """
    if isinstance(source, str | Path) and not isinstance(gold, Answers):
        return write_report(
            ReportOptions(
                folder=str(source),
                out=str(out),
                gold=None if gold is None else str(gold),
                methods=methods,
                max_items=max_items,
                seed=seed,
            )
        )
    check_page(str(out))
    truth = gold if gold is None or isinstance(gold, Answers) else read_answers(gold)
    if isinstance(source, str | Path):
        source = load_run(source) if Path(source).is_dir() and is_run(Path(source)) else read_labels(source)
    subject = _inputs(source, truth)
    title = source.folder.resolve().name if isinstance(source, Run) else subject[0].estimate.method
    return _write(subject, out, title, methods=methods, max_items=max_items, seed=seed)


def _inputs(source: Any, gold: Answers | None) -> Subject:
    """Return the subject of a report on an object."""
    if isinstance(source, Learned):
        record = source.record if isinstance(source, Run) else to_record(source, {"method": {}})
        return inputs_from_run(record, gold), report_explainer(source), absent_notice(source)
    if not isinstance(source, CrowdLabels) and not hasattr(source, "columns"):
        raise OptionError(
            f"report: {type(source).__name__} cannot be reported on. Pass the result of fit or load_run, labels or a "
            f"frame of labels, or the path of a run or of a file of labels."
        )
    labels = as_labels(source, "report")
    corpus = None if isinstance(source, CrowdLabels) else texts_beside_labels(source)
    estimate = infer_calibrated(configured_method(suggest_method(labels)[0]), labels, corpus)
    return inputs_from_estimate(estimate, labels, corpus, gold), explain_nothing, ()
