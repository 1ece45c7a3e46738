"""`crowdlogic predict`: predict new items with a run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated

import typer

from crowdlogic.cli.console import Output, list_written, require_free_output, say, show_output, summary
from crowdlogic.cli.options import (
    ColumnsOption,
    FeaturesOption,
    FormatOption,
    JsonOption,
    OutFile,
    RunFolder,
    SpreadsheetOption,
    TablesOption,
    ToOption,
)
from crowdlogic.errors import OptionError
from crowdlogic.registry import PREDICTION_ENGINES
from crowdlogic.workflows.inputs import InputOptions, parse_columns


@dataclass(frozen=True, kw_only=True)
class PredictionScore:
    """Score against the gold of the items.

    Attributes:
        name: Name of the score: accuracy, or F1 for spans.
        value: Its value.
    """

    name: str
    value: float


@dataclass(frozen=True, kw_only=True)
class PredictOutput(Output):
    """Predictions on new items.

    Attributes:
        run: The run.
        method: The learning method.
        predictor: The predictor: teacher (classifier and rules), student (classifier alone) or classifier (no rules).
        counts: Number of items, units, annotators, classes, unanswered and ties; with --engine items and units.
        score: Score against the items' gold; null without gold.
    """

    run: str
    method: str
    predictor: str
    counts: Mapping[str, int]
    score: PredictionScore | None


OUTPUTS = {"predict": PredictOutput}


def command(
    run: RunFolder,
    items: Annotated[str, typer.Argument(metavar="ITEMS", help="File of items: columns item and text, or sentences.")],
    out: OutFile,
    *,
    student: Annotated[bool, typer.Option("--student", help="Predict with the classifier alone.")] = False,
    teacher: Annotated[bool, typer.Option("--teacher", help="Predict with classifier and rules (default).")] = False,
    raw: Annotated[bool, typer.Option("--raw", help="Write uncalibrated probabilities.")] = False,
    table: TablesOption = None,
    column: ColumnsOption = None,
    format: FormatOption = None,
    features: FeaturesOption = None,
    to: ToOption = None,
    spreadsheet_safe: SpreadsheetOption = False,
    engine: Annotated[
        str | None,
        typer.Option("--engine", help=f"Predict Parquet files piece by piece: {', '.join(PREDICTION_ENGINES)}."),
    ] = None,
    workers: Annotated[
        int | None, typer.Option("--workers", min=1, help="With --engine: number of processes. Default: 2.")
    ] = None,
    address: Annotated[
        str | None, typer.Option("--address", help="Address of a Ray or Spark cluster. Default: this machine.")
    ] = None,
    json: JsonOption = False,
) -> None:
    """Predict new items with a trained classifier and its rules."""
    from crowdlogic.workflows.predict import PredictOptions, predict

    require_free_output(out, as_json=json)
    if student and teacher:
        raise OptionError("--student and --teacher exclude each other. Pass one of them.")
    if engine is None and (workers is not None or address is not None):
        raise OptionError("--workers and --address need --engine.")
    options = PredictOptions(
        run=run,
        items=items,
        out=out,
        student=student,
        calibrated=not raw,
        tables=tuple(table or ()),
        format=to,
        spreadsheet_safe=spreadsheet_safe,
        engine=None if engine is None else PREDICTION_ENGINES.check(engine),
        workers=workers,
        address=address,
        input=InputOptions(format=format, columns=parse_columns(column), features=features),
    )
    result = predict(options)
    say(*result.notices, result.message)
    if json:
        with summary():
            show_output(
                PredictOutput(
                    command="predict",
                    notices=result.notices,
                    written=list_written(out),
                    run=run,
                    method=result.method,
                    predictor=result.predictor,
                    counts=dict(result.counts),
                    score=None
                    if result.score is None
                    else PredictionScore(name=result.score[0], value=result.score[1]),
                )
            )
