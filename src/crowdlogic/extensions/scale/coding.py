"""Encoding of tables larger than memory: from files to a folder of shards, in bounded memory.

Rows are read in batches. Annotators and classes are few and are encoded by a dictionary in memory. Items are many: each
row is spilled to one of up to a few hundred files by a 64-bit hash of its item, and the item names are written to
separate tables, once per batch. So all rows of an item are in one file, and each file fits into memory and becomes one
shard.

If joining the names reveals two items with the same hash, everything is encoded again with another hash seed.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import polars as pl
from numpy.typing import NDArray

from crowdlogic.data.blocks import digest, make_shard
from crowdlogic.data.intake.building import (
    code_labels,
    differing_rows,
    encode_names,
    odd_classes,
    parse_weights,
)
from crowdlogic.data.intake.contract import Duplicates, Intake, TableSource
from crowdlogic.data.names import Classes, Names
from crowdlogic.errors import FormatError, LabelError
from crowdlogic.extensions.scale.coded_files import Manifest, ShardSize, write_annotators, write_manifest, write_shard
from crowdlogic.extensions.scale.label_files import LabelFiles
from crowdlogic.numerics.arrays import Ints, stable_order
from crowdlogic.numerics.first_appearance import code_hashes

BYTES_PER_ROW = 400
"""Generous estimate of the memory per row while encoding a batch or a shard, in bytes."""

SMALLEST_BATCH, LARGEST_BATCH = 20_000, 2_000_000
"""Limits of the number of rows per batch and shard."""

MAX_CLASSES = 65_000
MAX_TRIES = 3
"""Maximum number of hash seeds tried if two items have the same hash."""

Progress = Callable[[str], None]


@dataclass(frozen=True, kw_only=True)
class CodingOptions:
    """Options for encoding a table.

    Attributes:
        memory: Memory limit in bytes.
        classes: The classes in the order used to break ties; other labels are then errors.
        duplicates: Policy for several labels of an item by one annotator.
        rows: Rows per batch and shard; derived from `memory` if None.
    """

    memory: int
    classes: Sequence[Any] | None = None
    duplicates: Duplicates = Duplicates.error
    rows: int | None = None

    @property
    def batch(self) -> int:
        """Number of rows per batch."""
        return self.rows or int(np.clip(self.memory // 4 // BYTES_PER_ROW, SMALLEST_BATCH, LARGEST_BATCH))


def code_files(folder: Path, files: LabelFiles, options: CodingOptions) -> Manifest:
    """Encode the labels of files as a folder of shards; the manifest is written last."""
    folder.mkdir(parents=True, exist_ok=True)
    for seed in range(MAX_TRIES):
        try:
            return _code_with(folder, files, options, seed=seed)
        except _SharedHashError:
            continue
        finally:
            shutil.rmtree(folder / SPILLED, ignore_errors=True)
    raise FormatError(f"{files.name}: items have the same hash for every seed. Rename them.")


def sources_digest(files: LabelFiles, options: CodingOptions) -> str:
    """Return a fingerprint of the files and options of a folder of shards."""
    return digest(files.facts(), repr(options.classes), str(options.duplicates), options.batch)


SPILLED = "spilled"
"""Name of the folder for spilled rows, within that of the shards."""


class _SharedHashError(Exception):
    """Two items have the same hash."""


def _code_with(folder: Path, files: LabelFiles, options: CodingOptions, *, seed: int) -> Manifest:
    bits = max(int(np.ceil(np.log2(max(files.count_rows() / options.batch, 1)))), 0)
    coder = _Coder(options=options, has_weights="weight" in files.roles)
    with _Spill(folder / SPILLED, bits=bits, has_weights=coder.has_weights) as spill:
        for path, first, table in files.batches(options.batch):
            coder.add(table, TableSource(str(path), first_row=first + (0 if files.format == "parquet" else 2)))
            spill.add(table["item"], coder.rows, seed)
    if not coder.n_rows:
        raise FormatError(f"{files.name}: contains no rows. Give at least one label.")
    codes, classes = coder.order_classes(files.name)
    names, sizes = pl.Series(list(coder.annotators), dtype=pl.String), list[ShardSize]()
    for part in range(1 << bits):
        made = _make_shard(
            folder, spill, part, at=len(sizes), first=sum(size.units for size in sizes), coder=coder, codes=codes
        )
        sizes += [] if made is None else [made]
    write_annotators(folder, names)
    manifest = Manifest(
        n_annotators=len(names),
        classes=classes,
        shards=tuple(sizes),
        sources=sources_digest(files, options),
        notices=tuple(coder.intake(classes).messages()),
    )
    write_manifest(folder, manifest)
    return manifest


@dataclass(eq=False, kw_only=True)
class _Coder:
    """Encoder with dictionaries of annotators and labels, which grow batch by batch, and counters."""

    options: CodingOptions
    has_weights: bool
    annotators: dict[str, int] = field(default_factory=dict)
    labels: dict[Any, tuple[int, TableSource, int]] = field(default_factory=dict)
    rows: NDArray[Any] = field(default_factory=lambda: np.empty(0))
    n_rows: int = 0
    missing: int = 0
    duplicates: int = 0

    def add(self, table: pl.DataFrame, source: TableSource) -> None:
        """Encode a batch: `rows` gets annotator, label (in order of appearance, -1 for none) and weight."""
        people, names = encode_names(table["annotator"], "annotator", source)
        annotator = np.array([self.annotators.setdefault(str(name), len(self.annotators)) for name in names.to_list()])
        label, found = code_labels(table["label"], source)
        code = [self._label_code(name, source, label, k) for k, name in enumerate(found)]
        self.rows = np.zeros(len(table), dtype=_fields(self.has_weights))
        self.rows["annotator"] = annotator[people]
        self.rows["label"] = np.array([*code, -1], dtype=np.int32)[label]
        if self.has_weights:
            self.rows["weight"] = parse_weights(table, source, np.arange(len(table)))
        self.n_rows += len(table)
        self.missing += int(np.count_nonzero(label < 0))

    def _label_code(self, name: Any, source: TableSource, label: Ints, k: int) -> int:
        if name not in self.labels:
            if len(self.labels) >= MAX_CLASSES:
                raise LabelError(f"{source.name}: more than {MAX_CLASSES:,} different labels. Check the label column.")
            self.labels[name] = (len(self.labels), source, int(np.flatnonzero(label == k)[0]))
        return self.labels[name][0]

    def order_classes(self, name: str) -> tuple[Ints, Classes]:
        """Return the final code of each label in order of appearance, and the classes."""
        places = [(str(source.name), source.number(row)) for _, source, row in self.labels.values()]
        numbers = np.array([number for _, number in places], dtype=np.int64)
        source = TableSource(places[0][0] if places else name, numbers=numbers)
        found = list(self.labels)
        mixed = len({type(one) for one in found}) > 1
        return code_labels(pl.Series([str(one) for one in found] if mixed else found), source, self.options.classes)

    def intake(self, classes: Classes) -> Intake:
        """Return a summary of what was done with the rows."""
        return Intake(
            rows=self.n_rows,
            missing=self.missing,
            duplicates=self.duplicates,
            policy=self.options.duplicates,
            notices=tuple(odd_classes(classes)),
        )


def _fields(has_weights: bool) -> list[tuple[str, str]]:
    return [("annotator", "<i4"), ("label", "<i4"), *([("weight", "<f8")] if has_weights else [])]


class _Spill:
    """Files of rows, split by the first bits of the item's hash, and tables of item names sorted by hash."""

    def __init__(self, folder: Path, *, bits: int, has_weights: bool) -> None:
        self.folder, self.bits = folder, bits
        self.row_type = np.dtype([("hash", "<u8"), *_fields(has_weights)])
        self.names: list[Path] = []
        self._files: list[BinaryIO] = []

    def __enter__(self) -> _Spill:
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir(parents=True)
        # The stack closes every file, also if a full disk makes one of them fail.
        self._stack = ExitStack()
        self._files = [self._stack.enter_context(self._rows_file(n).open("wb")) for n in range(1 << self.bits)]
        return self

    def __exit__(self, *problem: object) -> None:
        self._stack.close()

    def add(self, items: Names, rows: NDArray[Any], seed: int) -> None:
        """Spill the rows and the item names of a batch."""
        hashes = items.hash(seed=seed)
        keys = hashes.to_numpy()
        spilled = np.empty(len(keys), dtype=self.row_type)
        spilled["hash"] = keys
        for name in rows.dtype.names or ():
            spilled[name] = rows[name]
        if not self.bits:
            self._files[0].write(spilled.data)
        else:
            part = (keys >> np.uint64(64 - self.bits)).astype(np.uint16)
            spilled = spilled[np.argsort(part, kind="stable")]
            ends = np.cumsum(np.bincount(part, minlength=1 << self.bits))
            for file, begin, end in zip(self._files, [0, *ends[:-1]], ends, strict=True):
                file.write(spilled[begin:end].data)
        self._add_names(items, hashes)

    def _add_names(self, items: Names, hashes: pl.Series) -> None:
        path = self.folder / f"names-{len(self.names):05d}.parquet"
        _, firsts = code_hashes(hashes.to_numpy())
        table = pl.DataFrame({"hash": hashes.gather(firsts), "item": items.gather(firsts)}).sort("hash")
        table.write_parquet(path, compression="lz4", row_group_size=1 << 16)
        self.names.append(path)

    def read_rows(self, part: int) -> NDArray[Any]:
        """Return the rows of a part, in the order of the files, and delete its file."""
        path = self._rows_file(part)
        rows = np.fromfile(path, dtype=self.row_type)
        path.unlink()
        return rows

    def read_names(self, part: int) -> pl.DataFrame:
        """Return hash and name of the items of a part, once for every batch with the item."""
        low, high = part << (64 - self.bits) if self.bits else 0, ((part + 1) << (64 - self.bits)) - 1
        bounds = pl.col("hash").is_between(pl.lit(low, pl.UInt64), pl.lit(min(high, 2**64 - 1), pl.UInt64))
        return pl.concat([pl.scan_parquet(path, glob=False).filter(bounds) for path in self.names]).collect()

    def _rows_file(self, part: int) -> Path:
        return self.folder / f"rows-{part:05d}"


