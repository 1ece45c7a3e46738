"""`crowdlogic agreement`: measure agreement among annotators beyond chance."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated

import typer

from crowdlogic.cli.console import Output, say, show_output, show_tables
from crowdlogic.cli.options import JsonOption, LabelsFile, SeedOption, reads_labels
from crowdlogic.metrics.agreement import Agreement
from crowdlogic.workflows.agreement import AgreementOptions, measure_agreement
from crowdlogic.workflows.inputs import InputOptions


@dataclass(frozen=True, kw_only=True)
class AgreementOutput(Output):
    """Agreement among annotators.

    Attributes:
        labels: File of labels.
        coefficients: Every coefficient by its short name: observed, alpha, fleiss, ac1, cohen.
    """

    labels: str
    coefficients: Mapping[str, Agreement]


OUTPUTS = {"agreement": AgreementOutput}


@reads_labels
def command(
    labels: LabelsFile,
    *,
    replicates: Annotated[int, typer.Option("--replicates", min=10, help="Bootstrap replicates.")] = 1000,
    level: Annotated[
        float, typer.Option("--level", min=0.5, max=0.999, help="Level of the confidence intervals.")
    ] = 0.95,
    seed: SeedOption = 0,
    input: InputOptions,
    json: JsonOption = False,
) -> None:
    """Measure agreement: Krippendorff's alpha, Fleiss' and Cohen's kappa, Gwet's AC1."""
    options = AgreementOptions(labels=labels, replicates=replicates, level=level, seed=seed, input=input)
    result = measure_agreement(options)
    say(*result.notices)
    if not json:
        show_tables(result.table())
        return
    found = {one.name: one for one in result.coefficients}
    show_output(AgreementOutput(command="agreement", notices=result.notices, labels=labels, coefficients=found))
