"""Append-only log of the reviewers' decisions in a SQLite file, flushed to disk before a decision is acknowledged.

The journal is a write-ahead log and every commit is synced (`synchronous=FULL`), so killing the process at any moment
loses nothing that `append` returned. A request that is repeated, because its response was lost, is recorded once:
`request` is an identifier chosen by the client.
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
"""Version of the tables; logs of other versions are rejected."""

REMEDY = "Name another folder, or restore the file."


class DecisionKind(StrEnum):
    """Action of a reviewer on an item."""

    decide = "decide"
    cannot_say = "cannot-say"
    skip = "skip"
    undo = "undo"


class Choice(StrEnum):
    """How an item was chosen for a reviewer."""

    random = "random"
    queue = "queue"
    filter = "filter"


class Cause(StrEnum):
    """Reason why an answer was wrong or difficult."""

    ambiguous_text = "ambiguous text"
    guideline_gap = "guideline gap"
    annotator_error = "annotator error"
    wrong_rule = "wrong rule"


@dataclass(frozen=True, kw_only=True)
class Decision:
    """Entry of the log.

    Attributes:
        number: Number of the entry, starting at 1; 0 before it is in the log.
        request: Identifier of the request, chosen by the client.
        kind: Action of the reviewer.
        item: Name of the item, as text.
        reviewer: Name of the reviewer.
        revision: Number of the last entry about the item that the reviewer had seen; 0 for none.
        before: The answer shown to the reviewer: a class, or the tags of a sentence.
        after: The answer given; None unless something was decided.
        chosen: How the item was chosen.
        settles: Whether it settles a conflict: earlier decisions on the item then no longer count.
        undoes: Number of the entry that is undone; None unless it is an undo.
        seconds: Duration; None if unknown.
        cause: Why the answer was wrong or difficult; None if not given.
        note: Comment of the reviewer.
        made_at: Time in UTC; empty before it is in the log.
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
    """Log of one review. Threads may share it; a lock excludes other processes."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = RLock()
        with self._reading():
            self._database = sqlite3.connect(path, check_same_thread=False, isolation_level=None)
            try:
                found = self._database.execute("PRAGMA user_version").fetchone()[0]
                used = self._database.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
                if found != VERSION and (found or used):
                    raise FormatError(
                        f"{path}: expected a decision log of version {VERSION}, found another SQLite file or version "
                        f"{found}. {REMEDY}"
                    )
                self._database.execute("PRAGMA journal_mode=WAL")
                self._database.execute("PRAGMA synchronous=FULL")
                self._database.executescript(TABLES)
                self._database.execute(f"PRAGMA user_version={VERSION}")
            except BaseException:
                self._database.close()
                raise

    def append(self, decision: Decision) -> Decision:
        """Record a decision and return the entry once it is on disk.

        A request that is already in the log is not recorded again; the existing entry is returned.
        """
        with self._lock, self._writing():
            known = self.find(decision.request)
            if known is not None:
                return known
            dated = replace(decision, made_at=decision.made_at or now())
            values = {name: getattr(dated, name) for name in COLUMNS[1:]}
            values |= {name: json.dumps(values[name], ensure_ascii=False) for name in ("before", "after")}
            number = self._database.execute(INSERT, list(values.values())).lastrowid or 0
            return replace(dated, number=number)

    def find(self, request: str) -> Decision | None:
        """Return the entry of a request; None if it is not in the log."""
        rows = self._select("WHERE request = ?", request)
        return rows[0] if rows else None

    def read(self, *, after: int = 0, most: int = -1) -> list[Decision]:
        """Return at most `most` entries after a number, in order."""
        return self._select("WHERE number > ? ORDER BY number LIMIT ?", after, most)

    def fact(self, name: str) -> str | None:
        """Return a stored property of the review; None if it is not set."""
        with self._lock, self._reading():
            row = self._database.execute("SELECT value FROM facts WHERE name = ?", (name,)).fetchone()
        return None if row is None else str(row[0])

    def set_fact(self, name: str, value: str) -> None:
        """Store a property of the review."""
        with self._lock, self._writing():
            self._database.execute("INSERT OR REPLACE INTO facts VALUES (?, ?)", (name, value))

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._database.close()

    def _select(self, where: str, *values: Any) -> list[Decision]:
        decisions = []
        with self._lock, self._reading():
            for row in self._database.execute(f"{SELECT} {where}", values):
                found = dict(zip(COLUMNS, row, strict=True))
                found["kind"], found["chosen"] = DecisionKind(found["kind"]), Choice(found["chosen"])
                found["cause"] = None if found["cause"] is None else Cause(found["cause"])
                found["settles"] = bool(found["settles"])
                found["before"], found["after"] = json.loads(found["before"]), json.loads(found["after"])
                decisions.append(Decision(**found))
        return decisions

    @contextmanager
    def _reading(self) -> Iterator[None]:
        try:
            yield
        except (sqlite3.DatabaseError, ValueError, TypeError) as problem:
            if isinstance(problem, FormatError):
                raise
            raise FormatError(f"{self.path}: not a decision log ({problem!s:.200}). {REMEDY}") from problem

    @contextmanager
    def _writing(self) -> Iterator[None]:
        """Run one transaction; a failure to write raises an error."""
        try:
            self._database.execute("BEGIN IMMEDIATE")
            yield
            self._database.execute("COMMIT")
        except sqlite3.OperationalError as problem:
            self._roll_back()
            raise ResourceError(
                f"{self.path.name}: the decision is not saved ({problem}). Free disk space."
            ) from problem
        except BaseException:
            self._roll_back()
            raise

    def _roll_back(self) -> None:
        if self._database.in_transaction:
            self._database.execute("ROLLBACK")


def now() -> str:
    """Return the current time in UTC, to the millisecond."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")
