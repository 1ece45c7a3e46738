"""Fixtures and hooks for all tests."""

from __future__ import annotations

import os
import sqlite3
from collections import Counter
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

# Small networks on a busy machine take ten times the processor time when torch's threads wait for each other.
os.environ.setdefault("OMP_NUM_THREADS", "1")

# A busy machine is not a failure. Examples are the same in every run; `make test-long` draws others.
settings.register_profile("repeatable", deadline=None, derandomize=True)
settings.register_profile("random", deadline=None)
settings.load_profile("repeatable")

MISSING = [
    name
    for name in ("torch", "transformers", "tokenizers", "onnx", "onnxruntime", "statsmodels", "seqeval")
    if not find_spec(name)
]
"""Packages without wheels for every supported Python that are missing here; tests that need one are skipped."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip tests whose extension was removed, and tests marked `data` if CROWDLOGIC_DATA does not name a folder."""
    for item in items:
        named = [name for mark in item.iter_markers("extension") for name in mark.args]
        absent = [name for name in named if not find_spec(f"crowdlogic.extensions.{name}")]
        if absent:
            item.add_marker(pytest.mark.skip(reason=f"without the extension {', '.join(absent)}"))
    folder = os.environ.get("CROWDLOGIC_DATA", "")
    if folder and Path(folder).is_dir():
        return
    skip = pytest.mark.skip(reason="CROWDLOGIC_DATA does not name a folder with the real data sets")
    for item in items:
        if item.get_closest_marker("data"):
            item.add_marker(skip)


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(collector):  # type: ignore[no-untyped-def]
    """Skip a module that imports a missing optional package."""
    report = yield
    call = getattr(report, "call", None)
    return _skip_if_missing(report, call.excinfo.value if call and call.excinfo else None, collector.path)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):  # type: ignore[no-untyped-def]
    """Skip a test that imports a missing optional package."""
    report = yield
    return _skip_if_missing(report, call.excinfo.value if call.excinfo else None, item.path)


def _skip_if_missing(report, problem: BaseException | None, path: Path):  # type: ignore[no-untyped-def]
    while problem is not None and report.outcome == "failed":
        for name in MISSING:
            imported = isinstance(problem, ModuleNotFoundError) and (problem.name or "").split(".")[0] == name
            if imported or f"needs the package {name}, which is not installed" in str(problem):
                report.outcome = "skipped"
                report.longrepr = (str(path), 0, f"Skipped: {name} is not installed")
        problem = problem.__cause__
    return report


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Count the skipped tests by reason."""
    skipped = [report.longrepr for report in terminalreporter.stats.get("skipped", [])]
    reasons = Counter(where[2].removeprefix("Skipped: ") for where in skipped if isinstance(where, tuple))
    for reason, count in reasons.most_common():
        terminalreporter.write_line(f"{count} skipped: {reason}")


@pytest.fixture(autouse=True)
def close_databases(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Close the SQLite connections that a test leaves open; Python 3.13 warns about them."""
    opened = []
    connect = sqlite3.connect

    def connect_and_remember(*arguments: object, **options: object) -> sqlite3.Connection:
        opened.append(connect(*arguments, **options))  # type: ignore[call-overload]
        return opened[-1]

    monkeypatch.setattr(sqlite3, "connect", connect_and_remember)
    yield
    for connection in opened:
        connection.close()


@pytest.fixture
def data_root(request: pytest.FixtureRequest) -> Path:
    """The folder of the real data sets, for tests marked `data`."""
    assert request.node.get_closest_marker("data"), "a test that uses data_root must be marked `data`"
    return Path(os.environ["CROWDLOGIC_DATA"])


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """One browser for all tests that look at pages; they are skipped where there is none."""
    from tests.report.browser.chrome import chrome, installed

    if installed() is None:
        pytest.skip("there is no chromium; `make browser` installs it as root on Debian")
    with chrome() as started:
        yield started
