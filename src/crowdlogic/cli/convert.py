"""`crowdlogic convert`: the same labels or items in another layout."""

from __future__ import annotations

from typing import Annotated

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
    ToOption,
    WideOption,
    columns_of,
    list_of,
)
from crowdlogic.data.intake.contract import Duplicates
from crowdlogic.data.reading import read_corpus, read_crowd
from crowdlogic.data.writing import write_corpus, write_labels


def command(
    labels: LabelsFile,
    out: OutFile,
    items: Annotated[bool, typer.Option("--items", help="The file holds items (texts or tagged sentences).")] = False,
    classes: ClassesOption = None,
    duplicates: DuplicatesOption = Duplicates.error,
    wide: WideOption = False,
    abstain: AbstainOption = None,
    column: ColumnsOption = None,
    format: FormatOption = None,
    to: ToOption = None,
) -> None:
    """Read labels (or items) in one layout and write them in another."""
    if items:
        corpus = read_corpus(labels, format=format, columns=columns_of(column))
        write_corpus(out, corpus, format=to)
        say(f"{corpus} -> {out}")
        return
    crowd = read_crowd(
        labels,
        format=format,
        columns=columns_of(column),
        classes=list_of(classes),
        duplicates=duplicates,
        wide=wide,
        abstain=abstain,
    )
    write_labels(out, crowd.labels, corpus=crowd.corpus, format=to)
    for sentence in crowd.labels.intake.messages():
        say(sentence)
    say(f"{crowd.labels} -> {out}")
