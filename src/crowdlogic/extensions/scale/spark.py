"""Spark engine: shards are rows of a DataFrame, partitioned by item, and a step is a mapInArrow with our kernels.

Parameters are broadcast. The counts of a partition are added up by its worker, those of many partitions in a tree.
Per-unit states stay in a cached DataFrame. If a worker dies, Spark repeats the task from the encoded folder or the
cached rows. Arrays are transferred as safetensors, a format that contains nothing but numbers.

Axes: i unit.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any
from weakref import finalize

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from py4j.protocol import Py4JError
from pyspark import StorageLevel
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.functions import broadcast
from safetensors.numpy import load, save

from crowdlogic.data.blocks import Arrays, Shard, Step, add_counts
from crowdlogic.errors import MissingExtraError, ResourceError
from crowdlogic.extensions.scale.coded_files import Manifest, read_shard, require_manifest
from crowdlogic.extensions.scale.remote import RemoteEngine, size_of

LOOPBACK = "127.0.0.1"
"""Address of a locally started Spark, reachable from this machine only."""

MAX_ATTEMPTS = 4
"""Maximum number of attempts of a task in a local Spark, as on a cluster."""

MAX_DIRECT_PARTITIONS = 64
"""With more partitions than this, counts are added in a tree instead of by the driver."""

MAX_CACHED_SHARDS = 128
"""Maximum number of shards that a worker keeps in memory, about 0.8 GB."""

STEP_SCHEMA = "shard int, arrays binary, state binary, counts binary, with_state boolean"
"""Schema of a step's result: one row per shard with a state, and one with the counts of the partition."""

STATE_COLUMNS = ("shard", "arrays", "state")
"""Columns of a shard with its state."""

Batches = Iterator[pa.RecordBatch]

_KEPT: dict[str, dict[int, Shard]] = {}
"""Cache of shards in a worker, for one folder at a time."""


@dataclass(frozen=True)
class FolderShards:
    """Access to the shards of an encoded folder, which all machines must see at the same path."""

    folder: str

    def __call__(self, row: dict[str, Any]) -> Shard:
        """Return the shard with the number in the row."""
        return _kept_shard(self.folder, row["shard"])


@dataclass(frozen=True)
class RowShards:
    """Access to shards whose arrays are stored in the rows."""

    def __call__(self, row: dict[str, Any]) -> Shard:
        """Return the shard stored in the row."""
        return Shard(first=0, **load(row["arrays"]))


class SparkStates:
    """States of the shards in a cached DataFrame, which is freed by garbage collection."""

    def __init__(self, frame: DataFrame) -> None:
        self.rows = frame.where("state is not null").select(*(name for name in STATE_COLUMNS if name in frame.columns))
        _when_gone(self, frame.unpersist)


