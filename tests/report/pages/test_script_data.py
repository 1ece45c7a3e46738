"""Items as data for the page's script."""

from __future__ import annotations

import dataclasses

import pytest
from tests.report.example_reports import documents

from crowdlogic.reporting.pages import labels as script_data
from crowdlogic.reporting.pages.labels import select_items


def test_what_is_unknown_is_left_out_and_figures_have_four_decimals() -> None:
    found = documents(shown=1).pages["labels"]
    item = dataclasses.replace(found.doubts[0], confidence=0.123456, text="a\u202eb")

    (data,) = select_items(dataclasses.replace(found, doubts=(item,), gold_mistakes=()))["doubts"]

    assert "gold" not in data
    assert (data["confidence"], data["text"]) == (0.1235, "a⟨U+202E⟩b")


def test_items_beyond_the_budget_are_left_out_and_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    found = documents(shown=20).pages["labels"]
    monkeypatch.setattr(script_data, "BUDGET", 5000)

    data = select_items(found)

    assert 0 < len(data["doubts"]) < 20
    assert len(data["doubts"]) + len(data["gold_mistakes"]) + data["left_out"] == 20 + len(found.gold_mistakes)
