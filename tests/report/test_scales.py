"""Scales and ticks."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crowdlogic.reporting.charts import Frame, Scale, format_number, format_percent, log_ticks, nice_ticks


@given(st.floats(-1e6, 1e6), st.floats(1e-3, 1e6), st.integers(2, 10))
def test_ticks_are_round_evenly_spaced_and_inside(low: float, size: float, count: int) -> None:
    ticks = nice_ticks(low, low + size, count)

    assert len(ticks) <= count + 2
    assert all(low - 1e-6 * size <= tick <= low + size + 1e-6 * size for tick in ticks)
    if len(ticks) > 2:
        step = ticks[1] - ticks[0]
        np.testing.assert_allclose(np.diff(ticks), step, rtol=1e-5)
        assert round(step / 10 ** np.floor(np.log10(step * 1.000001))) in (1, 2, 5)


def test_ticks_of_a_logarithmic_scale_are_powers_of_ten_or_their_halves() -> None:
    assert log_ticks(3, 20_000) == [10, 100, 1000, 10_000]
    assert log_ticks(8, 120) == [10, 20, 50, 100]


def test_a_scale_puts_figures_in_proportion() -> None:
    assert Scale(0, 10, start=100, end=200)(2.5) == 125
    assert Scale(1, 10_000, start=0, end=400, logarithmic=True)(100) == pytest.approx(200)
    assert Frame(height=100, top=10, bottom=20).up(0, 1)(0.25) == pytest.approx(80 - 0.25 * 70)


@pytest.mark.parametrize(
    ("number", "shown"), [(0.25, "0.25"), (999, "999"), (1500, "1,500"), (25_000, "25k"), (3e6, "3M")]
)
def test_figures_on_axes_are_short(number: float, shown: str) -> None:
    assert format_number(number) == shown


def test_percent_has_a_decimal_only_where_it_is_needed() -> None:
    assert [format_percent(share) for share in (0.5, 0.505, 1, 0.0004)] == ["50%", "50.5%", "100%", "0%"]
