"""`crowdlogic report`: one page on whom to trust, which labels to check and which rules to keep."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from crowdlogic.cli.aggregate import seeded
from crowdlogic.cli.console import say
from crowdlogic.cli.options import (
    AbstainOption,
    ClassesOption,
    ColumnsOption,
    DuplicatesOption,
    FormatOption,
    SeedOption,
    WideOption,
    columns_of,
    list_of,
)
from crowdlogic.cli.reported_evidence import explainer
from crowdlogic.data.answers import Answers
from crowdlogic.data.files import write_bytes
from crowdlogic.data.intake.contract import Duplicates
from crowdlogic.data.reading import read_answers, read_corpus, read_crowd
from crowdlogic.errors import MissingDataError, OptionError
from crowdlogic.learning.saved_run import load_run
from crowdlogic.report.context import ReportLimits
from crowdlogic.report.evidence import Explain, explain_nothing
from crowdlogic.report.figures import write_figures
from crowdlogic.report.html import to_html
from crowdlogic.report.inputs import ReportInputs, inputs_from_estimate, inputs_from_run
from crowdlogic.report.report import Report, make_report, to_json
from crowdlogic.store.estimates import NAMES, load_estimate
from crowdlogic.store.layout import is_run
from crowdlogic.store.runs import read_run
from crowdlogic.truth.comparison import MethodResult, compare_methods, score_estimate
from crowdlogic.truth.methods import applicable_methods, truth_method

SourceFolder = Annotated[
    str, typer.Argument(metavar="FOLDER", help="A run that `train` wrote, or an estimate that `save_estimate` did.")
]
PageFile = Annotated[str, typer.Option("--out", "-o", metavar="FILE", help="The page; its figures go beside it.")]


def command(
    folder: SourceFolder,
    out: PageFile = "report.html",
    labels: Annotated[
        str | None, typer.Option("--labels", metavar="FILE", help="For an estimate: the labels it was made from.")
    ] = None,
    items: Annotated[
        str | None, typer.Option("--items", metavar="FILE", help="For an estimate: the items, to show their texts.")
    ] = None,
    gold: Annotated[
        str | None, typer.Option("--gold", metavar="FILE", help="The truth of some items, to judge all by.")
    ] = None,
    methods: Annotated[
        str | None, typer.Option("--compare", metavar="METHODS", help="Also run: all, or names with commas between.")
    ] = None,
    figures: Annotated[
        str | None, typer.Option("--figures", metavar="DIR", help="Also write every plot into this folder.")
    ] = None,
    evidence: Annotated[
        bool, typer.Option("--evidence/--no-evidence", help="For a run: say why doubtful items got their answers.")
    ] = True,
    most: Annotated[int, typer.Option("--most", min=0, help="How many doubtful items to show.")] = 500,
    seed: SeedOption = 0,
    classes: ClassesOption = None,
    duplicates: DuplicatesOption = Duplicates.error,
    wide: WideOption = False,
    abstain: AbstainOption = None,
    column: ColumnsOption = None,
    format: FormatOption = None,
) -> None:
    """Write one page: whom to trust, which labels to check, which rules to keep."""
    check_place(out)
    home, truth = Path(folder), None if gold is None else read_answers(gold)
    if is_run(home):
        made, explain = _of_run(home, truth, labels=labels, items=items, evidence=evidence)
    else:
        refuse_strange(home, labels)
        crowd = read_crowd(
            str(labels),
            format=format,
            columns=columns_of(column),
            classes=list_of(classes),
            duplicates=duplicates,
            wide=wide,
            abstain=abstain,
        )
        corpus = crowd.corpus if items is None else read_corpus(items, columns=columns_of(column))
        made, explain = inputs_from_estimate(load_estimate(home), crowd.labels, corpus, truth), explain_nothing
    compared = () if methods is None else compared_with(made, methods, seed)
    report = make_report(
        made,
        title=home.resolve().name,
        made_at=now(),
        explain=explain,
        compared=compared,
        limits=ReportLimits(items=most),
        seed=seed,
    )
    say(f"{report.summary.findings[0].text} -> {write_report(out, report)}")
    if figures is not None:
        say(_figures(report, figures))


def check_place(out: str) -> None:
    """Refuse a place that cannot hold the page and its figures, before the work and not after it."""
    path = Path(out)
    if path.suffix.lower() not in (".html", ".htm"):
        raise OptionError(f"{out}: a report is a page with its figures beside it. Name an .html file.")
    if not path.parent.is_dir():
        raise OptionError(f"{out}: the folder {path.parent} does not exist. Make it first.")


def refuse_strange(home: Path, labels: str | None) -> None:
    """Refuse what is neither a run nor an estimate with its labels."""
    if not (home / NAMES).is_file():
        raise MissingDataError(f"{home}: holds neither a run nor an estimate. Name a folder that `train` wrote.")
    if labels is None:
        raise OptionError(f"{home}: an estimate has no votes in it. Give the labels it was made from: --labels FILE.")


def _of_run(
    home: Path, gold: Answers | None, *, labels: str | None, items: str | None, evidence: bool
) -> tuple[ReportInputs, Explain]:
    if labels is not None or items is not None:
        raise OptionError(f"{home}: a run has its labels and items in it. Leave --labels and --items out.")
    if not evidence:
        return inputs_from_run(read_run(home), gold), explain_nothing
    run = load_run(home)
    return inputs_from_run(run.record, gold), explainer(run.learned)


def compared_with(made: ReportInputs, names: str, seed: int) -> list[MethodResult]:
    """Other methods on the same labels, and what the report is about among them."""
    wanted = applicable_methods(made.labels) if names == "all" else list(dict.fromkeys(list_of(names) or []))
    if not wanted:
        raise OptionError("--compare: no method is named. Write all, or names separated by commas.")
    gold = gold_of(made)
    found = compare_methods([seeded(truth_method(name), seed) for name in wanted], made.labels, made.corpus, gold=gold)
    return [*found, *own(made, {one.name for one in found})]


def own(made: ReportInputs, known: set[str]) -> list[MethodResult]:
    """What the report is about, as one method among others, unless it is there already."""
    name, gold = made.estimate.method, gold_of(made)
    seconds = (
        [row.get("seconds") for row in (*made.record.history, *made.record.refit_history)]
        if made.record is not None
        else []
    )
    total = sum(s for s in seconds if s is not None) if seconds else float("nan")
    scores = {} if gold is None else score_estimate(made.estimate, gold)
    return [] if name in known else [MethodResult(name, made.estimate, total, scores)]


def gold_of(made: ReportInputs) -> Answers | None:
    """The gold of the material as answers; None without any."""
    if made.gold is None or not made.known.any():
        return None
    return Answers(made.labels.items, made.labels.classes, made.gold, offsets=made.labels.offsets, source="the gold")


def write_report(out: str | Path, report: Report) -> str:
    """Write the page, and its figures beside it; say where."""
    page, figures = Path(out), Path(out).with_suffix(".json")
    write_bytes(figures, to_json(report).encode("utf-8", "backslashreplace"))
    write_bytes(page, to_html(report).encode("utf-8", "backslashreplace"))
    return f"{page} ({figures.name} beside it)"


def _figures(report: Report, folder: str) -> str:
    """Write every plot; say where, and why there is no PNG where there is none."""
    written = write_figures(report, folder)
    without = "" if written.missing is None else f"; no PNG: {written.missing}"
    return f"{len(written.svg)} plots -> {folder}{without}"


def now() -> str:
    """The time, to the second, in UTC."""
    return datetime.now(UTC).isoformat(timespec="seconds")
