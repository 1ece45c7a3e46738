"""`crowdlogic datasets`: the public data sets that figures are compared on."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated, Any

import typer

from crowdlogic.cli.console import say, show_json, show_table
from crowdlogic.cli.options import JsonOption
from crowdlogic.data.benchmarks import (
    CATALOGUE,
    FOLDER_VARIABLE,
    Benchmark,
    BenchmarkEntry,
    is_present,
    load_benchmark,
    measure_benchmark,
)
from crowdlogic.errors import MissingDataError


def command(
    name: Annotated[str | None, typer.Argument(metavar="[NAME]", help="A data set to load and check.")] = None,
    split: Annotated[str | None, typer.Option("--split", help="For sentiment_mturk: clean or published.")] = None,
    root: Annotated[
        str | None, typer.Option("--root", help=f"Their folder, else the one {FOLDER_VARIABLE} names.")
    ] = None,
    json: JsonOption = False,
) -> None:
    """List the data sets and say which are here; with a name, load that one and check its size."""
    if name is None:
        list_all(root, json=json)
        return
    loaded = load_benchmark(name, root=root, split=split)
    figures = figures_of(loaded)
    for sentence in loaded.labels.intake.messages():
        say(sentence)
    if json:
        show_json(figures)
        return
    show_table(name, ["part", "count"], list(figures.items()))


def figures_of(loaded: Benchmark) -> dict[str, Any]:
    """The sizes of a data set's parts."""
    held_out = {
        part: len(corpus.items) for part, corpus in (("dev", loaded.dev), ("test", loaded.test)) if corpus is not None
    }
    duplicates = loaded.labels.intake.duplicates
    return {**asdict(measure_benchmark(loaded)), "units": loaded.labels.n_units, "duplicates": duplicates, **held_out}


def list_all(root: str | None, *, json: bool) -> None:
    """Every data set of the catalogue, here or not."""
    rows = [
        {"name": entry.name, "here": _is_here(entry, root), **asdict(entry.size), "what": entry.description}
        for entry in CATALOGUE.values()
    ]
    if json:
        show_json(rows)
        return
    cells = [(row["name"], "yes" if row["here"] else "no", *list(row.values())[2:]) for row in rows]
    show_table("data sets", ["name", "here", "items", "labels", "annotators", "classes", "gold", "what"], cells)
    for row in rows:
        if not row["here"]:
            say(f"{row['name']} is not here. {CATALOGUE[str(row['name'])].origin}")


def _is_here(entry: BenchmarkEntry, root: str | None) -> bool:
    try:
        return is_present(entry.name, root)
    except MissingDataError:
        return False
