"""`crowdlogic agreement`: how far annotators agree, beyond chance."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer

from crowdlogic.cli.console import say, show_json, show_table
from crowdlogic.cli.options import (
    AbstainOption,
    ClassesOption,
    ColumnsOption,
    DuplicatesOption,
    FormatOption,
    JsonOption,
    LabelsFile,
    SeedOption,
    WideOption,
    columns_of,
    list_of,
)
from crowdlogic.data.intake.contract import Duplicates
from crowdlogic.data.reading import read_labels
from crowdlogic.metrics.agreement import agreement


def command(
    labels: LabelsFile,
    replicates: Annotated[int, typer.Option("--replicates", min=10, help="Bootstrap replicates.")] = 1000,
    level: Annotated[float, typer.Option("--level", min=0.5, max=0.999, help="Level of the intervals.")] = 0.95,
    seed: SeedOption = 0,
    classes: ClassesOption = None,
    duplicates: DuplicatesOption = Duplicates.error,
    wide: WideOption = False,
    abstain: AbstainOption = None,
    column: ColumnsOption = None,
    format: FormatOption = None,
    json: JsonOption = False,
) -> None:
    """Measure agreement: Krippendorff's alpha, Fleiss' and Cohen's kappa, Gwet's AC1, with intervals."""
    crowd = read_labels(
        labels,
        format=format,
        columns=columns_of(column),
        classes=list_of(classes),
        duplicates=duplicates,
        wide=wide,
        abstain=abstain,
    )
    found = agreement(crowd, replicates=replicates, level=level, seed=seed)
    for sentence in crowd.intake.messages():
        say(sentence)
    if json:
        show_json({one.name: asdict(one) for one in found})
        return
    rows = [(one.title, one.value, one.low, one.high) for one in found]
    for one in found:
        if one.reason:
            say(f"{one.title} is undefined: {one.reason}.")
    show_table(f"agreement in {labels}", ["coefficient", "value", f"from ({level:.0%})", "to"], rows)
