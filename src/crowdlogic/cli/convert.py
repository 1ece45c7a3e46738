"""`crowdlogic convert`: the same labels or items in another format."""

from __future__ import annotations

from typing import Annotated

import typer

from crowdlogic.cli.console import say
from crowdlogic.cli.options import LabelsFile, OutFile, ToOption, reads_labels
from crowdlogic.workflows.convert import ConvertOptions, convert_items, convert_labels
from crowdlogic.workflows.inputs import InputOptions


@reads_labels
def command(
    labels: LabelsFile,
    out: OutFile,
    *,
    items: Annotated[bool, typer.Option("--items", help="The file holds items (texts or tagged sentences).")] = False,
    to: ToOption = None,
    input: InputOptions,
) -> None:
    """Read labels (or items) in one layout and write them in another."""
    options = ConvertOptions(source=labels, out=out, format=to, input=input)
    if items:
        say(f"{convert_items(options)} -> {out}")
        return
    converted = convert_labels(options)
    say(*converted.intake.messages(), f"{converted} -> {out}")
