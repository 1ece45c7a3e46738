"""Label sources that `aggregate` does not read into memory: patterns, tables in shards, sequences on an engine.

Each function returns the opened labels, or None to pass them on to the next source. Modules are imported when needed.
"""

from __future__ import annotations

from contextlib import AbstractContextManager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from crowdlogic.workflows.aggregate import AggregateOptions, OpenedLabels


def find_patterns(options: AggregateOptions) -> AbstractContextManager[OpenedLabels] | None:
    """Open a table of patterns, or a large wide file with few distinct patterns."""
    if not options.input.wide:
        return None
    from crowdlogic.extensions.scale.patterns import find_pattern_source, open_patterns

    source = find_pattern_source(options)
    return None if source is None else open_patterns(options, source)


def find_shards(options: AggregateOptions) -> AbstractContextManager[OpenedLabels] | None:
    """Open a long table that does not fit into memory, or for which an engine was requested."""
    if options.engine is None and not may_be_large(options.labels, options.memory):
        return None
    from crowdlogic.extensions.scale.out_of_core import find_large_labels, open_shards

    large = find_large_labels(options)
    return None if large is None else open_shards(options, large)


def find_sequences(options: AggregateOptions) -> AbstractContextManager[OpenedLabels] | None:
    """Open tags of sentences for which an engine was requested."""
    if options.engine is None:
        return None
    from crowdlogic.extensions.scale.sequence_engines import open_sequences

    return open_sequences(options)


USABLE_SHARE = 0.6
"""Share of the free memory used by default."""

DEFAULT_FREE_BYTES = 8 << 30
"""Free memory assumed if the system does not report it, in bytes."""

SMALL_FILE = 200_000_000
"""Smaller files are read into memory without further checks, unless a limit is given."""

MEMINFO = Path("/proc/meminfo")
GROUP_LIMIT = Path("/sys/fs/cgroup/memory.max")


def available_memory() -> int:
    """Return the memory that a job may use, in bytes."""
    found = []
    with suppress(OSError):  # the free memory reported by Linux, in KiB
        lines = MEMINFO.read_text().splitlines()
        sizes = [line.split()[1] for line in lines if line.startswith("MemAvailable:")]
        found += [int(size) << 10 for size in sizes if size.isdigit()]
    with suppress(OSError):  # the limit of the container
        limit = GROUP_LIMIT.read_text().strip()
        found += [int(limit)] if limit.isdigit() else []
    return int(USABLE_SHARE * min(found, default=DEFAULT_FREE_BYTES))


def may_be_large(name: str, memory: int | None) -> bool:
    """Return whether labels may need shards: a large file, a folder, a glob pattern, or a memory limit."""
    place = Path(name)
    return memory is not None or not place.is_file() or place.stat().st_size >= SMALL_FILE
