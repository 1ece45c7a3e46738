"""Measuring on a noisy machine: each run in a process of its own, the best of several."""

from __future__ import annotations

import datetime as dt
import json
import os
import platform
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

PEERS = Path(".venv-peers/bin/python")
SNORKEL = Path(".venv-snorkel/bin/python")
MEASURE = """
import json, resource, sys, time
{setup}
start = time.perf_counter()
{body}
seconds = time.perf_counter() - start
print(json.dumps([seconds, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20]))
"""


@dataclass(frozen=True)
class Run:
    """The best of several runs: seconds, and the peak of memory in GiB."""

    seconds: float
    gibibytes: float


def best_of(python: str | Path, setup: str, body: str, *, repeats: int, timeout: float = 600) -> Run:
    """Run a piece of code in fresh processes and take the quickest."""
    runs = []
    for _ in range(repeats):
        script = MEASURE.format(setup=setup, body=body)
        done = subprocess.run([str(python), "-c", script], capture_output=True, text=True, timeout=timeout, check=True)
        runs.append(Run(*json.loads(done.stdout.splitlines()[-1])))
    return min(runs, key=lambda run: run.seconds)


def ours() -> str:
    """The interpreter of this environment."""
    return sys.executable


def described() -> str:
    """The day and the size of the machine, to stand beside figures."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    day = dt.datetime.now(tz=dt.UTC).date()
    return f"{day}, {os.cpu_count()} cores, {memory:.0f} GiB, Python {platform.python_version()}"
