"""Kill every command that writes, at random moments and in other ways, and print what came of it as a table.

    python -m tests.kills [--moments 25] [--only train,report] [--seed 0]

A moment is either drawn from the time that the command takes, or follows the first file that it makes. Signals take
turns. Whatever happens, no output is half-written, SIGTERM and SIGINT are one line and exit code 143 or 130, and the
command that goes on ends with the same files, byte by byte.
"""

from __future__ import annotations

import argparse
import contextlib
import ctypes
import os
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path

from tests.kills.scenarios import SCENARIOS, Scenario, write_reviews

SIGNALS = (signal.SIGKILL, signal.SIGTERM, signal.SIGINT)
CODES = {signal.SIGTERM: 143, signal.SIGINT: 130}
CONDITIONS = ("full disk", "read-only folder", "closed pipe", "two at once")
COLUMNS = (*(name.name for name in SIGNALS), *CONDITIONS)
PR_CAPBSET_DROP, CAP_DAC_OVERRIDE = 24, 1
PATIENCE = 300.0
"""Seconds that a command may take."""

PART = re.compile(r"(^|/)\.([^/]+\.part|crowdlogic-shards-[^/]+)(/|$)")
"""Temporary files, which SIGKILL may leave behind."""


@dataclass
class Row:
    """What came of a command: the number of attempts by column, and what went wrong, a line each."""

    name: str
    counts: dict[str, int] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)

    def add(self, column: str, problems: list[str]) -> None:
        """Count an attempt, with its problems."""
        self.counts[column] = self.counts.get(column, 0) + 1
        self.problems += [f"{self.name}, {column}: {problem}" for problem in problems]
        sys.stderr.write("".join(f"{self.name}, {column}: {problem}\n" for problem in problems))

    def cell(self, column: str) -> str:
        """Return a cell of the table: the number of attempts, and of failures if there are any."""
        failures = sum(problem.startswith(f"{self.name}, {column}: ") for problem in self.problems)
        count = self.counts.get(column, 0)
        return "" if not count else f"{count}" if not failures else f"{count} ({failures} problems)"


@dataclass(frozen=True)
class Ended:
    """How a process ended: exit code and standard error."""

    code: int
    said: str

    def line_problems(self, code: int) -> list[str]:
        """Return what is wrong if it should have ended with one line and this exit code."""
        lines = [line for line in self.said.splitlines() if line.startswith("crowdlogic: ")]
        if self.code != code or len(lines) != 1 or "Traceback" in self.said:
            return [f"ended with {self.code} and {len(lines)} lines, expected {code} and one: {self.said[-300:]!r}"]
        return []


def start(words: tuple[str, ...], folder: Path, **options: object) -> subprocess.Popen[bytes]:
    """Start the command in a folder; its standard error goes to a file beside the folder."""
    with open(folder.with_suffix(f".{time.monotonic_ns()}.err"), "wb") as err:
        process = subprocess.Popen(
            [sys.executable, "-m", "crowdlogic", *words],
            cwd=folder,
            **{"stdout": subprocess.DEVNULL, "stderr": err, "env": environment(), **options},  # type: ignore[call-overload]
        )
    process.said = Path(err.name)
    return process


def environment() -> dict[str, str]:
    """Return the environment of the commands: this tree, and one thread."""
    root = Path(__file__).parents[2]
    return {**os.environ, "PYTHONPATH": str(root / "src"), "OMP_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": "1"}


def finish(process: subprocess.Popen[bytes]) -> Ended:
    """Wait for a process."""
    try:
        code = process.wait(timeout=PATIENCE)
    except subprocess.TimeoutExpired:
        process.kill()
        code = process.wait()
    said = process.said.read_text(errors="replace")  # type: ignore[attr-defined]
    process.said.unlink()  # type: ignore[attr-defined]
    return Ended(code, said)


def run(words: tuple[str, ...], folder: Path, **options: object) -> Ended:
    """Run a command to its end."""
    return finish(start(words, folder, **options))


def listing(folder: Path) -> set[str]:
    """Return the files below a folder."""
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}


