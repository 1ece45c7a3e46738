"""The contract of engines: a step takes a shard and gives sums; an engine takes it to every shard and adds these up.

    counts, state = step(shard, parameters, state)           # plain data in, plain data out
    counts, states = engine.sum(step, parameters, states)    # over all shards: counts are added, states stay there

The statistics of a method are sums over labels, so a method is a step and what follows from its counts; where the
shards are (in memory, in files, on other machines) is the engine's matter. Loops, convergence, checkpoints and progress
are written once, above engines (`truth/over_engines.py`).

Axes: i unit.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from crowdlogic.data.names import Classes
from crowdlogic.engines.shard import Shard

Arrays: TypeAlias = Mapping[str, NDArray[Any]]
"""Arrays by name."""

States: TypeAlias = Any
"""What belongs to the units of each shard, kept where the shard is; only the engine that made it can read it."""


class Step(Protocol):
    """One pass over a shard: a frozen dataclass of plain options, so that it can be sent to where the shard is."""

    def __call__(self, shard: Shard, parameters: Arrays, state: Arrays) -> tuple[Arrays, Arrays]:
        """Counts, which are added over all shards, and the shard's new state. Nothing that is given is changed.

        Args:
            shard: The labels of a run of units.
            parameters: What all shards are given alike, such as log_table[j, n, z].
            state: What belongs to the shard's units, such as ease[i]: arrays with the units as first axis.
        """
        ...


class Engine(Protocol):
    """Labels in shards, wherever these are, and steps over them."""

    @property
    def n_units(self) -> int:
        """Number of units."""

    @property
    def n_annotators(self) -> int:
        """Number of annotators."""

    @property
    def n_labels(self) -> int:
        """Number of labels."""

    @property
    def classes(self) -> Classes:
        """The classes."""

    @property
    def n_classes(self) -> int:
        """Number of classes."""

    @property
    def n_codes(self) -> int:
        """Number of codes that labels have: the classes and, with partial labels, their complements."""

    @property
    def partial(self) -> bool:
        """Whether some labels are partial (`engines/complements.py`)."""

    @property
    def compiled(self) -> bool | None:
        """Whether to use the compiled kernels; None decides by size."""

    def sum(self, step: Step, parameters: Arrays, states: States = None) -> tuple[Arrays, States]:
        """The counts of all shards, added in their order, and the new states; those that are given stay as they are."""

    def stream(self, step: Step, parameters: Arrays, states: States = None) -> Iterator[tuple[slice, Arrays]]:
        """The new state of each shard, and which units it is of; in the order of the units."""

    def scatter(self, arrays: Arrays) -> States:
        """States from arrays with all units as first axis."""

    def gather(self, states: States) -> Arrays:
        """Arrays with all units as first axis from states."""

    def digest(self) -> str:
        """A fingerprint of the labels, by which a checkpoint knows its fit."""


def add_counts(total: Arrays, more: Arrays) -> dict[str, NDArray[Any]]:
    """The counts of two shards together."""
    return {name: np.asarray(total[name] + more[name]) for name in total}
