"""`crowdlogic simulate`: a crowd with a planted truth, in files."""

from __future__ import annotations

from typing import Annotated

import typer

from crowdlogic.cli.console import say
from crowdlogic.cli.options import SeedOption
from crowdlogic.workflows.simulate import SimulateOptions, SimulationKind, simulate


def command(
    kind: Annotated[SimulationKind, typer.Argument(help="Reviews, sentences with named entities, or labels alone.")],
    out: Annotated[str, typer.Option("--out", "-o", help="The folder to write to; made when it is not there.")],
    *,
    items: Annotated[int, typer.Option("--items", help="Number of items.")] = 500,
    annotators: Annotated[int, typer.Option("--annotators", help="Number of annotators.")] = 30,
    labels_per_item: Annotated[
        float | None, typer.Option("--labels-per-item", help="Mean number of labels per item; 5 if not given.")
    ] = None,
    seed: SeedOption = 0,
) -> None:
    """Simulate a crowd with known truth: labels, items, gold and annotators."""
    options = SimulateOptions(
        kind=kind, out=out, items=items, annotators=annotators, labels_per_item=labels_per_item, seed=seed
    )
    say(f"{simulate(options).description} -> {out}")
