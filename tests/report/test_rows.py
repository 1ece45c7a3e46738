"""Plots in rows."""

from __future__ import annotations

import re

from crowdlogic.reporting import charts as rows


def test_unknown_cells_of_a_heat_map_are_empty_and_say_so() -> None:
    values = [[1.0, 0.0], [float("nan"), 0.5]]

    plot = rows.heat_map("m", "cells", values, rows=["a", "b"], columns=["a", "b"])

    assert str(plot.svg).count('class="empty"') == 1
    assert "b → a: not known" in plot.svg
    assert re.findall(r'fill-opacity="([\d.]+)"', str(plot.svg)) == ["1", "0", "0.5"]
