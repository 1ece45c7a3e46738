"""Grades as labels: which value means which class, and which judges answer one question."""

from __future__ import annotations

from typing import Any

import pytest

from crowdlogic.data.formats.protocol import ReadOptions
from crowdlogic.errors import FormatError
from crowdlogic.extensions.tools.grades import Grades


def labels_of(*values: tuple[str, Any], **options: Any) -> dict[str, list[Any]]:
    """The labels of judges who graded outputs 0, 1, ... in turn."""
    grades, counts = Grades("f.json", ReadOptions(**options)), dict.fromkeys((judge for judge, _ in values), 0)
    for number, (judge, value) in enumerate(values, start=1):
        grades.add(grades.item(counts[judge], "text"), judge, value, record=number)
        counts[judge] += 1
    rows = grades.crowd().labels.to_frame()
    return {name[0]: part["label"].to_list() for name, part in rows.group_by("annotator", maintain_order=True)}


@pytest.mark.parametrize(
    ("values", "labels"),
    [
        ([True, False], ["pass", "fail"]),
        ([1, 0.0], ["pass", "fail"]),
        ([1, 4, 5], ["1", "4", "5"]),
        (["good", "bad"], ["good", "bad"]),
    ],
    ids=["truth", "0 and 1", "ratings", "text"],
)
def test_values_mean_classes(values: list[Any], labels: list[str]) -> None:
    found = labels_of(*(("judge", value) for value in values))

    assert [str(label) for label in found["judge"]] == labels


def test_numbers_are_split_at_the_threshold_and_refused_without_one() -> None:
    values = [("judge", 0.2), ("judge", 0.5), ("judge", 1)]

    assert labels_of(*values, threshold=0.5)["judge"] == ["fail", "pass", "pass"]
    with pytest.raises(FormatError) as raised:
        labels_of(*values)
    assert str(raised.value) == (
        "f.json, record 1: the grade 0.2 is a number, not a class. "
        "Give the lowest number that counts as a pass, for example --threshold 0.5."
    )


def test_zeros_and_ones_are_numbers_where_another_judge_rates() -> None:
    found = labels_of(("a", 1), ("a", 0), ("b", 1), ("b", 5))

    assert found == {"a": [1, 0], "b": [1, 5]}


def test_values_that_are_no_grades_are_left_out_and_counted() -> None:
    grades = Grades("f.json", ReadOptions())
    for number, value in enumerate([True, None, [1], float("nan"), ""], start=1):
        grades.add(grades.item(number, "text"), "judge", value, record=number)

    labels = grades.crowd().labels

    assert labels.n_labels == 1
    assert labels.intake.messages() == ["4 grades without a single value: left out (first: record 2)."]


def test_judges_without_a_common_class_are_different_questions() -> None:
    with pytest.raises(FormatError) as raised:
        labels_of(("polite", True), ("polite", False), ("tone", "warm"))

    assert str(raised.value) == (
        "f.json: the answers of 'polite' (fail, pass) and of 'tone' (warm) have no class in common, so they are "
        "different questions. Choose one with --question: polite, tone."
    )
    assert labels_of(("polite", True), ("tone", "warm"), question="tone") == {"tone": ["warm"]}


def test_a_question_that_nobody_answered_is_refused_with_those_that_are_there() -> None:
    with pytest.raises(FormatError, match=r"no grades for 'tune'\. Found: polite, tone\."):
        labels_of(("polite", True), ("tone", "warm"), question="tune")


def test_judges_of_one_criterion_are_told_apart() -> None:
    grades = Grades("f.json", ReadOptions())
    item = grades.item("u", "text")
    grades.add(item, "polite", True, judge="gpt", kind="llm", record=1)
    grades.add(item, "polite", False, judge="ann", kind="human", record=1)

    labels = grades.crowd().labels

    assert labels.annotators.to_list() == ["polite (gpt)", "polite (ann)"]
    assert labels.kind == ("llm", "human")
