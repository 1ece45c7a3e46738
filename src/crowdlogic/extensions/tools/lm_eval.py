"""Reader for the samples of the LM Evaluation Harness: samples_<task>_<date>.jsonl, written by `--log_samples`.

Each document of the task becomes an item whose text is the model's answer. Each metric becomes a judge; if a document
was scored with several filters, the filter is part of the judge's name. The grade is the metric's value for the
document. Metrics whose value is not a single number per document (perplexities, pairs) are skipped. Based on the
layout of lm-eval 0.4.13. Older files, which lack the list of `metrics`, are rejected.
"""

from __future__ import annotations

from typing import Any

from crowdlogic.data.files import InputFile
from crowdlogic.data.formats.json_records import iterate_records
from crowdlogic.data.formats.protocol import Crowd, ReadOptions
from crowdlogic.extensions.tools.collector import ToolExport
from crowdlogic.extensions.tools.grades import Grades
from crowdlogic.extensions.tools.json_exports import outline_json

DEFAULT_FILTER = "none"


class LmEvalSamples(ToolExport):
    """Samples written by the LM Evaluation Harness."""

    name, title, suffixes = "lm-eval", "samples of lm-eval", (".jsonl",)

    def recognises(self, head: bytes) -> bool:
        """Return whether the lines have a document, its arguments and its filtered responses."""
        return {"doc_id", "filtered_resps", "arguments"} <= outline_json(head).paths

    def read_crowd(self, file: InputFile, options: ReadOptions) -> Crowd:
        """Read the value of every metric for every document."""
        grades = Grades(file.name, options)
        for number, sample in iterate_records(file):
            _add_sample(grades, sample, number)
        return grades.crowd()


LM_EVAL = LmEvalSamples()


def _add_sample(grades: Grades, sample: dict[str, Any], number: int) -> None:
    name, metrics = sample.get("doc_id"), sample.get("metrics")
    if not isinstance(name, str | int) or isinstance(name, bool):
        raise grades.collector.error(number, "a sample without a doc_id", "Write the samples again.")
    if not isinstance(metrics, list):
        remedy = "Write the samples again with a current lm-eval."
        raise grades.collector.error(number, "a sample that does not name its metrics", remedy)
    answer = sample.get("filtered_resps")
    text = str(answer[0]) if isinstance(answer, list) and len(answer) == 1 else None
    item = grades.item(name, text)
    used = sample.get("filter")
    judge = used if isinstance(used, str) and used != DEFAULT_FILTER else ""
    for metric in metrics:
        value = sample.get(metric) if isinstance(metric, str) else None
        grades.add(item, metric, value, judge=judge, kind="code", record=number)
