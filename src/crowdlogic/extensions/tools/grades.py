"""Conversion of judges' grades to labels, shared by the importers of evaluation tools.

A judge is an annotator: an assertion, a scorer, a metric or a person. Its criterion is what it judges; several judges
may share a criterion. Grades become classes by the same rules for every tool:

- booleans, and numbers that are all 0 or 1, become the tool's words for true and false, such as pass and fail;
- text and whole numbers are used as classes;
- other numbers are a pass if they are at least `threshold` and a fail otherwise; without a threshold they are rejected.

Without `--question`, all judges are assumed to answer one question (is the output good?). If two criteria have no class
in common, they cannot be answers to the same question, and the user must choose one.
"""

from __future__ import annotations

import json
import math
from collections import defaultdict
from dataclasses import dataclass, replace
from typing import Any

from crowdlogic.data.formats.protocol import Crowd, ReadOptions
from crowdlogic.data.intake.building import LARGEST_NUMBER
from crowdlogic.errors import FormatError, name_list
from crowdlogic.extensions.tools.collector import Collector

PASS, FAIL = "pass", "fail"
MAX_LISTED = 12
"""Maximum number of criteria listed in a message."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Grade:
    """Grade that one judge gave to one output.

    Attributes:
        item: The code of the output.
        criterion: The criterion of the judge.
        judge: Name of the judge, if a criterion may have several judges; otherwise empty.
        value: The grade: boolean, number or text.
        record: Record number in the export, for messages.
        kind: Kind of the judge: human, llm, code, or empty if unknown.
        time: When the grade was given, in seconds.
    """

    item: int
    criterion: str
    judge: str
    value: Any
    record: int
    kind: str = ""
    time: float | None = None

    @property
    def annotator(self) -> str:
        """Name of the judge as an annotator."""
        return f"{self.criterion} ({self.judge})" if self.judge else self.criterion


class Grades:
    """Collection of the grades of an evaluation, filled by an importer."""

    def __init__(self, name: str, options: ReadOptions, *, scale: tuple[str, ...] = (PASS, FAIL)) -> None:
        """Create an empty collection.

        Args:
            name: Name of the file in messages.
            options: The user's options.
            scale: The tool's words for grades; the first two mean true and false.
        """
        self.name, self.options, self.scale = name, options, scale
        self.collector = Collector(name, replace(options, question=None))
        self._grades: list[Grade] = []

    def item(self, name: Any, text: Any = None) -> int:
        """Return the code of an output, adding it if it is new; structured output is stored as JSON."""
        known = text if text is None or isinstance(text, str) else json.dumps(text, ensure_ascii=False)
        return self.collector.item(name, text=known)

    def add(
        self,
        item: int,
        criterion: Any,
        value: Any,
        *,
        record: int,
        judge: Any = "",
        kind: str = "",
        time: float | None = None,
    ) -> None:
        """Add a grade. A value that is not a grade (missing, a list, not finite) is skipped and counted."""
        if not isinstance(criterion, str) or not criterion.strip():
            raise self.collector.error(record, "a grade whose judge has no name", "Export the evaluation again.")
        is_finite = not isinstance(value, float) or math.isfinite(value)
        if not isinstance(value, bool | int | float | str) or value == "" or not is_finite:
            self.collector.leave_out("grade", "without a single value: left out", record)
            return
        who = str(judge or "")
        self._grades.append(
            Grade(item=item, criterion=criterion, judge=who, value=value, record=record, kind=kind, time=time)
        )

    def crowd(self) -> Crowd:
        """Return all grades as labels of the outputs."""
        chosen = self._choose_criterion()
        numbers = [
            one.value for one in chosen if isinstance(one.value, int | float) and not isinstance(one.value, bool)
        ]
        only_truth = all(number in (0, 1) for number in numbers)
        labels = [self._label(one, only_truth=only_truth) for one in chosen]
        self._refuse_unlike_criteria(chosen, labels)
        for one, label in zip(chosen, labels, strict=True):
            self.collector.label(one.item, one.annotator, label, record=one.record, kind=one.kind, time=one.time)
        return self.collector.crowd()

    def _choose_criterion(self) -> list[Grade]:
        """Return the grades of the criterion chosen with `--question`; all grades if none was chosen."""
        wanted = self.options.question
        if wanted is None:
            return self._grades
        chosen = [one for one in self._grades if one.criterion == wanted]
        if not chosen:
            found = name_list(dict.fromkeys(one.criterion for one in self._grades), most=MAX_LISTED)
            raise FormatError(f"{self.name}: no grades for {wanted!r}. Found: {found or 'no grades at all'}.")
        return chosen

    def _label(self, one: Grade, *, only_truth: bool) -> str | int:
        """Return the class of a grade."""
        value, (positive, negative), threshold = one.value, self.scale[:2], self.options.threshold
        if isinstance(value, str):
            return value
        if isinstance(value, bool) or only_truth:
            return positive if value else negative
        if threshold is not None:
            return positive if value >= threshold else negative
        if value != int(value) or abs(value) >= LARGEST_NUMBER:
            remedy = "Give the lowest number that counts as a pass, for example --threshold 0.5."
            raise self.collector.error(one.record, f"the grade {value} is a number, not a class", remedy)
        return int(value)

    def _refuse_unlike_criteria(self, grades: list[Grade], labels: list[str | int]) -> None:
        """Raise an error if two criteria have no class in common, since they are different questions."""
        classes: dict[str, set[str]] = defaultdict(set)
        for one, label in zip(grades, labels, strict=True):
            # The judge could have chosen any number, any word of the tool's scale, or only this label
            alternatives = ("numbers",) if isinstance(label, int) else self.scale if label in self.scale else (label,)
            classes[one.criterion].update(alternatives)
        first = next(iter(classes), "")
        unlike = next((name for name in classes if not classes[name] & classes[first]), None)
        if unlike is not None:
            raise FormatError(
                f"{self.name}: the answers of {first!r} ({name_list(sorted(classes[first]), most=4)}) and of "
                f"{unlike!r} ({name_list(sorted(classes[unlike]), most=4)}) have no class in common, so they "
                f"are different questions. Choose one with --question: {name_list(classes, most=MAX_LISTED)}."
            )
