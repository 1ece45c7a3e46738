"""Samples of lm-eval: metrics are judges, documents are items."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.data.formats.evaluation_exports import lm_eval_sample, write_lines

from crowdlogic.data.files import InputFile
from crowdlogic.data.formats.protocol import detect_format
from crowdlogic.data.reading import read_crowd
from crowdlogic.errors import FormatError


def test_metrics_and_filters_are_judges(tmp_path: Path) -> None:
    samples = [
        lm_eval_sample(0, acc=1.0, exact_match=0),
        lm_eval_sample(0, filter="strict", acc=0.0),
        lm_eval_sample(1, acc=0.0, exact_match=0),
    ]
    path = write_lines(tmp_path / "samples_task.jsonl", samples)

    crowd = read_crowd(path)

    assert detect_format(InputFile(path)).name == "lm-eval"
    assert crowd.labels.to_frame().select("item", "annotator", "label").rows() == [
        (0, "acc", "pass"),
        (0, "exact_match", "fail"),
        (0, "acc (strict)", "fail"),
        (1, "acc", "fail"),
        (1, "exact_match", "fail"),
    ]
    assert crowd.corpus is not None
    assert crowd.corpus.texts == ("yes", "yes")


def test_metrics_without_a_single_value_are_left_out(tmp_path: Path) -> None:
    path = write_lines(tmp_path / "s.jsonl", [lm_eval_sample(0, acc=1, word_perplexity=[-3.2, 4])])

    labels = read_crowd(path).labels

    assert labels.annotators.to_list() == ["acc"]
    assert labels.intake.messages() == ["1 grade without a single value: left out (first: record 1)."]


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"metrics": None}, "a sample that does not name its metrics. Write the samples again with a current lm-eval."),
        ({"doc_id": None}, "a sample without a doc_id. Write the samples again."),
    ],
)
def test_malformed_samples_are_named(tmp_path: Path, change: dict[str, Any], problem: str) -> None:
    path = write_lines(tmp_path / "s.jsonl", [lm_eval_sample(0, acc=1), lm_eval_sample(1, acc=1) | change])

    with pytest.raises(FormatError) as raised:
        read_crowd(path)

    assert str(raised.value) == f"{path}, record 2: {problem}"
