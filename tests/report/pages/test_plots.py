"""The plots of every page: which there are, and what they leave out."""

from __future__ import annotations

import dataclasses
import re
from dataclasses import replace

from tests.report.example_reports import documents, tagged

from crowdlogic.reporting.charts import Plot
from crowdlogic.reporting.findings import TaskKind
from crowdlogic.reporting.pages.annotators import draw_annotators, highlight_annotators
from crowdlogic.reporting.pages.comparison import draw_comparison
from crowdlogic.reporting.pages.labels import draw_labels, highlight_labels
from crowdlogic.reporting.pages.overview import draw_overview
from crowdlogic.reporting.pages.rules import draw_rules
from crowdlogic.reporting.pages.training import draw_training


def names(plots: dict[str, list[Plot]]) -> list[str]:
    return [plot.name for plot in plots["main"]]


def test_spans_have_a_plot_of_mistakes_and_the_f1_of_spans_for_reliability() -> None:
    plots = draw_annotators(tagged().pages["annotators"], TaskKind.spans)

    assert names(plots) == ["reliability", "pairs", "drift", "span-mistakes"]
    assert plots["main"][0].title == "Whom to trust: span F1 against volume"


def test_the_stopping_score_has_a_plot_of_its_own_where_it_is_a_log_likelihood() -> None:
    found = dataclasses.replace(documents().pages["training"], stops_by_score=False, stopping_name="held-out")

    plots = draw_training(found, TaskKind.documents)["main"]

    assert [plot.title for plot in plots[:2]] == ["Scores by epoch", "What decides when to stop: held-out"]


def test_a_single_rule_needs_no_plot() -> None:
    found = documents().pages["rules"]

    assert names(draw_rules(dataclasses.replace(found, rows=found.rows[:1]), TaskKind.documents)) == []


def test_answers_below_the_threshold_are_drawn_as_those_to_check() -> None:
    found = replace(documents().pages["labels"], check_below=0.8)

    plot = draw_labels(found, TaskKind.documents)["main"][0]

    marks = re.findall(r'<rect class="mark (c\d)"[^>]*><title>(\d+)% to (\d+)%', str(plot.svg))
    assert {high for kind, _, high in marks if kind == "c6"} >= {"75", "80"}
    assert {low for kind, low, _ in marks if kind == "c1"} == {"80", "85", "90", "95"}
    assert [text for _, text in plot.legend] == ["below 80%: to check", "80% or more"]


def test_the_overview_is_told_how_many_annotators_are_flagged_and_mistakes_expected() -> None:
    found = documents().pages

    (people,) = highlight_annotators(found["annotators"], TaskKind.documents).tiles
    (mistakes,) = highlight_labels(found["labels"], TaskKind.documents).tiles

    assert (people.figure, people.name, people.note) == ("40", "annotators", "2 not to be trusted")
    assert (mistakes.figure, mistakes.name, mistakes.note) == ("60", "expected mistakes", "6% of the answers")


def test_small_matrices_are_as_many_as_the_page_has_room_for() -> None:
    found = documents().pages["annotators"]

    few_classes = draw_annotators(found, TaskKind.documents)["matrices"]
    many_classes = draw_annotators(tagged().pages["annotators"], TaskKind.spans)["matrices"]

    assert (len(few_classes), len(many_classes)) == (24, 1500 // 81)


def test_the_weight_of_rules_is_not_drawn_in_a_run_without_rules() -> None:
    with_rules = documents().pages["training"]
    without = dataclasses.replace(with_rules, has_rules=False)

    drawn = [draw_training(found, TaskKind.documents)["main"] for found in (with_rules, without)]
    texts = [" ".join(text for plot in plots for _, text in plot.legend) for plots in drawn]

    assert "weight of the rules" in texts[0]
    assert "weight of the rules" not in texts[1]


def test_every_page_has_its_plots() -> None:
    found, task = documents().pages, TaskKind.documents

    assert names(draw_overview(found["overview"], task)) == ["classes", "agreement", "labels-per-item", "calibration"]
    assert names(draw_labels(found["labels"], task)) == ["confidence", "checking"]
    assert names(draw_annotators(found["annotators"], task)) == ["reliability", "pairs", "drift"]
    assert names(draw_rules(found["rules"], task)) == ["rules"]
    assert names(draw_training(found["training"], task)) == [
        "scores",
        "loss",
        "convergence",
        "views",
        "student-teacher",
    ]
    assert names(draw_comparison(found["comparison"], task)) == ["methods", "methods-agreement"]
