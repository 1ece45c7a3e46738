"""Charts over two axes: a mark is where its figure says."""

from __future__ import annotations

import re

import pytest

from crowdlogic.reporting import charts
from crowdlogic.reporting.findings import Histogram


def test_bars_are_as_high_as_their_counts() -> None:
    plot = charts.histogram_chart("h", "heights", Histogram((0, 0.5, 1), (10, 40)), x="x", y="y")

    heights = [float(one) for one in re.findall(r'<rect class="mark c1"[^>]*height="([\d.]+)"', str(plot.svg))]
    assert heights[1] / heights[0] == pytest.approx(4, rel=0.01)
    assert "<title>50% to 100%: 40</title>" in plot.svg


def test_points_stand_where_their_figures_say() -> None:
    points = [
        charts.Point(name="a", x=10, y=0.5, low=0.4, high=0.6),
        charts.Point(name="b", x=1000, y=0.9, low=0.8, high=1.0, marked=True),
    ]

    svg = str(charts.scatter_chart("s", "points", points, x="x", y="y", marked="m", unmarked="u").svg)

    (x, y) = re.search(r'<circle cx="([\d.]+)" cy="([\d.]+)" r="4"', svg).groups()  # type: ignore[union-attr]
    (mx, my) = re.search(r'<path d="M([\d.]+) ([\d.]+)l6', svg).groups()  # type: ignore[union-attr]
    assert float(x) < float(mx)
    assert float(y) > float(my) + 6
    assert "a: 50% (40% to 60%), 10" in svg
    assert ">b</text>" in svg


def test_a_name_never_covers_a_marked_point() -> None:
    points = [charts.Point(name=f"name_{n}", x=100 + 6 * n, y=0.5, low=0.4, high=0.6, marked=True) for n in range(8)]

    svg = str(charts.scatter_chart("s", "points", points, x="x", y="y", marked="m", unmarked="u").svg)

    places = [float(one) for one in re.findall(r'<path d="M([\d.]+) ', svg)]
    names = [(float(x), word) for x, word in re.findall(r'<text x="([\d.]+)"[^>]*class="label">(name_\d)</text>', svg)]
    assert names
    for x, word in names:
        assert not [place for place in places if x < place < x + 6.6 * len(word)]
