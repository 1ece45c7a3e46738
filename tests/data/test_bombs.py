"""Small files that would fill the memory or never end: each is refused, or read, within bounds of time and memory.

Each input goes to `doctor` and `aggregate` in a process of its own. `make test` runs a part of the table, and
`make fuzz` all of it.
"""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from tests.fuzz.bombs import BOMBS, Bomb

QUICK = (
    "nested-json",
    "own-keys",
    "own-keys-inside",
    "xlsx-cell",
    "xlsx-columns",
    "classes",
    "annotators",
    "csv-columns",
    "conll-columns",
    "gz-in-gz",
)
"""Those that run in `make test`."""

ADDRESS_SPACE = 4 << 30


def run(bomb: Bomb, command: str, folder: Path) -> tuple[subprocess.CompletedProcess[str], float]:
    """Run a command on a bomb. Return what it said, and its memory in MiB."""
    path = bomb.write(folder)
    assert path.stat().st_size < 20 << 20
    out = ["-o", str(folder / "o.jsonl")] if command == "aggregate" else []
    script = (
        "import resource, subprocess, sys\n"
        f"resource.setrlimit(resource.RLIMIT_AS, ({ADDRESS_SPACE}, {ADDRESS_SPACE}))\n"
        "done = subprocess.run([sys.executable, '-m', 'crowdlogic', *sys.argv[1:]], stderr=subprocess.PIPE, "
        "stdout=subprocess.DEVNULL, check=False)\n"
        "sys.stderr.buffer.write(done.stderr)\n"
        "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)\n"
        "sys.exit(done.returncode % 256)\n"
    )
    words = [command, str(path), *bomb.options, *out]
    with subprocess.Popen(
        [sys.executable, "-c", script, *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "OMP_NUM_THREADS": "1", "POLARS_MAX_THREADS": "1"},
        start_new_session=True,
    ) as process:
        try:
            memory, said = process.communicate(timeout=120)
        except BaseException:  # a timeout or Ctrl-C: end the command as well, not only the process that started it
            os.killpg(process.pid, signal.SIGKILL)
            raise
    return subprocess.CompletedProcess(words, process.returncode, memory, said), int(memory) / 1024


def problems(bomb: Bomb, command: str, folder: Path) -> str:
    """What is wrong with the outcome; empty where nothing is."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done, memory = run(bomb, command, folder)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    said = done.stderr.strip()
    if memory > bomb.memory:
        return f"{command} took {memory:.0f} MiB: {said[-300:]}"
    if seconds > bomb.seconds:
        return f"{command} took {seconds:.0f} s"
    if "Traceback" in said or "not enough memory" in said or done.returncode not in (0, 1, 2):
        return f"{command} ended with {done.returncode}: {said[-300:]}"
    if command == "aggregate" and bomb.refused and bomb.refused not in said:
        return f"{command} said {said[-300:]!r}"
    return ""


@pytest.mark.parametrize("name", QUICK)
def test_a_bomb_is_harmless(tmp_path: Path, name: str) -> None:
    assert problems(BOMBS[name], "aggregate", tmp_path) == ""


@pytest.mark.long
@pytest.mark.parametrize("command", ["doctor", "aggregate"])
@pytest.mark.parametrize("name", BOMBS)
def test_every_bomb_is_harmless(tmp_path: Path, name: str, command: str) -> None:
    assert problems(BOMBS[name], command, tmp_path) == ""
