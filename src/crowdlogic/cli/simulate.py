"""`crowdlogic simulate`: a crowd with a planted truth, in files."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from crowdlogic.cli.console import say
from crowdlogic.cli.options import SeedOption
from crowdlogic.data.files import write_bytes
from crowdlogic.data.simulate import Simulation, simulate_labels, simulate_ner, simulate_sentiment
from crowdlogic.data.writing import write_corpus, write_labels, write_table
from crowdlogic.errors import OptionError


class Kind(StrEnum):
    """What to simulate."""

    sentiment = "sentiment"
    ner = "ner"
    labels = "labels"


SIMULATORS: dict[Kind, Callable[..., Simulation]] = {
    Kind.sentiment: simulate_sentiment,
    Kind.ner: simulate_ner,
    Kind.labels: simulate_labels,
}


def command(
    kind: Annotated[Kind, typer.Argument(help="Reviews, sentences with named entities, or labels alone.")],
    out: Annotated[str, typer.Option("--out", "-o", help="The folder to write to; made when it is not there.")],
    items: Annotated[int, typer.Option("--items", help="How many items the crowd labels.")] = 500,
    annotators: Annotated[int, typer.Option("--annotators", help="How many annotators.")] = 30,
    labels_per_item: Annotated[
        float | None, typer.Option("--labels-per-item", help="On average; 5 if not given.")
    ] = None,
    seed: SeedOption = 0,
) -> None:
    """Simulate a crowd with a planted truth: labels, items, gold and who the annotators are."""
    made = SIMULATORS[kind](seed, items=items, annotators=annotators, labels_per_item=labels_per_item)
    write_simulation(made, Path(out))
    say(f"{made.description} -> {out}")


def write_simulation(made: Simulation, folder: Path) -> None:
    """Write a simulation's files; the folder's README says that it is simulated."""
    if folder.exists() and not folder.is_dir():
        raise OptionError(f"{folder}: is a file. Name a folder.")
    folder.mkdir(parents=True, exist_ok=True)
    write_bytes(
        folder / "README.txt", f"{made.description}. Made by crowdlogic simulate; nobody wrote this.\n".encode()
    )
    write_table(folder / "annotators.csv", made.annotators)
    if made.corpus.is_sequential:
        write_labels(folder / "labels.conll", made.labels, corpus=made.corpus)
    else:
        write_labels(folder / "labels.csv", made.labels)
    for name, corpus in (("gold", made.corpus), ("test", made.test)):
        if corpus is not None:
            write_corpus(folder / f"{name}.{'conll' if corpus.is_sequential else 'csv'}", corpus)
