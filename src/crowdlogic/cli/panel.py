"""`crowdlogic panel`: what a panel of judges is worth, and how often it is right."""

from __future__ import annotations

from typing import Annotated

import typer

from crowdlogic.cli.console import say, show_result
from crowdlogic.cli.options import JsonOption, LabelsFile, SeedOption, reads_labels
from crowdlogic.errors import OptionError
from crowdlogic.workflows.inputs import InputOptions
from crowdlogic.workflows.panel import PanelOptions, assess_panel


@reads_labels
def command(
    labels: LabelsFile,
    *,
    out: Annotated[str | None, typer.Option("--out", "-o", help="Also write the panel's answers.")] = None,
    gold: Annotated[
        str | None,
        typer.Option("--gold", metavar="FILE", help="Items whose truth is known, to learn from: item, label."),
    ] = None,
    chosen: Annotated[
        bool, typer.Option("--gold-chosen", help="The gold items were chosen, not drawn at random.")
    ] = False,
    groups: Annotated[
        str | None, typer.Option("--groups", metavar="FILE", help="Judges that count once: annotator, group.")
    ] = None,
    ordered: Annotated[bool, typer.Option("--ordered", help="The order of the classes means something.")] = False,
    nominal: Annotated[bool, typer.Option("--nominal", help="Numbers are names of classes without an order.")] = False,
    seed: SeedOption = 0,
    input: InputOptions,
    json: JsonOption = False,
) -> None:
    """Assess a panel of judges: near-copies, its worth in votes, accuracy by gold."""
    if ordered and nominal:
        raise OptionError("--ordered and --nominal exclude each other. Leave one of them out.")
    options = PanelOptions(
        labels=labels,
        gold=gold,
        groups=groups,
        gold_is_random=not chosen,
        ordered=True if ordered else False if nominal else None,
        out=out,
        seed=seed,
        input=input,
    )
    result = assess_panel(options)
    say(*result.notices)
    show_result(result, as_json=json)
    say(*result.sentences())
