"""Figures of made-up runs show the figures that they are made from."""

import re

import pytest
from tests.extensions.paper.conftest import finished, make_runs

from crowdlogic.extensions.paper.figures import box_plot, build_figures


def annotators(count):
    each = [
        {"name": f"w{n}", "labels": 10 * (n + 1), "items": 10 * (n + 1), "skill": 0.5 + n / 20, "estimated": 0.5 + n / 20,
         "real": 0.5 + n / 25}
        for n in range(count)
    ]  # fmt: skip
    matrix = [[0.9, 0.1], [None, None]]
    busiest = [{"name": one["name"], "estimated": matrix, "real": matrix} for one in each[:6]]
    return {"classes": ["neg", "pos"], "each": each, "busiest": busiest}


def test_the_figures_are_those_that_the_runs_allow():
    none = build_figures(finished(), "sentiment")
    some = build_figures(
        finished(make_runs("sentiment", "annotators", (1, 1, 1), annotators=annotators(8))), "sentiment"
    )

    assert none == []
    assert [plot.name for plot in some] == [
        f"sentiment-{name}" for name in ("confusion", "reliability", "amount", "skill")
    ]


def test_a_reliability_figure_has_a_point_for_each_annotator():
    found = annotators(8)
    found["each"][3]["labels"] = 5  # too few

    plots = build_figures(finished(make_runs("sentiment", "annotators", (1, 1, 1), annotators=found)), "sentiment")

    svg = str(plots[1].svg)
    assert "Overall reliability of 7 annotators: r = 1.000" in svg
    assert svg.count("<circle") == 7


@pytest.mark.parametrize(("task", "count"), [("ner", 4), ("sentiment", 6)])
def test_the_matrices_of_four_taggers_or_six_labellers_are_shown(task, count):
    plots = build_figures(finished(make_runs(task, "annotators", (1, 1, 1), annotators=annotators(8))), task)

    assert re.findall(r">(w\d)<", str(plots[0].svg)) == [f"w{n}" for n in range(count)]


def test_curves_need_two_sizes_at_least():
    whole = [make_runs("ner", row, (70, 71, 80)) for row in ("logic-lncl", "aggnet")]
    fewer = [make_runs("ner", f"{row}, 4900 samples", (68, 69, 78)) for row in ("logic-lncl", "aggnet")]

    assert build_figures(finished(*whole), "ner") == []
    assert [plot.name for plot in build_figures(finished(*whole, *fewer), "ner")] == [
        "ner-samples-prediction",
        "ner-samples-inference",
    ]


def test_a_box_plot_says_its_quartiles():
    plot = box_plot("skill", "accuracy of annotators", [0.0, 0.25, 0.5, 0.75, 1.0], y="accuracy")

    assert "accuracy of annotators: median 50%, half from 25% to 75%, 5 in all." in str(plot.svg)
