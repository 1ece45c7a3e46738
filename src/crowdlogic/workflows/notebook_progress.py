"""Progress of a fit in a notebook: one line that is updated in place, in Jupyter, marimo and VS Code.

DawidSkene().infer(labels, fitting=Fitting(progress=NotebookProgress()))
LogicLNCL().fit(corpus, labels, callback=NotebookProgress())
"""

from __future__ import annotations

import time
from html import escape
from typing import Any

from crowdlogic.learning.epoch import HistoryRow
from crowdlogic.truth.fitting import Progress

PAUSE = 0.1
"""Seconds between two updates; the last state is always shown."""


class NotebookProgress:
    """A callback of truth methods (`Fitting.progress`) and of learning methods (`callback`).

    Outside a notebook it does nothing. What was shown last stays in `text`.
    """

    def __init__(self) -> None:
        self.text = ""
        self._handle: Any = None
        self._shown = 0.0

    def __call__(self, state: Progress | HistoryRow, limit: int | None = None) -> None:
        """Show the state after an iteration or an epoch."""
        if isinstance(state, HistoryRow):
            done, most = state.epoch, limit or state.epoch
            scores = ", ".join(f"{name} {value:.3f}" for name, value in list(state.scores.items())[:2])
            again = ", with all labels" if state.refit else ""
            self.text = f"epoch {done} of at most {most}{again}: loss {state.loss:.4f}" + (
                f", {scores}" if scores else ""
            )
        else:
            done, most = state.iteration, state.max_iterations
            self.text = f"{state.method}: iteration {done} of at most {most}, gain {state.gain:.2g} per label"
        self._show(done / max(most, 1))

    def _show(self, share: float) -> None:
        display = import_display()
        now = time.monotonic()
        if display is None or (self._handle is not None and now - self._shown < PAUSE and share < 1):
            return
        bar = f'<progress value="{share:.3f}" style="width: 16em"></progress> <code>{escape(self.text)}</code>'
        content = display.HTML(bar)
        if self._handle is None:
            self._handle = display.display(content, display_id=True)
        elif self._handle is not None:
            self._handle.update(content)
        self._shown = now


def import_display() -> Any:
    """IPython's way to show things, if this is a notebook."""
    try:
        from IPython import display, get_ipython
    except ImportError:
        return None
    return display if get_ipython() is not None else None
