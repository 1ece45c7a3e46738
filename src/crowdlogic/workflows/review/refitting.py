"""Re-fits in the background, one at a time: after so many decisions, or when somebody asks."""

from __future__ import annotations

from collections.abc import Callable
from threading import Condition, Thread

from crowdlogic.workflows.review.session import ReviewSession

FAILED = "The last re-fit failed; the decisions are safe."
"""What reviewers are told; the reason goes to `report`."""


class RefitRunner:
    """Runs the re-fits of a session in a thread of its own. What is asked for meanwhile is done afterwards, once."""

    def __init__(self, session: ReviewSession, *, every: int = 10, report: Callable[[str], None] | None = None) -> None:
        self.session, self.every, self.problem = session, every, ""
        self._report, self._changed = report or (lambda _: None), Condition()
        self._asked: int | None = None
        self._is_running = self._is_closed = False
        self._thread = Thread(target=self._work, name="re-fit", daemon=True)
        self._thread.start()

    @property
    def is_busy(self) -> bool:
        """Whether a re-fit is running or due."""
        with self._changed:
            return self._is_running or self._asked is not None

    def ask(self, *, epochs: int = 0) -> None:
        """Have a re-fit, in which a run's classifier learns for so many epochs."""
        with self._changed:
            self._asked = max(epochs, self._asked or 0)
            self._changed.notify_all()

    def notice(self) -> None:
        """Have a re-fit if enough decisions came in since the last one; one that runs looks again when it ends."""
        if self._is_due and not self.is_busy:
            self.ask()

    @property
    def _is_due(self) -> bool:
        return bool(self.every) and self.session.waiting >= self.every

    def wait(self, seconds: float = 60.0) -> bool:
        """Wait until nothing is running or due; whether it came to that."""
        with self._changed:
            return self._changed.wait_for(lambda: not self._is_running and self._asked is None, seconds)

    def close(self) -> None:
        """Let a running re-fit end, and start no other."""
        with self._changed:
            self._is_closed, self._asked = True, None
            self._changed.notify_all()
        self._thread.join()

    def _work(self) -> None:
        while (epochs := self._next()) is not None:
            try:
                self._report(self.session.refit(epochs=epochs).sentence)
                self.problem = ""
            except Exception as problem:  # whatever it is, reviewers go on, and the next re-fit is tried
                self.problem = FAILED
                self._report(f"The re-fit failed: {problem}")
            with self._changed:
                self._is_running = False
                if self._asked is None and self._is_due and not self.problem:
                    self._asked = 0
                self._changed.notify_all()

    def _next(self) -> int | None:
        """Wait for the next request; None when it is time to end."""
        with self._changed:
            self._changed.wait_for(lambda: self._is_closed or self._asked is not None)
            asked = None if self._is_closed else self._asked
            self._asked, self._is_running = None, asked is not None
            return asked
