"""The list of commands: what it says, what it loads, and how errors come out."""

from __future__ import annotations

import ast
import os
import resource
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.cli.conftest import Result

from crowdlogic.cli import app

Run = Callable[..., Result]
HOME = Path(app.__file__).parent


def processor_seconds(*words: str) -> float:
    """The least processor time of five runs of a command, in a process of its own."""
    return min(_once(*words) for _ in range(5))


def _once(*words: str) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-m", "crowdlogic", *words], capture_output=True, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


@pytest.mark.parametrize("words", [["--version"], ["--help"]], ids=str)
def test_the_command_starts_at_once(words: list[str]) -> None:
    assert processor_seconds(*words) < 0.4


def test_two_items_are_aggregated_in_a_second(tmp_path: Path) -> None:
    (tmp_path / "l.csv").write_text("item,annotator,label\nu,a,x\nu,b,x\nv,a,y\n")

    assert processor_seconds("aggregate", str(tmp_path / "l.csv"), "-o", str(tmp_path / "o.csv")) < 1.0


def test_help_loads_no_command(run: Run) -> None:
    code = (
        "import sys; from crowdlogic.cli import app; sys.argv = ['crowdlogic', '--help']\n"
        "try: app.main()\nfinally: print(*sorted(name for name in sys.modules), file=sys.stderr)"
    )

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env={**os.environ})

    assert "aggregate  Estimate the true label of every item." in done.stdout
    assert not {"crowdlogic.cli.aggregate", "numpy", "polars", "rich"} & set(done.stderr.split())


def test_every_command_is_listed_with_its_own_first_line() -> None:
    for name, line in app.COMMANDS.items():
        tree = ast.parse((HOME / f"{name}.py").read_text())
        functions = {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}
        if "command" in functions:
            assert (ast.get_docstring(functions["command"]) or "").splitlines()[0] == line


@pytest.mark.parametrize("name", app.COMMANDS)
def test_every_command_has_help(run: Run, name: str) -> None:
    done = run(name, "--help")

    assert done.code == 0
    assert done.out.startswith(f"Usage: crowdlogic {name} ")


def test_without_words_the_help_is_shown(run: Run) -> None:
    done = run()

    assert done.code == 0
    assert "Usage: crowdlogic" in done.out


def test_the_module_runs_as_a_command() -> None:
    done = subprocess.run([sys.executable, "-m", "crowdlogic", "--version"], capture_output=True, text=True, check=True)

    assert done.stdout.strip() == "0.1.0"
