"""Re-fits in the background."""

from __future__ import annotations

from pathlib import Path
from threading import Event

import pytest
from tests.extensions.review.small_reviews import opened, review, simulated

from crowdlogic.errors import DataError
from crowdlogic.extensions.review.session import FAILED, RefitRunner


def test_a_refit_follows_after_so_many_decisions(tmp_path: Path) -> None:
    material, made = simulated()
    said: list[str] = []
    with opened(material, tmp_path / "r") as session:
        runner = RefitRunner(session, every=10, report=said.append)
        review(session, made, 9)
        runner.notice()
        assert runner.wait()
        assert session.changes == ()
        review(session, made, 1)
        runner.notice()
        assert runner.wait()
        runner.close()

        assert [one.decisions for one in session.changes] == [10]
        assert said == [session.changes[0].sentence]


def test_what_is_asked_for_meanwhile_is_done_once_afterwards(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    material, _ = simulated(items=30)
    with opened(material, tmp_path / "r") as session:
        begun, go, epochs = Event(), Event(), []

        def slow(*, epochs: int = 0, _refit: object = session.refit) -> object:
            begun.set()
            assert go.wait(30)
            asked.append(epochs)
            return _refit(epochs=0)  # type: ignore[operator]

        asked: list[int] = epochs
        monkeypatch.setattr(session, "refit", slow)
        runner = RefitRunner(session)
        runner.ask()
        assert begun.wait(30)
        for n in (0, 3, 1):
            runner.ask(epochs=n)
        assert runner.is_busy
        go.set()
        assert runner.wait()
        runner.close()

        assert asked == [0, 3]


def test_a_refit_that_fails_is_said_to_have_and_the_next_one_works(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    material, _ = simulated(items=30)
    said: list[str] = []
    with opened(material, tmp_path / "r") as session:
        runner = RefitRunner(session, report=said.append)
        with monkeypatch.context() as patched:
            patched.setattr(session, "refit", lambda **_: (_ for _ in ()).throw(DataError("no")))
            runner.ask()
            assert runner.wait()
        assert (runner.problem, said) == (FAILED, ["The refit failed: no"])
        runner.ask()
        assert runner.wait()
        assert runner.problem == ""
        runner.close()


def test_decisions_that_come_in_while_a_refit_runs_are_fitted_once_enough(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    material, made = simulated()
    with opened(material, tmp_path / "r") as session:
        begun, go, real = Event(), Event(), session.refit

        def slow(*, epochs: int = 0) -> object:
            changes = real(epochs=epochs)
            begun.set()
            assert go.wait(30)
            return changes

        monkeypatch.setattr(session, "refit", slow)
        runner = RefitRunner(session, every=5)
        for _ in range(5):
            review(session, made, 1)
            runner.notice()
        assert begun.wait(30)
        for _ in range(12):
            review(session, made, 1)
            runner.notice()
        go.set()
        assert runner.wait()
        runner.close()

        assert [one.decisions for one in session.changes] == [5, 12]
