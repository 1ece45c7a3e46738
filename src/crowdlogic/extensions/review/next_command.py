"""`crowdlogic next`: recommend which items to label next, and by whom."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated

import typer

from crowdlogic.cli.console import Output, list_written, require_free_output, say, show_output, summary
from crowdlogic.cli.options import JsonOption, OutFile, SeedOption, SpreadsheetOption, ToOption, reads_labels
from crowdlogic.extensions.review.next import DEFAULT_LOAD, MAX_PLANNED, NextOptions, plan_next
from crowdlogic.workflows.inputs import InputOptions, parse_names

LabelsOrRun = Annotated[str, typer.Argument(metavar="SOURCE", help="File of labels, or the folder of a run.")]
AvailableOption = Annotated[
    str | None,
    typer.Option(
        "--annotators",
        metavar="NAMES",
        help="Available annotators, comma-separated; by default all except those flagged as unreliable.",
    ),
]

CountOption = Annotated[
    int | None,
    typer.Option(
        "--count", "-n", min=1, help=f"Number of labels; by default all worthwhile ones, up to {MAX_PLANNED}."
    ),
]


@dataclass(frozen=True, kw_only=True)
class NextOutput(Output):
    """JSON output of `crowdlogic next`.

    Attributes:
        method: The truth method, or the method of the run.
        labels: Number of labels in the plan.
        expected_accuracy: Current expected accuracy.
        expected_accuracy_after: Expected accuracy with these labels.
        mistakes_removed: Number of mistakes that the labels remove: independent, if annotators err independently;
            shared, if they share their mistakes. Null if that is unknown.
        worth_buying: Number of labels that are worth buying.
        votes_per_decision: Number of labels that are worth as much as one decision by an expert; null if unknown.
        out: File of the plan.
    """

    method: str
    labels: int
    expected_accuracy: float
    expected_accuracy_after: float
    mistakes_removed: Mapping[str, float] | None
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
        float, typer.Option("--load", help="Maximum share per annotator, as a multiple of their share so far; above 0.")
    ] = DEFAULT_LOAD,
    items: Annotated[
        str | None, typer.Option("--items", metavar="FILE", help="File of the items, with their texts.")
    ] = None,
    method: Annotated[
        str | None, typer.Option("--method", "-m", help="Truth method; by default, chosen automatically.")
    ] = None,
    dependence: Annotated[
        str, typer.Option("--dependence", help="Assumed dependence between labels of an item: public or none.")
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