class SparkEngine(RemoteEngine):
    """`Engine` for Spark.

    Attributes:
        session: The Spark session.
        rows: One row per shard: its number as shard and, unless read from a folder, its arrays.
        n_partitions: Number of partitions of the rows.
    """

    def __init__(
        self,
        session: SparkSession,
        manifest: Manifest,
        rows: DataFrame,
        shards: FolderShards | RowShards,
        *,
        started: bool = False,
    ) -> None:
        super().__init__(manifest)
        self.session, self.rows, self._shards, self._started = session, rows, shards, started
        self.n_partitions = max(min(session.sparkContext.defaultParallelism, len(manifest.shards)), 1)

    def sum(self, step: Step, parameters: Arrays, states: SparkStates | None = None) -> tuple[Arrays, Any]:
        """Return the sum of all counts, and the new states, which stay in a cached DataFrame."""
        frame = self.map(step, parameters, states)
        if states is not None:
            frame = frame.persist(StorageLevel.MEMORY_AND_DISK)
        found = self._counts(frame)
        if states is not None and not any(found["with_state"].to_pylist()):
            frame.unpersist()
        if states is None and any(found["with_state"].to_pylist()):  # the step created new states: rerun and cache them
            frame = frame.persist(StorageLevel.MEMORY_AND_DISK)
            found = self._counts(frame)
        tables = [load(one) for one in found["counts"].to_pylist()]
        self.traffic.add(parameters=size_of(parameters) * self.n_partitions, counts=sum(map(size_of, tables)))
        total: Arrays = tables[0]
        for more in tables[1:]:
            total = add_counts(total, more)
        return total, SparkStates(frame) if any(found["with_state"].to_pylist()) else None

    def map(self, step: Step, parameters: Arrays, states: SparkStates | None = None) -> DataFrame:
        """Return the (lazy) DataFrame with the results of a step over all shards."""
        sent = self.session.sparkContext.broadcast(save(contiguous(parameters)))
        rows = self.rows if states is None else states.rows
        frame = rows.mapInArrow(partial(_run_step, step=step, shards=self._shards, sent=sent), STEP_SCHEMA)
        _when_gone(frame, sent.unpersist)
        return frame

    def _counts(self, frame: DataFrame) -> pa.Table:
        """Collect the counts of the partitions, added up in a tree if there are many."""
        counted = frame.where("counts is not null").select("counts", "with_state")
        if self.n_partitions > MAX_DIRECT_PARTITIONS:
            counted = counted.repartition(round(self.n_partitions**0.5)).mapInArrow(_add_tables, counted.schema)
        return collect_rows(counted)

    def stream(
        self, step: Step, parameters: Arrays, states: SparkStates | None = None
    ) -> Iterator[tuple[slice, Arrays]]:
        """Yield the new state of each shard in the order of the units, one partition at a time."""
        frame = self.map(step, parameters, states).where("state is not null").select("state")
        found = frame.toLocalIterator(prefetchPartitions=True)
        for run, row in zip(self.runs(), found, strict=True):
            state = load(bytes(row["state"]))
            self.traffic.add(states=size_of(state))
            yield run, state

    def scatter(self, arrays: Arrays) -> SparkStates:
        """Create states from arrays with all units as first axis."""
        self.traffic.add(states=size_of(arrays))
        cut = [{name: array[run] for name, array in arrays.items()} for run in self.runs()]
        table = pa.table(
            {
                "shard": pa.array(range(len(cut)), pa.int32()),
                "state": pa.array([save(contiguous(state)) for state in cut], pa.binary()),
            }
        )
        frame = self.rows.join(broadcast(self.session.createDataFrame(table)), "shard")
        return SparkStates(frame.persist(StorageLevel.MEMORY_AND_DISK))

    def gather(self, states: SparkStates) -> dict[str, NDArray[Any]]:
        """Collect states into arrays with all units as first axis."""
        parts = [load(one) for one in collect_rows(states.rows.select("state"))["state"].to_pylist()]
        self.traffic.add(states=sum(map(size_of, parts)))
        return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}

    def close(self) -> None:
        """Free the rows; stop the Spark session if this engine started it."""
        if self._started:
            self.session.stop()
        else:
            self.rows.unpersist()


def open_spark(folder: Path, *, workers: int = 2, address: str | None = None) -> SparkEngine:
    """Open the engine over an encoded folder, which all machines of a cluster must see at the same path.

    Args:
        folder: The encoded folder.
        workers: Number of processor cores for a locally started Spark.
        address: Address of the master, such as spark://host:7077; None to start Spark on this machine.
    """
    session, started = start_spark(workers, address)
    manifest = require_manifest(folder)
    size = len(manifest.shards)
    rows = session.range(0, size, 1, max(min(session.sparkContext.defaultParallelism, size), 1))
    rows = rows.select(rows["id"].cast("int").alias("shard"))
    return SparkEngine(session, manifest, rows, FolderShards(str(folder.resolve())), started=started)


