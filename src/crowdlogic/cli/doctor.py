"""`crowdlogic doctor`: what a file is, what it holds, what it allows, and what to do first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated

import typer

from crowdlogic.cli.console import show_lines
from crowdlogic.cli.json_output import Output, show_output
from crowdlogic.cli.options import JsonOption, reads_labels
from crowdlogic.data.intake.contract import LeftOut
from crowdlogic.errors import one_line
from crowdlogic.workflows.doctor import Diagnosis, DoctorOptions, LabelFacts, diagnose
from crowdlogic.workflows.inputs import InputOptions

AnyFile = Annotated[str, typer.Argument(metavar="FILE", help="Any file or export of labels, answers or items.")]


@dataclass(frozen=True, kw_only=True)
class Possibility:
    """Whether the labels allow something.

    Attributes:
        possible: Whether they do.
        remark: Why not, or under which limits.
    """

    possible: bool
    remark: str


@dataclass(frozen=True, kw_only=True)
class Allowed:
    """What labels allow.

    Attributes:
        methods: The truth methods that can take them.
        refused_methods: The truth methods that cannot, with the reason.
        suggested_method: The truth method that suits them.
        reason: Why it does.
        allows: Agreement, intervals, scores, training and report: whether the labels allow them.
    """

    methods: Sequence[str]
    refused_methods: Mapping[str, str]
    suggested_method: str
    reason: str
    allows: Mapping[str, Possibility]


@dataclass(frozen=True, kw_only=True)
class DoctorOutput(Output):
    """What a file is and holds.

    Attributes:
        file: The file.
        format: The name of its format.
        contents: What it holds, in a few words.
        columns: Of a table: role -> the column that was taken for it.
        unused_columns: Of a table: the other columns.
        holds: How much it holds; null where it holds no labels of several annotators.
        allows: What it allows; null likewise.
        left_out: What an export holds that was left out or changed.
        problem: Why the file cannot be read as it is, and the exit code is 1; null where it can.
        first: What to do first: sentences, or commands to copy.
    """

    file: str
    format: str
    contents: str
    columns: Mapping[str, str]
    unused_columns: Sequence[str]
    holds: LabelFacts | None
    allows: Allowed | None
    left_out: Sequence[LeftOut]
    problem: str | None
    first: Sequence[str]


OUTPUTS = {"doctor": DoctorOutput}


@reads_labels
def command(file: AnyFile, *, input: InputOptions, json: JsonOption = False) -> None:
    """Describe a file: what it holds, what is wrong with it, and which command to run first."""
    found = diagnose(DoctorOptions(file=file, input=input))
    if json:
        show_output(DoctorOutput(command="doctor", **found.figures()))
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
