"""`crowdlogic demo`: show all steps on simulated data, in less than a minute and without torch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import typer

from crowdlogic.cli.console import Output, list_written, say, show_output, show_tables, summary
from crowdlogic.cli.options import JsonOption, SeedOption

OutOption = Annotated[
    str | None,
    typer.Option(
        "--out", "-o", help="Output folder for the data, the answers, a run and a report [default: crowdlogic-demo]."
    ),
]


@dataclass(frozen=True, kw_only=True)
class DemoOutput(Output):
    """Scores of the demo against the planted truth.

    Attributes:
        simulated: The crowd in one sentence.
        agreement: Krippendorff's alpha: value, low, high.
        methods: Each method: method, accuracy, calibration_error, and new, its accuracy on new reviews.
        default: The default truth method for the labels.
        gains: Gain in accuracy from each part: annotators, classifier, rule, rule_on_new.
        rule: Answers that the rule changed, and how many of them it corrected and spoiled.
    """

    simulated: str
    agreement: Mapping[str, float]
    methods: Sequence[dict[str, Any]]
    default: str
    gains: Mapping[str, float]
    rule: Mapping[str, Any]


OUTPUTS = {"demo": DemoOutput}


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
            paths = list_written(result.folder)
            show_output(DemoOutput(command="demo", written=paths, **result.figures()))
        else:
            say(*result.introduction)
            show_tables(result.table())
            say(*result.verdict)
    say(*result.places)
