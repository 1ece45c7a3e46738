"""Blocks of labels as plain arrays, and the operations by which methods access them.

    s, states = blocks.sum(step, p)      # statistics, summed over all blocks in order
    q = blocks.concat(step, p)["q"]      # arrays by unit, collected from all blocks

A step takes one block (here: `Shard`), parameters shared by all blocks, and the state of the block's units; it returns
statistics and a new state. Engines hold the blocks (in memory, in files, on other machines): this module contains the
engine for one process, `extensions/scale` the others. Since statistics are added in a fixed order, the number of
threads does not change the result. Convergence, checkpoints and progress are in `truth/fitting.py`.

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

# A shard contains the labels of consecutive units as plain arrays, which can be sent to other processes.
#
# Codes have 16 bits if possible, so that a pass reads few bytes per label.
#
# Axes: i unit, j annotator, n given label, s sequence.

Codes: TypeAlias = NDArray[np.integer[Any]]
"""Codes of any width."""

UNKNOWN = -1
"""Value of fixed[i] if the class of unit i is unknown."""

NARROW = np.uint16
"""Codes up to 65,535 take two bytes."""


def _no_floats() -> Floats:
    return np.empty(0)


def _no_ints() -> Ints:
    return np.empty(0, dtype=np.int32)


@dataclass(frozen=True, eq=False, kw_only=True)
class Shard:
    """Labels of consecutive units.

    Attributes:
        first: The first unit.
        starts: starts[i], the first row of the i-th unit; one entry more than there are units.
        annotator: annotator[row].
        label: label[row]; with partial labels, "not n" is the code n + the number of classes.
        weight: weight[row]; empty if all are 1.
        fixed: fixed[i], the known class of the i-th unit, or UNKNOWN; empty if none is known.
        times: times[i], the number of units with equal labels that the i-th unit represents; empty if all are 1.
        offsets: offsets[s], the first unit of the s-th sequence, and the end; empty for documents.
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
        """Number of units."""
        return len(self.starts) - 1

    @property
    def units(self) -> slice:
        """Positions of these units among all units."""
        return slice(self.first, self.first + self.n_units)

    @property
    def unit(self) -> Ints:
        """unit[row], counted from the first unit of the shard."""
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
        """Return weight[row], times the number of units that the row's unit represents; None if all are 1."""
        weight = self.weight if len(self.weight) else None
        if not len(self.times):
            return weight
        times = np.repeat(self.times, np.diff(self.starts))
        return times if weight is None else times * weight

    def unit_sum(self, values: Floats) -> Floats:
        """Return the sum of values[i, ...] over the units with labels, multiplied by times[i]."""
        labelled = self.labelled
        if not len(self.times):
            return np.asarray(values[labelled].sum(axis=0))
        return np.asarray(self.times[labelled] @ values[labelled])

    def narrow(self) -> Shard:
        """Return the same shard with codes of 16 bits if they fit, otherwise of 32 bits."""
        return replace(self, annotator=narrow_codes(self.annotator), label=narrow_codes(self.label))


