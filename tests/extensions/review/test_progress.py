"""What counts of the log: the latest of each reviewer, conflicts, what settles them, and undoing."""

from __future__ import annotations

from typing import Any

from crowdlogic.extensions.review.decision_log import Decision, DecisionKind
from crowdlogic.extensions.review.snapshot import NO_PROGRESS, ReviewProgress, fold_lines


def line(number: int, reviewer: str, after: Any = None, **given: Any) -> Decision:
    kind = given.pop("kind", DecisionKind.decide)
    return Decision(number=number, request=f"r{number}", kind=kind, item="u1", reviewer=reviewer, after=after, **given)


def test_nothing_is_decided_at_first() -> None:
    assert not NO_PROGRESS.is_handled
    assert NO_PROGRESS.answer is None
    assert NO_PROGRESS.revision == 0


def test_the_latest_decision_of_a_reviewer_counts() -> None:
    found = fold_lines([line(1, "ann", "x"), line(2, "ann", "y")])

    assert (found.answer, found.revision, found.is_certain) == ("y", 2, True)


def test_two_reviewers_who_differ_are_a_conflict_and_both_are_kept() -> None:
    found = fold_lines([line(1, "ann", "x"), line(2, "bob", "y")])

    assert found.in_conflict
    assert not found.is_certain
    assert found.answer == "x"
    assert [one.after for one in found.decisions] == ["x", "y"]


def test_two_reviewers_who_agree_are_none() -> None:
    assert fold_lines([line(1, "ann", "x"), line(2, "bob", "x")]).is_certain


def test_a_conflict_ends_when_one_of_them_comes_round_or_somebody_settles_it() -> None:
    lines = [line(1, "ann", "x"), line(2, "bob", "y")]

    assert fold_lines([*lines, line(3, "bob", "x")]).is_certain
    settled = fold_lines([*lines, line(3, "cat", "z", settles=True)])
    assert (settled.answer, settled.is_certain) == ("z", True)


def test_an_answer_where_another_cannot_say_is_a_conflict() -> None:
    assert fold_lines([line(1, "ann", "x"), line(2, "bob", kind=DecisionKind.cannot_say)]).in_conflict


def test_who_cannot_say_has_handled_the_item_and_who_skips_has_not() -> None:
    assert fold_lines([line(1, "ann", kind=DecisionKind.cannot_say)]).is_handled
    assert not fold_lines([line(1, "ann", kind=DecisionKind.cannot_say)]).is_decided
    assert not fold_lines([line(1, "ann", kind=DecisionKind.skip)]).is_handled


def test_what_was_undone_does_not_count_and_what_it_replaced_counts_again() -> None:
    lines = [line(1, "ann", "x"), line(2, "ann", "y"), line(3, "ann", kind=DecisionKind.undo, undoes=2)]

    found = fold_lines(lines)

    assert (found.answer, found.revision) == ("x", 3)


def test_undoing_goes_back_line_by_line() -> None:
    progress = ReviewProgress()
    for n in (1, 2, 3):
        progress.add(line(n, "ann", "x"))
    progress.add(line(4, "bob", "x"))

    assert progress.last_of("ann") == line(3, "ann", "x")
    progress.add(line(5, "ann", kind=DecisionKind.undo, undoes=3))
    progress.add(line(6, "ann", kind=DecisionKind.undo, undoes=2))
    assert progress.last_of("ann") == line(1, "ann", "x")
    progress.add(line(7, "ann", kind=DecisionKind.undo, undoes=1))
    assert progress.last_of("ann") is None
    assert progress.of("u1").answer == "x"
    assert progress.of("u1").by("ann") is None
    assert progress.of("u1").revision == 7
    assert progress.last_of("bob") == line(4, "bob", "x")
