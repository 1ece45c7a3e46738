"""Measure the CPU time for starting crowdlogic: `--version`, `--help`, a small `aggregate` and `import crowdlogic`.

    python -m benchmarks.startup [--repeats 5]

Each command runs in a separate process. Its time is user and system time, which depends little on the load of the
machine; the best of the repeats counts. Writes the table of docs/evidence/benchmarks.md.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from benchmarks.machine import describe_machine
from crowdlogic.extensions.paper.results import format_table, write_section

PAGE = Path("docs/evidence/benchmarks.md")
LABELS = "item,annotator,label\n1,ann,yes\n1,bob,yes\n2,ann,no\n2,bob,yes\n"


@dataclass(frozen=True)
class Command:
    """Command and its time limit.

    Attributes:
        name: The command as a user types it.
        words: Arguments of the interpreter.
        bar: Time limit in seconds of CPU time.
    """

    name: str
    words: tuple[str, ...]
    bar: float


COMMANDS = (
    Command("`crowdlogic --version`", ("-m", "crowdlogic", "--version"), 0.4),
    Command("`crowdlogic --help`", ("-m", "crowdlogic", "--help"), 0.4),
    Command("`crowdlogic aggregate` of two items", ("-m", "crowdlogic", "aggregate", "in.csv", "-o", "out.csv"), 1.0),
    Command("`import crowdlogic`", ("-c", "import crowdlogic"), 0.25),
)


def processor_seconds(words: tuple[str, ...], folder: Path) -> float:
    """Return user and system time of one run of the interpreter in a folder."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, *words], cwd=folder, capture_output=True, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def measure(repeats: int) -> dict[Command, float]:
    """Return the best time of each command."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "in.csv").write_text(LABELS)
        return {command: min(processor_seconds(command.words, folder) for _ in range(repeats)) for command in COMMANDS}


def main() -> None:
    """Measure, print and write the table."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--repeats", type=int, default=5)
    repeats = options.parse_args().repeats
    rows = [
        (command.name, f"{seconds:.2f}", f"{command.bar:g}", "yes" if seconds <= command.bar else "no")
        for command, seconds in measure(repeats).items()
    ]
    table = format_table(["", "seconds of processor time", "limit", "within the limit"], rows)
    print(table)
    write_section(PAGE, "startup", f"{table}\n\nBest of {repeats}, measured {describe_machine()}.")


if __name__ == "__main__":
    main()
