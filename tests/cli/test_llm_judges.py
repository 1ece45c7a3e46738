"""The tutorial on LLM judges does what it says."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable
from pathlib import Path

import polars as pl
from tests.cli.conftest import Result

Run = Callable[..., Result]

PAGE = Path(__file__).parents[2] / "docs" / "tutorials" / "llm-judges.md"


def test_the_tutorial_runs_and_finds_the_copies(run: Run) -> None:
    text = PAGE.read_text(encoding="utf-8")
    (block,) = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    exec(compile(block, str(PAGE), "exec"), {})  # noqa: S102

    said = [run(*shlex.split(line)[1:]) for line in re.findall(r"^    (crowdlogic .*)$", text, re.MULTILINE)]

    assert [done.code for done in said] == [0] * 4
    without, with_gold = said[0].err, said[1].err
    assert "8 judges, worth about 6.0 votes" in without
    assert "judge-0, judge-6 and judge-7 are near-copies" in without
    assert "if annotators err independently" in without
    assert "judging by 100 items labelled at random" in with_gold
    verdicts = dict(pl.read_csv("table.csv").select("annotator", "verdict").iter_rows())
    assert all("near-copy" in verdicts[name] for name in ("judge-0", "judge-6", "judge-7"))
    assert re.findall(r"\(95% interval: .*?\)", with_gold) == re.findall(r"\(95% interval: .*?\)", said[2].err)
