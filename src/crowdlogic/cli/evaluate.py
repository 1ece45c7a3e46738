"""`crowdlogic evaluate`: answers against gold."""

from __future__ import annotations

from typing import Annotated

import typer

from crowdlogic.cli.console import say, show_json, show_tables
from crowdlogic.cli.options import FORMAT_NAMES, ColumnsOption, JsonOption
from crowdlogic.data.tagging import Scheme
from crowdlogic.metrics.scores import Unanswered
from crowdlogic.workflows.evaluate import EvaluateOptions, TieCredit, evaluate
from crowdlogic.workflows.inputs import parse_columns

PredictedFile = Annotated[
    str,
    typer.Argument(
        metavar="PREDICTED", help="Answers: item and label, or tagged sentences; or a run, or a saved estimate."
    ),
]
GoldFile = Annotated[
    str | None, typer.Argument(metavar="GOLD", help="The truth, in the same layout. A run may keep its own.")
]
UnansweredOption = Annotated[
    Unanswered,
    typer.Option(
        "--unanswered",
        help="Items with gold and no answer: skip them (accuracy_all counts them), or count them as wrong everywhere.",
    ),
]
TiesOption = Annotated[
    TieCredit,
    typer.Option("--ties", help="half: with p_ columns, also print the accuracy with 1/t for a tie among t classes."),
]

FormatOption = Annotated[
    str | None, typer.Option("--format", "-f", metavar=FORMAT_NAMES, help="The format of both files.")
]


def command(
    predicted: PredictedFile,
    gold: GoldFile = None,
    *,
    scheme: Annotated[Scheme, typer.Option("--scheme", help="How tags are read as spans.")] = Scheme.conll,
    ties: TiesOption = TieCredit.answered,
    unanswered: UnansweredOption = Unanswered.skip,
    column: ColumnsOption = None,
    format: FormatOption = None,
    json: JsonOption = False,
) -> None:
    """Score answers against gold: accuracy, F1, log loss, calibration; spans for sequences."""
    options = EvaluateOptions(
        predicted=predicted,
        gold=gold,
        scheme=scheme,
        ties=ties,
        unanswered=unanswered,
        columns=parse_columns(column),
        format=format,
    )
    result = evaluate(options)
    say(*result.notices)
    show_json(result.figures()) if json else show_tables(*result.tables())
