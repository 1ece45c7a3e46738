"""Scales, ticks and marks: a mark stands where its figure says."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crowdlogic.report import plots_charts as charts
from crowdlogic.report import plots_rows as rows
from crowdlogic.report.figures import standalone
from crowdlogic.report.plots import Frame, Scale, log_ticks, nice_ticks, short, tag
from crowdlogic.report.plots_colours import DARK, LIGHT


def luminance(colour: np.ndarray) -> float:
    parts = colour / 255
    linear = np.where(parts <= 0.03928, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)
    return float(linear @ np.array([0.2126, 0.7152, 0.0722]))


def rgb(colour: str) -> np.ndarray:
    return np.array([int(colour[n : n + 2], 16) for n in (1, 3, 5)], dtype=float)


def contrast(one: np.ndarray, other: np.ndarray) -> float:
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


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
    assert Scale(0, 10, 100, 200)(2.5) == 125
    assert Scale(1, 10_000, 0, 400, logarithmic=True)(100) == pytest.approx(200)
    assert Frame(height=100, top=10, bottom=20).up(0, 1)(0.25) == pytest.approx(80 - 0.25 * 70)


@pytest.mark.parametrize(
    ("number", "shown"), [(0.25, "0.25"), (999, "999"), (1500, "1,500"), (25_000, "25k"), (3e6, "3M")]
)
def test_figures_on_axes_are_short(number: float, shown: str) -> None:
    assert short(number) == shown


def test_an_element_escapes_what_it_is_given() -> None:
    assert tag("text", "<b>&", class_='"x') == '<text class="&#34;x">&lt;b&gt;&amp;</text>'


def test_bars_are_as_high_as_their_counts() -> None:
    plot = charts.histogram("h", "heights", (0, 0.5, 1), (10, 40), x="x", y="y")

    heights = [float(one) for one in re.findall(r'<rect class="mark c1"[^>]*height="([\d.]+)"', str(plot.svg))]
    assert heights[1] / heights[0] == pytest.approx(4, rel=0.01)
    assert "<title>50% to 100%: 40</title>" in plot.svg


def test_points_stand_where_their_figures_say() -> None:
    points = [charts.Point("a", 10, 0.5, 0.4, 0.6), charts.Point("b", 1000, 0.9, 0.8, 1.0, marked=True)]

    svg = str(charts.scatter("s", "points", points, x="x", y="y", marked="m", unmarked="u").svg)

    (x, y) = re.search(r'<circle cx="([\d.]+)" cy="([\d.]+)" r="4"', svg).groups()  # type: ignore[union-attr]
    (mx, my) = re.search(r'<path d="M([\d.]+) ([\d.]+)l6', svg).groups()  # type: ignore[union-attr]
    assert float(x) < float(mx)
    assert float(y) > float(my) + 6
    assert "a: 50% (40% to 60%), 10" in svg
    assert ">b</text>" in svg


def test_a_name_never_covers_a_marked_point() -> None:
    points = [charts.Point(f"name_{n}", 100 + 6 * n, 0.5, 0.4, 0.6, marked=True) for n in range(8)]

    svg = str(charts.scatter("s", "points", points, x="x", y="y", marked="m", unmarked="u").svg)

    places = [float(one) for one in re.findall(r'<path d="M([\d.]+) ', svg)]
    names = [(float(x), word) for x, word in re.findall(r'<text x="([\d.]+)"[^>]*class="label">(name_\d)</text>', svg)]
    assert names
    for x, word in names:
        assert not [place for place in places if x < place < x + 6.6 * len(word)]


def test_unknown_cells_of_a_heat_map_are_empty_and_say_so() -> None:
    plot = rows.heat_map(
        "m", "cells", ["a", "b"], ["a", "b"], [[1.0, 0.0], [float("nan"), 0.5]], row_name="", column_name=""
    )

    assert str(plot.svg).count('class="empty"') == 1
    assert "b → a: not known" in plot.svg
    assert re.findall(r'fill-opacity="([\d.]+)"', str(plot.svg)) == ["1", "0", "0.5"]


@pytest.mark.parametrize("scheme", [LIGHT, DARK], ids=["light", "dark"])
def test_figures_in_a_heat_map_can_be_read_at_every_shade(scheme: dict[str, str]) -> None:
    for shade in np.linspace(0, 1, 101):
        cell = (1 - shade) * rgb(scheme["card"]) + shade * rgb(scheme["heat"])
        ink = rgb(scheme["on-strong" if shade >= rows.STRONG else "on-pale"])

        assert contrast(cell, ink) >= 4.45


@pytest.mark.parametrize("scheme", [LIGHT, DARK], ids=["light", "dark"])
def test_words_stand_out_from_every_paper(scheme: dict[str, str]) -> None:
    for paper in ("paper", "card", "sunk"):
        for ink in ("ink", "muted", "link"):
            assert contrast(rgb(scheme[paper]), rgb(scheme[ink])) >= 4.5
        for mark in ("c1", "c3", "c4", "c6", "c7", "c8"):
            assert contrast(rgb(scheme[paper]), rgb(scheme[mark])) >= 2.9


@pytest.mark.parametrize("scheme", [LIGHT, DARK], ids=["light", "dark"])
def test_figures_in_bars_can_be_read(scheme: dict[str, str]) -> None:
    assert contrast(rgb(scheme["c1"]), rgb(scheme["in-c1"])) >= 4.5
    for colour in ("c2", "c3", "c4"):
        assert contrast(rgb(scheme[colour]), rgb(scheme["in-c2"])) >= 4.5


def test_a_figure_file_has_its_colours_title_and_legend_in_it() -> None:
    points = [charts.Point("a", 10, 0.5, 0.4, 0.6), charts.Point("b", 20, 0.9, 0.8, 1.0, marked=True)]

    svg = standalone(charts.scatter("s", "Whom <to> trust", points, x="x", y="y", marked="flagged", unmarked="others"))

    assert "var(--" not in svg
    assert LIGHT["c6"] in svg
    assert "Whom &lt;to&gt; trust" in svg
    assert ">flagged</text>" in svg
    assert 'xmlns="http://www.w3.org/2000/svg"' in svg
