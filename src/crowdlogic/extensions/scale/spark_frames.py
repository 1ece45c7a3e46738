"""Conversion of Spark DataFrames: labels to shards and results to a DataFrame of answers, all within Spark.

The frame is partitioned by item; each partition becomes one row with its shard (as safetensors) and the names of its
items (as Arrow). The names of annotators and classes are collected, since every worker needs them; items never are.

Axes: i unit, k class.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from itertools import accumulate
from typing import Any

import numpy as np
import pyarrow as pa
from pyspark import StorageLevel, TaskContext
from pyspark.sql import DataFrame
from pyspark.sql.functions import col
from safetensors.numpy import load, save

from crowdlogic.data.blocks import Arrays, Step, make_shard
from crowdlogic.data.names import Classes, sort_classes
from crowdlogic.errors import LabelError, name_list
from crowdlogic.extensions.scale.coded_files import Manifest, ShardSize
from crowdlogic.extensions.scale.patterns import LongColumns
from crowdlogic.extensions.scale.spark import (
    Batches,
    RowShards,
    SparkEngine,
    SparkStates,
    collect_rows,
    contiguous,
)

PARTITION_SCHEMA = "shard int, units long, labels long, conflict string, arrays binary, items binary"
"""Schema of a partition: its shard, and a message about a contradictory label if there is one."""


@dataclass(frozen=True, eq=False, kw_only=True)
class FrameLabels:
    """Encoded labels of a DataFrame.

    Attributes:
        engine: The engine over the shards.
        coded: A cached data frame with a row for each shard: its arrays and the names of its items.
        annotators: Names of the annotators.
        item_type: Type of the items in Spark's notation.
    """

    engine: SparkEngine
    coded: DataFrame
    annotators: Sequence[str]
    item_type: str


def code_frame(frame: DataFrame, columns: LongColumns, *, classes: Sequence[Any] | None = None) -> FrameLabels:
    """Encode the labels of a long DataFrame as shards; null labels are skipped.

    Args:
        frame: One row per label.
        columns: Columns for the item, the annotator and the label.
        classes: The classes, in the order used to break ties; by default, the sorted labels.
    """
    picked = frame.select(
        col(columns.item).alias("item"),
        col(columns.annotator).cast("string").alias("annotator"),
        col(columns.label).cast("string").alias("label"),
    ).dropna()
    annotators = sorted(collect_rows(picked.select("annotator").distinct())["annotator"].to_pylist())
    found = collect_rows(picked.select("label").distinct())["label"].to_pylist()
    named = sort_classes(found) if classes is None else tuple(str(name) for name in classes)
    _require_classes(found, named)
    session = frame.sparkSession
    work = partial(_code_partition, annotators=pa.array(annotators, pa.string()), classes=pa.array(named, pa.string()))
    size = session.sparkContext.defaultParallelism
    coded = picked.repartition(size, "item").mapInArrow(work, PARTITION_SCHEMA).persist(StorageLevel.MEMORY_AND_DISK)
    manifest = Manifest(n_annotators=len(annotators), classes=named, shards=_sizes(coded))
    engine = SparkEngine(session, manifest, coded.select("shard", "arrays"), RowShards())
    item_type = dict(picked.dtypes)["item"]
    return FrameLabels(engine=engine, coded=coded, annotators=annotators, item_type=item_type)


def _require_classes(found: Sequence[str], classes: Classes) -> None:
    unknown = sorted(set(found) - set(classes))
    if unknown:
        raise LabelError(
            f"the frame: the label {unknown[0]!r} is not one of the classes {name_list(classes)}. Correct it, or "
            f"add it to the classes."
        )


def _sizes(coded: DataFrame) -> tuple[ShardSize, ...]:
    """Return the size of each shard; raise an error if an annotator gave an item two different labels."""
    rows = collect_rows(coded.select("units", "labels", "conflict")).to_pylist()
    for row in rows:
        if row["conflict"] is not None:
            raise LabelError(f"the frame: {row['conflict']} differently. Keep one label each.")
    sizes = [(row["units"], row["labels"]) for row in rows]
    firsts = accumulate((units for units, _ in sizes), initial=0)
    return tuple(
        ShardSize(first=first, units=units, labels=given)
        for first, (units, given) in zip(firsts, sizes, strict=False)  # the last one is the end
    )


def _code_partition(batches: Batches, *, annotators: pa.Array, classes: pa.Array) -> Batches:
    """Encode the labels of a partition as one, possibly empty, shard, in a Spark worker."""
    import pyarrow.compute as pc

    context = TaskContext.get()
    rows = list(batches)
    table = pa.Table.from_batches(rows).combine_chunks() if rows else None
    if table is None or not len(table):
        yield _coded_row(context, arrays=save(_shard_arrays(*(np.empty(0, dtype=np.int64),) * 3, 0)), items=b"")
        return
    names = pc.unique(table["item"])
    unit = pc.index_in(table["item"], names).to_numpy().astype(np.int64)
    annotator = pc.index_in(table["annotator"], annotators).to_numpy().astype(np.int64)
    label = pc.index_in(table["label"], classes).to_numpy().astype(np.int64)
    kept, conflict = _deduplicate(unit, annotator, label)
    said = None
    if conflict is not None:
        who, what = annotators[int(annotator[conflict])], names[int(unit[conflict])]
        said = f"annotator {who.as_py()!r} labelled item {what.as_py()!r} twice"
    arrays = save(_shard_arrays(unit[kept], annotator[kept], label[kept], len(names)))
    yield _coded_row(context, arrays=arrays, items=_pack(names), units=len(names), labels=len(kept), conflict=said)


def _deduplicate(unit: Any, annotator: Any, label: Any) -> tuple[Any, int | None]:
    """Return the rows to keep, sorted by unit and annotator, and a contradictory row or None."""
    order = np.lexsort((label, annotator, unit))
    unit, annotator, label = unit[order], annotator[order], label[order]
    again = np.concatenate([[False], (unit[1:] == unit[:-1]) & (annotator[1:] == annotator[:-1])])
    differs = again & np.concatenate([[False], label[1:] != label[:-1]])
    return order[~again], int(order[np.flatnonzero(differs)[0]]) if differs.any() else None


def _shard_arrays(unit: Any, annotator: Any, label: Any, n_units: int) -> dict[str, Any]:
    shard = make_shard(unit, annotator, label, n_units=n_units).narrow()
    return {name: getattr(shard, name) for name in ("starts", "annotator", "label")}


def _coded_row(
    context: Any, *, arrays: bytes, items: bytes, units: int = 0, labels: int = 0, conflict: str | None = None
) -> pa.RecordBatch:
    shard = 0 if context is None else context.partitionId()
    columns = {"shard": pa.array([shard], pa.int32()), "units": pa.array([units]), "labels": pa.array([labels])}
    columns |= {"conflict": pa.array([conflict], pa.string()), "arrays": pa.array([arrays], pa.binary())}
    return pa.record_batch(columns | {"items": pa.array([items], pa.binary())})


def _pack(names: pa.Array) -> bytes:
    """Serialise names as an Arrow stream."""
    sink = pa.BufferOutputStream()
    batch = pa.record_batch({"item": names})
    with pa.ipc.new_stream(sink, batch.schema) as writer:
        writer.write_batch(batch)
    return bytes(sink.getvalue())


def answer_frame(labels: FrameLabels, step: Step, parameters: Arrays, states: SparkStates | None) -> DataFrame:
    """Return a lazy DataFrame with item, label, confidence and p_<class>, computed by the workers.

    Args:
        labels: The labels.
        step: The step whose new state contains q[i, k] and optionally answered[i].
        parameters: Parameters of the step.
        states: States for the step; None without states.
    """
    classes = labels.engine.classes
    rows = labels.coded.select("shard", "arrays", "items")
    if states is not None:
        rows = rows.join(states.rows.select("shard", "state"), "shard")
    sent = labels.engine.session.sparkContext.broadcast(save(contiguous(parameters)))
    columns = [f"item {labels.item_type}", "label string", "confidence double"]
    columns += [f"`p_{str(name).replace('`', '``')}` double" for name in classes]
    return rows.mapInArrow(partial(_answer_partition, step=step, sent=sent, classes=classes), ", ".join(columns))


def _answer_partition(batches: Batches, *, step: Step, sent: Any, classes: Classes) -> Batches:
    parameters = {name: np.array(array) for name, array in load(sent.value).items()}
    for batch in batches:
        for row in batch.to_pylist():
            if not row["items"]:
                continue
            names = pa.ipc.open_stream(row["items"]).read_all()["item"].combine_chunks()
            state = step(RowShards()(row), parameters, load(row["state"]) if row.get("state") else {})[1]
            yield _answers(names, state, classes)


def _answers(names: pa.Array, state: Arrays, classes: Classes) -> pa.RecordBatch:
    q = state["q"]
    best, texts = q.argmax(axis=1), pa.array([str(name) for name in classes], pa.string())
    answered = state.get("answered", np.ones(len(q), dtype=bool))
    columns = {"item": names, "label": texts.take(pa.array(best, mask=~answered))}
    columns["confidence"] = pa.array(q.max(axis=1, initial=0.0), mask=~answered)
    return pa.record_batch(columns | {f"p_{name}": pa.array(q[:, k]) for k, name in enumerate(classes)})
