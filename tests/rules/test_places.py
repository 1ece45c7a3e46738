"""Messages that point at a place with a caret."""

from __future__ import annotations

from crowdlogic.rules.syntax import Place, rule_error


def test_the_caret_stands_under_the_column() -> None:
    place = Place("my.rules", 3, 6, "1.0: Lable(S, C)")

    assert str(rule_error(place, "unknown predicate 'Lable'.")) == (
        "my.rules:3:6: unknown predicate 'Lable'.\n    1.0: Lable(S, C)\n         ^"
    )


def test_what_cannot_be_printed_keeps_its_column() -> None:
    assert Place("r", 1, 3, "\t\x1bA(X)").caret() == "      A(X)\n      ^"
