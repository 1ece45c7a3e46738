"""Measurements on a noisy machine: the best of several runs, in separate processes if memory is measured."""

from __future__ import annotations

import datetime as dt
import json
import os
import platform
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

PEERS = Path(".venv-peers/bin/python")
SNORKEL = Path(".venv-snorkel/bin/python")
MEASURE = """
import json, resource, time
{setup}
start = time.perf_counter()
{body}
seconds = time.perf_counter() - start
print(json.dumps([seconds, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20]))
"""


@dataclass(frozen=True)
class Measurement:
    """Best of several runs: seconds, and peak memory in GiB."""

    seconds: float
    gibibytes: float


def best_process(python: str | Path, setup: str, body: str, *, repeats: int, timeout: float = 600) -> Measurement:
    """Run code in fresh processes of an interpreter and return the best run; only the body is timed."""
    runs = []
    for _ in range(repeats):
        script = MEASURE.format(setup=setup, body=body)
        done = subprocess.run([str(python), "-c", script], capture_output=True, text=True, timeout=timeout, check=True)
        runs.append(Measurement(*json.loads(done.stdout.splitlines()[-1])))
    return min(runs, key=lambda run: run.seconds)


def best_seconds(work: Callable[[], object], *, repeats: int, clock: Callable[[], float] = time.perf_counter) -> float:
    """Return the shortest time of several calls in this process, by the wall clock or another clock."""
    seconds = []
    for _ in range(repeats):
        begin = clock()
        work()
        seconds.append(clock() - begin)
    return min(seconds)


def describe_machine() -> str:
    """Return the date, the size of the machine and the version of Python, to print next to figures."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    day = dt.datetime.now(tz=dt.UTC).date()
    return f"{day}, {os.cpu_count()} cores, {memory:.0f} GiB, Python {platform.python_version()}"
