"""Blocks of labels as plain arrays, and the two operations by which methods reach them.

    s, states = blocks.sum(step, p)      # statistics of all blocks, added in the order of the blocks
    q = blocks.concat(step, p)["q"]      # arrays by unit, collected from all blocks

A step takes one block (here: `Shard`), the parameters that all blocks share and the arrays that belong to the block's
units; it returns statistics and new arrays by unit. Engines know where the blocks are (in memory, in files, on other
machines): this module has the engine of one process, `extensions/scale` has the others. Since statistics are added in a
fixed order, the number of threads does not change the result. Convergence, checkpoints and progress are in
`truth/fitting.py`.

Axes: i unit.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path
from typing import Any, Protocol, TypeAlias, TypeVar

import numpy as np
import polars as pl
from numpy.typing import NDArray

from crowdlogic.data.corpus import Corpus
from crowdlogic.data.estimate import Estimate
from crowdlogic.data.labels import CrowdLabels, find_codes, require_whole_labels
from crowdlogic.data.names import Classes
from crowdlogic.errors import LabelError, OptionError, name_list
from crowdlogic.numerics.arrays import Bools, Floats, Ints, sum_by

# A shard: the labels of a run of units, as plain arrays that can be sent anywhere.
#
# Codes are as narrow as they can be: 16 bits where they fit, so that a pass reads few bytes per label.
#
# Axes: i unit, j annotator, n given label, s sequence.

Codes: TypeAlias = NDArray[np.integer[Any]]
"""Codes of any width."""

UNKNOWN = -1
"""In fixed[i]: the class of unit i is not known."""

NARROW = np.uint16
"""Codes up to 65,535 take two bytes."""


def _no_floats() -> Floats:
    return np.empty(0)


def _no_ints() -> Ints:
    return np.empty(0, dtype=np.int32)


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
        times: times[i], for how many units with the same labels the i-th stands; empty when each is one.
        offsets: offsets[s], the first unit of the run's s-th sequence; one entry more than there are; empty without.
    """

    first: int
    starts: Ints
    annotator: Codes
    label: Codes
    weight: Floats = field(default_factory=_no_floats)
    fixed: Ints = field(default_factory=_no_ints)
    times: Floats = field(default_factory=_no_floats)
    offsets: Ints = field(default_factory=_no_ints)

    @property
    def n_units(self) -> int:
        """Number of units of the run."""
        return len(self.starts) - 1

    @property
    def units(self) -> slice:
        """The positions of the run's units among all units."""
        return slice(self.first, self.first + self.n_units)

    @property
    def unit(self) -> Ints:
        """unit[row], counted from the first of the run."""
        return np.repeat(np.arange(self.n_units), np.diff(self.starts))

    @property
    def labelled(self) -> Bools:
        """labelled[i], whether the i-th unit has labels."""
        return np.asarray(np.diff(self.starts) > 0)

    @property
    def known(self) -> Bools:
        """known[i], whether the class of the i-th unit is known."""
        return self.fixed != UNKNOWN if len(self.fixed) else np.zeros(self.n_units, dtype=bool)

    def cells(self, n_codes: int) -> Ints:
        """Return cell[row] = annotator[row] * n_codes + label[row]."""
        return np.asarray(self.annotator.astype(np.int64) * n_codes + self.label)

    def row_weights(self) -> Floats | None:
        """Return weight[row], times the number of units that the row's unit stands for; None when all are 1."""
        weight = self.weight if len(self.weight) else None
        if not len(self.times):
            return weight
        times = np.repeat(self.times, np.diff(self.starts))
        return times if weight is None else times * weight

    def unit_sum(self, values: Floats) -> Floats:
        """Return the sum of values[i, ...] over the units that have labels, each as often as it stands for."""
        labelled = self.labelled
        if not len(self.times):
            return np.asarray(values[labelled].sum(axis=0))
        return np.asarray(self.times[labelled] @ values[labelled])

    def narrow(self) -> Shard:
        """Return the same shard with codes of 16 bits where they fit, else of 32."""
        return replace(self, annotator=narrow_codes(self.annotator), label=narrow_codes(self.label))


def narrow_codes(codes: Codes) -> Codes:
    """Return the codes in 16 bits where they fit, else in 32; the same array if it is so already."""
    if codes.dtype == NARROW:
        return codes
    fits = codes.max(initial=0) <= np.iinfo(NARROW).max
    return codes.astype(NARROW if fits else np.int32, copy=False)


def make_shard(
    unit: Ints,
    annotator: Codes,
    label: Codes,
    *,
    n_units: int,
    first: int = 0,
    weight: Floats | None = None,
    times: Floats | None = None,
) -> Shard:
    """Return a shard from columns that are sorted by unit.

    Args:
        unit: unit[row], counted from the first of the run.
        annotator: annotator[row].
        label: label[row].
        n_units: Number of units of the run.
        first: The first unit of the run among all units.
        weight: weight[row]; None when all are 1.
        times: times[i], for how many units the i-th stands; None when each is one.
    """
    counts = sum_by(unit, n_units).astype(np.int64)
    return Shard(
        first=first,
        starts=np.concatenate([[0], np.cumsum(counts)]),
        annotator=annotator,
        label=label,
        weight=_no_floats() if weight is None else weight,
        times=_no_floats() if times is None else times,
    )


