"""DeepEval's test runs: metrics are judges, test cases are items."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.data.formats.evaluation_exports import deepeval_case, deepeval_run, write_json

from crowdlogic.data.files import InputFile
from crowdlogic.data.formats.protocol import detect_format
from crowdlogic.data.reading import read_crowd
from crowdlogic.errors import FormatError

CASES = [
    deepeval_case("case_0", ("Relevancy", True, "gpt"), ("Relevancy", False, "claude"), ("Exact Match", True, None)),
    deepeval_case("case_1", ("Relevancy", False, "gpt"), ("Exact Match", False, None), text="two 😀"),
]


@pytest.mark.parametrize("wrapped", [False, True])
def test_metrics_are_judges_and_test_cases_are_items(tmp_path: Path, wrapped: bool) -> None:
    run = deepeval_run(*CASES)
    path = write_json(tmp_path / "run.json", {"testRunData": run} if wrapped else run)

    crowd = read_crowd(path)

    assert detect_format(InputFile(path)).name == "deepeval"
    assert crowd.labels.to_frame().select("item", "annotator", "label").rows() == [
        ("case_0", "Relevancy (gpt)", "pass"),
        ("case_0", "Relevancy (claude)", "fail"),
        ("case_0", "Exact Match", "pass"),
        ("case_1", "Relevancy (gpt)", "fail"),
        ("case_1", "Exact Match", "fail"),
    ]
    assert crowd.labels.kind == ("llm", "llm", "code")
    assert crowd.corpus is not None
    assert crowd.corpus.texts == ("an answer", "two 😀")


def test_test_cases_of_one_name_stay_apart_and_errors_are_left_out(tmp_path: Path) -> None:
    failed = deepeval_case("case", ("Relevancy", True, None))
    failed["metricsData"].append({"name": "Toxicity", "error": "timeout"})
    path = write_json(tmp_path / "run.json", deepeval_run(failed, deepeval_case("case", ("Relevancy", False, None))))

    labels = read_crowd(path).labels

    assert labels.items.to_list() == ["case", "case #2"]
    assert labels.intake.messages() == ["1 metric with an error instead of a grade: left out (first: record 1)."]


@pytest.mark.parametrize(
    ("case", "problem"),
    [
        ({"metricsData": []}, "record 1: a test case without a name. Run the evaluation again."),
        (deepeval_case("c", ("", True, None)), "record 1: a grade whose judge has no name. Export the evaluation again."),
        (7, "record 1: expected an object, got a JSON int. Export the file again."),
    ],
)  # fmt: skip
def test_malformed_test_cases_are_named(tmp_path: Path, case: Any, problem: str) -> None:
    path = write_json(tmp_path / "run.json", deepeval_run(case))

    with pytest.raises(FormatError) as raised:
        read_crowd(path, format="deepeval")

    assert str(raised.value) == f"{path}, {problem}"
