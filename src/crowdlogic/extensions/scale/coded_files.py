"""Labels on disk: a folder of encoded shards, of which each thread keeps one in memory at a time.

    manifest.json           sizes, classes, shards and origin of the labels; written last
    annotators.parquet      names of the annotators
    00000.labels.parquet    annotator, label and optionally weight; sorted by unit
    00000.items.parquet     item, the name of each unit, and count, its number of labels; for tokens also begins,
                            whether a token starts a sequence; optionally fixed, the known class of a unit
    00001...

All labels of an item, and all tokens of a sequence, are in one shard, so a worker only needs `read_shard`.

Axes: i unit.
"""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, overload

import numpy as np
import polars as pl

from crowdlogic.data.blocks import Shard, Shards, digest, make_shards, narrow_codes
from crowdlogic.data.files import write_bytes
from crowdlogic.data.labels import CrowdLabels, require_whole_labels
from crowdlogic.data.names import Classes, ClassName, Names
from crowdlogic.errors import FormatError, OptionError
from crowdlogic.store.files import get_json, json_bytes

SHARD_ROWS = 1_000_000
"""Target number of labels per shard."""

MANIFEST, ANNOTATORS = "manifest.json", "annotators.parquet"
BEGINS, FIXED = "begins", "fixed"
"""Optional columns of the items file."""

REMEDY = "Remove the folder and start over."


@dataclass(frozen=True, kw_only=True)
class ShardSize:
    """First unit of a shard among all units, and the numbers of its units and labels."""

    first: int
    units: int
    labels: int


@dataclass(frozen=True, kw_only=True)
class Manifest:
    """Description of a folder of encoded shards.

    Attributes:
        n_annotators: Number of annotators.
        classes: The classes.
        shards: The shards, in the order of their units.
        sources: Fingerprint of the files that the labels were read from.
        notices: Messages to the user about how the labels were read.
    """

    n_annotators: int
    classes: Classes
    shards: tuple[ShardSize, ...]
    sources: str = ""
    notices: tuple[str, ...] = ()

    @property
    def n_units(self) -> int:
        """Number of units."""
        return sum(shard.units for shard in self.shards)

    @property
    def n_labels(self) -> int:
        """Number of labels."""
        return sum(shard.labels for shard in self.shards)


def write_manifest(folder: Path, manifest: Manifest) -> None:
    """Write the manifest, which marks the folder as complete."""
    write_bytes(folder / MANIFEST, json_bytes(asdict(manifest)))


def read_manifest(folder: Path) -> Manifest | None:
    """Read the manifest of a folder; None if it has not been written yet."""
    if not (folder / MANIFEST).is_file():
        return None
    stored = get_json(folder / MANIFEST, remedy=REMEDY)
    try:
        return Manifest(
            n_annotators=int(stored["n_annotators"]),
            classes=tuple(_class_name(name) for name in stored["classes"]),
            shards=tuple(
                ShardSize(**{name: int(one[name]) for name in ("first", "units", "labels")}) for one in stored["shards"]
            ),
            sources=str(stored["sources"]),
            notices=tuple(map(str, stored["notices"])),
        )
    except (KeyError, TypeError, ValueError):
        raise FormatError(f"{folder / MANIFEST}: not a valid manifest. {REMEDY}") from None


def require_manifest(folder: Path) -> Manifest:
    """Read the manifest of a folder; raise an error if it is missing."""
    manifest = read_manifest(folder)
    if manifest is None:
        raise FormatError(f"{folder}: contains no {MANIFEST}, so it is not a folder of shards or is incomplete.")
    return manifest


def _class_name(name: Any) -> ClassName:
    if isinstance(name, (str, int)):
        return name
    raise ValueError


def write_shard(folder: Path, at: int, shard: Shard, items: Names) -> ShardSize:
    """Write one shard and the names of its units."""
    labels = pl.DataFrame({"annotator": narrow_codes(shard.annotator), "label": narrow_codes(shard.label)})
    if len(shard.weight):
        labels = labels.with_columns(pl.Series("weight", shard.weight))
    units: dict[str, Any] = {"item": items, "count": np.diff(shard.starts).astype(np.uint32)}
    if len(shard.offsets):
        units[BEGINS] = np.isin(np.arange(shard.n_units), shard.offsets)
    if len(shard.fixed):
        units[FIXED] = shard.fixed
    _write_parquet(_labels_file(folder, at), labels)
    _write_parquet(_items_file(folder, at), pl.DataFrame(units))
    return ShardSize(first=shard.first, units=shard.n_units, labels=len(shard.label))


