"""`crowdlogic explain`: why an item got its answer, in bits."""

from __future__ import annotations

from typing import Annotated

import typer

from crowdlogic.cli.console import say, show_json, show_tables
from crowdlogic.cli.options import JsonOption, RunFolder


def command(
    run: RunFolder,
    item: Annotated[str, typer.Argument(metavar="ITEM", help="The name of a training item.")],
    *,
    token: Annotated[
        int | None, typer.Option("--token", min=1, help="For a sentence: one token, counted from 1.")
    ] = None,
    raw: Annotated[bool, typer.Option("--raw", help="As it was learnt, before the confidence was calibrated.")] = False,
    json: JsonOption = False,
) -> None:
    """Show what the classifier, each annotator and each rule contributed to an answer."""
    from crowdlogic.workflows.explain import explain

    explanation = explain(run, item, token=token, calibrated=not raw)
    if json:
        show_json(explanation.figures())
        return
    say(*explanation.heading)
    show_tables(*explanation.tables())
    say(*explanation.notices)
