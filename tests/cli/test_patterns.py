"""`crowdlogic patterns` as a user would call it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

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
    assert both.err == "crowdlogic: --sql prints a query, -o p.csv writes patterns. Leave one of them out.\n"
    assert neither.err.endswith("say what the query of --sql looks like. Add --sql.\n")
    assert not Path("p.csv").exists()
