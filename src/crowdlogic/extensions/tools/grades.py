"""Grades that judges gave to outputs, as labels: what the importers of evaluation tools share.

A judge is an annotator: an assertion, a scorer, a metric or a person. What it judges by is its criterion; several
judges may share one. Grades become classes by these rules, the same for every tool:

- true and false are the tool's words for them, such as pass and fail; so are numbers, where all are 0 or 1;
- text is a class as it is; whole numbers are classes, too;
- other numbers are a pass from `threshold` on and a fail below it, and are refused without a threshold.

Without `--question` all judges are taken as opinions on one question (is the output good?), unless two criteria share
no class: then they cannot be opinions on the same question, and one must be chosen.
"""

from __future__ import annotations

import json
import math
from collections import defaultdict
from dataclasses import dataclass, replace
from typing import Any

from crowdlogic.data.formats.protocol import Crowd, ReadOptions
from crowdlogic.data.intake.cells import LARGEST_NUMBER
from crowdlogic.errors import FormatError, name_list
from crowdlogic.extensions.tools.collector import Collector

PASS, FAIL = "pass", "fail"
MOST_NAMED = 12
"""How many criteria a message lists."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Grade:
    """What one judge said of one output.

    Attributes:
        item: The code of the output.
        criterion: What it was judged by.
        judge: Who judged, where a criterion may have several judges; else empty.
        value: The grade: truth, number or text.
        record: The record of the export, for messages.
        kind: What the judge is: human, llm, code, or empty where it is not known.
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
        """The judge's name among the annotators."""
        return f"{self.criterion} ({self.judge})" if self.judge else self.criterion


class Grades:
    """The grades of an evaluation, as an importer finds them."""

    def __init__(self, name: str, options: ReadOptions, *, scale: tuple[str, ...] = (PASS, FAIL)) -> None:
        """Grades of a file.

        Args:
            name: What messages call the file.
            options: The user's options.
            scale: The tool's own words for grades; the first two are those for true and false.
        """
        self.name, self.options, self.scale = name, options, scale
        self.collector = Collector(name, replace(options, question=None))
        self._grades: list[Grade] = []

    def item(self, name: Any, text: Any = None) -> int:
        """The code of an output, by its name; a structured output is kept as JSON."""
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
        """A judge graded an output. What is no grade (missing, a list, not a number) is left out and counted."""
        if not isinstance(criterion, str) or not criterion.strip():
            raise self.collector.error(record, "a grade whose judge has no name", "Export the evaluation again.")
        if not isinstance(value, bool | int | float | str) or value == "" or _is_no_number(value):
            self.collector.leave_out("grade", "without a single value: left out", record)
            return
        who = str(judge or "")
        self._grades.append(
            Grade(item=item, criterion=criterion, judge=who, value=value, record=record, kind=kind, time=time)
        )

    def crowd(self) -> Crowd:
        """All grades, as labels of the outputs."""
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
        """The grades by the criterion that was asked for; all of them where none was."""
        wanted = self.options.question
        if wanted is None:
            return self._grades
        chosen = [one for one in self._grades if one.criterion == wanted]
        if not chosen:
            found = name_list(dict.fromkeys(one.criterion for one in self._grades), most=MOST_NAMED)
            raise FormatError(f"{self.name}: nothing was graded by {wanted!r}. There are {found or 'no grades'}.")
        return chosen

    def _label(self, one: Grade, *, only_truth: bool) -> str | int:
        """The class that a grade means."""
        value, (positive, negative), threshold = one.value, self.scale[:2], self.options.threshold
        if isinstance(value, str):
            return value
        if isinstance(value, bool) or only_truth:
            return positive if value else negative
        if threshold is not None:
            return positive if value >= threshold else negative
        if value != int(value) or abs(value) >= LARGEST_NUMBER:
            remedy = "Say from which number on a grade is a pass: --threshold 0.5."
            raise self.collector.error(one.record, f"the grade {value} is a number, not a class", remedy)
        return int(value)

    def _scale_of(self, label: str | int) -> tuple[str, ...]:
        """The classes that a judge who gave this label could have given: those of the tool, any number, or it alone."""
        if isinstance(label, int):
            return ("numbers",)
        return self.scale if label in self.scale else (label,)

    def _refuse_unlike_criteria(self, grades: list[Grade], labels: list[str | int]) -> None:
        """Refuse criteria that share no class: they are different questions."""
        classes: dict[str, set[str]] = defaultdict(set)
        for one, label in zip(grades, labels, strict=True):
            classes[one.criterion].update(self._scale_of(label))
        first = next(iter(classes), "")
        unlike = next((name for name in classes if not classes[name] & classes[first]), None)
        if unlike is not None:
            raise FormatError(
                f"{self.name}: the answers of {first!r} ({name_list(sorted(classes[first]), most=4)}) and of "
                f"{unlike!r} ({name_list(sorted(classes[unlike]), most=4)}) have no class in common, so they "
                f"are different questions. Choose one with --question: {name_list(classes, most=MOST_NAMED)}."
            )


def _is_no_number(value: Any) -> bool:
    return isinstance(value, float) and not math.isfinite(value)
