"""`crowdlogic report`: report whom to trust, which labels to check and which rules to keep."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from crowdlogic.cli.console import Output, list_written, require_free_output, say, show_output, summary
from crowdlogic.cli.options import GroupsOption, JsonOption, OrderedOption, SeedOption, reads_labels
from crowdlogic.workflows.inputs import InputOptions, parse_names

SourceFolder = Annotated[
    str,
    typer.Argument(
        metavar="SOURCE",
        help="Labels, which the report aggregates, or the output of `train` or `aggregate --save`.",
    ),
]
PageFile = Annotated[
    str,
    typer.Option(
        "--out", "-o", metavar="FILE", help="Output page; its figures are written to a .json file next to it."
    ),
]
LabelsOption = Annotated[
    str | None, typer.Option("--labels", metavar="FILE", help="For an estimate: the labels it was made from.")
]
ItemsOption = Annotated[
    str | None, typer.Option("--items", metavar="FILE", help="Items, to show their texts; a run contains them.")
]
GoldOption = Annotated[str | None, typer.Option("--gold", metavar="FILE", help="Items with known truth, for scores.")]
AnchorsOption = Annotated[
    str | None,
    typer.Option(
        "--anchors",
        metavar="FILE",
        help="For labels: items with known truth, such as a random sample that was checked.",
    ),
]
CompareOption = Annotated[
    str | None,
    typer.Option("--compare", metavar="METHODS", help="Methods to compare: all, or names separated by commas."),
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
        severity: Severity of the finding.
        text: The finding.
    """

    severity: str
    text: str


@dataclass(frozen=True, kw_only=True)
class ReportOutput(Output):
    """Output of the report; all its figures are in the JSON file next to the page.

    Attributes:
        source: The labels, run or estimate of the report.
        findings: Findings, the most important one first.
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
