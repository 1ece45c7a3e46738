"""Simulate crowds with a known truth, and write them to files."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from crowdlogic.data.files import new_folder, write_bytes, written_together
from crowdlogic.data.reading import write_corpus, write_labels, write_table
from crowdlogic.data.simulate import Simulation, simulate_labels, simulate_ner, simulate_sentiment
from crowdlogic.errors import OptionError
from crowdlogic.workflows.inputs import check_outputs


class SimulationKind(StrEnum):
    """Kind of data to simulate."""

    sentiment = "sentiment"
    """Reviews with positive or negative sentiment."""
    ner = "ner"
    """Sentences with named entities."""
    labels = "labels"
    """Labels without texts."""


SIMULATORS: dict[SimulationKind, Callable[..., Simulation]] = {
    SimulationKind.sentiment: simulate_sentiment,
    SimulationKind.ner: simulate_ner,
    SimulationKind.labels: simulate_labels,
}


@dataclass(frozen=True, kw_only=True)
class SimulateOptions:
    """The options of `simulate`.

    Attributes:
        kind: What to simulate.
        out: The folder to write to.
        items: Number of items.
        annotators: Number of annotators.
        labels_per_item: Mean number of labels per item; None for the simulation's own.
        seed: Random seed.
    """

    kind: SimulationKind
    out: str
    items: int = 500
    annotators: int = 30
    labels_per_item: float | None = None
    seed: int = 0


def simulate(options: SimulateOptions) -> Simulation:
    """Simulate a crowd and write its labels, items, gold and annotators."""
    check_outputs((options.out,))
    made = SIMULATORS[options.kind](
        options.seed, items=options.items, annotators=options.annotators, labels_per_item=options.labels_per_item
    )
    write_simulation(made, Path(options.out))
    return made


def write_simulation(made: Simulation, folder: Path) -> None:
    """Write all files of a simulation or none; the README says that the data are simulated."""
    if folder.exists() and not folder.is_dir():
        raise OptionError(f"{folder}: expected a folder, found a file. Name a folder.")
    if folder.exists() and any(folder.iterdir()):
        with written_together():
            _write_files(made, folder)
        return
    folder.parent.mkdir(parents=True, exist_ok=True)
    with new_folder(folder) as draft:
        _write_files(made, draft)


def _write_files(made: Simulation, folder: Path) -> None:
    readme = f"{made.description}. Made by crowdlogic simulate; no person wrote these texts or labels.\n"
    write_bytes(folder / "README.txt", readme.encode())
    write_table(folder / "annotators.csv", made.annotators)
    if made.corpus.is_sequential:
        write_labels(folder / "labels.conll", made.labels, corpus=made.corpus)
    else:
        write_labels(folder / "labels.csv", made.labels)
    for name, corpus in (("gold", made.corpus), ("test", made.test)):
        if corpus is not None:
            write_corpus(folder / f"{name}.{'conll' if corpus.is_sequential else 'csv'}", corpus)
