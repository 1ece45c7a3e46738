"""The examples of docs/learning.md run, the second on a run that `crowdlogic train` left."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from crowdlogic.cli.app import app
from crowdlogic.data.simulate import simulate_sentiment
from crowdlogic.workflows.simulate import write_simulation

GUIDE = Path(__file__).parents[2] / "docs" / "learning.md"
EXAMPLES = re.findall(r"```python\n(.*?)```", GUIDE.read_text(), flags=re.DOTALL)
FIT, RESTORE = (one for one in EXAMPLES if "class LengthModel" not in one)  # the own classifier has a test of its own


def test_the_first_example_learns_and_predicts() -> None:
    names: dict[str, object] = {}

    exec(compile(FIT, "docs/learning.md", "exec"), names)  # noqa: S102 (the guide is ours)

    assert names["learned"].estimate.answered.all()


def test_the_second_example_reads_a_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    made = simulate_sentiment(0, items=60, annotators=6)
    write_simulation(made, tmp_path)
    words = ["train", "--labels", "labels.csv", "--items", "gold.csv", "--epochs", "2", "-o", "run"]
    monkeypatch.setattr(sys, "argv", ["crowdlogic", *words])
    app(words, standalone_mode=False)
    names: dict[str, object] = {"corpus": made.test}

    exec(compile(RESTORE.replace("review_17", str(made.corpus.items[0])), "docs/learning.md", "exec"), names)  # noqa: S102

    assert len(names["run"].history) == 2
