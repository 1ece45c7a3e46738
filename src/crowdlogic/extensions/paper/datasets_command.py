"""`crowdlogic datasets`: list and check the public data sets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated

import typer

from crowdlogic.cli.console import Output, say, show_output, show_tables
from crowdlogic.cli.options import JsonOption
from crowdlogic.extensions.paper.benchmarks import FOLDER_VARIABLE
from crowdlogic.extensions.paper.datasets import check_dataset, list_datasets


@dataclass(frozen=True, kw_only=True)
class DataSet:
    """Data set of the catalogue.

    Attributes:
        name: Name of the data set.
        here: Whether it is in the data folder.
        items: Number of items.
        labels: Number of labels.
        annotators: Number of annotators.
        classes: Number of classes.
        gold: Number of items with gold.
        what: Description.
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
    """JSON output of `crowdlogic datasets`.

    Attributes:
        data_sets: The data sets; empty if a name is given.
        counts: Sizes of the parts of the named data set.
    """

    data_sets: Sequence[DataSet] = ()
    counts: Mapping[str, int] | None = None


OUTPUTS = {"datasets": DatasetsOutput}


def command(
    name: Annotated[str | None, typer.Argument(metavar="[NAME]", help="Data set to load and check.")] = None,
    *,
    split: Annotated[str | None, typer.Option("--split", help="For sentiment_mturk: clean or published.")] = None,
    root: Annotated[str | None, typer.Option("--root", help=f"Data folder; by default, {FOLDER_VARIABLE}.")] = None,
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
