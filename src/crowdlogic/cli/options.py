"""Options that several commands share, so that they read the same everywhere."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated

import typer

from crowdlogic.data.intake.contract import Duplicates
from crowdlogic.data.reading import read_table
from crowdlogic.errors import OptionError
from crowdlogic.registry import FORMATS
from crowdlogic.rules.predicates import Vocabulary

FORMAT_NAMES = f"[{'|'.join(FORMATS)}]"
"""The file formats by name, as help texts show a choice."""

LabelsFile = Annotated[
    str, typer.Argument(metavar="LABELS", help="Labels: csv, tsv, parquet, jsonl or CoNLL; - for standard input.")
]
OutFile = Annotated[str, typer.Option("--out", "-o", help="Where to write; - for standard output.")]
FormatOption = Annotated[
    str | None,
    typer.Option("--format", "-f", metavar=FORMAT_NAMES, help="The format of the input, when its suffix does not say."),
]
ColumnsOption = Annotated[
    list[str] | None, typer.Option("--column", help="Which column is what, as role=name: item=task_number. May repeat.")
]
ClassesOption = Annotated[
    str | None, typer.Option("--classes", help="The classes, separated by commas, in the order that decides ties.")
]
DuplicatesOption = Annotated[Duplicates, typer.Option("--duplicates", help="When an annotator labels an item twice.")]
WideOption = Annotated[bool, typer.Option("--wide", help="The table has one row per item, one column per annotator.")]
AbstainOption = Annotated[
    str | None, typer.Option("--abstain", help="With --wide: a value that means no label, such as -1.")
]
ToOption = Annotated[
    str | None,
    typer.Option("--to", metavar=FORMAT_NAMES, help="The format to write, when the suffix does not say."),
]
SeedOption = Annotated[int, typer.Option("--seed", min=0, help="The seed of whatever is random.")]
TablesOption = Annotated[
    list[str] | None, typer.Option("--table", help="Facts for a predicate, as Name=file. May repeat.")
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON object instead of a table.")]


def columns_of(given: list[str] | None) -> dict[str, str]:
    """Role -> column from role=name texts."""
    pairs = {}
    for text in given or []:
        role, equals, name = text.partition("=")
        if not equals or not role or not name:
            raise OptionError(f"--column {text!r}: write role=name, such as item=task_number.")
        pairs[role.strip()] = name
    return pairs


def list_of(text: str | None) -> list[str] | None:
    """Names separated by commas."""
    return None if text is None else [name.strip() for name in text.split(",") if name.strip()]


def vocabulary_of(tables: Iterable[str] | None) -> Vocabulary:
    """The built-in predicates, and those whose facts are in tables, from Name=file texts."""
    vocabulary = Vocabulary()
    for text in tables or ():
        name, equals, path = text.partition("=")
        if not equals or not name or not path:
            raise OptionError(f"--table {text!r}: write Name=file, such as Similar=similar.csv.")
        frame, source = read_table(path)
        vocabulary.table(name.strip(), frame, source=source)
    return vocabulary
