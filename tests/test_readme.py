"""What the README says in Python can be done as it stands there."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from crowdlogic.data.simulate import simulate_sentiment

README = (Path(__file__).parents[1] / "README.md").read_text(encoding="utf-8")


def python_blocks() -> list[str]:
    return re.findall(r"```python\n(.*?)```", README, flags=re.DOTALL)


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