class Trial:
    """A scenario with its input, the files that an undisturbed command writes, and how long that takes."""

    def __init__(self, scenario: Scenario, home: Path) -> None:
        self.scenario, self.home, self.number = scenario, home, 0
        self.base = home / "base"
        self.base.mkdir()
        scenario.make(self.base)
        self.given = listing(self.base)
        folder, begun = self.folder(), time.monotonic()
        ended = run(scenario.words, folder)
        self.seconds = time.monotonic() - begun
        if ended.code != 0:
            raise RuntimeError(f"{scenario.name}: {ended.said[-500:]}")
        self.whole = scenario.digests(folder)
        self.largest = max((folder / name).stat().st_size for name in self.whole)
        shutil.rmtree(folder)

    def folder(self) -> Path:
        """Return a new folder with the input."""
        self.number += 1
        return Path(shutil.copytree(self.base, self.home / f"t{self.number}"))

    def leftovers(self, folder: Path) -> set[str]:
        """Return files that are neither input nor output."""
        return {
            name
            for name in listing(folder) - self.given
            if not name.startswith(self.scenario.outputs) or PART.search(name)
        }

    def output_problems(self, folder: Path, *, killed: bool) -> list[str]:
        """Return what is wrong with the outputs of a command that was stopped."""
        found, problems = self.scenario.digests(folder), []
        if self.scenario.resume is None:
            problems += [f"{name} is half-written" for name in found if found[name] != self.whole.get(name)]
            expected = [set(), set(self.whole)]
            if not killed and set(found) not in expected:
                problems.append(f"only {sorted(found)} of {sorted(self.whole)}")
            for output in self.scenario.outputs:  # a folder appears whole, even when the process is killed
                inside = {name for name in self.whole if name.startswith(f"{output}/")}
                if inside & set(found) and not inside <= set(found):
                    problems.append(f"{output} lacks {sorted(inside - set(found))}")
        left = {name for name in self.leftovers(folder) if not (killed and PART.search(name))}
        return problems + ([f"left {sorted(left)}"] if left else [])

    def recovery_problems(self, folder: Path) -> list[str]:
        """Go on with what is there; return what is wrong with the end. An untouched folder needs no second run."""
        if listing(folder) == self.given or self.scenario.digests(folder) == self.whole:
            return []
        words = self.scenario.next_words(folder)
        ended = run(words, folder)
        if ended.code != 0:
            return [f"{' '.join(words)} afterwards ended with {ended.code}: {ended.said[-300:]!r}"]
        return [] if self.scenario.digests(folder) == self.whole else ["the files afterwards are others"]

    def signalled(self, chance: random.Random, which: signal.Signals) -> list[str]:
        """Stop the command at a random moment."""
        folder = self.folder()
        process = start(self.scenario.words, folder)
        if chance.random() < 0.5:
            time.sleep(chance.uniform(0, 1.05 * self.seconds))
        else:  # soon after the first file
            while process.poll() is None and listing(folder) == self.given:
                time.sleep(0.002)
            time.sleep(chance.choice([0.0, 0.01, 0.05, 0.3]) * chance.random())
        with contextlib.suppress(ProcessLookupError):
            process.send_signal(which)
        ended = finish(process)
        problems = []
        if which in CODES and ended.code != 0:
            # Python ends by the signal itself while it starts and ends, and when a library lets an interrupt through;
            # to a shell this is 143 or 130, too.
            quiet = "crowdlogic: " not in ended.said and "Traceback" not in ended.said
            is_outside = quiet and (listing(folder) == self.given or self.scenario.digests(folder) == self.whole)
            code = CODES[which] if ended.code == -which else ended.code
            problems += (
                [] if is_outside and code == CODES[which] else Ended(code, ended.said).line_problems(CODES[which])
            )
        problems += self.output_problems(folder, killed=which is signal.SIGKILL)
        problems += self.recovery_problems(folder)
        shutil.rmtree(folder)
        return problems

    def full_disk(self, chance: random.Random) -> list[str]:
        """Let no file grow beyond a size that is too small."""
        folder, most = self.folder(), chance.randrange(self.largest)

        def limit() -> None:
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))

        ended = run(self.scenario.words, folder, preexec_fn=limit)
        problems = ended.line_problems(2) + self.output_problems(folder, killed=False) + self.recovery_problems(folder)
        shutil.rmtree(folder)
        return problems

    def read_only(self) -> list[str]:
        """Give the command a folder that it may not write to; the superuser gives up the right to ignore that."""
        folder = self.folder()
        folder.chmod(0o555)

        def give_up_rights() -> None:
            if os.getuid() == 0:  # the superuser may write everywhere; without this capability only as the owner
                ctypes.CDLL(None).prctl(PR_CAPBSET_DROP, CAP_DAC_OVERRIDE)

        ended = run(self.scenario.words, folder, preexec_fn=give_up_rights)
        problems = ended.line_problems(2)
        if listing(folder) != self.given:
            problems.append(f"wrote {sorted(listing(folder) - self.given)}")
        folder.chmod(0o755)
        shutil.rmtree(folder)
        return problems

    def closed_pipe(self) -> list[str]:
        """Let nobody read what the command prints: its files are written all the same."""
        folder = self.folder()
        read, write = os.pipe()
        os.close(read)
        ended = run(self.scenario.words, folder, stdout=write)
        os.close(write)
        problems = []
        if ended.code != 0 or "Traceback" in ended.said or "Exception ignored" in ended.said:
            problems.append(f"ended with {ended.code}: {ended.said[-300:]!r}")
        if self.scenario.digests(folder) != self.whole:
            problems.append("the files are others")
        shutil.rmtree(folder)
        return problems

    def two_at_once(self, chance: random.Random) -> list[str]:
        """Run the command twice at the same time in the same folder: one ends well, and nothing is mixed up."""
        folder = self.folder()
        first = start(self.scenario.words, folder)
        time.sleep(chance.uniform(0, 0.2 * self.seconds))
        second = start(self.scenario.words, folder)
        both = [finish(first), finish(second)]
        problems = [problem for one in both if one.code != 0 for problem in one.line_problems(2)]
        if all(one.code != 0 for one in both):
            problems.append("neither ended well")
        if self.scenario.digests(folder) != self.whole:
            problems.append("the files are others")
        if left := self.leftovers(folder):
            problems.append(f"left {sorted(left)}")
        shutil.rmtree(folder)
        return problems