def start_spark(workers: int, address: str | None = None) -> tuple[SparkSession, bool]:
    """Return the active session or a new one, and whether it is new."""
    active = SparkSession.getActiveSession()
    if active is not None:
        return active, False
    if shutil.which("java") is None and "JAVA_HOME" not in os.environ:
        raise MissingExtraError("Spark needs Java 17 or later, which was not found. Install it, or set JAVA_HOME.")
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)  # workers use the same Python
    builder = SparkSession.builder.appName("crowdlogic").config("spark.ui.enabled", "false")
    builder = builder.config("spark.ui.showConsoleProgress", "false").config("spark.log.level", "OFF")
    if address is None:
        builder = builder.master(f"local[{workers},{MAX_ATTEMPTS}]")
        builder = builder.config("spark.driver.host", LOOPBACK).config("spark.driver.bindAddress", LOOPBACK)
        builder = builder.config("spark.python.unix.domain.socket.enabled", "true")  # 40 ms faster per step than TCP
    else:
        builder = builder.master(address)
    # Keep the partitions as created: no adaptive re-planning
    return builder.config("spark.sql.adaptive.enabled", "false").getOrCreate(), True


def _run_step(batches: Batches, *, step: Step, shards: FolderShards | RowShards, sent: Any) -> Batches:
    """Run the step on the shards of a partition, in a Spark worker."""
    parameters = {name: np.array(array) for name, array in load(sent.value).items()}
    total, with_state = None, False
    for batch in batches:
        for row in batch.to_pylist():
            counts, state = step(shards(row), parameters, load(row["state"]) if "state" in row else {})
            total = counts if total is None else add_counts(total, counts)
            with_state = with_state or bool(state)
            if state:
                yield _found(shard=row["shard"], arrays=row.get("arrays"), state=save(contiguous(state)))
    if total is not None:
        yield _found(counts=save(contiguous(total)), with_state=with_state)


def _found(*, shard: int | None = None, with_state: bool = False, **held: bytes | None) -> pa.RecordBatch:
    """Return a row of STEP_SCHEMA."""
    columns = {name: pa.array([held.get(name)], pa.binary()) for name in ("arrays", "state", "counts")}
    return pa.record_batch({"shard": pa.array([shard], pa.int32()), **columns, "with_state": pa.array([with_state])})


def _add_tables(batches: Batches) -> Batches:
    """Add up the counts of a partition."""
    total, with_state = None, False
    for batch in batches:
        for row in batch.to_pylist():
            counts = load(row["counts"])
            total = counts if total is None else add_counts(total, counts)
            with_state = with_state or row["with_state"]
    if total is not None:
        counted = pa.array([save(contiguous(total))], pa.binary())
        yield pa.record_batch({"counts": counted, "with_state": pa.array([with_state])})


def _when_gone(held: object, release: Callable[[], Any]) -> None:
    """Release Spark resources when the object is garbage-collected, but not at exit, when Spark may be gone."""
    finalize(held, _release, release).atexit = False


def _release(release: Callable[[], Any]) -> None:
    with suppress(Py4JError):  # Spark has been stopped
        release()


def _kept_shard(folder: str, at: int) -> Shard:
    """Return a shard, caching the first ones read; with cyclic access, an LRU cache would never hit."""
    if folder not in _KEPT:
        _KEPT.clear()
        _KEPT[folder] = {}
    kept = _KEPT[folder]
    if at in kept:
        return kept[at]
    shard = read_shard(Path(folder), at)
    if len(kept) < MAX_CACHED_SHARDS:
        kept[at] = shard
    return shard


def contiguous(arrays: Arrays) -> dict[str, NDArray[Any]]:
    """Return contiguous arrays, as required by safetensors."""
    return {name: np.asarray(array, order="C") for name, array in arrays.items()}


def collect_rows(frame: DataFrame) -> pa.Table:
    """Collect the rows of a small DataFrame; a failure becomes an error of one sentence."""
    try:
        return frame.toArrow()
    except PySparkException as problem:
        said = [line for line in str(problem).splitlines() if line.strip()]
        raise ResourceError(f"Spark failed: {said[-1][:200] if said else problem!r}. Run it again.") from problem
