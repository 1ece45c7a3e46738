"""Reader for DeepEval test runs: `.deepeval/.latest_run_full.json` or `test_run_*.json`.

Each test case becomes an item and each metric a judge, named with the evaluation model if the run states one. The
grade is whether the metric was met (pass or fail). Metrics with a model are of kind llm, others of kind code. Tested
with files written by the classes of deepeval 4.3.1.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

from crowdlogic.data.files import InputFile
from crowdlogic.data.formats.protocol import Crowd, ReadOptions
from crowdlogic.extensions.tools.collector import ToolExport
from crowdlogic.extensions.tools.grades import Grades
from crowdlogic.extensions.tools.json_exports import iterate_array, outline_json

CASES = ("testCases", "conversationalTestCases")
WRAPPED = "testRunData"
"""The key under which some versions nest the whole run."""


class DeepEvalRun(ToolExport):
    """A test run of DeepEval."""

    name, title, suffixes = "deepeval", "a test run of DeepEval", (".json",)

    def recognises(self, head: bytes) -> bool:
        """Return whether this is an object with test cases that have metric data."""
        paths = outline_json(head).paths
        return any(f"{at}{cases}[].metricsData" in paths for at in ("", f"{WRAPPED}.") for cases in CASES)

    def read_crowd(self, file: InputFile, options: ReadOptions) -> Crowd:
        """Read the verdicts of all metrics on all test cases."""
        grades, names = Grades(file.name, options), Counter[str]()
        wrapped = (WRAPPED,) if WRAPPED in outline_json(file.head()).paths else ()
        for cases in CASES:
            for number, case in iterate_array(file, *wrapped, cases, required=cases == CASES[0]):
                _add_case(grades, case, names, number)
        return grades.crowd()


DEEPEVAL = DeepEvalRun()


def _add_case(grades: Grades, case: dict[str, Any], names: Counter[str], number: int) -> None:
    name = case.get("name")
    if not isinstance(name, str) or not name:
        raise grades.collector.error(number, "a test case without a name", "Run the evaluation again.")
    names[name] += 1
    item = grades.item(name if names[name] == 1 else f"{name} #{names[name]}", case.get("actualOutput"))
    metrics = case.get("metricsData")
    if not isinstance(metrics, list) or not metrics:
        grades.collector.leave_out("test case", "without metrics: left out", number)
        return
    for metric in metrics:
        if not isinstance(metric, dict):
            grades.collector.leave_out("metric", "without fields: left out", number)
        elif metric.get("error"):
            grades.collector.leave_out("metric", "with an error instead of a grade: left out", number)
        else:
            model = metric.get("evaluationModel")
            kind = "llm" if model else "code"
            grades.add(item, metric.get("name"), metric.get("success"), judge=model, kind=kind, record=number)
