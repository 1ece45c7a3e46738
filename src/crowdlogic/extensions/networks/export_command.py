"""`crowdlogic export`: a trained run as a folder for use elsewhere."""

from __future__ import annotations

from typing import Annotated

import typer

from crowdlogic.cli.console import say
from crowdlogic.cli.options import RunFolder


def command(
    run: RunFolder,
    out: Annotated[str, typer.Option("--out", "-o", metavar="FOLDER", help="The folder to write; it must not exist.")],
    to: Annotated[str, typer.Option("--to", metavar="FORMAT", help="onnx, or hf for a transformer.")],
) -> None:
    """Export a trained run as ONNX or as a Hugging Face folder."""
    from crowdlogic.extensions.networks.export import export_run

    result = export_run(run, out, to=to)
    say(*result.notices, result.message)
