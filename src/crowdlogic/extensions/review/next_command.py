"""`crowdlogic next`: which items are worth one more label, and by whom."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import typer

from crowdlogic.cli.console import say, summary
from crowdlogic.cli.json_output import Output, list_written, require_free_output, show_output
from crowdlogic.cli.options import JsonOption, OutFile, SeedOption, SpreadsheetOption, ToOption, reads_labels
from crowdlogic.extensions.review.next import NextOptions, plan_next
from crowdlogic.extensions.review.next_labels import LOAD, MOST_PLANNED
from crowdlogic.workflows.inputs import InputOptions, parse_names

LabelsOrRun = Annotated[
    str, typer.Argument(metavar="SOURCE", help="A file of labels, or a run that `crowdlogic train` wrote.")
]
AvailableOption = Annotated[
    str | None,
    typer.Option(
        "--annotators",
        metavar="NAMES",
        help="Who is available, separated by commas; else all but spammers, adversaries and those with one answer.",
    ),
]

CountOption = Annotated[
    int | None,
    typer.Option("--count", "-n", min=1, help=f"How many labels; else all that are worth it, up to {MOST_PLANNED}."),
]


@dataclass(frozen=True, kw_only=True)
class NextOutput(Output):
    """The labels to buy next.

    Attributes:
        method: The truth method, or that of the run.
        labels: How many labels the plan has.
        expected_accuracy: The expected accuracy now.
        expected_accuracy_after: The expected accuracy with these labels.
        worth_buying: How many labels are worth buying.
        votes_per_decision: How many labels are worth one decision by somebody who knows the truth; null if unknown.
        out: The file of the plan.
    """

    method: str
    labels: int
    expected_accuracy: float
    expected_accuracy_after: float
    worth_buying: int
    votes_per_decision: float | None
    out: str


OUTPUTS = {"next": NextOutput}


@reads_labels
def command(
    labels: LabelsOrRun,
    *,
    out: OutFile,
    count: CountOption = None,
    annotators: AvailableOption = None,
    load: Annotated[
        float, typer.Option("--load", help="Largest share for one annotator, in terms of their share so far; above 0.")
    ] = LOAD,
    items: Annotated[str | None, typer.Option("--items", metavar="FILE", help="The items, with their texts.")] = None,
    method: Annotated[str | None, typer.Option("--method", "-m", help="The truth method; else what suits.")] = None,
    dependence: Annotated[
        str, typer.Option("--dependence", help="How far labels of one item depend on each other: public or none.")
    ] = "public",
    seed: SeedOption = 0,
    to: ToOption = None,
    spreadsheet_safe: SpreadsheetOption = False,
    input: InputOptions,
    json: JsonOption = False,
) -> None:
    """Recommend which items to label next, and by whom."""
    require_free_output(out, as_json=json)
    planned = plan_next(
        NextOptions(
            labels=labels,
            out=out,
            count=count,
            annotators=parse_names(annotators),
            load=load,
            items=items,
            method=method,
            dependence=dependence,
            seed=seed,
            format=to,
            spreadsheet_safe=spreadsheet_safe,
            input=input,
        )
    )
    if json:
        with summary():
            show_output(
                NextOutput(command="next", notices=planned.notices, written=list_written(out), **planned.figures())
            )
    say(*planned.notices, *planned.messages)
