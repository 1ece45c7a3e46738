"""`crowdlogic report`: one page on whom to trust, which labels to check and which rules to keep."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from crowdlogic.cli.console import say, summary
from crowdlogic.cli.json_output import Output, list_written, require_free_output, show_output
from crowdlogic.cli.options import GroupsOption, JsonOption, OrderedOption, SeedOption, reads_labels
from crowdlogic.workflows.inputs import InputOptions, parse_names

SourceFolder = Annotated[
    str,
    typer.Argument(
        metavar="SOURCE",
        help="Labels, which are then aggregated; or what `train` or `aggregate --save` wrote.",
    ),
]
PageFile = Annotated[str, typer.Option("--out", "-o", metavar="FILE", help="The page; its figures go beside it.")]
LabelsOption = Annotated[
    str | None, typer.Option("--labels", metavar="FILE", help="For an estimate: the labels it was made from.")
]
ItemsOption = Annotated[
    str | None, typer.Option("--items", metavar="FILE", help="The items, to show their texts; a run has them.")
]
GoldOption = Annotated[
    str | None, typer.Option("--gold", metavar="FILE", help="The truth of some items, to score everything by.")
]
AnchorsOption = Annotated[
    str | None,
    typer.Option(
        "--anchors", metavar="FILE", help="For labels: items whose truth is known, such as some checked at random."
    ),
]
CompareOption = Annotated[
    str | None, typer.Option("--compare", metavar="METHODS", help="Also run: all, or names separated by commas.")
]
FiguresOption = Annotated[
    str | None, typer.Option("--figures", metavar="DIR", help="Also write every plot into this folder.")
]
EvidenceOption = Annotated[
    bool, typer.Option("--evidence/--no-evidence", help="For a run: explain the answers of doubtful items.")
]
MaxItemsOption = Annotated[int, typer.Option("--max-items", min=0, help="Maximum number of doubtful items to show.")]


@dataclass(frozen=True, kw_only=True)
class ReportedFinding:
    """A finding of the report.

    Attributes:
        severity: What it asks of the reader.
        text: What was found.
    """

    severity: str
    text: str


@dataclass(frozen=True, kw_only=True)
class ReportOutput(Output):
    """The report; all its figures are in the json file beside the page.

    Attributes:
        source: The labels, the run or the estimate that the report is about.
        findings: What the report says first, the most important finding first.
    """

    source: str
    findings: Sequence[ReportedFinding]


OUTPUTS = {"report": ReportOutput}


@reads_labels
def command(
    folder: SourceFolder,
    *,
    out: PageFile = "report.html",
    labels: LabelsOption = None,
    items: ItemsOption = None,
    gold: GoldOption = None,
    anchors: AnchorsOption = None,
    groups: GroupsOption = None,
    ordered: OrderedOption = None,
    methods: CompareOption = None,
    figures: FiguresOption = None,
    evidence: EvidenceOption = True,
    max_items: MaxItemsOption = 500,
    seed: SeedOption = 0,
    input: InputOptions,
    json: JsonOption = False,
) -> None:
    """Write an HTML report: whom to trust, which labels to check, which rules to keep."""
    require_free_output(out, as_json=json)
    from crowdlogic.workflows.report import ReportOptions, write_report

    options = ReportOptions(
        folder=folder,
        out=out,
        labels=labels,
        items=items,
        gold=gold,
        anchors=anchors,
        groups=groups,
        ordered=ordered,
        methods=parse_names(methods),
        figures=figures,
        evidence=evidence,
        max_items=max_items,
        seed=seed,
        input=input,
    )
    written = write_report(options)
    say(*written.notices, written.message, *written.plots)
    if json:
        findings = [
            ReportedFinding(severity=str(one.severity.value), text=one.text) for one in written.report.summary.findings
        ]
        paths = list_written(out, Path(out).with_suffix(".json"), figures)
        with summary():
            show_output(
                ReportOutput(command="report", notices=written.notices, written=paths, source=folder, findings=findings)
            )
