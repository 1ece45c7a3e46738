"""Labels in shards: the statistics of every method are sums over labels, so they can be taken part by part.

A table in memory is one shard, or one per thread; a Parquet file is read in shards of a million labels, of which one
per thread is in memory at a time. Shards are cut between units: no unit is in two of them.

Axes: i unit, j annotator, n given label.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, TypeVar

import numpy as np

from crowdlogic.data.labels import CrowdLabels, find_codes, require_whole_labels
from crowdlogic.data.names import Classes
from crowdlogic.errors import LabelError, OptionError, name_list
from crowdlogic.numerics.arrays import Floats, Ints

Result = TypeVar("Result")

UNKNOWN = -1
"""In fixed[i]: the class of unit i is not known."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Shard:
    """The labels of a run of units.

    Attributes:
        first: The first unit of the run.
        starts: starts[i], the first row of the run's i-th unit; one entry more than there are units.
        annotator: annotator[row].
        label: label[row]; with partial labels, "not n" is the code n + the number of classes.
        weight: weight[row]; empty when all are 1.
        fixed: fixed[i], the class that a unit is known to be of, or UNKNOWN; empty when none is known.
    """

    first: int
    starts: Ints
    annotator: Ints
    label: Ints
    weight: Floats
    fixed: Ints

    @property
    def units(self) -> slice:
        """The positions of the run's units among all units."""
        return slice(self.first, self.first + len(self.starts) - 1)


@dataclass(frozen=True, eq=False, kw_only=True)
class Shards:
    """A table of labels, part by part.

    Attributes:
        parts: The shards, in the order of their units; each is asked for once per sweep, so they may be read on demand.
        n_units: Number of units in all.
        n_annotators: Number of annotators.
        classes: The classes.
        n_labels: Number of labels in all.
        threads: Number of shards processed at once.
        compiled: Whether to use the compiled kernels; None decides by size.
        partial: Whether some labels are partial (`engines/complements.py`).
    """

    parts: Sequence[Shard]
    n_units: int
    n_annotators: int
    classes: Classes
    n_labels: int
    threads: int = 1
    compiled: bool | None = None
    partial: bool = False

    @property
    def n_codes(self) -> int:
        """Number of codes that labels have: the classes and, with partial labels, their complements."""
        return 2 * len(self.classes) if self.partial else len(self.classes)

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return len(self.classes)

    def map(self, work: Callable[[Shard], Result]) -> list[Result]:
        """Apply a function to each shard; the results in the order of the shards."""
        if self.threads == 1 or len(self.parts) == 1:
            return [work(self.parts[at]) for at in range(len(self.parts))]
        with ThreadPoolExecutor(self.threads) as pool:
            return list(pool.map(lambda at: work(self.parts[at]), range(len(self.parts))))


def make_shards(
    labels: CrowdLabels,
    *,
    threads: int = 1,
    anchors: Mapping[Any, Any] | None = None,
    compiled: bool | None = None,
    partial: bool = False,
) -> Shards:
    """A table in memory as one shard per thread, without a copy of its columns.

    Args:
        labels: The labels.
        threads: Number of threads.
        anchors: item -> true class.
        compiled: Whether to use the compiled kernels.
        partial: Whether the caller can take partial labels; without it they are refused.
    """
    if not partial:
        require_whole_labels(labels, "This method")
    if threads < 1:
        raise OptionError(f"threads must be 1 or more, not {threads}.")
    starts = np.concatenate([[0], np.cumsum(labels.labels_per_unit())])
    fixed = anchor_classes(labels, anchors)
    # Cut where a unit begins, nearest to an equal number of labels per thread
    goals = np.linspace(0, labels.n_labels, threads + 1)[1:-1]
    cuts = [0, *np.searchsorted(starts, goals).tolist(), labels.n_units]
    parts = [_cut(labels, starts, fixed, begin, end) for begin, end in pairwise(cuts)]
    return Shards(
        parts=parts,
        n_units=labels.n_units,
        n_annotators=len(labels.annotators),
        classes=labels.classes,
        n_labels=labels.n_labels,
        threads=threads,
        compiled=compiled,
        partial=labels.negated is not None,
    )


def _cut(labels: CrowdLabels, starts: Ints, fixed: Ints, begin: int, end: int) -> Shard:
    rows = slice(int(starts[begin]), int(starts[end]))
    return Shard(
        first=begin,
        starts=starts[begin : end + 1] - starts[begin],
        annotator=labels.annotator[rows],
        label=labels.label[rows] if labels.negated is None else _complement_codes(labels, rows),
        weight=np.empty(0) if labels.weight is None else labels.weight[rows],
        fixed=fixed[begin:end],
    )


def _complement_codes(labels: CrowdLabels, rows: slice) -> Ints:
    """label[row], and label[row] + K where it says "not this class"."""
    negated = np.zeros(0, dtype=bool) if labels.negated is None else labels.negated[rows]
    return np.asarray(labels.label[rows] + np.int32(labels.n_classes) * negated, dtype=np.int32)


def anchor_classes(labels: CrowdLabels, anchors: Mapping[Any, Any] | None) -> Ints:
    """fixed[i] from gold items by name: a class for a document, the tags of all tokens for a sequence."""
    if not anchors:
        return np.empty(0, dtype=np.int32)
    fixed = np.full(labels.n_units, UNKNOWN, dtype=np.int32)
    class_code = {name: k for k, name in enumerate(labels.classes)}
    class_code |= {str(name): k for k, name in enumerate(labels.classes)}
    for item, given in zip(find_codes(anchors, labels.items, "item"), anchors.values(), strict=True):
        begin, end = (item, item + 1) if labels.offsets is None else labels.offsets[[item, item + 1]]
        names = [given] if labels.offsets is None else list(given)
        if len(names) != end - begin:
            raise LabelError(
                f"The anchor of {labels.items[int(item)]!r} has {len(names)} tags for {end - begin} tokens. "
                f"Give one tag per token."
            )
        for at, name in zip(range(begin, end), names, strict=True):
            if name is None:  # a token whose truth is not known
                continue
            if name not in class_code:
                raise LabelError(
                    f"The anchor of item {labels.items[int(item)]!r} is {name!r}, which is not among the classes "
                    f"{name_list(labels.classes)}. Correct the anchor, or add the class to the classes of the labels."
                )
            fixed[at] = class_code[name]
    return fixed
