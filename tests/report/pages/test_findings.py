"""Histograms, rounding and the order of findings."""

from __future__ import annotations

import numpy as np

from crowdlogic.reporting.findings import (
    ReportFinding,
    Urgency,
    count_histogram,
    round_figure,
    share_histogram,
    sort_by_importance,
)


def test_whole_numbers_from_the_limit_on_share_a_bin() -> None:
    found = count_histogram(np.array([0, 1, 1, 7, 9, 30]), 7)

    assert found.counts == (1, 2, 0, 0, 0, 0, 0, 3)
    assert found.edges == (0, 1, 2, 3, 4, 5, 6, 7, 31)


def test_a_value_on_an_edge_is_counted_once_and_above_it() -> None:
    found = share_histogram(np.array([0.0, 0.05, 0.35, 0.95, 1.0]), 20)

    assert sum(found.counts) == 5
    assert [place for place, count in enumerate(found.counts) for _ in range(count)] == [0, 1, 7, 19, 19]


def test_figures_are_rounded_and_what_is_no_number_is_none() -> None:
    assert [round_figure(one) for one in (np.float64(1 / 3), 2, None, np.nan, np.inf)] == [
        0.333333,
        2.0,
        None,
        None,
        None,
    ]


def test_equally_important_findings_stay_in_order() -> None:
    findings = [ReportFinding(text, Urgency.know, importance=weight) for text, weight in (("a", 1), ("b", 2), ("c", 1))]

    assert [one.text for one in sort_by_importance(findings)] == ["b", "a", "c"]
