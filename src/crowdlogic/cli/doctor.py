"""`crowdlogic doctor`: what a file is, what it holds, what it allows, and what to do first."""

from __future__ import annotations

from typing import Annotated

import typer

from crowdlogic.cli.console import show_json, show_lines
from crowdlogic.cli.options import JsonOption, reads_labels
from crowdlogic.errors import one_line
from crowdlogic.workflows.doctor import Diagnosis, DoctorOptions, diagnose
from crowdlogic.workflows.inputs import InputOptions

AnyFile = Annotated[str, typer.Argument(metavar="FILE", help="Any file or export of labels, answers or items.")]


@reads_labels
def command(file: AnyFile, *, input: InputOptions, json: JsonOption = False) -> None:
    """Describe a file: what it holds, what is wrong with it, and which command to run first."""
    found = diagnose(DoctorOptions(file=file, input=input))
    if json:
        show_json(found.figures())
    else:
        _show(found)
    if found.problem is not None:
        raise typer.Exit(1)


def _show(found: Diagnosis) -> None:
    show_lines([one_line(found.message), *([f"As it is: {found.problem}"] if found.problem else [])])
    for table in found.tables():
        width = max(len(str(row[0])) for row in table.rows)
        show_lines(["", f"{table.title}:", *(f"  {what:<{width}}  {one_line(value)}" for what, value in table.rows)])
    if found.notices:
        show_lines(
            ["", "What was left out, or looks like a mistake:", *(f"  {one_line(one)}" for one in found.notices)]
        )
    show_lines(["", "Do first:", *(f"  {one_line(step)}" for step in found.first)])
