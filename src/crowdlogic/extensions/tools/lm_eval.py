"""The LM Evaluation Harness (lm-eval): samples_<task>_<date>.jsonl, which `--log_samples` writes.

An item is a document of the task, with the model's answer as its text. A judge is a metric, and the filter that the
answer went through where a document has several; its grade is the metric's value for this document. Metrics that are no
single number for a document (perplexities, pairs) are left out. Written after lm-eval 0.4.13; files without the list of
`metrics` are older and are refused.
"""

from __future__ import annotations

from typing import Any

from crowdlogic.data.files import InputFile
from crowdlogic.data.formats.json_records import iterate_records, outline_json, require_object
from crowdlogic.data.formats.protocol import Crowd, ReadOptions
from crowdlogic.extensions.tools.collector import ToolExport
from crowdlogic.extensions.tools.grades import Grades

USUAL_FILTER = "none"


class LmEvalSamples(ToolExport):
    """Samples of the LM Evaluation Harness."""

    name, title, suffixes = "lm-eval", "samples of lm-eval", (".jsonl",)

    def recognises(self, head: bytes) -> bool:
        """Lines with a document, its responses and their filtered forms."""
        return {"doc_id", "filtered_resps", "arguments"} <= outline_json(head).paths

    def read_crowd(self, file: InputFile, options: ReadOptions) -> Crowd:
        """The value of every metric for every document."""
        grades = Grades(file.name, options)
        for number, sample in iterate_records(file):
            _add_sample(grades, require_object(sample, number, file), number)
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
    judge = used if isinstance(used, str) and used != USUAL_FILTER else ""
    for metric in metrics:
        value = sample.get(metric) if isinstance(metric, str) else None
        grades.add(item, metric, value, judge=judge, kind="code", record=number)
