"""`crowdlogic doctor`: describe a file, and suggest what to do first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated

import typer

from crowdlogic.cli.console import Output, show_lines, show_output
from crowdlogic.cli.options import JsonOption, reads_labels
from crowdlogic.data.intake.contract import LeftOut
from crowdlogic.errors import one_line
from crowdlogic.workflows.doctor import Diagnosis, DoctorOptions, LabelFacts, diagnose
from crowdlogic.workflows.inputs import InputOptions

AnyFile = Annotated[str, typer.Argument(metavar="FILE", help="Any file or export of labels, answers or items.")]


@dataclass(frozen=True, kw_only=True)
class Possibility:
    """Whether the labels can be used for something.

    Attributes:
        possible: Whether they can.
        remark: Reason if they cannot, or limitations.
    """

    possible: bool
    remark: str


@dataclass(frozen=True, kw_only=True)
class Allowed:
    """Possible uses of the labels.

    Attributes:
        methods: Truth methods that accept them.
        refused_methods: Truth methods that do not, with the reason.
        suggested_method: Default truth method for them.
        reason: Reason for that method.
        allows: Whether the labels allow agreement, intervals, scores, training and report.
    """

    methods: Sequence[str]
    refused_methods: Mapping[str, str]
    suggested_method: str
    reason: str
    allows: Mapping[str, Possibility]


@dataclass(frozen=True, kw_only=True)
class DoctorOutput(Output):
    """Description of a file.

    Attributes:
        file: The file.
        format: The name of its format.
        contents: Short description of its contents.
        columns: For tables: role -> column that is used for it.
        unused_columns: For tables: all other columns.
        holds: Counts of its contents; null unless it contains labels of several annotators.
        allows: Possible uses; null unless it contains labels of several annotators.
        left_out: Contents of an export that were left out or changed.
        problem: Why the file cannot be read with default options (exit code 1); null if it can.
        first: What to do first, as sentences or commands.
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
    show_lines([one_line(found.message), *([f"With default options: {found.problem}"] if found.problem else [])])
    for table in found.tables():
        width = max(len(str(row[0])) for row in table.rows)
        show_lines(["", f"{table.title}:", *(f"  {what:<{width}}  {one_line(value)}" for what, value in table.rows)])
    if found.notices:
        show_lines(
            ["", "What was left out, or looks like a mistake:", *(f"  {one_line(one)}" for one in found.notices)]
        )
    show_lines(["", "Do first:", *(f"  {one_line(step)}" for step in found.first)])
