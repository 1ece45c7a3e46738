"""The memory that a process may have (`ulimit -v`): too little is refused at once.

polars and numpy start threads with memory of their own. Where they get none, they end the process without a word, or
wait for ever.
"""

from __future__ import annotations

from crowdlogic.errors import ResourceError

LEAST = 1536 << 20
"""Bytes of address space without which nothing works: a small file is aggregated in 1000 MiB."""


def check_memory_limit() -> None:
    """Refuse to work under a limit that is too low."""
    try:
        import resource
    except ModuleNotFoundError:  # not on Windows
        return
    limit = resource.getrlimit(resource.RLIMIT_AS)[0]
    if limit != resource.RLIM_INFINITY and limit < LEAST:
        raise ResourceError(
            f"this process may have {limit >> 20:,} MiB of memory (ulimit -v), and needs {LEAST >> 20:,}. Raise the "
            f"limit: ulimit -v {LEAST >> 10}"
        )