Arrays: TypeAlias = Mapping[str, NDArray[Any]]
"""Arrays by name."""

State: TypeAlias = dict[str, Floats]
"""The parameters of a fit by name. They are complete: random numbers are only drawn for the first ones."""

States: TypeAlias = Any
"""Data on the units of each shard, stored with the shard; only the engine that made it can read it."""


class Step(Protocol):
    """One pass over a block: a function or a frozen dataclass of options, so that it can be sent to other processes."""

    def __call__(self, block: Shard, parameters: Arrays, state: Arrays, /) -> tuple[Arrays, Arrays]:
        """Return statistics, which are added over all blocks, and the block's new state. Arguments are not changed.

        Args:
            block: The labels of a run of units.
            parameters: Arrays that all blocks share, such as log_table[j, n, z].
            state: Arrays that belong to the block's units, such as ease[i], with the units as first axis.
        """
        ...


class Engine(Protocol):
    """Labels in blocks, wherever these are, and steps over them."""

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
        """Whether some labels are partial (`annotators/label_sums.py`)."""

    @property
    def compiled(self) -> bool | None:
        """Whether to use the compiled kernels; None decides by size."""

    def sum(self, step: Step, parameters: Arrays, states: States = None) -> tuple[Arrays, States]:
        """The counts of all shards, added in their order, and the new states; those that are given stay as they are."""

    def concat(self, step: Step, parameters: Arrays, states: States = None) -> Arrays:
        """Return the new states of all blocks as arrays with all units as first axis."""

    def stream(self, step: Step, parameters: Arrays, states: States = None) -> Iterator[tuple[slice, Arrays]]:
        """Return the new state of each shard, and which units it is of; in the order of the units."""

    def scatter(self, arrays: Arrays) -> States:
        """Return states from arrays with all units as first axis."""

    def gather(self, states: States) -> Arrays:
        """Return arrays with all units as first axis from states."""

    def digest(self) -> str:
        """Return a fingerprint of the labels, by which a checkpoint knows its fit."""


def add_counts(total: Arrays, more: Arrays) -> dict[str, NDArray[Any]]:
    """Return the counts of two shards together."""
    return {name: np.asarray(total[name] + more[name]) for name in total}


# Fingerprints of what a fit depends on: two fits with the same digests take the same steps.

SIZE = 16
"""Bytes of a digest."""

NOTHING = "none"
"""The digest of something that was not given."""


def digest(*parts: Any) -> str:
    """Return a short digest of arrays, names, texts and whatever JSON can hold."""
    made = hashlib.blake2b(digest_size=SIZE)
    for part in parts:
        kind, content = _part_bytes(part)
        made.update(f"{kind} {len(content)} ".encode())
        made.update(content)
    return made.hexdigest()


def _part_bytes(part: Any) -> tuple[str, bytes | memoryview]:
    """Return the kind of a part, and its bytes."""
    if isinstance(part, np.ndarray):
        return f"{part.dtype.str}{part.shape}", np.ascontiguousarray(part).reshape(-1).view(np.uint8).data
    if isinstance(part, pl.Series):
        return "names", json.dumps(part.to_list()).encode()
    return "json", json.dumps(part, sort_keys=True).encode()


