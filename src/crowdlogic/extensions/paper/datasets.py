"""Listing and checking of the public data sets."""

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
    """Catalogue of all known data sets.

    Attributes:
        entries: The data sets, as plain data.
        notices: Where to obtain the missing data sets.
    """

    entries: list[dict[str, Any]]
    notices: tuple[str, ...]

    def table(self) -> ResultTable:
        """Return a table with one row per data set."""
        columns = ["name", "here", "items", "labels", "annotators", "classes", "gold", "what"]
        rows = [(name, "yes" if here else "no", *rest) for name, here, *rest in (one.values() for one in self.entries)]
        return ResultTable(title="data sets", columns=columns, rows=rows)


def list_datasets(root: str | None = None) -> Catalogue:
    """Return the catalogue of data sets and which of them are available in a folder."""
    entries = [
        {"name": entry.name, "here": _is_here(entry, root), **asdict(entry.size), "what": entry.description}
        for entry in CATALOGUE.values()
    ]
    absent = [CATALOGUE[str(one["name"])] for one in entries if not one["here"]]
    return Catalogue(entries=entries, notices=tuple(f"{one.name} is not available. {one.origin}" for one in absent))


def _is_here(entry: BenchmarkEntry, root: str | None) -> bool:
    try:
        return is_present(entry.name, root)
    except MissingDataError:  # there is no data folder
        return False


@dataclass(frozen=True, kw_only=True)
class DatasetSize:
    """Sizes of a loaded and checked data set.

    Attributes:
        name: Name of the data set.
        counts: Sizes of its parts.
        notices: Messages about its labels.
    """

    name: str
    counts: Mapping[str, Any]
    notices: tuple[str, ...]

    def table(self) -> ResultTable:
        """Return a table with one row per part."""
        return ResultTable(title=self.name, columns=["part", "count"], rows=list(self.counts.items()))


def check_dataset(name: str, *, root: str | None = None, split: str | None = None) -> DatasetSize:
    """Load a data set and return its sizes."""
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
