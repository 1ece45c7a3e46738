"""`crowdlogic report`: one page on whom to trust, which labels to check and which rules to keep."""

from __future__ import annotations

from typing import Annotated

import typer

from crowdlogic.cli.console import say
from crowdlogic.cli.options import SeedOption, reads_labels
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


@reads_labels
def command(
    folder: SourceFolder,
    *,
    out: PageFile = "report.html",
    labels: LabelsOption = None,
    items: ItemsOption = None,
    gold: GoldOption = None,
    anchors: AnchorsOption = None,
    methods: CompareOption = None,
    figures: FiguresOption = None,
    evidence: EvidenceOption = True,
    max_items: MaxItemsOption = 500,
    seed: SeedOption = 0,
    input: InputOptions,
) -> None:
    """Write an HTML report: whom to trust, which labels to check, which rules to keep."""
    from crowdlogic.workflows.report import ReportOptions, write_report

    options = ReportOptions(
        folder=folder,
        out=out,
        labels=labels,
        items=items,
        gold=gold,
        anchors=anchors,
        methods=parse_names(methods),
        figures=figures,
        evidence=evidence,
        max_items=max_items,
        seed=seed,
        input=input,
    )
    written = write_report(options)
    say(*written.notices, written.message, *written.plots)
