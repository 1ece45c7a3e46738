"""`crowdlogic predict`: what a trained run says of new items."""

from __future__ import annotations

from typing import Annotated

import typer

from crowdlogic.cli.console import say
from crowdlogic.cli.options import (
    ColumnsOption,
    FormatOption,
    OutFile,
    RunFolder,
    SpreadsheetOption,
    TablesOption,
    ToOption,
)
from crowdlogic.errors import OptionError
from crowdlogic.workflows.inputs import InputOptions, parse_columns


def command(
    run: RunFolder,
    items: Annotated[str, typer.Argument(metavar="ITEMS", help="The items: item and text, or sentences.")],
    out: OutFile,
    *,
    student: Annotated[bool, typer.Option("--student", help="The classifier alone answers.")] = False,
    teacher: Annotated[bool, typer.Option("--teacher", help="The rules correct its answers: the default.")] = False,
    raw: Annotated[bool, typer.Option("--raw", help="Probabilities as learnt, not calibrated.")] = False,
    table: TablesOption = None,
    column: ColumnsOption = None,
    format: FormatOption = None,
    to: ToOption = None,
    spreadsheet_safe: SpreadsheetOption = False,
) -> None:
    """Predict new items with a trained classifier and its rules."""
    from crowdlogic.workflows.predict import PredictOptions, predict

    if student and teacher:
        raise OptionError("--student and --teacher are two ways to answer. Give one of them.")
    options = PredictOptions(
        run=run,
        items=items,
        out=out,
        student=student,
        calibrated=not raw,
        tables=tuple(table or ()),
        format=to,
        spreadsheet_safe=spreadsheet_safe,
        input=InputOptions(format=format, columns=parse_columns(column)),
    )
    result = predict(options)
    say(*result.notices, result.message)
