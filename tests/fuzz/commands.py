"""Commands on mutated files, in this process: an exit code that is documented, one line, and nothing half-written."""

from __future__ import annotations

import contextlib
import gzip
import io
import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

from tests.fuzz.mutations import Rng, mutate_bytes, pick

from crowdlogic.cli.app import main
from crowdlogic.data.formats.protocol import load_format
from crowdlogic.registry import FORMATS

LABEL_COMMANDS = (
    ("doctor", "FILE"),
    ("doctor", "FILE", "--json"),
    ("aggregate", "FILE", "-o", "out.csv"),
    ("aggregate", "FILE", "-o", "out.jsonl", "--annotators", "who.csv"),
    ("aggregate", "FILE", "-o", "out.csv", "-m", "dawid-skene", "--save", "saved"),
    ("aggregate", "FILE", "-o", "out.csv", "-m", "majority", "--duplicates", "first"),
    ("convert", "FILE", "out.csv"),
    ("convert", "FILE", "out.jsonl"),
    ("convert", "FILE", "out.xlsx"),
    ("convert", "FILE", "out.parquet", "--items"),
    ("agreement", "FILE", "--replicates", "10"),
    ("panel", "FILE"),
    ("evaluate", "FILE", "FILE"),
    ("report", "FILE", "-o", "out.html"),
)
RUN_COMMANDS = (
    ("report", "RUN", "-o", "out.html"),
    ("convert", "RUN", "out.csv"),
    ("predict", "RUN", "FILE", "-o", "out.csv"),
    ("rules", "check", "my.rules", "--items", "FILE"),
    ("evaluate", "RUN"),
)


def run_command(*words: str) -> tuple[int, str]:
    """Run a command in this process and folder. Return its exit code and its standard error."""
    out, err, given = io.StringIO(), io.StringIO(), sys.argv
    sys.argv = ["crowdlogic", *words]
    code = 0
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            main()
    except SystemExit as stop:
        code = int(stop.code or 0)
    finally:
        sys.argv = given
    return code, err.getvalue()


def attack_command(
    folder: Path,
    rng: Rng,
    *,
    files: dict[str, list[bytes]],
    runs: dict[str, Path],
    tamper: Callable[[Path, Rng], None],
) -> None:
    """Run a command on a mutated file, or on a tampered run."""
    name = pick(rng, sorted(files))
    sound = pick(rng, files[name])
    content = mutate_bytes(sound, rng, files[pick(rng, sorted(files))]) if rng.random() < 0.7 else sound
    suffix = load_format(name if rng.random() < 0.9 else pick(rng, sorted(FORMATS))).suffixes[0]
    if rng.random() < 0.05:
        content, suffix = gzip.compress(content), f"{suffix}.gz"
    given = f"labels{suffix}"
    (folder / given).write_bytes(content)
    command = pick(rng, LABEL_COMMANDS)
    if rng.random() < 0.25:
        command = pick(rng, RUN_COMMANDS)
        shutil.copytree(runs[pick(rng, ["done", "tags"])], folder / "run")
        tamper(folder / "run", rng)
        (folder / "my.rules").write_text("1.0: include contrast('but')\n")
    before = {path.name for path in folder.iterdir()}
    home = Path.cwd()
    os.chdir(folder)
    try:
        code, said = run_command(*({"FILE": given, "RUN": "run"}.get(word, word) for word in command))
    finally:
        os.chdir(home)
    check_outcome(" ".join(command), code, said, {path.name for path in folder.iterdir()} - before)


def check_outcome(command: str, code: int, said: str, new: set[str]) -> None:
    """Raise an AssertionError if a command ended in another way than is documented."""
    if code not in (0, 1, 2):
        raise AssertionError(f"{command}: exit code {code}: {said[-200:]}")
    complaints = [line for line in said.splitlines() if line.startswith("crowdlogic: ")]
    if code == 2 and len(complaints) != 1:
        raise AssertionError(f"{command}: {len(complaints)} lines of error: {said[-200:]}")
    if code == 2 and new:
        raise AssertionError(f"{command}: refused, but left {sorted(new)}: {said[-200:]}")
    if "Traceback" in said or "not enough memory" in said:
        raise AssertionError(f"{command}: {said[-200:]}")
    if any(name.endswith(".part") for name in new):
        raise AssertionError(f"{command}: left {sorted(new)}")
