"""What reviewers ask of a review, and what they are told: decisions, counts, refusals."""

from __future__ import annotations

from dataclasses import dataclass

from crowdlogic.errors import DataError
from crowdlogic.store.decisions import Cause, Choice, DecisionKind
from crowdlogic.workflows.review.accuracy import CheckedAccuracy


class UnknownItemError(DataError):
    """There is no such item or file, or nothing to undo."""


class OutdatedError(DataError):
    """Somebody decided meanwhile, so what the reviewer saw no longer holds."""


@dataclass(frozen=True, kw_only=True)
class NewDecision:
    """What a reviewer does with an item.

    Attributes:
        request: The client's own name for it: what is sent twice is recorded once.
        item: The item's number.
        reviewer: Who.
        kind: decide, cannot-say or skip.
        answer: The answer: a class, or one tag for each token; None unless something is decided.
        revision: The item's revision that the reviewer saw.
        chosen: How the item came up.
        settles: Whether it ends a conflict.
        seconds: How long it took.
        cause: Why the answer was wrong, or hard to give.
        note: The reviewer's own words.
    """

    request: str
    item: int
    reviewer: str
    kind: DecisionKind = DecisionKind.decide
    answer: str | list[str] | None = None
    revision: int = 0
    chosen: Choice = Choice.queue
    settles: bool = False
    seconds: float | None = None
    cause: Cause | None = None
    note: str = ""


@dataclass(frozen=True, kw_only=True)
class ReviewCounts:
    """How far a review is.

    Attributes:
        items: How many items there are.
        decided: How many have an answer that stands.
        cannot_say: Of how many somebody said that nobody can say.
        conflicts: In how many reviewers differ.
        expected_mistakes: Expected mistakes among the answers that nobody decided.
        waiting: How many decisions came in since the last re-fit.
        fits: How many re-fits there were.
        accuracy: How many answers are right, by those checked at random.
    """

    items: int
    decided: int
    cannot_say: int
    conflicts: int
    expected_mistakes: float
    waiting: int
    fits: int
    accuracy: CheckedAccuracy
