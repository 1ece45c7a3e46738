"""`crowdlogic datasets`: the public data sets that figures are compared on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated

import typer

from crowdlogic.cli.console import say, show_tables
from crowdlogic.cli.json_output import Output, show_output
from crowdlogic.cli.options import JsonOption
from crowdlogic.extensions.paper.benchmarks import FOLDER_VARIABLE
from crowdlogic.extensions.paper.datasets import check_dataset, list_datasets


@dataclass(frozen=True, kw_only=True)
class DataSet:
    """A data set.

    Attributes:
        name: Its name.
        here: Whether it is in the folder of data sets.
        items: Items.
        labels: Labels.
        annotators: Annotators.
        classes: Classes.
        gold: Items with gold.
        what: What it is about.
    """

    name: str
    here: bool
    items: int
    labels: int
    annotators: int
    classes: int
    gold: int
    what: str


@dataclass(frozen=True, kw_only=True)
class DatasetsOutput(Output):
    """The public data sets.

    Attributes:
        data_sets: The data sets; with a name: none.
        counts: With a name: the sizes of its parts.
    """

    data_sets: Sequence[DataSet] = ()
    counts: Mapping[str, int] | None = None


OUTPUTS = {"datasets": DatasetsOutput}


def command(
    name: Annotated[str | None, typer.Argument(metavar="[NAME]", help="A data set to load and check.")] = None,
    *,
    split: Annotated[str | None, typer.Option("--split", help="For sentiment_mturk: clean or published.")] = None,
    root: Annotated[
        str | None, typer.Option("--root", help=f"Their folder, else the one {FOLDER_VARIABLE} names.")
    ] = None,
    json: JsonOption = False,
) -> None:
    """List the public data sets and say which ones are available."""
    if name is not None:
        size = check_dataset(name, root=root, split=split)
        say(*size.notices)
        if json:
            show_output(DatasetsOutput(command="datasets", notices=size.notices, counts=size.counts))
        else:
            show_tables(size.table())
        return
    catalogue = list_datasets(root)
    if json:
        found = [DataSet(**entry) for entry in catalogue.entries]
        show_output(DatasetsOutput(command="datasets", notices=catalogue.notices, data_sets=found))
        return
    show_tables(catalogue.table())
    say(*catalogue.notices)
