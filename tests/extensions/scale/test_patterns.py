"""`crowdlogic patterns` as a user would call it."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import polars as pl
from tests.cli.conftest import Result

Run = Callable[..., Result]
WIDE = "item,ann,bob\n1,x,y\n2,x,y\n3,,y\n"


def test_patterns_are_written_with_their_counts(run: Run) -> None:
    Path("wide.csv").write_text(WIDE)

    done = run("patterns", "wide.csv", "--wide", "-o", "p.csv")

    assert done.err == "3 items have 2 patterns -> p.csv\n"
    assert sorted(Path("p.csv").read_text().splitlines()) == [",y,1", "ann,bob,n_items", "x,y,2"]


def test_the_query_goes_to_standard_output(run: Run) -> None:
    Path("wide.csv").write_text(WIDE)

    done = run("patterns", "wide.csv", "--wide", "--sql", "--from", "eval.verdicts", "--backticks")

    assert done.out == (
        "SELECT `ann`, `bob`, count(*) AS `n_items`\nFROM `eval`.`verdicts`\nGROUP BY `ann`, `bob`\n"
        "ORDER BY `ann`, `bob`;\n"
    )


def test_a_query_and_a_file_are_two_things(run: Run) -> None:
    Path("wide.csv").write_text(WIDE)

    both = run("patterns", "wide.csv", "--wide", "--sql", "-o", "p.csv")
    neither = run("patterns", "wide.csv", "--wide", "--backticks", "-o", "p.csv")

    assert both.code == neither.code == 2
    assert both.err == "crowdlogic: --sql prints a query, -o p.csv writes patterns. Remove one of them.\n"
    assert neither.err.endswith("require --sql. Add --sql.\n")
    assert not Path("p.csv").exists()


def test_nothing_but_the_outcome_is_said(tmp_path: Path) -> None:
    """In a process of its own: libraries have their say when Python ends."""
    pl.DataFrame({"item": [1, 2, 3], "ann": ["x", "y", "x"], "bob": ["x", "x", "x"]}).write_parquet(
        tmp_path / "w.parquet"
    )

    done = subprocess.run(
        [sys.executable, "-m", "crowdlogic", "patterns", "w.parquet", "--wide", "-o", "p.csv"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )

    assert (done.stdout + done.stderr).splitlines() == ["3 items have 2 patterns -> p.csv"]
