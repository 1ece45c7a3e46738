"""Reader for Inspect (inspect_ai) logs: .eval (a zip file) or .json, with the scores of all scorers.

Each sample becomes an item named by the sample's id, and by the epoch if there are several. Each scorer becomes a
judge; a scorer that returns a dictionary becomes one judge per key. Inspect writes grades as C, I, P and N (correct,
incorrect, partial, no answer); booleans, and numbers that are all 0 or 1, become C and I. A scorer that used a model is
of kind llm, others are of kind code. Scores edited by a person are read with their current value. Tested with logs of
version 2 written by inspect_ai 0.3.285.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from crowdlogic.data.files import InputFile
from crowdlogic.data.folders import Folder
from crowdlogic.data.formats.json_records import read_json_member
from crowdlogic.data.formats.protocol import Crowd, ReadOptions
from crowdlogic.extensions.tools.collector import ToolExport
from crowdlogic.extensions.tools.grades import Grades
from crowdlogic.extensions.tools.json_exports import iterate_array, outline_json

SCALE = ("C", "I", "P", "N")
"""Correct, incorrect, partial, no answer."""
SAMPLES = "samples/"
STARTED = "_journal/start.json"
HEADER = "header.json"


class InspectLog(ToolExport):
    """A log written by Inspect."""

    name, title, suffixes = "inspect", "a log of Inspect", (".eval", ".json")

    def recognises(self, head: bytes) -> bool:
        """Return whether this is an object with a version, a status and an eval with a run id."""
        return {"version", "status", "eval", "eval.run_id"} <= outline_json(head).paths

    def recognises_folder(self, folder: Folder) -> bool:
        """Return whether the zip file has a journal or a header, and samples."""
        names = set(folder.names)
        return bool(names & {STARTED, HEADER}) and any(name.startswith(SAMPLES) for name in names)

    def read_crowd(self, file: InputFile, options: ReadOptions) -> Crowd:
        """Read the scores of all scorers on all samples."""
        grades = Grades(file.name, options, scale=SCALE)
        samples = [_parse_sample(grades, sample, number) for number, sample in _iterate_samples(file)]
        one_epoch = len({sample.epoch for sample in samples}) <= 1
        for sample in samples:
            item = grades.item(sample.id if one_epoch else f"{sample.id} (epoch {sample.epoch})", sample.text)
            for criterion, value, kind in sample.scores:
                grades.add(item, criterion, value, kind=kind, record=sample.number)
        return grades.crowd()


INSPECT = InspectLog()


@dataclass(frozen=True)
class Sample:
    """Parsed sample: its id, its output, and its scores as (scorer, value, kind)."""

    number: int
    id: Any
    epoch: int
    text: str | None
    scores: tuple[tuple[str, Any, str], ...]


def _iterate_samples(file: InputFile) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the samples one at a time, so that a large log is never held in memory as a whole."""
    if not file.is_folder:
        yield from iterate_array(file, "samples")
        return
    names = [name for name in file.folder.names if name.startswith(SAMPLES) and name.endswith(".json")]
    for number, name in enumerate(names, start=1):
        yield number, read_json_member(file, name, number)


def _parse_sample(grades: Grades, sample: dict[str, Any], number: int) -> Sample:
    name, epoch = sample.get("id"), sample.get("epoch", 1)
    if not isinstance(name, str | int) or isinstance(name, bool) or not isinstance(epoch, int):
        raise grades.collector.error(
            number, "a sample without an id, or with an epoch that is not a number", "Write the log again."
        )
    scores = sample.get("scores")
    found = list(_parse_scores(scores)) if isinstance(scores, dict) else []
    if not found:
        why = "with an error instead of scores: left out" if sample.get("error") else "without scores: left out"
        grades.collector.leave_out("sample", why, number)
    return Sample(number, name, epoch, _completion(sample.get("output")), tuple(found))


def _parse_scores(scores: dict[str, Any]) -> Iterator[tuple[str, Any, str]]:
    """Yield scorer, value and kind of each score; a scorer with several values yields one score per value."""
    for scorer, score in scores.items():
        value = score.get("value") if isinstance(score, dict) else None
        # The metadata contain the conversation with a grading model, if there was one
        metadata = score.get("metadata") if isinstance(score, dict) else None
        kind = "llm" if isinstance(metadata, dict) and isinstance(metadata.get("grading"), list) else "code"
        if isinstance(value, dict):
            yield from ((f"{scorer}/{key}", each, kind) for key, each in value.items())
        else:
            yield scorer, value, kind


def _completion(output: Any) -> str | None:
    """Return the text of the output; logs before version 2 only have it in the first choice."""
    if not isinstance(output, dict):
        return None
    text = output.get("completion")
    if text is None and isinstance(output.get("choices"), list) and output["choices"]:
        message = output["choices"][0].get("message") if isinstance(output["choices"][0], dict) else None
        text = message.get("content") if isinstance(message, dict) else None
    return text if isinstance(text, str) else None
