"""`crowdlogic datasets`: the public data sets that figures are compared on."""

from __future__ import annotations

from typing import Annotated

import typer

from crowdlogic.cli.console import say, show_json, show_tables
from crowdlogic.cli.options import JsonOption
from crowdlogic.extensions.paper.benchmarks import FOLDER_VARIABLE
from crowdlogic.extensions.paper.datasets import check_dataset, list_datasets


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
        show_json(size.counts) if json else show_tables(size.table())
        return
    catalogue = list_datasets(root)
    if json:
        show_json(catalogue.entries)
        return
    show_tables(catalogue.table())
    say(*catalogue.notices)
