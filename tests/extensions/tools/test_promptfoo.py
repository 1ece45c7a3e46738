"""promptfoo's results: judges, verdicts, and what is left out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.data.formats.evaluation_exports import promptfoo_file, promptfoo_result, verdict, write_json, write_lines

from crowdlogic.data.files import InputFile
from crowdlogic.data.formats.protocol import ReadOptions, detect_format
from crowdlogic.data.reading import read_corpus, read_crowd
from crowdlogic.errors import FormatError

RESULTS = [
    promptfoo_result(
        0,
        0,
        verdict(True, "contains", value="hello", metric="has-word"),
        verdict(False, "llm-rubric", value="is polite", provider="openai:gpt-5"),
        verdict(True, "llm-rubric", value="is polite", provider={"id": "anthropic:claude"}),
        output="hello 😀",
    ),
    promptfoo_result(
        0,
        1,
        verdict(False, "contains", value="hello", metric="has-word"),
        verdict(True, "human"),
        output={"answer": 42},
    ),
]


@pytest.mark.parametrize("lines", [False, True], ids=["json", "jsonl"])
def test_assertions_are_judges_and_outputs_are_items(tmp_path: Path, lines: bool) -> None:
    path = (
        write_lines(tmp_path / "r.jsonl", RESULTS)
        if lines
        else write_json(tmp_path / "r.json", promptfoo_file(*RESULTS))
    )

    crowd = read_crowd(path)

    assert detect_format(InputFile(path)).name == "promptfoo"
    assert crowd.labels.to_frame().select("item", "annotator", "label").rows() == [
        ("0:0", "has-word", "pass"),
        ("0:0", "llm-rubric (openai:gpt-5)", "fail"),
        ("0:0", "llm-rubric (anthropic:claude)", "pass"),
        ("0:1", "has-word", "fail"),
        ("0:1", "human", "pass"),
    ]
    assert crowd.labels.kind == ("code", "llm", "llm", "human")
    assert read_corpus(path).texts == ("hello 😀", '{"answer": 42}')


def test_one_criterion_can_be_chosen(tmp_path: Path) -> None:
    path = write_json(tmp_path / "r.json", promptfoo_file(*RESULTS))

    labels = read_crowd(path, ReadOptions(question="llm-rubric")).labels

    assert labels.annotators.to_list() == ["llm-rubric (openai:gpt-5)", "llm-rubric (anthropic:claude)"]


def test_the_parts_of_a_set_are_judges_and_the_set_is_not(tmp_path: Path) -> None:
    parts = [verdict(True, "icontains"), verdict(False, "not-contains")]
    whole = {"pass": False, "score": 0.5, "reason": "...", "componentResults": parts, "metadata": {"assertionSet": {}}}
    path = write_json(tmp_path / "r.json", promptfoo_file(promptfoo_result(0, 0, whole, *parts)))

    labels = read_crowd(path).labels

    assert labels.annotators.to_list() == ["icontains", "not-contains"]
    assert labels.intake.messages() == []


def test_the_parts_of_one_assertion_are_no_judges(tmp_path: Path) -> None:
    parts = [verdict(True, "javascript"), verdict(True, "javascript")]
    whole = verdict(False, "javascript") | {"componentResults": parts}
    result = promptfoo_result(0, 0, whole, *parts, verdict(True, "equals"))
    path = write_json(tmp_path / "r.json", promptfoo_file(result))

    found = read_crowd(path).labels.to_frame()

    assert found.select("annotator", "label").rows() == [("javascript", "fail"), ("equals", "pass")]


def test_the_same_assertion_again_is_numbered(tmp_path: Path) -> None:
    result = promptfoo_result(0, 0, verdict(True, "contains"), verdict(False, "contains"))
    path = write_json(tmp_path / "r.json", promptfoo_file(result))

    assert read_crowd(path).labels.annotators.to_list() == ["contains", "contains (2)"]


def test_errors_and_outputs_without_assertions_are_left_out_and_counted(tmp_path: Path) -> None:
    failed = verdict(False, "llm-rubric") | {"metadata": {"graderError": True}}
    results = [
        promptfoo_result(0, 0, verdict(True, "equals"), failed),
        promptfoo_result(1, 0, error="timeout"),
        promptfoo_result(2, 0),
    ]
    path = write_json(tmp_path / "r.json", promptfoo_file(*results))

    labels = read_crowd(path).labels

    assert labels.n_labels == 1
    assert labels.intake.messages() == [
        "1 verdict by a grader that failed: left out (first: record 1).",
        "1 result with an error instead of verdicts: left out (first: record 2).",
        "1 result without assertions: left out (first: record 3).",
    ]


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        (promptfoo_file({"gradingResult": None}), "record 1: a result without testIdx and promptIdx. Export the evaluation again."),
        (promptfoo_file(promptfoo_result(0, 0, verdict(True, "a")), []), "record 2: expected an object, got a JSON list. Export the file again."),  # type: ignore[arg-type]
        ({"evalId": "e", "results": {"results": 3}}, "no array at 'results.results'. Export the file again."),
        ({"evalId": "e", "results": {}, "config": {}}, "no field 'results.results'. Export the file again."),
        (promptfoo_file(promptfoo_result(0, 0)), "there are no annotations. 1 result without assertions: left out (first: record 1). Export annotated tasks."),
    ],
    ids=["no index", "no object", "no array", "no results", "no assertions"],
)  # fmt: skip
def test_malformed_results_are_named(tmp_path: Path, value: Any, problem: str) -> None:
    path = write_json(tmp_path / "r.json", value)

    with pytest.raises(FormatError) as raised:
        read_crowd(path, format="promptfoo")

    assert str(raised.value) in (f"{path}, {problem}", f"{path}: {problem}")


def test_a_file_that_is_cut_short_is_named(tmp_path: Path) -> None:
    path = write_json(tmp_path / "r.json", promptfoo_file(*RESULTS))
    path.write_bytes(path.read_bytes()[:900])

    with pytest.raises(FormatError, match=r"r.json, record \d: not JSON"):
        read_crowd(path)