def narrow_codes(codes: Codes) -> Codes:
    """Return the codes in 16 bits if they fit, otherwise in 32; the same array if nothing changes."""
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
    """Create a shard from columns that are sorted by unit.

    Args:
        unit: unit[row], counted from the first unit of the shard.
        annotator: annotator[row].
        label: label[row].
        n_units: Number of units.
        first: Position of the first unit among all units.
        weight: weight[row]; None if all are 1.
        times: times[i], the number of units that the i-th unit represents; None if all are 1.
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
"""Parameters of a fit by name. They determine the rest of the fit: only the initial parameters are random."""

States: TypeAlias = Any
"""State of the units of each shard, stored with the shard; only its engine can read it."""


class Step(Protocol):
    """Protocol for one pass over a block: a function, or a frozen dataclass of options that is sent to processes."""

    def __call__(self, block: Shard, parameters: Arrays, state: Arrays, /) -> tuple[Arrays, Arrays]:
        """Return statistics, which are summed over all blocks, and the block's new state. Arguments are not changed.

        Args:
            block: Labels of consecutive units.
            parameters: Arrays shared by all blocks, such as log_table[j, n, z].
            state: Arrays of the block's units, such as ease[i], with units as first axis.
        """
        ...


class Engine(Protocol):
    """Protocol for engines: labels in blocks, in any location, and steps over them."""

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
        """Number of label codes: the classes and, with partial labels, their complements."""

    @property
    def partial(self) -> bool:
        """Whether some labels are partial (`annotators/label_sums.py`)."""

    @property
    def compiled(self) -> bool | None:
        """Whether to use the compiled kernels; None decides by size."""

    def sum(self, step: Step, parameters: Arrays, states: States = None) -> tuple[Arrays, States]:
        """Return the counts of all shards, summed in order, and the new states; the given states do not change."""

    def concat(self, step: Step, parameters: Arrays, states: States = None) -> Arrays:
        """Return the new states of all blocks as arrays with all units as first axis."""

    def stream(self, step: Step, parameters: Arrays, states: States = None) -> Iterator[tuple[slice, Arrays]]:
        """Yield the new state of each shard and its units, in the order of the units."""

    def scatter(self, arrays: Arrays) -> States:
        """Create states from arrays with all units as first axis."""

    def gather(self, states: States) -> Arrays:
        """Collect states into arrays with all units as first axis."""

    def digest(self) -> str:
        """Return a fingerprint of the labels, which identifies the fit of a checkpoint."""


def add_counts(total: Arrays, more: Arrays) -> dict[str, NDArray[Any]]:
    """Return the sum of the counts of two shards."""
    return {name: np.asarray(total[name] + more[name]) for name in total}


# Fingerprints of the inputs of a fit: fits with equal digests have equal results.

SIZE = 16
"""Length of a digest in bytes."""

NOTHING = "none"
"""Digest of a missing input."""


def digest(*parts: Any) -> str:
    """Return a short digest of arrays, names, and values that can be written as JSON."""
    made = hashlib.blake2b(digest_size=SIZE)
    for part in parts:
        content: bytes | memoryview
        if isinstance(part, np.ndarray):
            kind, content = f"{part.dtype.str}{part.shape}", np.ascontiguousarray(part).reshape(-1).view(np.uint8).data
        elif isinstance(part, pl.Series):
            kind, content = "names", json.dumps(part.to_list()).encode()
        else:
            kind, content = "json", json.dumps(part, sort_keys=True).encode()
        made.update(f"{kind} {len(content)} ".encode())
        made.update(content)
    return made.hexdigest()


def file_digest(path: Path) -> str:
    """Return a digest of the bytes of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, lambda: hashlib.blake2b(digest_size=SIZE)).hexdigest()


def labels_digest(labels: CrowdLabels) -> str:
    """Return the digest of labels: items, annotators, labels and the order of the classes."""
    codes = (labels.unit, labels.annotator, labels.label, labels.weight, labels.offsets, *_partial(labels))
    return digest(*codes, labels.items, labels.annotators, labels.classes)


def _partial(labels: CrowdLabels) -> tuple[Bools, ...]:
    """Return which labels are partial; None if all are complete."""
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
    """Return a digest of the inputs of a fit: options, labels, start, known truths and words."""
    return digest(
        repr(method),
        [str(name) for name in labels.classes],
        sorted((str(item), str(truth)) for item, truth in (anchors or {}).items()),
        None if corpus is None else corpus.tokens,
        *(labels.unit, labels.annotator, labels.label, labels.weight, labels.offsets, *_partial(labels)),
        None if start is None else start.beliefs,
    )


# The local engine: labels in shards, processed by threads of this process.
#
# A table in memory is one shard, or one per thread; an encoded folder is read shard by shard, one per thread at a time
# (`extensions/scale/coded_files.py`). Shards are cut between units and between sequences, never inside one.
#
# Axes: i unit, j annotator, n given label.

Result = TypeVar("Result")

