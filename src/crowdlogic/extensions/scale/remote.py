"""Base class of engines with shards in other processes: label properties and counts of transferred bytes."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import asdict, dataclass
from types import TracebackType
from typing import Self

from crowdlogic.data.blocks import Arrays, States, Step, digest
from crowdlogic.data.folders import describe_size
from crowdlogic.data.names import Classes
from crowdlogic.extensions.scale.coded_files import Manifest


@dataclass
class Traffic:
    """Bytes transferred between the fitting process and the processes with the shards.

    Attributes:
        steps: Number of steps over all shards.
        parameters: Total bytes of parameters sent to workers.
        counts: Total bytes of counts received.
        states: Total bytes of per-unit states sent or received: beliefs to write, checkpoints.
    """

    steps: int = 0
    parameters: int = 0
    counts: int = 0
    states: int = 0

    def add(self, *, parameters: int = 0, counts: int = 0, states: int = 0) -> None:
        """Add transferred bytes; a call with counts marks the end of a step."""
        self.steps += counts > 0
        self.parameters += parameters
        self.counts += counts
        self.states += states

    @property
    def per_step(self) -> int:
        """Average bytes per step."""
        return round((self.parameters + self.counts) / max(self.steps, 1))

    def __str__(self) -> str:
        return (
            f"{self.steps:,} steps transferred {describe_size(self.per_step)} each (in total "
            f"{describe_size(self.parameters)} of parameters sent, {describe_size(self.counts)} of counts received), "
            f"and beliefs took {describe_size(self.states)}"
        )


def size_of(arrays: Arrays) -> int:
    """Return the total size of the arrays in bytes."""
    return sum(int(array.nbytes) for array in arrays.values())


class RemoteEngine:
    """Base class of engines, with everything that does not need the shards.

    Attributes:
        manifest: Description of the shards.
        traffic: Transferred bytes.
    """

    partial = False
    compiled: bool | None = None

    def __init__(self, manifest: Manifest) -> None:
        self.manifest, self.traffic = manifest, Traffic()

    @property
    def n_units(self) -> int:
        """Number of units."""
        return self.manifest.n_units

    @property
    def n_annotators(self) -> int:
        """Number of annotators."""
        return self.manifest.n_annotators

    @property
    def n_labels(self) -> int:
        """Number of labels."""
        return self.manifest.n_labels

    @property
    def classes(self) -> Classes:
        """The classes."""
        return self.manifest.classes

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return len(self.classes)

    @property
    def n_codes(self) -> int:
        """Number of distinct label codes."""
        return len(self.classes)

    def runs(self) -> list[slice]:
        """Return the range of units of each shard."""
        return [slice(size.first, size.first + size.units) for size in self.manifest.shards]

    def digest(self) -> str:
        """Return a fingerprint of the labels, equal to that of the same folder opened locally."""
        named = [str(name) for name in self.classes]
        return digest(digest(asdict(self.manifest)), named, self.n_units, self.n_annotators)

    @abstractmethod
    def sum(self, step: Step, parameters: Arrays, states: States = None) -> tuple[Arrays, States]:
        """Return the sum of the counts of all shards, in order, and the new states."""

    @abstractmethod
    def gather(self, states: States) -> Arrays:
        """Collect states into arrays with all units as first axis."""

    def concat(self, step: Step, parameters: Arrays, states: States = None) -> Arrays:
        """Return the new states of all shards as arrays with all units as first axis."""
        return self.gather(self.sum(step, parameters, states)[1])

    @abstractmethod
    def close(self) -> None:
        """Release workers and sessions started by this engine."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
