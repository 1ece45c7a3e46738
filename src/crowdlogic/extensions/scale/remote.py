"""What engines whose shards are in other processes share: what the labels are, and how many bytes were moved."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import asdict, dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

from crowdlogic.data.blocks import Arrays, States, Step, digest
from crowdlogic.data.files import describe_size
from crowdlogic.data.names import Classes
from crowdlogic.errors import FormatError
from crowdlogic.extensions.scale.coded_files import MANIFEST, Manifest, read_manifest


@dataclass
class Traffic:
    """Bytes moved so far between the process that fits and those that hold the shards.

    Attributes:
        steps: Number of steps over all shards.
        parameters: Bytes of parameters sent to workers, in all.
        counts: Bytes of counts that came back.
        states: Bytes of what belongs to the units that came here or went there: beliefs to write, checkpoints.
    """

    steps: int = 0
    parameters: int = 0
    counts: int = 0
    states: int = 0

    def add(self, *, parameters: int = 0, counts: int = 0, states: int = 0) -> None:
        """Count what was moved; counts come back once a step."""
        self.steps += counts > 0
        self.parameters += parameters
        self.counts += counts
        self.states += states

    @property
    def per_step(self) -> int:
        """Bytes that a step moves."""
        return round((self.parameters + self.counts) / max(self.steps, 1))

    def __str__(self) -> str:
        return (
            f"{self.steps:,} steps moved {describe_size(self.per_step)} each (in all {describe_size(self.parameters)} "
            f"of parameters there and {describe_size(self.counts)} of counts back), and beliefs took "
            f"{describe_size(self.states)}"
        )


def size_of(arrays: Arrays) -> int:
    """Bytes of some arrays."""
    return sum(int(array.nbytes) for array in arrays.values())


def require_manifest(folder: Path) -> Manifest:
    """What a coded folder holds; an error where it is none, or an unfinished one."""
    manifest = read_manifest(folder)
    if manifest is None:
        raise FormatError(f"{folder}: holds no {MANIFEST}, so it is not a folder of shards, or an unfinished one.")
    return manifest


class RemoteEngine:
    """The part of an `Engine` that needs no shards.

    Attributes:
        manifest: What the shards hold, and how they are cut.
        traffic: The bytes that were moved.
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
        """Number of codes that labels have."""
        return len(self.classes)

    def runs(self) -> list[slice]:
        """The units of each shard, among all."""
        return [slice(size.first, size.first + size.units) for size in self.manifest.shards]

    def digest(self) -> str:
        """A fingerprint of the labels: the one that the same folder has where it is read in this process."""
        named = [str(name) for name in self.classes]
        return digest(digest(asdict(self.manifest)), named, self.n_units, self.n_annotators)

    @abstractmethod
    def sum(self, step: Step, parameters: Arrays, states: States = None) -> tuple[Arrays, States]:
        """The counts of all shards, added in their order, and the new states."""

    @abstractmethod
    def gather(self, states: States) -> Arrays:
        """Arrays with all units as first axis from states."""

    def concat(self, step: Step, parameters: Arrays, states: States = None) -> Arrays:
        """The new states of all shards as arrays with all units as first axis."""
        return self.gather(self.sum(step, parameters, states)[1])

    @abstractmethod
    def close(self) -> None:
        """End what was started."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
