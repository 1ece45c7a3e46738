"""`crowdlogic evaluate`: score answers against gold."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any

import typer

from crowdlogic.cli.console import Output, merged, say, show_output, show_tables
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
    str | None, typer.Argument(metavar="GOLD", help="The truth, in the same layout. A run may contain its own.")
]
UnansweredOption = Annotated[
    Unanswered,
    typer.Option(
        "--unanswered",
        help="How to score items with gold but no answer: skip them (accuracy_all counts them) or count as wrong.",
    ),
]
TiesOption = Annotated[
    TieCredit,
    typer.Option(
        "--ties", help="half: also print the accuracy that counts a tie among t classes as 1/t. Needs columns p_CLASS."
    ),
]

FormatOption = Annotated[str | None, typer.Option("--format", "-f", metavar=FORMAT_NAMES, help="Format of both files.")]


@dataclass(frozen=True, kw_only=True)
class EvaluateOutput(Output):
    """Scores of answers against gold.

    Attributes:
        scores: Every score and count by name, such as accuracy, coverage, macro_f1, log_loss, brier; for spans
            precision, recall, f1 and scheme.
        per_type: For spans: scores of each type.
    """

    scores: Mapping[str, float | str | bool] = merged()
    per_type: Mapping[str, Mapping[str, float | str]]


OUTPUTS = {"evaluate": EvaluateOutput}


def command(
    predicted: PredictedFile,
    gold: GoldFile = None,
    *,
    scheme: Annotated[Scheme, typer.Option("--scheme", help="How tags are converted to spans.")] = Scheme.conll,
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
    if not json:
        show_tables(*result.tables())
        return
    scores: dict[str, Any] = dict(result.scores)
    show_output(EvaluateOutput(command="evaluate", notices=result.notices, scores=scores, per_type=result.by_type))
