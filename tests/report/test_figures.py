"""Plots as files."""

from __future__ import annotations

from pathlib import Path

from tests.report.example_reports import documents

from crowdlogic.reporting import charts
from crowdlogic.reporting.charts import LIGHT
from crowdlogic.reporting.figures import draw_plots, standalone_svg, write_figures


def test_a_figure_file_has_its_colours_title_and_legend_in_it() -> None:
    points = [
        charts.Point(name="a", x=10, y=0.5, low=0.4, high=0.6),
        charts.Point(name="b", x=20, y=0.9, low=0.8, high=1.0, marked=True),
    ]

    svg = standalone_svg(
        charts.scatter_chart("s", "Whom <to> trust", points, x="x", y="y", marked="flagged", unmarked="others")
    )

    assert "var(--" not in svg
    assert LIGHT["c6"] in svg
    assert "Whom &lt;to&gt; trust" in svg
    assert ">flagged</text>" in svg
    assert 'xmlns="http://www.w3.org/2000/svg"' in svg


def test_every_plot_of_every_page_becomes_a_file(tmp_path: Path) -> None:
    report = documents()

    written = write_figures(report, tmp_path, png=False)

    names = [plot.name for plot in draw_plots(report)]
    assert len(names) == len(set(names)) > 15
    assert {path.name for path in written.svg} == {f"{name}.svg" for name in names}
    assert (written.png, written.missing) == ((), "PNG was not requested.")
