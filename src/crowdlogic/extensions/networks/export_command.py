"""`crowdlogic export`: export a trained run for other programs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

import typer

from crowdlogic.cli.console import Output, list_written, say, show_output, summary
from crowdlogic.cli.options import JsonOption, RunFolder


@dataclass(frozen=True, kw_only=True)
class ExportOutput(Output):
    """JSON output of `crowdlogic export`.

    Attributes:
        run: Folder of the run.
        format: onnx or hf.
        files: Files in the output folder.
    """

    run: str
    format: str
    files: Sequence[str]


OUTPUTS = {"export": ExportOutput}


def command(
    run: RunFolder,
    out: Annotated[str, typer.Option("--out", "-o", metavar="FOLDER", help="Output folder. Must not exist yet.")],
    to: Annotated[str, typer.Option("--to", metavar="FORMAT", help="Format: onnx, or hf for a transformer.")],
    json: JsonOption = False,
) -> None:
    """Export a trained run as ONNX or as a Hugging Face folder."""
    from crowdlogic.extensions.networks.export import export_run

    result = export_run(run, out, to=to)
    say(*result.notices, result.message)
    if json:
        with summary():
            show_output(
                ExportOutput(
                    command="export",
                    notices=result.notices,
                    written=list_written(out),
                    run=run,
                    format=result.format,
                    files=result.files,
                )
            )
