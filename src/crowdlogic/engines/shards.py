"""Labels in shards, in this process: the engine of one machine, in threads.

A table in memory is one shard, or one per thread; a coded folder is read shard by shard, of which one per thread is in
memory at a time (`engines/coded.py`). Shards are cut between units, and between sequences: none is in two of them.

Axes: i unit, j annotator, n given label.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from crowdlogic.data.labels import CrowdLabels, find_codes, require_whole_labels
from crowdlogic.data.names import Classes
from crowdlogic.engines.engine import Arrays, Step, add_counts
from crowdlogic.engines.shard import UNKNOWN, Shard
from crowdlogic.errors import LabelError, OptionError, name_list
from crowdlogic.numerics.arrays import Ints
from crowdlogic.store.digests import digest

Result = TypeVar("Result")

LocalStates = tuple[Arrays, ...]
"""The state of each shard, in their order."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Shards:
    """A table of labels, part by part: the `Engine` of this process.

    Attributes:
        parts: The shards, in the order of their units; each is asked for once per sweep, so they may be read on demand.
        n_units: Number of units in all.
        n_annotators: Number of annotators.
        classes: The classes.
        n_labels: Number of labels in all.
        threads: Number of shards processed at once.
        compiled: Whether to use the compiled kernels; None decides by size.
        partial: Whether some labels are partial (`engines/complements.py`).
        fingerprint: A fingerprint of the labels where it is known already; else it is taken from the shards.
    """

    parts: Sequence[Shard]
    n_units: int
    n_annotators: int
    classes: Classes
    n_labels: int
    threads: int = 1
    compiled: bool | None = None
    partial: bool = False
    fingerprint: str = field(default="", repr=False)

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
        return list(self._each(lambda at: work(self.parts[at])))

    def sum(self, step: Step, parameters: Arrays, states: LocalStates | None = None) -> tuple[Arrays, LocalStates]:
        """The counts of all shards, added in their order, and the new states."""
        total: Arrays | None = None
        kept = []
        for counts, state in self._each(lambda at: step(self.parts[at], parameters, states[at] if states else {})):
            total = counts if total is None else add_counts(total, counts)
            kept.append(state)
        return total or {}, tuple(kept)

    def stream(
        self, step: Step, parameters: Arrays, states: LocalStates | None = None
    ) -> Iterator[tuple[slice, Arrays]]:
        """The new state of each shard, and which units it is of; in the order of the units."""

        def work(at: int) -> tuple[slice, Arrays]:
            shard = self.parts[at]
            return shard.units, step(shard, parameters, states[at] if states else {})[1]

        yield from self._each(work)

    def scatter(self, arrays: Arrays) -> LocalStates:
        """States from arrays with all units as first axis, without a copy."""
        return tuple({name: array[units] for name, array in arrays.items()} for units in self._runs())

    def gather(self, states: LocalStates) -> dict[str, NDArray[Any]]:
        """Arrays with all units as first axis from states."""
        if len(states) == 1:
            return dict(states[0])
        return {name: np.concatenate([state[name] for state in states]) for name in states[0]}

    def digest(self) -> str:
        """A fingerprint of the labels."""
        columns = ("starts", "annotator", "label", "weight", "fixed", "times")
        own = self.fingerprint or digest(*(getattr(part, name) for part in self.parts[:] for name in columns))
        return digest(own, [str(name) for name in self.classes], self.n_units, self.n_annotators)

    def _runs(self) -> list[slice]:
        """The units of each shard, without reading any that is on disk."""
        known: Callable[[], list[slice]] | None = getattr(self.parts, "runs", None)
        return [part.units for part in self.parts] if known is None else known()

    def _each(self, work: Callable[[int], Result]) -> Iterator[Result]:
        """work(0), work(1), ... in this order; several at once where there are threads, but never far ahead."""
        size = len(self.parts)
        if self.threads == 1 or size == 1:
            yield from map(work, range(size))
            return
        with ThreadPoolExecutor(self.threads) as pool:
            ahead = [pool.submit(work, at) for at in range(min(self.threads, size))]
            for following in range(len(ahead), size + len(ahead)):
                yield ahead.pop(0).result()
                if following < size:
                    ahead.append(pool.submit(work, following))


MANY = 1_000_000
"""From this many labels on, two threads work unless another number is given."""


def make_shards(
    labels: CrowdLabels,
    *,
    threads: int | None = None,
    anchors: Mapping[Any, Any] | None = None,
    compiled: bool | None = None,
    partial: bool = False,
) -> Shards:
    """A table in memory as one shard per thread, without a copy of its columns where they are short.

    Args:
        labels: The labels.
        threads: Number of threads; None for two from a million labels on, else one.
        anchors: item -> true class.
        compiled: Whether to use the compiled kernels.
        partial: Whether the caller can take partial labels; without it they are refused.
    """
    if not partial:
        require_whole_labels(labels, "This method")
    if threads is None:
        threads = 2 if labels.n_labels >= MANY else 1
    if threads < 1:
        raise OptionError(f"threads must be 1 or more, not {threads}.")
    starts = np.concatenate([[0], np.cumsum(labels.labels_per_unit())])
    fixed = anchor_classes(labels, anchors)
    cuts = pairwise(_cuts(labels, starts, threads))
    return Shards(
        parts=[_cut(labels, starts, fixed, begin, end) for begin, end in cuts],
        n_units=labels.n_units,
        n_annotators=len(labels.annotators),
        classes=labels.classes,
        n_labels=labels.n_labels,
        threads=threads,
        compiled=compiled,
        partial=labels.negated is not None,
    )


def _cuts(labels: CrowdLabels, starts: Ints, parts: int) -> list[int]:
    """Where to cut: before a unit (or a sequence), nearest to an equal number of labels per part."""
    goals = np.linspace(0, labels.n_labels, parts + 1)[1:-1]
    if labels.offsets is None:
        return [0, *np.searchsorted(starts, goals).tolist(), labels.n_units]
    before = np.searchsorted(starts[labels.offsets], goals)
    return [0, *labels.offsets[before].tolist(), labels.n_units]


def _cut(labels: CrowdLabels, starts: Ints, fixed: Ints, begin: int, end: int) -> Shard:
    rows = slice(int(starts[begin]), int(starts[end]))
    shard = Shard(
        first=begin,
        starts=starts[begin : end + 1] - starts[begin],
        annotator=labels.annotator[rows],
        label=labels.label[rows] if labels.negated is None else _complement_codes(labels, rows),
        weight=np.empty(0) if labels.weight is None else labels.weight[rows],
        fixed=fixed[begin:end],
        offsets=_sequences(labels, begin, end),
    )
    return shard.narrow() if len(shard.label) >= FEW_ROWS else shard


FEW_ROWS = 10_000
"""Below this many rows narrower codes save nothing."""


def _sequences(labels: CrowdLabels, begin: int, end: int) -> Ints:
    """offsets[s] of the sequences among some units, counted from the first of these; empty for documents."""
    if labels.offsets is None:
        return np.empty(0, dtype=np.int64)
    inside = (labels.offsets >= begin) & (labels.offsets <= end)
    return np.asarray(labels.offsets[inside] - begin)


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