def _make_shard(
    folder: Path, spill: _Spill, part: int, *, at: int, first: int, coder: _Coder, codes: Ints
) -> ShardSize | None:
    """Write one shard from one file of spilled rows; None if the file is empty."""
    rows = spill.read_rows(part)
    if not len(rows):
        return None
    unit, firsts = code_hashes(np.ascontiguousarray(rows["hash"]))
    items = _join_names(pl.Series("hash", rows["hash"][firsts]), spill.read_names(part))
    label = codes[rows["label"]] if len(codes) else rows["label"]
    given = np.flatnonzero(rows["label"] >= 0)
    unit, annotator, label = unit[given], rows["annotator"][given], label[given]
    kept = _keep_rows(unit, annotator, label, items=items, coder=coder)
    shard = make_shard(
        unit[kept],
        annotator[kept],
        label[kept],
        n_units=len(items),
        first=first,
        weight=rows["weight"][given][kept] if coder.has_weights else None,
    )
    return write_shard(folder, at, shard, items)


def _join_names(hashes: pl.Series, names: pl.DataFrame) -> Names:
    """Return the name of each hash; raise an error if a hash has two names."""
    distinct = names.unique()
    if distinct["hash"].n_unique() != len(distinct):
        raise _SharedHashError
    return hashes.to_frame().join(distinct, on="hash", how="left", maintain_order="left")["item"]


def _keep_rows(unit: Ints, annotator: Ints, label: Ints, *, items: Names, coder: _Coder) -> Ints:
    """Return the rows that count, sorted by unit and annotator; see `data.intake.building.deduplicate`."""
    people = pl.Series(list(coder.annotators), dtype=pl.String)
    policy = coder.options.duplicates
    key = unit.astype(np.int64) * len(people) + annotator
    kept = stable_order(key)
    key = key[kept]
    repeats = key[1:] == key[:-1]
    count = int(np.count_nonzero(repeats))
    coder.duplicates += count
    if not count or policy is Duplicates.keep:
        return kept
    differs = differing_rows(kept, repeats, label)
    if policy is Duplicates.error and len(differs):
        row = int(differs[0])
        raise LabelError(
            f"Annotator {people[int(annotator[row])]!r} labels item {items[int(unit[row])]!r} again, with another "
            f"label. Choose which labels count: --duplicates first, last or keep."
        )
    distinct, edge = key[1:] != key[:-1], [True]
    counts = np.append(distinct, edge) if policy is Duplicates.last else np.append(edge, distinct)
    return np.asarray(kept[counts])
