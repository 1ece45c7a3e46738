"""The public data sets: which are here, and how large they are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from crowdlogic.errors import MissingDataError
from crowdlogic.extensions.paper.benchmarks import (
    CATALOGUE,
    BenchmarkEntry,
    is_present,
    load_benchmark,
    measure_benchmark,
)
from crowdlogic.workflows.inputs import ResultTable


@dataclass(frozen=True, kw_only=True)
class Catalogue:
    """Every data set that is known, here or not.

    Attributes:
        entries: The data sets, as plain data.
        notices: Where to get those that are not here.
    """

    entries: list[dict[str, Any]]
    notices: tuple[str, ...]

    def table(self) -> ResultTable:
        """One row per data set."""
        columns = ["name", "here", "items", "labels", "annotators", "classes", "gold", "what"]
        rows = [(name, "yes" if here else "no", *rest) for name, here, *rest in (one.values() for one in self.entries)]
        return ResultTable(title="data sets", columns=columns, rows=rows)


def list_datasets(root: str | None = None) -> Catalogue:
    """The catalogue of data sets, and which of them are in a folder (else in the one that the environment names)."""
    entries = [
        {"name": entry.name, "here": _is_here(entry, root), **asdict(entry.size), "what": entry.description}
        for entry in CATALOGUE.values()
    ]
    absent = [CATALOGUE[str(one["name"])] for one in entries if not one["here"]]
    return Catalogue(entries=entries, notices=tuple(f"{entry.name} is not here. {entry.origin}" for entry in absent))


def _is_here(entry: BenchmarkEntry, root: str | None) -> bool:
    try:
        return is_present(entry.name, root)
    except MissingDataError:  # there is no folder of data sets at all
        return False


@dataclass(frozen=True, kw_only=True)
class DatasetSize:
    """A data set that was loaded and checked.

    Attributes:
        name: Its name.
        counts: The sizes of its parts.
        notices: What a person should know of its labels.
    """

    name: str
    counts: Mapping[str, Any]
    notices: tuple[str, ...]

    def table(self) -> ResultTable:
        """One row per part."""
        return ResultTable(title=self.name, columns=["part", "count"], rows=list(self.counts.items()))


def check_dataset(name: str, *, root: str | None = None, split: str | None = None) -> DatasetSize:
    """Load a data set and measure it."""
    loaded = load_benchmark(name, root=root, split=split)
    held_out = {
        part: len(corpus.items) for part, corpus in (("dev", loaded.dev), ("test", loaded.test)) if corpus is not None
    }
    counts = {
        **asdict(measure_benchmark(loaded)),
        "units": loaded.labels.n_units,
        "duplicates": loaded.labels.intake.duplicates,
        **held_out,
    }
    return DatasetSize(name=name, counts=counts, notices=tuple(loaded.labels.intake.messages()))
