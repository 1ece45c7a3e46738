"""`crowdlogic convert`: convert labels or items to another format."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import typer

from crowdlogic.cli.console import Output, list_written, require_free_output, say, show_lines, show_output, summary
from crowdlogic.cli.options import JsonOption, LabelsFile, SpreadsheetOption, ToOption, reads_labels
from crowdlogic.data.labels import CrowdLabels
from crowdlogic.errors import OptionError
from crowdlogic.registry import FORMATS
from crowdlogic.workflows.convert import ConvertOptions, convert, convert_items
from crowdlogic.workflows.inputs import InputOptions


def _list_formats(asked: bool) -> None:
    if asked:
        formats = [FORMATS.load(name) for name in FORMATS]
        show_lines(f"{one.name:<14} {' '.join(one.suffixes) or '-':<24} {one.title}" for one in formats)
        raise typer.Exit


FormatsOption = Annotated[
    bool, typer.Option("--formats", is_eager=True, callback=_list_formats, help="List all formats with their suffixes.")
]

OutArgument = Annotated[str | None, typer.Argument(metavar="OUT", help="Output file; - for standard output.")]
OutOption = Annotated[str | None, typer.Option("--out", "-o", help="Alternative to OUT.")]


@dataclass(frozen=True, kw_only=True)
class ConvertOutput(Output):
    """Result of a conversion.

    Attributes:
        source: The file, run or estimate that was read.
        items: Number of items.
        annotators: Number of annotators; null for items and answers.
        labels: Number of labels; null for items and answers.
    """

    source: str
    items: int
    annotators: int | None
    labels: int | None


OUTPUTS = {"convert": ConvertOutput}


@reads_labels
def command(
    labels: LabelsFile,
    target: OutArgument = None,
    *,
    out: OutOption = None,
    formats: FormatsOption = False,  # noqa: ARG001 (its callback lists them)
    items: Annotated[bool, typer.Option("--items", help="Only the items (texts or tagged sentences).")] = False,
    to: ToOption = None,
    spreadsheet_safe: SpreadsheetOption = False,
    input: InputOptions,
    json: JsonOption = False,
) -> None:
    """Convert labels or items between formats, or export the clean labels of a run."""
    path = out if target is None else target
    if path is None or (out is not None and target is not None):
        raise OptionError("The output file was given twice. Write: crowdlogic convert IN OUT.")
    require_free_output(path, as_json=json)
    options = ConvertOptions(source=labels, out=path, format=to, spreadsheet_safe=spreadsheet_safe, input=input)
    converted = convert_items(options) if items else convert(options)
    of_crowd = converted if isinstance(converted, CrowdLabels) else None
    notices = () if of_crowd is None else tuple(of_crowd.intake.messages())
    say(*notices, f"{converted} -> {path}")
    if json:
        with summary():
            show_output(
                ConvertOutput(
                    command="convert",
                    notices=notices,
                    written=list_written(path),
                    source=labels,
                    items=len(converted.items),
                    annotators=None if of_crowd is None else len(of_crowd.annotators),
                    labels=None if of_crowd is None else len(of_crowd.label),
                )
            )
