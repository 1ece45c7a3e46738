"""Reader for promptfoo results, as written by `promptfoo eval -o results.json` (or .jsonl).

Each output (a test with a prompt and a provider) becomes an item named `testIdx:promptIdx`, as in promptfoo. Each
assertion becomes a judge. Its criterion is its metric, or its type if it has no metric; judges with the same criterion
are distinguished by the grading provider, if one is named. A verdict is pass or fail. Verdicts by people (`human`), by
models (`llm-rubric` and similar types) and by code are of kind human, llm and code. Tested with results of version 3
written by promptfoo 0.123.1; version 2 has the same fields.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from crowdlogic.data.files import InputFile
from crowdlogic.data.formats.json_records import iterate_records
from crowdlogic.data.formats.protocol import Crowd, ReadOptions
from crowdlogic.extensions.tools.collector import ToolExport
from crowdlogic.extensions.tools.grades import Grades
from crowdlogic.extensions.tools.json_exports import iterate_array, outline_json

GRADED_BY_MODELS = frozenset(
    {
        "agent-rubric", "answer-relevance", "context-faithfulness", "context-recall", "context-relevance",
        "conversation-relevance", "factuality", "g-eval", "llm-rubric", "model-graded-closedqa",
        "model-graded-factuality", "moderation", "pi", "search-rubric", "select-best", "trajectory:goal-success",
    }
)  # fmt: skip
"""Types of assertions that are graded by a model."""


class Promptfoo(ToolExport):
    """Results written by promptfoo."""

    name, title, suffixes = "promptfoo", "results of promptfoo", (".json", ".jsonl")

    def recognises(self, head: bytes) -> bool:
        """Return whether this is an object with nested results, or one result per line."""
        found = outline_json(head)
        nested = {"evalId", "results", "results.results"} <= found.paths or "results.results[].promptIdx" in found.paths
        return nested or {"promptIdx", "testIdx", "gradingResult"} <= found.paths

    def read_crowd(self, file: InputFile, options: ReadOptions) -> Crowd:
        """Read the verdicts of all assertions on all outputs."""
        grades = Grades(file.name, options)
        found = outline_json(file.head())
        is_nested = found.root == "object" and "results" in found.paths
        for number, result in iterate_array(file, "results", "results") if is_nested else iterate_records(file):
            _add_result(grades, result, number)
        return grades.crowd()


PROMPTFOO = Promptfoo()


def _add_result(grades: Grades, result: dict[str, Any], number: int) -> None:
    """Add the verdicts on one output."""
    test, prompt = result.get("testIdx"), result.get("promptIdx")
    if not isinstance(test, int) or not isinstance(prompt, int):
        raise grades.collector.error(number, "a result without testIdx and promptIdx", "Export the evaluation again.")
    response = result.get("response")
    item = grades.item(f"{test}:{prompt}", response.get("output") if isinstance(response, dict) else None)
    grading = result.get("gradingResult")
    components = grading.get("componentResults") if isinstance(grading, dict) else None
    if not isinstance(components, list) or not components:
        why = "with an error instead of verdicts: left out" if result.get("error") else "without assertions: left out"
        grades.collector.leave_out("result", why, number)
        return
    seen: Counter[tuple[str, str]] = Counter()
    for component in _verdicts(components):
        _add_verdict(grades, item, component, seen, number)


def _verdicts(components: list[Any]) -> Iterator[dict[str, Any]]:
    """Yield the verdicts of single assertions.

    promptfoo repeats the parts of a verdict after the verdict itself. The parts of an assert-set are verdicts, while
    the set's own result is not. The parts reported by a single assertion are skipped, and only its own result counts.
    """
    skipped = 0
    for component in components:
        if skipped:
            skipped -= 1
        elif isinstance(component, dict):
            parts = component.get("componentResults")
            is_set = not isinstance(component.get("assertion"), dict)
            skipped = len(parts) if isinstance(parts, list) and not is_set else 0
            if not (is_set and isinstance(parts, list)):
                yield component


def _add_verdict(
    grades: Grades, item: int, verdict: dict[str, Any], seen: Counter[tuple[str, str]], number: int
) -> None:
    assertion, metadata = verdict.get("assertion"), verdict.get("metadata")
    if not isinstance(assertion, dict) or not isinstance(assertion.get("type"), str):
        grades.collector.leave_out("verdict", "without the assertion that gave it: left out", number)
        return
    if isinstance(metadata, dict) and metadata.get("graderError"):
        grades.collector.leave_out("verdict", "by a grader that failed: left out", number)
        return
    metric, kind = assertion.get("metric"), assertion["type"]
    criterion = metric if isinstance(metric, str) and metric.strip() else kind
    # The judge is named after the grading model; the default model has no name
    provider = assertion.get("provider")
    if isinstance(provider, dict):
        provider = provider.get("label") or provider.get("id")
    judge = provider if isinstance(provider, str) else ""
    seen[criterion, judge] += 1
    count = seen[criterion, judge]
    numbered = f"{judge} {count}".strip() if count > 1 else judge  # a repeated assertion of this test
    bare = kind.removeprefix("not-")
    by_model = bare in GRADED_BY_MODELS or bare.startswith("promptfoo:redteam:")
    judged_by = "human" if bare == "human" else "llm" if by_model else "code"
    grades.add(item, criterion, verdict.get("pass"), judge=numbered, kind=judged_by, record=number)
