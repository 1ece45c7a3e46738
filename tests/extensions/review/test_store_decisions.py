"""The log of decisions: durable, append-only, each request once."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from crowdlogic.errors import FormatError, ResourceError
from crowdlogic.extensions.review.decision_log import Cause, Choice, Decision, DecisionKind, DecisionLog


def made(request: str = "r1", **given: Any) -> Decision:
    return Decision(**{"request": request, "kind": DecisionKind.decide, "item": "u1", "reviewer": "ann", **given})


def test_a_decision_comes_back_as_it_was_given(tmp_path: Path) -> None:
    log = DecisionLog(tmp_path / "log.sqlite")
    given = made(
        before=["B-PER", "O"],
        after=["O", "O"],
        chosen=Choice.random,
        settles=True,
        seconds=1.5,
        cause=Cause.guideline_gap,
        note="a «note»\nwith lines",
        revision=3,
    )

    recorded = log.append(given)

    assert recorded.number == 1
    assert recorded.made_at.endswith("+00:00")
    assert DecisionLog(tmp_path / "log.sqlite").read() == [recorded]
    assert made(**{**vars(recorded), "number": 0, "made_at": ""}) == given


def test_a_request_that_is_sent_again_is_recorded_once(tmp_path: Path) -> None:
    log = DecisionLog(tmp_path / "log.sqlite")
    first = log.append(made(after="x"))

    again = log.append(made(after="y"))

    assert again == first
    assert [one.after for one in log.read()] == ["x"]


def test_lines_after_a_number_and_at_most_so_many(tmp_path: Path) -> None:
    log = DecisionLog(tmp_path / "log.sqlite")
    for n in range(5):
        log.append(made(f"r{n}"))

    assert [one.request for one in log.read(after=1, most=2)] == ["r1", "r2"]
    assert log.find("r9") is None


def test_facts_are_kept(tmp_path: Path) -> None:
    log = DecisionLog(tmp_path / "log.sqlite")
    log.set_fact("seed", "1")
    log.set_fact("seed", "2")
    log.close()

    assert DecisionLog(tmp_path / "log.sqlite").fact("seed") == "2"
    assert DecisionLog(tmp_path / "log.sqlite").fact("other") is None


def test_every_commit_is_synced_to_a_write_ahead_log(tmp_path: Path) -> None:
    database = DecisionLog(tmp_path / "log.sqlite")._database

    assert database.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    assert database.execute("PRAGMA synchronous").fetchone() == (2,)  # FULL


def test_threads_may_share_it(tmp_path: Path) -> None:
    log = DecisionLog(tmp_path / "log.sqlite")

    with ThreadPoolExecutor(8) as pool:
        numbers = list(pool.map(lambda n: log.append(made(f"r{n % 50}")).number, range(100)))

    assert sorted(set(numbers)) == list(range(1, 51))
    assert len(log.read()) == 50


@pytest.mark.parametrize("content", [b"no database at all, but long enough to be read as one" * 40, b"\0" * 4096])
def test_another_file_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "log.sqlite").write_bytes(content)

    with pytest.raises(FormatError, match="not a decision log"):
        DecisionLog(tmp_path / "log.sqlite")


def test_a_log_of_another_version_is_refused(tmp_path: Path) -> None:
    database = sqlite3.connect(tmp_path / "log.sqlite")
    database.execute("PRAGMA user_version=9")
    database.close()

    with pytest.raises(FormatError) as caught:
        DecisionLog(tmp_path / "log.sqlite")

    assert str(caught.value).endswith(
        "log.sqlite: expected a decision log of version 1, found another SQLite file or version 9. Name another folder, "
        "or restore the file."
    )


def test_what_cannot_be_written_is_not_said_to_be_saved(tmp_path: Path) -> None:
    log = DecisionLog(tmp_path / "log.sqlite")
    log._database.execute("PRAGMA query_only=1")

    with pytest.raises(ResourceError, match=r"^log\.sqlite: the decision is not saved"):
        log.append(made())

    log._database.execute("PRAGMA query_only=0")
    assert log.append(made()).number == 1


WRITER = """
import sys
from pathlib import Path
from crowdlogic.extensions.review.decision_log import Decision, DecisionKind, DecisionLog
log = DecisionLog(Path(sys.argv[1]))
for n in range(10**6):
    log.append(Decision(request=f"{sys.argv[2]}-{n}", kind=DecisionKind.decide, item="u", reviewer="ann"))
    sys.stdout.write(f"{sys.argv[2]}-{n}\\n")
    sys.stdout.flush()
"""


def test_a_killed_writer_loses_nothing_that_it_reported(tmp_path: Path) -> None:
    path, reported = tmp_path / "log.sqlite", []
    for life in range(3):
        process = subprocess.Popen([sys.executable, "-c", WRITER, str(path), str(life)], stdout=subprocess.PIPE)
        assert process.stdout is not None
        reported += [process.stdout.readline().decode().strip() for _ in range(20)]
        os.kill(process.pid, signal.SIGKILL)
        reported += process.stdout.read().decode().split()
        process.stdout.close()
        process.wait()

    requests = [one.request for one in DecisionLog(path).read()]

    assert set(reported) <= set(requests)
    assert len(requests) == len(set(requests)) >= 60
