from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

import pytest

from crowdlogic import DawidSkene, LogicLNCL, TrainingLimits
from crowdlogic.data.simulate import simulate_sentiment
from crowdlogic.truth import Fitting
from crowdlogic.workflows import plots as notebook_progress
from crowdlogic.workflows.plots import NotebookProgress, import_display


class FakeHandle:
    """Stands for IPython's display handle, which only a running notebook has."""

    def __init__(self, shown: list[str]) -> None:
        self.shown = shown

    def update(self, content: str) -> None:
        self.shown.append(content)


@pytest.fixture
def shown(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What a notebook would show, in place of IPython, which is not installed here."""
    contents: list[str] = []
    display = ModuleType("IPython.display")
    display.HTML = str  # type: ignore[attr-defined]

    def show(content: Any, display_id: bool) -> FakeHandle:
        contents.append(content)
        return FakeHandle(contents)

    display.display = show  # type: ignore[attr-defined]
    package = ModuleType("IPython")
    package.display, package.get_ipython = display, object  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "IPython", package)
    monkeypatch.setitem(sys.modules, "IPython.display", display)
    monkeypatch.setattr(notebook_progress, "PAUSE", 0.0)
    return contents


def test_epochs_update_one_line(shown: list[str]) -> None:
    crowd = simulate_sentiment(0, items=40, annotators=4)

    LogicLNCL(limits=TrainingLimits(epochs=3, held_out=None)).fit(
        crowd.corpus, crowd.labels, callback=NotebookProgress()
    )

    assert len(shown) == 3
    assert 'value="1.000"' in shown[-1]
    assert "epoch 3 of at most 3: loss" in shown[-1]


def test_iterations_update_one_line(shown: list[str]) -> None:
    crowd, progress = simulate_sentiment(0, items=40, annotators=4), NotebookProgress()

    estimate = DawidSkene().infer(crowd.labels, fitting=Fitting(progress=progress))

    assert len(shown) == len(estimate.trace)
    assert progress.text.startswith(f"dawid-skene: iteration {len(estimate.trace)} of at most")


def test_updates_are_not_more_than_one_can_read(shown: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(notebook_progress, "PAUSE", 1000.0)
    crowd = simulate_sentiment(0, items=40, annotators=4)

    LogicLNCL(limits=TrainingLimits(epochs=4, held_out=None)).fit(
        crowd.corpus, crowd.labels, callback=NotebookProgress()
    )

    assert len(shown) == 2  # the first, and the end


def test_outside_a_notebook_it_is_silent(capsys: pytest.CaptureFixture[str]) -> None:
    crowd = simulate_sentiment(0, items=40, annotators=4)
    progress = NotebookProgress()

    DawidSkene().infer(crowd.labels, fitting=Fitting(progress=progress))

    assert import_display() is None
    assert progress.text
    assert capsys.readouterr().out == ""
