"""`crowdlogic simulate`: write files of a simulated crowd with planted truth."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import typer

from crowdlogic.cli.console import Output, list_written, say, show_output, summary
from crowdlogic.cli.options import JsonOption, SeedOption
from crowdlogic.workflows.simulate import SimulateOptions, SimulationKind, simulate


@dataclass(frozen=True, kw_only=True)
class SimulateOutput(Output):
    """Description of the simulated crowd.

    Attributes:
        kind: sentiment, ner or labels.
        description: The crowd in one sentence.
        items: Number of items.
        annotators: Number of annotators.
        labels: Number of labels; for sequences, of tags.
        seed: Random seed.
    """

    kind: str
    description: str
    items: int
    annotators: int
    labels: int
    seed: int


OUTPUTS = {"simulate": SimulateOutput}


def command(
    kind: Annotated[SimulationKind, typer.Argument(help="Reviews, sentences with named entities, or labels alone.")],
    out: Annotated[str, typer.Option("--out", "-o", help="Output folder; created if it does not exist.")],
    *,
    items: Annotated[int, typer.Option("--items", help="Number of items.")] = 500,
    annotators: Annotated[int, typer.Option("--annotators", help="Number of annotators.")] = 30,
    labels_per_item: Annotated[
        float | None, typer.Option("--labels-per-item", help="Mean number of labels per item. Default: 5.")
    ] = None,
    seed: SeedOption = 0,
    json: JsonOption = False,
) -> None:
    """Simulate a crowd with known truth: labels, items, gold and annotators."""
    options = SimulateOptions(
        kind=kind, out=out, items=items, annotators=annotators, labels_per_item=labels_per_item, seed=seed
    )
    made = simulate(options)
    say(f"{made.description} -> {out}")
    if json:
        with summary():
            show_output(
                SimulateOutput(
                    command="simulate",
                    written=list_written(out),
                    kind=kind.value,
                    description=made.description,
                    items=len(made.labels.items),
                    annotators=len(made.labels.annotators),
                    labels=len(made.labels.label),
                    seed=seed,
                )
            )
