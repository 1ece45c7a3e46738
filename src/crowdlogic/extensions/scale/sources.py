"""Sources of labels that `aggregate` does not read in memory: patterns, tables in shards, sentences over an engine.

Each function returns the opened labels, or None to leave them to the next one. What it takes to read them is imported
when it is needed.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from crowdlogic.workflows.aggregate import AggregateOptions, OpenedLabels


def find_patterns(options: AggregateOptions) -> AbstractContextManager[OpenedLabels] | None:
    """Open a table of patterns, or a large wide file of which few patterns can be made."""
    if not options.input.wide:
        return None
    from crowdlogic.extensions.scale.patterns import find_pattern_source, open_patterns

    source = find_pattern_source(options)
    return None if source is None else open_patterns(options, source)


def find_shards(options: AggregateOptions) -> AbstractContextManager[OpenedLabels] | None:
    """Open a long table that does not fit into memory, or that an engine is asked to process."""
    if options.engine is None and not may_be_large(options.labels, options.memory):
        return None
    from crowdlogic.extensions.scale.out_of_core import find_large_labels, open_shards

    large = find_large_labels(options)
    return None if large is None else open_shards(options, large)


def find_sequences(options: AggregateOptions) -> AbstractContextManager[OpenedLabels] | None:
    """Open tags of sentences that an engine is asked to process."""
    if options.engine is None:
        return None
    from crowdlogic.extensions.scale.sequence_engines import open_sequences

    return open_sequences(options)


# How much memory a job may use: what a person says, or most of what is free.

USABLE = 0.6
"""The share of free memory that a job takes without being told."""

UNKNOWN = 8 << 30
"""Bytes that are taken to be free where the system does not say."""

SMALL_FILE = 200_000_000
"""A smaller file is read in memory without a closer look, unless a limit is given."""

MEMINFO = Path("/proc/meminfo")
GROUP_LIMIT = Path("/sys/fs/cgroup/memory.max")


def available_memory() -> int:
    """Bytes that a job may use."""
    found = [size for size in (_free(), _group_limit()) if size is not None]
    return int(USABLE * min(found, default=UNKNOWN))


def _free() -> int | None:
    """Bytes that are free, as Linux says."""
    try:
        lines = MEMINFO.read_text().splitlines()
    except OSError:
        return None
    sizes = [line.split()[1] for line in lines if line.startswith("MemAvailable:")]
    return int(sizes[0]) << 10 if sizes and sizes[0].isdigit() else None


def _group_limit() -> int | None:
    """Bytes that a container may use."""
    try:
        text = GROUP_LIMIT.read_text().strip()
    except OSError:
        return None
    return int(text) if text.isdigit() else None


def may_be_large(name: str, memory: int | None) -> bool:
    """Whether labels may have to be read in shards: a large file, a folder, a pattern, or with a limit."""
    place = Path(name)
    return memory is not None or not place.is_file() or place.stat().st_size >= SMALL_FILE