def read_shard(folder: str | Path, at: int, *, first: int = 0) -> Shard:
    """Read one shard of a folder; `first` is the position of its first unit among all units."""
    labels = _read_parquet(_labels_file(Path(folder), at))
    units = _read_parquet(_items_file(Path(folder), at), ["count", BEGINS, FIXED])
    starts = np.concatenate([[0], np.cumsum(units["count"].to_numpy(), dtype=np.int64)])
    if int(starts[-1]) != len(labels):
        raise FormatError(f"{_labels_file(Path(folder), at)}: the number of labels does not match the items. {REMEDY}")
    offsets = np.empty(0, dtype=np.int64)
    if BEGINS in units.columns:  # the first unit of each sequence, and the end
        offsets = np.append(np.flatnonzero(units[BEGINS].to_numpy()), len(units))
    return Shard(
        first=first,
        starts=starts,
        annotator=labels["annotator"].to_numpy(),
        label=labels["label"].to_numpy(),
        weight=labels["weight"].to_numpy() if "weight" in labels.columns else np.empty(0),
        fixed=units[FIXED].to_numpy() if FIXED in units.columns else np.empty(0, dtype=np.int32),
        offsets=offsets,
    )


def read_items(folder: Path, at: int) -> Names:
    """Read the names of the units of a shard."""
    return _read_parquet(_items_file(folder, at), ["item"])["item"]


def write_annotators(folder: Path, names: Names) -> None:
    """Write the names of the annotators."""
    _write_parquet(folder / ANNOTATORS, pl.DataFrame({"annotator": names}))


def read_annotators(folder: Path) -> Names:
    """Read the names of the annotators."""
    return _read_parquet(folder / ANNOTATORS)["annotator"]


def write_coded(
    folder: str | Path, labels: CrowdLabels, *, rows: int = SHARD_ROWS, anchors: Mapping[Any, Any] | None = None
) -> Manifest:
    """Write labels as a folder of shards with about `rows` rows each; sequences are not split."""
    require_whole_labels(labels, "A folder of shards")
    place = Path(folder)
    place.mkdir(parents=True, exist_ok=True)
    cut = make_shards(labels, threads=max(-(-labels.n_labels // rows), 1), anchors=anchors)
    names = labels.items if labels.offsets is None else labels.items.gather(labels.item_of_unit)
    sizes = [write_shard(place, at, part, names[part.units]) for at, part in enumerate(cut.parts)]
    write_annotators(place, labels.annotators)
    manifest = Manifest(n_annotators=len(labels.annotators), classes=labels.classes, shards=tuple(sizes))
    write_manifest(place, manifest)
    return manifest


def open_coded(folder: str | Path, *, threads: int | None = None) -> Shards:
    """Open the labels of a folder; shards are read on demand."""
    place = Path(folder)
    manifest = require_manifest(place)
    return Shards(
        parts=_OnDisk(place, manifest.shards),
        n_units=manifest.n_units,
        n_annotators=manifest.n_annotators,
        classes=manifest.classes,
        n_labels=manifest.n_labels,
        threads=threads or 2,
        fingerprint=digest(asdict(manifest)),
    )


def open_local(
    folder: Path, *, workers: int | None = None, address: str | None = None
) -> AbstractContextManager[Shards]:
    """Open the local engine over a folder; `workers` is the number of threads."""
    if address is not None:
        raise OptionError(f"--address {address} requires --engine ray or spark. Remove it, or set --engine.")
    return nullcontext(open_coded(folder, threads=workers))


@dataclass(frozen=True)
class _OnDisk(Sequence[Shard]):
    """Sequence of shards that are read on access."""

    folder: Path
    sizes: tuple[ShardSize, ...]

    def __len__(self) -> int:
        return len(self.sizes)

    def runs(self) -> list[slice]:
        """Return the range of units of each shard."""
        return [slice(size.first, size.first + size.units) for size in self.sizes]

    @overload
    def __getitem__(self, at: int) -> Shard: ...
    @overload
    def __getitem__(self, at: slice) -> Sequence[Shard]: ...
    def __getitem__(self, at: int | slice) -> Shard | Sequence[Shard]:
        if isinstance(at, slice):
            return [self[one] for one in range(*at.indices(len(self)))]
        return read_shard(self.folder, at, first=self.sizes[at].first)


def _labels_file(folder: Path, at: int) -> Path:
    return folder / f"{at:05d}.labels.parquet"


def _items_file(folder: Path, at: int) -> Path:
    return folder / f"{at:05d}.items.parquet"


def _write_parquet(path: Path, table: pl.DataFrame) -> None:
    """Write a table via memory, so that a full disk raises the usual OSError."""
    buffer = io.BytesIO()
    table.write_parquet(buffer, compression="uncompressed")
    with path.open("wb") as file:
        file.write(buffer.getbuffer())


def _read_parquet(path: Path, columns: Sequence[str] | None = None) -> pl.DataFrame:
    """Read a table, or those of the given columns that it has."""
    try:
        with path.open("rb") as file:
            known = None if columns is None else [name for name in pl.read_parquet_schema(file) if name in columns]
            file.seek(0)
            return pl.read_parquet(file, columns=known, glob=False)
    except FileNotFoundError:
        raise FormatError(f"{path}: file not found. {REMEDY}") from None
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, ValueError) as problem:
        raise FormatError(f"{path}: cannot be read ({str(problem)[:80]}). {REMEDY}") from problem
