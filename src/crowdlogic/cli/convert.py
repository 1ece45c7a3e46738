"""`crowdlogic convert`: the same labels or items in another format."""

from __future__ import annotations

from typing import Annotated

import typer

from crowdlogic.cli.console import say
from crowdlogic.cli.options import LabelsFile, SpreadsheetOption, ToOption, reads_labels
from crowdlogic.data.labels import CrowdLabels
from crowdlogic.errors import OptionError
from crowdlogic.workflows.convert import ConvertOptions, convert, convert_items
from crowdlogic.workflows.inputs import InputOptions

OutArgument = Annotated[str | None, typer.Argument(metavar="OUT", help="Where to write; - for standard output.")]
OutOption = Annotated[str | None, typer.Option("--out", "-o", help="The same as OUT.")]


@reads_labels
def command(
    labels: LabelsFile,
    target: OutArgument = None,
    *,
    out: OutOption = None,
    items: Annotated[bool, typer.Option("--items", help="Only the items (texts or tagged sentences).")] = False,
    to: ToOption = None,
    spreadsheet_safe: SpreadsheetOption = False,
    input: InputOptions,
) -> None:
    """Convert labels or items between formats; of a run, export its clean labels."""
    path = out if target is None else target
    if path is None or (out is not None and target is not None):
        raise OptionError("Say once where to write: crowdlogic convert IN OUT.")
    options = ConvertOptions(source=labels, out=path, format=to, spreadsheet_safe=spreadsheet_safe, input=input)
    converted = convert_items(options) if items else convert(options)
    say(*(converted.intake.messages() if isinstance(converted, CrowdLabels) else ()), f"{converted} -> {path}")
