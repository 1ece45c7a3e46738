"""Made-up finished runs, and simulated tasks that are small enough for tests."""

from __future__ import annotations

from typing import Any

import pytest

from crowdlogic.extensions.paper.results import FinishedRuns, RunResult

SPAN_METRICS = ("precision", "recall", "f1", "strict f1")


def make_runs(task: str, row: str, *scores: tuple[float | None, float | None, float], **more: Any) -> list[RunResult]:
    """Runs of a row with (student, teacher, inference) of each seed, in percent; the oracle's epoch is a point better."""
    metrics = SPAN_METRICS if "ner" in task else ("accuracy",)
    runs = []
    for seed, (student, teacher, inference) in enumerate(scores):
        parts = {"student": student, "teacher": teacher, "inference": inference}
        by_part = {part: dict.fromkeys(metrics, value / 100) for part, value in parts.items() if value is not None}
        history = [{"scores": {"inference": (inference + rise) / 100}} for rise in (0, 1)] if student else []
        run = {"task": task, "row": row, "seed": seed, "seconds": 60.0, "chosen": 1, "scores": by_part}
        runs.append(run | {"history": history} | more)
    return runs


def finished(*groups: list[RunResult]) -> FinishedRuns:
    """These runs, as if read from files."""
    by_task: dict[str, list[RunResult]] = {}
    for run in (run for group in groups for run in group):
        by_task.setdefault(run["task"], []).append(run)
    return FinishedRuns(by_task)


@pytest.fixture
def tiny_tasks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Simulated tasks with few items and two epochs: enough to see that a row runs."""
    from crowdlogic.extensions.paper import runs as tasks  # needs torch

    monkeypatch.setattr(tasks, "QUICK_ITEMS", {"sentiment": 60, "ner": 40})
    monkeypatch.setattr(tasks, "QUICK_EPOCHS", 2)
