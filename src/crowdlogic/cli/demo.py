"""`crowdlogic demo`: everything once on simulated data, in well under a minute and without torch."""

from __future__ import annotations

from typing import Annotated

import typer

from crowdlogic.cli.console import say, show_json, show_tables, summary
from crowdlogic.cli.options import JsonOption, SeedOption

OutOption = Annotated[
    str | None,
    typer.Option(
        "--out", "-o", help="Output folder for the data, the answers, a run and a report [default: crowdlogic-demo]."
    ),
]


def command(
    *,
    out: OutOption = None,
    items: Annotated[int, typer.Option("--items", help="Number of reviews.")] = 1000,
    seed: SeedOption = 0,
    json: JsonOption = False,
) -> None:
    """Compare majority vote, annotator models, a classifier and a rule on a simulated crowd."""
    from crowdlogic.workflows.demo import DemoOptions, run_demo

    result = run_demo(DemoOptions(out=out, items=items, seed=seed))
    with summary():
        if json:
            show_json(result.figures())
        else:
            say(*result.introduction)
            show_tables(result.table())
            say(*result.verdict)
    say(*result.places)
