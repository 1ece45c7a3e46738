"""The list of commands: what it says, what it loads, and how errors come out."""

from __future__ import annotations

import gzip
import os
import resource
import subprocess
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path

import pytest
from tests.cli.conftest import CSV, Result

from crowdlogic.cli import app

Run = Callable[..., Result]
HOME = Path(app.__file__).parent


def starts_within(seconds: float, *words: str) -> bool:
    """Whether one of five runs of a command, in a process of its own, takes less processor time than that."""
    return any(_processor_seconds(*words) < seconds for _ in range(5))


def _processor_seconds(*words: str) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-m", "crowdlogic", *words], capture_output=True, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


@pytest.mark.parametrize("words", [["--version"], ["--help"]], ids=str)
def test_the_command_starts_at_once(words: list[str]) -> None:
    assert starts_within(0.4, *words)


def test_two_items_are_aggregated_in_a_second(tmp_path: Path) -> None:
    (tmp_path / "l.csv").write_text("item,annotator,label\nu,a,x\nu,b,x\nv,a,y\n")

    assert starts_within(1.0, "aggregate", str(tmp_path / "l.csv"), "-o", str(tmp_path / "o.csv"))


def test_help_loads_no_command(run: Run) -> None:
    code = (
        "import sys; from crowdlogic.cli import app; sys.argv = ['crowdlogic', '--help']\n"
        "try: app.main()\nfinally: print(*sorted(name for name in sys.modules), file=sys.stderr)"
    )

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env={**os.environ})

    assert "aggregate  Estimate the true label of every item." in done.stdout
    assert not {"crowdlogic.cli.aggregate", "numpy", "polars", "rich"} & set(done.stderr.split())


def test_every_command_is_listed_with_its_own_first_line() -> None:
    for command in app.commands().values():
        function = getattr(import_module(command.module), "command", None)
        if function is not None:
            assert (function.__doc__ or "").splitlines()[0] == command.help


@pytest.mark.parametrize("name", app.commands())
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


@pytest.mark.extension("paper", "tools")
@pytest.mark.parametrize(
    ("words", "line"),
    [
        (
            ["aggregate", "no.csv", "-o", "o.csv"],
            "crowdlogic: no.csv: no such file. The folder contains: bad.csv, l.csv.\n",
        ),
        (
            ["aggregate", "bad.csv", "-o", "o.csv"],
            "crowdlogic: bad.csv, row 3: 2 fields, but the header has 3. Correct the row. Fields with ',' or a line break must be quoted.\n",
        ),
        (
            ["aggregate", "l.csv", "-o", "no/o.csv"],
            "crowdlogic: no/o.csv: the folder no does not exist. Create it first.\n",
        ),
        (
            ["aggregate", "l.csv", "-o", "o.xyz"],
            "crowdlogic: o.xyz: no format has the suffix '.xyz'. Use .csv, .tsv, .xlsx, .parquet, .jsonl, .json, .conll, .spacy, .ft, or give --format.\n",
        ),
        (
            ["aggregate", "l.csv", "-o", "o.csv", "--classes", "x,z"],
            "crowdlogic: l.csv, row 4: the label 'y' is not among the classes x, z. Correct the label, or add it to the classes. (1 more such row: 5)\n",
        ),
        (
            ["aggregate", "l.csv", "-o", "o.csv", "--ties", "order"],
            "crowdlogic: ties = order: no order does not name each class once. The classes are x, y.\n",
        ),
        (
            ["aggregate", "l.csv", "-o", "o.csv", "--column", "item"],
            "crowdlogic: --column 'item': write role=name, such as item=task_number.\n",
        ),
        (
            ["evaluate", "l.csv", "l.csv"],
            "crowdlogic: l.csv, row 3: item 'u' appears again. Give one row per item, or aggregate a file of labels first. (2 more such rows: 4, 6)\n",
        ),
        (["frobnicate"], "crowdlogic: There is no command 'frobnicate'. See crowdlogic --help.\n"),
        (
            ["datasets", "truth/temp", "--root", "."],
            "crowdlogic: truth/temp: truth/temp/labels.csv is not in .. Get it from dirkhovy/MACE on GitHub.\n",
        ),
    ],
)
def test_bad_input_is_one_line_exit_code_2_and_nothing_written(run: Run, words: list[str], line: str) -> None:
    Path("l.csv").write_text(CSV)
    Path("bad.csv").write_text("item,annotator,label\nu,a,x\nu,b\n")

    done = run(*words)

    assert (done.code, done.out, done.err) == (2, "", line)
    assert sorted(p.name for p in Path().iterdir()) == ["bad.csv", "l.csv"]


@pytest.mark.parametrize(
    "words",
    [
        ["aggregate", "l.csv", "-o", "l.csv/x.csv"],
        ["simulate", "labels", "-o", "l.csv/x"],
        ["aggregate", "x" * 300 + ".csv", "-o", "o.csv"],
        ["aggregate", "l.csv", "-o", "x" * 300 + ".csv"],
    ],
)
def test_paths_that_cannot_be_are_one_line(run: Run, words: list[str]) -> None:
    Path("l.csv").write_text(CSV)

    done = run(*words)

    assert done.code == 2
    assert done.err.startswith("crowdlogic: ")
    assert done.err.count("\n") == 1


def test_what_a_packed_file_may_unpack_to_is_an_option(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CROWDLOGIC_MAX_UNPACKED", "1G")  # so that it is put back
    Path("l.csv.gz").write_bytes(gzip.compress(CSV.encode()))

    refused = run("--max-unpacked", "10", "aggregate", "l.csv.gz", "-o", "t.csv")
    nonsense = run("--max-unpacked", "many", "aggregate", "l.csv.gz", "-o", "t.csv")
    done = run("--max-unpacked", "1M", "aggregate", "l.csv.gz", "-o", "t.csv")

    assert (refused.code, nonsense.code, done.code) == (2, 2, 0)
    assert "l.csv.gz: decompresses to more than 10 bytes" in refused.err
    assert (
        nonsense.err
        == "crowdlogic: --max-unpacked: 'many' is not a size. Write a number of bytes, such as 500M or 8G.\n"
    )


@pytest.mark.parametrize(("command", "threads"), [("aggregate", "1"), ("train", "None")])
def test_only_commands_that_learn_start_threads_for_large_matrices(command: str, threads: str) -> None:
    code = (
        "import os; os.environ.pop('OPENBLAS_NUM_THREADS', None); from crowdlogic.cli.app import load_command; "
        f"load_command('{command}'); print(os.environ.get('OPENBLAS_NUM_THREADS'))"
    )

    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert found.stdout.strip() == threads
