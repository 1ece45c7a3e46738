"""`crowdlogic datasets`: list and check the public data sets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Annotated

import typer

from crowdlogic.cli.console import Output, say, show_output, show_tables
from crowdlogic.cli.options import JsonOption
from crowdlogic.errors import MissingDataError
from crowdlogic.extensions.paper.benchmarks import (
    CATALOGUE,
    FOLDER_VARIABLE,
    data_folder,
    is_present,
    load_benchmark,
    measure_benchmark,
)
from crowdlogic.workflows.inputs import ResultTable


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


def list_datasets(root: str | None = None) -> list[DataSet]:
    """Return all known data sets, with whether they are available in a folder."""
    try:
        data_folder(root)
        has_folder = True
    except MissingDataError:
        has_folder = False
    return [
        DataSet(
            name=entry.name,
            here=has_folder and is_present(entry.name, root),
            **asdict(entry.size),
            what=entry.description,
        )
        for entry in CATALOGUE.values()
    ]


def command(
    name: Annotated[str | None, typer.Argument(metavar="[NAME]", help="Data set to load and check.")] = None,
    *,
    split: Annotated[str | None, typer.Option("--split", help="For sentiment_mturk: clean or published.")] = None,
    root: Annotated[str | None, typer.Option("--root", help=f"Data folder; by default, {FOLDER_VARIABLE}.")] = None,
    json: JsonOption = False,
) -> None:
    """List the public data sets and say which ones are available."""
    if name is not None:
        loaded = load_benchmark(name, root=root, split=split)
        counts = {
            **asdict(measure_benchmark(loaded)),
            "units": loaded.labels.n_units,
            "duplicates": loaded.labels.intake.duplicates,
        }
        for part, corpus in (("dev", loaded.dev), ("test", loaded.test)):
            if corpus is not None:
                counts[part] = len(corpus.items)
        notices = tuple(loaded.labels.intake.messages())
        say(*notices)
        if json:
            show_output(DatasetsOutput(command="datasets", notices=notices, counts=counts))
        else:
            show_tables(ResultTable(title=name, columns=["part", "count"], rows=list(counts.items())))
        return
    found = list_datasets(root)
    notices = tuple(f"{one.name} is not available. {CATALOGUE[one.name].origin}" for one in found if not one.here)
    if json:
        show_output(DatasetsOutput(command="datasets", notices=notices, data_sets=found))
        return
    columns = ["name", "here", "items", "labels", "annotators", "classes", "gold", "what"]
    rows = [(name, "yes" if here else "no", *rest) for name, here, *rest in (asdict(one).values() for one in found)]
    show_tables(ResultTable(title="data sets", columns=columns, rows=rows))
    say(*notices)
