"""A few moments of every row of the table of kills; `python -m tests.kills` fills it."""

from __future__ import annotations

import pytest
from tests.kills.table import ROWS

pytestmark = pytest.mark.long

MOMENTS = 6
"""Signals per command: two of each kind."""


@pytest.mark.parametrize("name", ROWS)
def test_a_command_that_is_stopped_leaves_nothing_half_written(name: str) -> None:
    if name == "export":
        pytest.importorskip("onnx")

    row = ROWS[name](MOMENTS, 0)

    assert row.problems == []
    assert sum(row.counts.values()) >= MOMENTS
