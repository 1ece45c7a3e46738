"""How far a review is: what the log of decisions says of every item.

The log is never changed; what counts follows from it. A reviewer's latest decision on an item counts. Decisions of two
reviewers that differ are a conflict: both count until somebody settles it, or one of them decides again. What was
undone does not count.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from crowdlogic.store.decisions import Decision, DecisionKind


@dataclass(frozen=True, kw_only=True)
class ItemProgress:
    """What was decided about one item.

    Attributes:
        revision: The number of the last line of the log about it; 0 for none.
        lines: The lines that count: the latest one of each reviewer, in the order of the log.
    """

    revision: int = 0
    lines: tuple[Decision, ...] = ()

    @property
    def decisions(self) -> tuple[Decision, ...]:
        """The lines that give an answer."""
        return tuple(line for line in self.lines if line.kind is DecisionKind.decide)

    @property
    def answer(self) -> Any:
        """The answer that stands: the first one, until a conflict is settled; None without any."""
        return self.decisions[0].after if self.decisions else None

    @property
    def is_decided(self) -> bool:
        """Whether an answer stands."""
        return bool(self.decisions)

    @property
    def is_handled(self) -> bool:
        """Whether it needs nobody's attention: decided, or nobody can say."""
        return any(line.kind is not DecisionKind.skip for line in self.lines)

    @property
    def in_conflict(self) -> bool:
        """Whether reviewers differ: two answers, or an answer where another reviewer cannot say."""
        said = [line.after for line in self.lines if line.kind is not DecisionKind.skip]
        return any(other != said[0] for other in said[1:])

    @property
    def is_certain(self) -> bool:
        """Whether the answer is one to learn from: decided, and by nobody contradicted."""
        return self.is_decided and not self.in_conflict

    def by(self, reviewer: str) -> Decision | None:
        """The line of a reviewer; None without one."""
        return next((line for line in self.lines if line.reviewer == reviewer), None)


NOTHING = ItemProgress()
"""Of an item that nobody has decided about."""


def fold_lines(lines: Iterable[Decision]) -> ItemProgress:
    """What all lines about one item, in the order of the log, add up to."""
    kept = list(lines)
    undone = {line.undoes for line in kept if line.kind is DecisionKind.undo}
    counting: dict[str, Decision] = {}
    for line in kept:
        if line.kind is DecisionKind.undo or line.number in undone:
            continue
        if line.settles:
            counting.clear()
        counting.pop(line.reviewer, None)
        counting[line.reviewer] = line
    return ItemProgress(revision=kept[-1].number if kept else 0, lines=tuple(counting.values()))


@dataclass(eq=False)
class ReviewProgress:
    """All items of a review, by name. It grows with the log, line by line."""

    _items: dict[str, ItemProgress] = field(default_factory=dict)
    _lines: dict[str, list[Decision]] = field(default_factory=lambda: defaultdict(list))
    _by_reviewer: dict[str, list[Decision]] = field(default_factory=lambda: defaultdict(list))
    _undone: set[int] = field(default_factory=set)

    def add(self, line: Decision) -> ItemProgress:
        """Take in the next line of the log; how far its item is now."""
        self._lines[line.item].append(line)
        if line.kind is DecisionKind.undo and line.undoes is not None:
            self._undone.add(line.undoes)
        else:
            self._by_reviewer[line.reviewer].append(line)
        self._items[line.item] = fold_lines(self._lines[line.item])
        return self._items[line.item]

    def of(self, item: str) -> ItemProgress:
        """How far an item is."""
        return self._items.get(item, NOTHING)

    def history(self, item: str) -> tuple[Decision, ...]:
        """All lines about an item."""
        return tuple(self._lines.get(item, ()))

    @property
    def items(self) -> Mapping[str, ItemProgress]:
        """The items that somebody did something about."""
        return self._items

    def last_of(self, reviewer: str) -> Decision | None:
        """The last line of a reviewer that was not undone; None without any."""
        lines = self._by_reviewer.get(reviewer, [])
        while lines and lines[-1].number in self._undone:
            lines.pop()
        return lines[-1] if lines else None

    @property
    def reviewers(self) -> tuple[str, ...]:
        """Everybody who ever decided anything."""
        return tuple(sorted(self._by_reviewer))
