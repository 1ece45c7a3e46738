"""Label Studio's exports: JSON (whole tasks), JSON_MIN and CSV (a record per annotation).

Choices, labels of text (spans), ratings, numbers, pairwise comparisons and taxonomies are read; regions of images and
sound are not. Formats as label-studio-sdk writes them (label_studio_sdk.converter). Every csv is asked whether it is
one, so the readers and writers are imported where they are used.
"""

from __future__ import annotations

import csv
import io

from crowdlogic.data.corpus import Corpus
from crowdlogic.data.estimate import Estimate
from crowdlogic.data.files import InputFile
from crowdlogic.data.formats.json_outline import outline_json
from crowdlogic.data.formats.protocol import Crowd, ReadOptions
from crowdlogic.data.formats.tool_export import ToolExport
from crowdlogic.data.labels import CrowdLabels

ROW_FIELDS = ("annotator", "annotation_id", "created_at", "updated_at", "lead_time")
"""The fields that every record of JSON_MIN and every row of CSV has."""

TASK_FIELDS = (
    ("data", "annotations"),
    ("data", "completions"),
    ("data", "predictions"),
    ("annotations[].result",),
    ("completions[].result",),
    ("predictions[].result",),
)
"""Fields of which a task has at least one group."""


class LabelStudio(ToolExport):
    """Tasks with the annotations of several people, or a record for each annotation."""

    name, title, suffixes = "label-studio", "Label Studio's export", (".json", ".csv", ".tsv")

    def recognises(self, head: bytes) -> bool:
        """Tasks have data and annotations; records have the annotator, the annotation's id and times."""
        found = outline_json(head)
        if found.root:
            return any(found.has(*fields) for fields in (*TASK_FIELDS, ROW_FIELDS))
        return _is_row_header(head)

    def read_crowd(self, file: InputFile, options: ReadOptions) -> Crowd:
        """Labels or tags of all annotators, texts, and gold from annotations marked as ground truth."""
        from crowdlogic.data.formats.label_studio_rows import read_rows
        from crowdlogic.data.formats.label_studio_tasks import read_tasks

        found = outline_json(file.head())
        is_tasks = bool(found.root) and not found.has(*ROW_FIELDS)
        return read_tasks(file, options) if is_tasks else read_rows(file, options)

    def encode_labels(self, labels: CrowdLabels, corpus: Corpus | None, target: str) -> bytes:
        """Tasks with the annotations of all annotators."""
        from crowdlogic.data.formats.label_studio_writing import encode_annotations

        return encode_annotations(labels, corpus, target)

    def encode_estimate(self, estimate: Estimate, corpus: Corpus | None, target: str) -> bytes:
        """Tasks with the consensus as their prediction, in review order."""
        from crowdlogic.data.formats.label_studio_writing import encode_predictions

        return encode_predictions(estimate, corpus, target)


LABEL_STUDIO = LabelStudio()


def _is_row_header(head: bytes) -> bool:
    """Whether the first line of a csv or tsv file has all fields of a row."""
    line = head.removeprefix(b"\xef\xbb\xbf").partition(b"\n")[0].decode("utf-8", errors="replace").strip()
    try:
        columns = next(csv.reader(io.StringIO(line), delimiter="\t" if "\t" in line else ","), [])
    except csv.Error:
        return False
    return set(ROW_FIELDS) <= set(columns)
