"""`crowdlogic agreement`: how far annotators agree, beyond chance."""

from __future__ import annotations

from typing import Annotated

import typer

from crowdlogic.cli.console import say, show_result
from crowdlogic.cli.options import JsonOption, LabelsFile, SeedOption, reads_labels
from crowdlogic.workflows.agreement import AgreementOptions, measure_agreement
from crowdlogic.workflows.inputs import InputOptions


@reads_labels
def command(
    labels: LabelsFile,
    *,
    replicates: Annotated[int, typer.Option("--replicates", min=10, help="Bootstrap replicates.")] = 1000,
    level: Annotated[float, typer.Option("--level", min=0.5, max=0.999, help="Level of the intervals.")] = 0.95,
    seed: SeedOption = 0,
    input: InputOptions,
    json: JsonOption = False,
) -> None:
    """Measure agreement: Krippendorff's alpha, Fleiss' and Cohen's kappa, Gwet's AC1."""
    options = AgreementOptions(labels=labels, replicates=replicates, level=level, seed=seed, input=input)
    result = measure_agreement(options)
    say(*result.notices)
    show_result(result, as_json=json)