def attempt(scenario: Scenario, moments: int, seed: int) -> Row:
    """Fill the row of a scenario: `moments` signals in turns, and each of the other conditions once or a few times."""
    row, chance = Row(scenario.name), random.Random(f"{seed} {scenario.name}")
    with tempfile.TemporaryDirectory() as home:
        Path(home).chmod(0o755)
        trial = Trial(scenario, Path(home))
        for number in range(moments):
            which = SIGNALS[number % len(SIGNALS)]
            row.add(which.name, trial.signalled(chance, which))
        for _ in range(max(1, moments // 8)):
            row.add("full disk", trial.full_disk(chance))
        row.add("read-only folder", trial.read_only())
        row.add("closed pipe", trial.closed_pipe())
        row.add("two at once", trial.two_at_once(chance))
    return row


def attempt_review(moments: int, seed: int) -> Row:
    """Fill the row of the review: a server that is stopped while three reviewers decide loses nothing that it acknowledged."""
    from tests.extensions.review.killing import stop_repeatedly

    row = Row("review")
    with tempfile.TemporaryDirectory() as home:
        write_reviews(Path(home))
        for problems, which in stop_repeatedly(Path(home), Path(home) / "review", SIGNALS, stops=moments, seed=seed):
            row.add(which.name, problems)
    return row


ROWS: dict[str, Callable[[int, int], Row]] = {
    one.name: lambda moments, seed, one=one: attempt(one, moments, seed) for one in SCENARIOS
}
if find_spec("fastapi") is not None and find_spec("crowdlogic.extensions.review") is not None:
    ROWS["review"] = attempt_review


def main() -> None:
    """Fill the table; the exit code is 1 if something went wrong."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--moments", type=int, default=25, help="Signals per command.")
    options.add_argument("--only", default=",".join(ROWS), help="Rows, separated by commas.")
    options.add_argument("--seed", type=int, default=0)
    given = options.parse_args()
    sys.stdout.write(f"| command | {' | '.join(COLUMNS)} |\n|{'---|' * (1 + len(COLUMNS))}\n")
    problems: list[str] = []
    for name in given.only.split(","):
        row = ROWS[name](given.moments, given.seed)
        sys.stdout.write(f"| {name} | {' | '.join(row.cell(column) for column in COLUMNS)} |\n")
        sys.stdout.flush()
        problems += row.problems
    sys.stdout.write("".join(f"\n{problem}" for problem in problems) + f"\n{len(problems)} problems\n")
    sys.exit(1 if problems else 0)
