"""A fit while it runs, on a terminal and in a pipe."""

from __future__ import annotations

from dataclasses import replace

import pytest

from crowdlogic.cli.train import HELD_OUT, EpochLines, epoch_line, epoch_table, format_seconds, show_epochs
from crowdlogic.learning.training import HistoryRow

ROW = HistoryRow(epoch=3, loss=0.25, k=0.5, stopping=0.75, change=0.125, objective=-0.5, seconds=2.0)
KEPT = replace(ROW, k=0.1, change=0.1, seconds=1.0, kept=True)


def test_an_epoch_in_a_line() -> None:
    assert epoch_line(ROW, 10, "dev accuracy") == (
        "epoch 3 of at most 10: loss 0.2500, dev accuracy 75.00 %, 12.50 % of answers changed, weight of the rules 50.00 %, "
        "2.0 s, at most 14.0 s left"
    )
    assert "held-out log likelihood 0.7500, " in epoch_line(ROW, 10, HELD_OUT)
    assert epoch_line(ROW, 3, "").startswith("epoch 3 of at most 3: loss 0.2500, 12.50 % of answers changed")
    assert [format_seconds(t) for t in (0.04, 99.0, 600.0, 36000.0)] == ["0.0 s", "99.0 s", "10 min", "10.0 h"]


def test_a_table_on_a_terminal_marks_the_best_epoch(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [
        replace(ROW, epoch=t, loss=1.0 / t, k=0.1 * t, stopping=score, change=0.1, seconds=1.0, kept=t < 3)
        for t, score in enumerate((0.5, 0.75, 0.625), start=1)
    ]
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "100")

    table = epoch_table(rows, 10, "dev accuracy")
    with show_epochs("dev accuracy") as show:
        for row in rows:
            show(row, 10)

    assert [row.style for row in table.rows] == [None, "bold", None]
    shown = capsys.readouterr().err
    assert "75.00 %" in shown
    assert "epoch 3 of at most 10, at most 7.0 s left" in shown


def test_a_terminal_shows_the_second_pass_under_the_first(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    first = [replace(KEPT, epoch=t, loss=1.0 / t, stopping=-0.1 * t) for t in (1, 2, 3)]
    second = [replace(KEPT, epoch=t, loss=0.7 / t, stopping=float(t), refit=True) for t in (1, 2)]
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "100")

    with show_epochs(HELD_OUT) as show:
        for row in first:
            show(row, 8)
        for row in second:
            show(row, 2)

    shown = capsys.readouterr().err
    end = shown[shown.rindex("refit with all labels, 2 epochs") :]
    assert "epoch 3 of 3" not in end
    assert "0.7000" in end
    assert "0.3500" in end
    assert "epoch 2 of 2, at most 0.0 s left" in end
    assert HELD_OUT not in end
    assert HELD_OUT in shown
    assert "\n" in shown[shown.rindex("0.3333") : shown.rindex("refit with all labels, 2 epochs")]  # above it, whole


def test_epochs_in_which_nothing_changes_are_folded_into_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    lines = EpochLines("dev accuracy", clock=lambda: 1.0)

    for t, change in enumerate((0.5, 0.25, 0.0, 0.0, 0.0, 0.125, 0.0, 0.0), start=1):
        lines.show(replace(ROW, epoch=t, change=change), 30)
    lines.finish()

    said = [line.partition(": loss")[0] for line in capsys.readouterr().err.splitlines()]
    assert said == [
        "epoch 1 of at most 30",
        "epoch 2 of at most 30",
        "epochs 3 to 5: no answer changed",
        "epoch 6 of at most 30",
        "epochs 7 to 8: no answer changed",
    ]


def test_a_long_epoch_has_a_line_though_nothing_changes(capsys: pytest.CaptureFixture[str]) -> None:
    times = iter([0.0, 40.0, 80.0, 120.0, 160.0, 200.0])
    lines = EpochLines("", clock=lambda: next(times))

    for t in (2, 3):
        lines.show(replace(ROW, epoch=t, change=0.0), 30)

    assert len(capsys.readouterr().err.splitlines()) == 2


def test_the_weight_of_rules_is_not_shown_in_a_run_without_rules() -> None:
    assert "rules" in epoch_line(ROW, 10, "")
    assert "rules" not in epoch_line(ROW, 10, "", has_rules=False)
    assert "weight of rules" not in [column.header for column in epoch_table([ROW], 10, "", has_rules=False).columns]
