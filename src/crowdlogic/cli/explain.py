"""`crowdlogic explain`: show the evidence behind an answer, in bits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import typer

from crowdlogic.cli.console import Output, say, show_output, show_tables
from crowdlogic.cli.options import JsonOption, RunFolder


@dataclass(frozen=True, kw_only=True)
class ExplainOutput(Output):
    """Evidence behind the answer for an item.

    Attributes:
        item: The item.
        classes: The classes, in the order of every list of bits or probabilities.
        k: The share of the rules' posterior in the training targets.
        calibrated: Whether bits and beliefs are on the calibrated scale.
        exact: Whether the bits of the rules add up.
        units: Each token, or the item: word, answer, confidence; bits of the classifier, of each annotator
            (annotators), of neighbouring tags (neighbours) and of each rule (rules), normaliser; the beliefs q_a, q_b,
            mixture and q_f; sharpness and doubt of the calibration.
    """

    item: str
    classes: Sequence[str]
    k: float
    calibrated: bool
    exact: bool
    units: Sequence[dict[str, Any]]


OUTPUTS = {"explain": ExplainOutput}


def command(
    run: RunFolder,
    item: Annotated[str, typer.Argument(metavar="ITEM", help="The name of a training item.")],
    *,
    token: Annotated[
        int | None, typer.Option("--token", min=1, help="For a sentence: number of a token, starting at 1.")
    ] = None,
    raw: Annotated[bool, typer.Option("--raw", help="Show uncalibrated beliefs.")] = False,
    json: JsonOption = False,
) -> None:
    """Show what the classifier, each annotator and each rule contributed to an answer."""
    from crowdlogic.workflows.explain import explain

    explanation = explain(run, item, token=token, calibrated=not raw)
    if json:
        show_output(ExplainOutput(command="explain", notices=explanation.notices, **explanation.figures()))
        return
    say(*explanation.heading)
    show_tables(*explanation.tables())
    say(*explanation.notices)
