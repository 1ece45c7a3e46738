"""`crowdlogic aggregate`: the most probable label of every item."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import numpy as np
import typer

from crowdlogic.cli.console import say
from crowdlogic.cli.options import (
    AbstainOption,
    ClassesOption,
    ColumnsOption,
    DuplicatesOption,
    FormatOption,
    LabelsFile,
    OutFile,
    SeedOption,
    ToOption,
    WideOption,
    columns_of,
    list_of,
)  # fmt: skip
from crowdlogic.data.answers import write_estimate
from crowdlogic.data.estimate import Estimate
from crowdlogic.data.intake import Duplicates
from crowdlogic.data.reading import read_crowd
from crowdlogic.truth.ties import Ties
from crowdlogic.truth.voting import MajorityVote


class Method(StrEnum):
    """The truth methods."""

    majority = "majority"


def command(
    labels: LabelsFile,
    out: OutFile,
    method: Annotated[Method, typer.Option("--method", "-m", help="How to infer the truth.")] = Method.majority,
    ties: Annotated[Ties, typer.Option("--ties", help="How a tie is decided.")] = Ties.random,
    order: Annotated[str | None, typer.Option("--order", help="With --ties order: the classes, best first.")] = None,
    seed: SeedOption = 0,
    classes: ClassesOption = None,
    duplicates: DuplicatesOption = Duplicates.error,
    wide: WideOption = False,
    abstain: AbstainOption = None,
    column: ColumnsOption = None,
    format: FormatOption = None,
    to: ToOption = None,
) -> None:
    """Estimate the true label of every item."""
    crowd = read_crowd(
        labels, format=format, columns=columns_of(column), classes=list_of(classes), duplicates=duplicates,
        wide=wide, abstain=abstain,
    )  # fmt: skip
    estimate = MajorityVote(ties=ties, order=list_of(order), seed=seed).infer(crowd.labels)
    write_estimate(out, estimate, corpus=crowd.corpus, format=to)
    for sentence in crowd.labels.intake.sentences():
        say(sentence)
    say(f"{method}: {describe(estimate)} -> {out}")


def describe(estimate: Estimate) -> str:
    """What was answered, in one clause."""
    kind = (
        f"{len(estimate.items):,} sentences, {len(estimate.answer):,} tokens"
        if estimate.offsets is not None
        else f"{len(estimate.items):,} items"
    )
    open_units = int(np.count_nonzero(~estimate.answered))
    parts = [kind, f"{len(estimate.annotators):,} annotators"]
    parts += [f"{estimate.tied:,} ties"] if estimate.tied else []
    parts += [f"{open_units:,} without labels and so without an answer"] if open_units else []
    return ", ".join(parts)
