"""How much memory a job may use: what a person says, or most of what is free."""

from __future__ import annotations

from pathlib import Path

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
