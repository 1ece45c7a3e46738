"""The fuzzer: bounded and seeded. Input n of seed s is always the same, so that a finding can be looked at again.

    python -m tests.fuzz [--inputs 20000] [--seed 0] [--first 0]     # make fuzz
    python -m tests.fuzz --inputs 1 --first 1234 --here              # one input, in this process, with its traceback

Inputs run in another process that may have MEMORY bytes of address space; what unpacks beyond UNPACKED is refused. A
finding is any exception but a CrowdLogicError, a process that died, an input that took more than SECONDS.
"""

from __future__ import annotations

import argparse
import os
import resource
import selectors
import subprocess
import sys
import tempfile
import time
import traceback
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, cast

SECONDS = 5.0
MEMORY = 6 << 30
UNPACKED = "64M"
STARTING = 120.0
"""Seconds that a process may take to begin: imports, and sound inputs of every kind."""


@dataclass
class Outcome:
    """What came of the inputs.

    Attributes:
        done: Number of inputs by target.
        findings: What went wrong, a line each.
    """

    done: Counter[str] = field(default_factory=Counter)
    findings: list[str] = field(default_factory=list)


def work(first: int, last: int, seed: int) -> None:
    """Run inputs in this process; a line before each and one after it, so that the other process knows where it is."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    from tests.fuzz.targets import attack_once, sound_files, sound_runs, sound_states, target_name

    from crowdlogic.errors import MissingExtraError
    from crowdlogic.registry import CLASSIFIERS

    for name in CLASSIFIERS:  # imports that take seconds should not count against an input
        with suppress(MissingExtraError):
            CLASSIFIERS.create(name)
    sound_files(), sound_runs(), sound_states()
    attack_once(0, 0, Path(tempfile.mkdtemp(dir=".")))  # compiles what has to be
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    for number in range(first, last):
        sys.stdout.write(f"begin {number} {target_name(number)}\n")
        sys.stdout.flush()
        with tempfile.TemporaryDirectory(dir=".") as folder:
            try:
                attack_once(number, seed, Path(folder).resolve())
            except Exception:
                lines = traceback.format_exc().strip().splitlines()
                where = next((line.strip() for line in reversed(lines) if "crowdlogic/" in line), "")
                sys.stdout.write(f"found {number} {lines[-1][:300]!r} {where[:200]!r}\n")
        sys.stdout.write(f"end {number}\n")
        sys.stdout.flush()


def fuzz(inputs: int, *, seed: int = 0, first: int = 0) -> Outcome:
    """Run inputs first to first + inputs, and go on after whatever kills or hangs the process."""
    outcome, last = Outcome(), first + inputs
    with tempfile.TemporaryDirectory() as folder:
        while first < last:
            first = _run_process(first, last, seed, Path(folder), outcome)
    return outcome


def _run_process(first: int, last: int, seed: int, folder: Path, outcome: Outcome) -> int:
    """Run inputs until all are done or one ends the process; the next input."""
    root = Path(__file__).parents[2]
    words = [sys.executable, "-m", "tests.fuzz", "--work", "--first", str(first), "--inputs", str(last - first)]
    home = tempfile.mkdtemp(dir=folder)
    process = subprocess.Popen(
        [*words, "--seed", str(seed)],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        cwd=home,
        env={**os.environ, "PYTHONPATH": f"{root}{os.pathsep}{root / 'src'}", "CROWDLOGIC_MAX_UNPACKED": UNPACKED},
    )
    with process:
        return _follow(process, first, last, outcome)


def _follow(process: subprocess.Popen[bytes], first: int, last: int, outcome: Outcome) -> int:
    """Read what the process says; the next input once it ended or was ended."""
    number, target, buffer, patience = first, "start", b"", STARTING
    waiting = selectors.DefaultSelector()
    said = cast("IO[bytes]", process.stdout)
    waiting.register(said, selectors.EVENT_READ)
    until = time.monotonic() + patience
    while True:
        if not waiting.select(max(until - time.monotonic(), 0)):
            process.kill()
            if number >= last:  # all inputs are done, and Python takes its time to end
                return last
            outcome.findings.append(f"{target} {number}: took more than {patience:g} s")
            return number + 1
        read = os.read(said.fileno(), 1 << 16)
        if not read:
            break
        until = time.monotonic() + SECONDS
        *lines, buffer = (buffer + read).split(b"\n")
        for line in lines:
            patience = SECONDS
            word, *rest = line.decode().split(" ", 2)
            if word == "begin":
                number, target = int(rest[0]), rest[1]
            elif word == "found":
                outcome.findings.append(f"{target} {' '.join(rest)}")
            elif word == "end":
                outcome.done[target] += 1
                number = int(rest[0]) + 1
    if process.wait() != 0 and target == "start":
        outcome.findings.append(f"the process could not start and ended with {process.returncode}")
        return last
    if process.returncode != 0 and number < last:
        outcome.findings.append(f"{target} {number}: the process ended with {process.returncode}")
        return number + 1
    return last


def main() -> None:
    """Run the fuzzer; the exit code is 1 if it found something."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, default in (("inputs", 20_000), ("seed", 0), ("first", 0)):
        options.add_argument(f"--{name}", type=int, default=default)
    options.add_argument("--work", action="store_true", help=argparse.SUPPRESS)
    options.add_argument("--here", action="store_true", help="In this process, with tracebacks.")
    chosen = options.parse_args()
    if chosen.work:
        work(chosen.first, chosen.first + chosen.inputs, chosen.seed)
        return
    if chosen.here:
        run_here(chosen.first, chosen.seed)
        return
    begun = time.monotonic()
    outcome = fuzz(chosen.inputs, seed=chosen.seed, first=chosen.first)
    lines = [f"{sum(outcome.done.values()):,} inputs, seed {chosen.seed}, {time.monotonic() - begun:.0f} s: "]
    lines[0] += ", ".join(f"{name} {count:,}" for name, count in sorted(outcome.done.items()))
    sys.stdout.write("\n".join([*lines, *outcome.findings, f"{len(outcome.findings)} findings"]) + "\n")
    sys.exit(1 if outcome.findings else 0)


def run_here(number: int, seed: int) -> None:
    """Run one input in this process, in a temporary folder."""
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        from tests.fuzz.targets import attack_once

        Path("here").mkdir()
        sys.stdout.write(f"{attack_once(number, seed, Path('here').resolve())}: fine\n")