LocalStates = tuple[Arrays, ...]
"""The state of each shard, in their order."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Shards:
    """Local engine: a table of labels in shards.

    Attributes:
        parts: The shards, in the order of their units. Each is accessed once per pass, so they may be read on demand.
        n_units: Total number of units.
        n_annotators: Number of annotators.
        classes: The classes.
        n_labels: Total number of labels.
        threads: Number of shards processed at a time.
        compiled: Whether to use the compiled kernels; None decides by size.
        partial: Whether some labels are partial (`annotators/label_sums.py`).
        fingerprint: Fingerprint of the labels, if known; otherwise it is computed from the shards.
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
        """Number of label codes: the classes and, with partial labels, their complements."""
        return 2 * len(self.classes) if self.partial else len(self.classes)

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return len(self.classes)

    def map(self, work: Callable[[Shard], Result]) -> list[Result]:
        """Apply a function to each shard and return the results in order."""
        return list(self._each(lambda at: work(self.parts[at])))

    def sum(self, step: Step, parameters: Arrays, states: LocalStates | None = None) -> tuple[Arrays, LocalStates]:
        """Return the counts of all shards, summed in order, and the new states."""
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
        """Yield the new state of each shard and its units, in the order of the units."""

        def work(at: int) -> tuple[slice, Arrays]:
            shard = self.parts[at]
            return shard.units, step(shard, parameters, states[at] if states else {})[1]

        yield from self._each(work)

    def scatter(self, arrays: Arrays) -> LocalStates:
        """Create states from arrays with all units as first axis, without a copy."""
        return tuple({name: array[units] for name, array in arrays.items()} for units in self._runs())

    def gather(self, states: LocalStates) -> dict[str, NDArray[Any]]:
        """Collect states into arrays with all units as first axis."""
        if len(states) == 1:
            return dict(states[0])
        return {name: np.concatenate([state[name] for state in states]) for name in states[0]}

    def digest(self) -> str:
        """Return a fingerprint of the labels."""
        columns = ("starts", "annotator", "label", "weight", "fixed", "times")
        own = self.fingerprint or digest(*(getattr(part, name) for part in self.parts[:] for name in columns))
        return digest(own, [str(name) for name in self.classes], self.n_units, self.n_annotators)

    def _runs(self) -> list[slice]:
        """Return the range of units of each shard, without reading shards from disk."""
        known: Callable[[], list[slice]] | None = getattr(self.parts, "runs", None)
        return [part.units for part in self.parts] if known is None else known()

    def _each(self, work: Callable[[int], Result]) -> Iterator[Result]:
        """Yield work(0), work(1), ... in order; with threads, several are computed at once."""
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
"""Minimum number of labels for using two threads by default."""


def make_shards(
    labels: CrowdLabels,
    *,
    threads: int | None = None,
    anchors: Mapping[Any, Any] | None = None,
    compiled: bool | None = None,
    partial: bool = False,
) -> Shards:
    """Return a table in memory as one shard per thread, without copying its columns if their codes are narrow.

    Args:
        labels: The labels.
        threads: Number of threads; None for two with a million labels or more, otherwise one.
        anchors: item -> true class.
        compiled: Whether to use the compiled kernels.
        partial: Whether partial labels are supported; otherwise they raise an error.
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
    """Return the first unit of each part; parts have about equal numbers of labels and contain whole sequences."""
    goals = np.linspace(0, labels.n_labels, parts + 1)[1:-1]
    if labels.offsets is None:
        return [0, *np.searchsorted(starts, goals).tolist(), labels.n_units]
    before = np.searchsorted(starts[labels.offsets], goals)
    return [0, *labels.offsets[before].tolist(), labels.n_units]


def _cut(labels: CrowdLabels, starts: Ints, fixed: Ints, begin: int, end: int) -> Shard:
    """Return the shard of consecutive units."""
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
"""Minimum number of rows for narrowing codes."""


def anchor_classes(labels: CrowdLabels, anchors: Mapping[Any, Any] | None) -> Ints:
    """Return fixed[i] from known items by name: a class for a document, the tags of all tokens for a sequence."""
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
            if name is None:  # a token whose truth is unknown
                continue
            code = class_code.get(name, class_code.get(str(name)))  # 1 and '1' are the same class
            if code is None:
                raise LabelError(
                    f"The anchor of item {labels.items[int(item)]!r} is {name!r}, which is not among the classes "
                    f"{name_list(labels.classes)}. Correct the anchor, or add the class to the classes of the labels."
                )
            fixed[at] = code
    return fixed
