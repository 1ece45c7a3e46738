"""The examples of docs/concepts/learning.md and docs/reference/training.md run, the second on a run that `crowdlogic train` left."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from crowdlogic.cli.app import app
from crowdlogic.data.simulate import simulate_sentiment
from crowdlogic.workflows.simulate import write_simulation

DOCS = Path(__file__).parents[2] / "docs"
FIT, RESTORE = (
    re.findall(r"```python\n(.*?)```", (DOCS / page).read_text(encoding="utf-8"), flags=re.DOTALL)[0]
    for page in ("concepts/learning.md", "reference/training.md")
)


def test_the_first_example_learns_and_predicts() -> None:
    names: dict[str, object] = {}

    exec(compile(FIT, "docs/concepts/learning.md", "exec"), names)  # noqa: S102 (the guide is ours)

    assert names["learned"].estimate.answered.all()


def test_the_second_example_reads_a_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = simulate_sentiment(0, items=60, annotators=6)
    write_simulation(made, tmp_path / "data")
    monkeypatch.chdir(tmp_path / "data")
    words = ["train", "--labels", "labels.csv", "--items", "gold.csv", "--epochs", "2", "-o", "run"]
    monkeypatch.setattr(sys, "argv", ["crowdlogic", *words])
    app(words, standalone_mode=False)
    names: dict[str, object] = {"corpus": made.test}

    exec(compile(RESTORE.replace("review_17", str(made.corpus.items[0])), "docs/reference/training.md", "exec"), names)  # noqa: S102

    assert len(names["run"].history) == 2
