"""The examples of docs/learning.md run."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

GUIDE = Path(__file__).parents[2] / "docs" / "learning.md"
BLOCKS = re.findall(r"```python\n(.*?)```", GUIDE.read_text(), flags=re.DOTALL)


@pytest.mark.parametrize("block", BLOCKS, ids=lambda block: block.splitlines()[0][:40])
def test_an_example_runs(block: str) -> None:
    names: dict[str, object] = {}

    exec(compile(block, "docs/learning.md", "exec"), names)  # noqa: S102 (the guide is ours)

    assert "learned" in names


def test_there_are_examples() -> None:
    assert BLOCKS