def file_digest(path: Path) -> str:
    """Return a digest of the bytes of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, lambda: hashlib.blake2b(digest_size=SIZE)).hexdigest()


def labels_digest(labels: CrowdLabels) -> str:
    """Return the digest of labels: items, annotators, labels and the order of the classes."""
    codes = (labels.unit, labels.annotator, labels.label, labels.weight, labels.offsets, *_partial(labels))
    return digest(*codes, labels.items, labels.annotators, labels.classes)


def _partial(labels: CrowdLabels) -> tuple[Bools, ...]:
    """Return which labels are partial, where there are any."""
    return () if labels.negated is None else (labels.negated,)


def corpus_digest(corpus: Corpus | None) -> str:
    """Return the digest of a corpus: items, texts or features, and gold."""
    if corpus is None:
        return NOTHING
    seen = (corpus.texts, corpus.tokens, corpus.offsets, corpus.features)
    return digest(corpus.items, *seen, corpus.classes, corpus.gold)


def fit_digest(
    method: Any,
    labels: CrowdLabels,
    *,
    start: Estimate | None = None,
    anchors: Mapping[Any, Any] | None = None,
    corpus: Corpus | None = None,
) -> str:
    """Inputs of a fit of a truth method: its options, the labels, its start, known truths and words."""
    return digest(
        repr(method),
        [str(name) for name in labels.classes],
        sorted((str(item), str(truth)) for item, truth in (anchors or {}).items()),
        None if corpus is None else corpus.tokens,
        *(labels.unit, labels.annotator, labels.label, labels.weight, labels.offsets, *_partial(labels)),
        None if start is None else start.beliefs,
    )


# Labels in shards, in this process: the engine of one machine, in threads.
#
# A table in memory is one shard, or one per thread; a coded folder is read shard by shard, one per thread at a time
# (`extensions/scale/coded_files.py`). Shards are cut between units and between sequences, never inside one.
#
# Axes: i unit, j annotator, n given label.

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
        partial: Whether some labels are partial (`annotators/label_sums.py`).
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
        """Return the counts of all shards, added in their order, and the new states."""
        total: Arrays | None = None
        kept = []
        for counts, state in self._each(lambda at: step(self.parts[at], parameters, states[at] if states else {})):
            total = counts if total is None else add_counts(total, counts)
            kept.append(state)
        return total or {}, tuple(kept)

    def concat(self, step: Step, parameters: Arrays, states: LocalStates | None = None) -> Arrays:
        """Return the new states of all blocks as arrays with all units as first axis."""
        return self.gather(self.sum(step, parameters, states)[1])

    def stream(
        self, step: Step, parameters: Arrays, states: LocalStates | None = None
    ) -> Iterator[tuple[slice, Arrays]]:
        """Yield the new state of each shard, and which units it is of; in the order of the units."""

        def work(at: int) -> tuple[slice, Arrays]:
            shard = self.parts[at]
            return shard.units, step(shard, parameters, states[at] if states else {})[1]

        yield from self._each(work)

    def scatter(self, arrays: Arrays) -> LocalStates:
        """Return states from arrays with all units as first axis, without a copy."""
        return tuple({name: array[units] for name, array in arrays.items()} for units in self._runs())

    def gather(self, states: LocalStates) -> dict[str, NDArray[Any]]:
        """Return arrays with all units as first axis from states."""
        if len(states) == 1:
            return dict(states[0])
        return {name: np.concatenate([state[name] for state in states]) for name in states[0]}

    def digest(self) -> str:
        """Return a fingerprint of the labels."""
        columns = ("starts", "annotator", "label", "weight", "fixed", "times")
        own = self.fingerprint or digest(*(getattr(part, name) for part in self.parts[:] for name in columns))
        return digest(own, [str(name) for name in self.classes], self.n_units, self.n_annotators)

    def _runs(self) -> list[slice]:
        """Return the units of each shard, without reading any that is on disk."""
        known: Callable[[], list[slice]] | None = getattr(self.parts, "runs", None)
        return [part.units for part in self.parts] if known is None else known()

    def _each(self, work: Callable[[int], Result]) -> Iterator[Result]:
        """Yield work(0), work(1), ... in this order; several at once where there are threads, but never far ahead."""
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
    """Return a table in memory as one shard per thread, without a copy of its columns where they are short.

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
        raise OptionError(f"threads must be at least 1, got {threads}.")
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
    """Return where to cut: before a unit (or a sequence), nearest to an equal number of labels per part."""
    goals = np.linspace(0, labels.n_labels, parts + 1)[1:-1]
    if labels.offsets is None:
        return [0, *np.searchsorted(starts, goals).tolist(), labels.n_units]
    before = np.searchsorted(starts[labels.offsets], goals)
    return [0, *labels.offsets[before].tolist(), labels.n_units]


def _cut(labels: CrowdLabels, starts: Ints, fixed: Ints, begin: int, end: int) -> Shard:
    """Return the shard of some units."""
    rows, offsets = slice(int(starts[begin]), int(starts[end])), np.empty(0, dtype=np.int64)
    if labels.offsets is not None:  # those of the sequences among the units, counted from the first of these
        offsets = labels.offsets[(labels.offsets >= begin) & (labels.offsets <= end)] - begin
    label = labels.label[rows]
    if labels.negated is not None:
        label = np.asarray(label + np.int32(labels.n_classes) * labels.negated[rows], dtype=np.int32)
    shard = Shard(
        first=begin,
        starts=starts[begin : end + 1] - starts[begin],
        annotator=labels.annotator[rows],
        label=label,
        weight=np.empty(0) if labels.weight is None else labels.weight[rows],
        fixed=fixed[begin:end],
        offsets=offsets,
    )
    return shard.narrow() if len(shard.label) >= FEW_ROWS else shard


FEW_ROWS = 10_000
"""Below this many rows narrower codes save nothing."""


def anchor_classes(labels: CrowdLabels, anchors: Mapping[Any, Any] | None) -> Ints:
    """Return fixed[i] from gold items by name: a class for a document, the tags of all tokens for a sequence."""
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
            code = class_code.get(name, class_code.get(str(name)))  # 1 and '1' name the same class
            if code is None:
                raise LabelError(
                    f"The anchor of item {labels.items[int(item)]!r} is {name!r}, which is not among the classes "
                    f"{name_list(labels.classes)}. Correct the anchor, or add the class to the classes of the labels."
                )
            fixed[at] = code
    return fixed
