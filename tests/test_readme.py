"""What the README says in Python can be done as it stands there."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from tests.toy_package import run_crowdlogic

from crowdlogic.data.simulate import simulate_sentiment

README = (Path(__file__).parents[1] / "README.md").read_text(encoding="utf-8")


def python_blocks() -> list[str]:
    return re.findall(r"```python\n(.*?)```", README, flags=re.DOTALL)


def ticket_commands() -> list[list[str]]:
    """The commands about a table whose columns have other names, lines that go on joined."""
    lines = README.replace("\\\n", " ").splitlines()
    return [
        shlex.split(line, comments=True)[1:] for line in lines if re.match(r"    crowdlogic \w+ tickets.xlsx", line)
    ]


def test_the_commands_for_other_names_of_columns_run_and_leave_a_report_and_a_list_to_check(tmp_path: Path) -> None:
    made = simulate_sentiment(2, items=60, annotators=5, labels_per_item=4)
    table = made.labels.to_frame().join(made.corpus.to_frame().select("item", "text"), on="item")
    table = table.select(Nr="item", Who="annotator", Opinion="label", Wording="text")
    table.to_pandas().to_excel(tmp_path / "tickets.xlsx", index=False)

    looked, *done = [run_crowdlogic(tmp_path, tmp_path, *words) for words in ticket_commands()]

    (guess,) = [line for line in looked.stdout.splitlines() if "this may be it" in line]
    assert guess.endswith("--column item=Nr --column annotator=Who --column label=Opinion --column text=Wording")
    assert [(one.returncode, "Traceback" in one.stderr) for one in done] == [(0, False)] * 2
    assert (tmp_path / "report.html").is_file()
    to_check = pd.read_excel(tmp_path / "truth.relabel.xlsx")
    assert list(to_check.columns[:5]) == ["item", "text", "label", "confidence", "votes"]
    assert to_check["confidence"].is_monotonic_increasing


def test_the_python_of_the_readme_runs_from_frames(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    made = simulate_sentiment(2, items=80, annotators=7, labels_per_item=4)
    names = made.corpus.items.to_list()
    space: dict[str, Any] = {
        "frame": made.labels.to_pandas(),
        "items": made.corpus.to_pandas()[["item", "text"]],
        "similar": pd.DataFrame({"a": names[:20], "b": names[20:40]}),
    }

    for block in python_blocks():
        exec(compile(block, "README.md", "exec"), space)  # noqa: S102 (our own text)

    assert space["learned"].predict(["grand", "dull"]).shape == (2, 2)
    assert space["learned"].teacher.n_rules == 3
    assert space["staged"].estimate.method == "shares + scikit"
    assert (tmp_path / "run" / "config.json").is_file()
