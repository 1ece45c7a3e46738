"""What reviewers decided: an append-only log in one SQLite file, on the disk before anybody is told that it is saved.

The journal is a write-ahead log and every commit is synced (`synchronous=FULL`), so a process that is killed at any
moment loses nothing that `append` returned. A request that is sent again, because its answer was lost, is recorded
once: `request` is the client's own name for it.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields, replace
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from threading import RLock
from typing import Any

from crowdlogic.errors import FormatError, ResourceError

VERSION = 1
"""Of the table: a log of another version is refused and not misread."""

REMEDY = "Name another folder, or restore the file."


class DecisionKind(StrEnum):
    """What a reviewer did with an item."""

    decide = "decide"
    cannot_say = "cannot-say"
    skip = "skip"
    undo = "undo"


class Choice(StrEnum):
    """How an item came before a reviewer."""

    random = "random"
    queue = "queue"
    filter = "filter"


class Cause(StrEnum):
    """Why an answer was wrong, or hard to give."""

    ambiguous_text = "ambiguous text"
    guideline_gap = "guideline gap"
    annotator_error = "annotator error"
    wrong_rule = "wrong rule"


@dataclass(frozen=True, kw_only=True)
class Decision:
    """One line of the log.

    Attributes:
        number: Its number, from 1; 0 before it is in the log.
        request: The client's own name for it.
        kind: What was done.
        item: The item's name, as text.
        reviewer: Who did it.
        revision: The number of the last line about the item that the reviewer had seen; 0 for none.
        before: The answer that the reviewer was shown: a class, or the tags of a sentence.
        after: The answer that was given; None unless something was decided.
        chosen: How the item came before the reviewer.
        settles: Whether it ends a conflict: earlier decisions on the item then no longer count.
        undoes: The number of the line that is undone; None unless it is an undo.
        seconds: How long it took; None where that is not known.
        cause: Why the answer was wrong, or hard to give; None where nobody said.
        note: The reviewer's own words.
        made_at: When, in UTC; empty before it is in the log.
    """

    number: int = 0
    request: str
    kind: DecisionKind
    item: str
    reviewer: str
    revision: int = 0
    before: Any = None
    after: Any = None
    chosen: Choice = Choice.queue
    settles: bool = False
    undoes: int | None = None
    seconds: float | None = None
    cause: Cause | None = None
    note: str = ""
    made_at: str = ""


COLUMNS = tuple(field.name for field in fields(Decision))

TABLES = """
CREATE TABLE IF NOT EXISTS decisions (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    request TEXT NOT NULL UNIQUE,
    kind TEXT NOT NULL, item TEXT NOT NULL, reviewer TEXT NOT NULL, revision INTEGER NOT NULL,
    before TEXT NOT NULL, after TEXT NOT NULL, chosen TEXT NOT NULL, settles INTEGER NOT NULL, undoes INTEGER,
    seconds REAL, cause TEXT, note TEXT NOT NULL, made_at TEXT NOT NULL
);
CREATE TABLE IF NOT EXISTS facts (name TEXT PRIMARY KEY, value TEXT NOT NULL);
"""

INSERT = f"INSERT INTO decisions ({', '.join(COLUMNS[1:])}) VALUES ({', '.join('?' * len(COLUMNS[1:]))})"  # noqa: S608
SELECT = f"SELECT {', '.join(COLUMNS)} FROM decisions"  # noqa: S608 (our own column names)


class DecisionLog:
    """The log of one review. Threads may share it; `store.locks` keeps other processes away."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = RLock()
        with self._reading():
            self._database = sqlite3.connect(path, check_same_thread=False, isolation_level=None)
            try:
                self._check_version()
                self._database.execute("PRAGMA journal_mode=WAL")
                self._database.execute("PRAGMA synchronous=FULL")
                self._database.executescript(TABLES)
                self._database.execute(f"PRAGMA user_version={VERSION}")
            except BaseException:
                self._database.close()
                raise

    def append(self, decision: Decision) -> Decision:
        """Record a decision and return it as it is recorded, once it is on the disk.

        A request that is in the log already is not recorded again: its line is returned.
        """
        with self._lock, self._writing():
            known = self.find(decision.request)
            if known is not None:
                return known
            dated = replace(decision, made_at=decision.made_at or now())
            number = self._database.execute(INSERT, _to_row(dated)[1:]).lastrowid or 0
            return replace(dated, number=number)

    def find(self, request: str) -> Decision | None:
        """The line of a request; None where it is not in the log."""
        rows = self._select("WHERE request = ?", request)
        return rows[0] if rows else None

    def read(self, *, after: int = 0, most: int = -1) -> list[Decision]:
        """The lines after a number, in their order, at most so many."""
        return self._select("WHERE number > ? ORDER BY number LIMIT ?", after, most)

    def fact(self, name: str) -> str | None:
        """Something that the review keeps beside its decisions; None where it does not."""
        with self._lock, self._reading():
            row = self._database.execute("SELECT value FROM facts WHERE name = ?", (name,)).fetchone()
        return None if row is None else str(row[0])

    def set_fact(self, name: str, value: str) -> None:
        """Keep something beside the decisions."""
        with self._lock, self._writing():
            self._database.execute("INSERT OR REPLACE INTO facts VALUES (?, ?)", (name, value))

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._database.close()

    def _select(self, where: str, *values: Any) -> list[Decision]:
        with self._lock, self._reading():
            return [_from_row(row) for row in self._database.execute(f"{SELECT} {where}", values)]

    def _check_version(self) -> None:
        found = self._database.execute("PRAGMA user_version").fetchone()[0]
        used = self._database.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
        if found != VERSION and (found or used):
            raise FormatError(f"{self.path}: is not a log of decisions of version {VERSION}. {REMEDY}")

    @contextmanager
    def _reading(self) -> Iterator[None]:
        try:
            yield
        except (sqlite3.DatabaseError, ValueError, TypeError) as problem:
            if isinstance(problem, FormatError):
                raise
            raise FormatError(f"{self.path}: is not a log of decisions ({problem!s:.200}). {REMEDY}") from problem

    @contextmanager
    def _writing(self) -> Iterator[None]:
        """One transaction; what cannot be written is not said to be saved."""
        try:
            self._database.execute("BEGIN IMMEDIATE")
            yield
            self._database.execute("COMMIT")
        except sqlite3.OperationalError as problem:
            self._roll_back()
            raise ResourceError(f"{self.path.name}: the decision is not saved ({problem}). Free the disk.") from problem
        except BaseException:
            self._roll_back()
            raise

    def _roll_back(self) -> None:
        if self._database.in_transaction:
            self._database.execute("ROLLBACK")


def now() -> str:
    """The time in UTC, to the millisecond."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")


def _to_row(decision: Decision) -> list[Any]:
    row = {name: getattr(decision, name) for name in COLUMNS}
    return list((row | {name: json.dumps(row[name], ensure_ascii=False) for name in ("before", "after")}).values())


def _from_row(row: tuple[Any, ...]) -> Decision:
    found = dict(zip(COLUMNS, row, strict=True))
    return Decision(
        **found
        | {
            "kind": DecisionKind(found["kind"]),
            "chosen": Choice(found["chosen"]),
            "cause": None if found["cause"] is None else Cause(found["cause"]),
            "settles": bool(found["settles"]),
            "before": json.loads(found["before"]),
            "after": json.loads(found["after"]),
        }
    )
