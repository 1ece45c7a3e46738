"""The same labels in other shards."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np

from crowdlogic.data.blocks import Shard, Shards, make_shards
from crowdlogic.data.labels import CrowdLabels


def cut_at(labels: CrowdLabels, cuts: list[int], *, compiled: bool | None = None, threads: int = 1) -> Shards:
    """Labels in shards that begin at some units; shards may be empty."""
    whole = make_shards(labels, threads=1, compiled=compiled, partial=True)
    bounds = [0, *sorted(min(cut, labels.n_units) for cut in cuts), labels.n_units]
    parts = [take_units(whole.parts[0], begin, end) for begin, end in pairwise(bounds)]
    return replace(whole, parts=parts, threads=threads)


def take_units(shard: Shard, begin: int, end: int) -> Shard:
    """The shard of some of its units."""
    rows = slice(int(shard.starts[begin]), int(shard.starts[end]))
    return replace(
        shard,
        first=shard.first + begin,
        starts=shard.starts[begin : end + 1] - shard.starts[begin],
        annotator=shard.annotator[rows],
        label=shard.label[rows],
        weight=shard.weight[rows],
        fixed=shard.fixed[begin:end],
        times=shard.times[begin:end],
    )


def as_patterns(labels: CrowdLabels) -> tuple[Shards, np.ndarray]:
    """Units with the same labels as one that stands for them all; and which of these each unit is."""
    whole = make_shards(labels, threads=1).parts[0]
    keys = [
        tuple(zip(whole.annotator[begin:end].tolist(), whole.label[begin:end].tolist(), strict=True))
        for begin, end in pairwise(whole.starts.tolist())
    ]
    known = {key: at for at, key in enumerate(dict.fromkeys(keys))}
    pattern = np.array([known[key] for key in keys])
    shard = Shard(
        first=0,
        starts=np.concatenate([[0], np.cumsum([len(key) for key in known])]),
        annotator=np.array([j for key in known for j, _ in key], dtype=np.int32),
        label=np.array([n for key in known for _, n in key], dtype=np.int32),
        times=np.bincount(pattern).astype(np.float64),
    )
    engine = replace(make_shards(labels, threads=1), parts=[shard], n_units=len(known))
    return engine, pattern
