"""We read the logs that inspect_ai writes, packed and plain."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from crowdlogic.data.reading import read_crowd
from crowdlogic.workflows.aggregate import AggregateOptions, aggregate_files

pytestmark = pytest.mark.heavy

EVALUATE = """
import sys
from inspect_ai import Task, eval
from inspect_ai.dataset import Sample
from inspect_ai.model import ModelOutput, ModelUsage, get_model
from inspect_ai.scorer import Score, accuracy, includes, model_graded_qa, scorer
from inspect_ai.solver import generate

def said(text):
    output = ModelOutput.from_content("mockllm/model", text)
    output.usage = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)
    return output

@scorer(metrics=[accuracy()])
def polite():
    async def score(state, target):
        return Score(value="please" in state.output.completion)
    return score

for format in ("eval", "json"):
    judge = get_model("mockllm/judge", custom_outputs=[said(f"GRADE: {grade}") for grade in "CIC"])
    model = get_model("mockllm/model", custom_outputs=[said(text) for text in ("yes please 😀", "no", "yes")])
    samples = [Sample(id=f"q{i}", input=f"question {i}?", target="yes") for i in range(3)]
    task = Task(dataset=samples, solver=generate(), scorer=[includes(), model_graded_qa(model=judge), polite()])
    log = eval(task, model=model, log_dir=format, log_format=format, display="none", max_connections=1, max_samples=1)[0]
    assert log.status == "success", log.error
"""


def test_logs_of_inspect_are_read_and_aggregated(tools: Callable[..., str], tmp_path: Path) -> None:
    tools(EVALUATE)
    (packed,), (plain,) = (tmp_path / "eval").iterdir(), (tmp_path / "json").iterdir()

    labels = read_crowd(packed).labels
    aggregate_files(AggregateOptions(labels=str(packed), out=str(tmp_path / "truth.csv")))

    assert labels.to_frame().equals(read_crowd(plain).labels.to_frame())
    assert labels.annotators.to_list() == ["includes", "model_graded_qa", "polite"]
    assert labels.kind == ("code", "llm", "code")
    assert [row for row in labels.to_frame().select("item", "annotator", "label").rows() if row[0] == "q1"] == [
        ("q1", "includes", "I"),
        ("q1", "model_graded_qa", "I"),
        ("q1", "polite", "I"),
    ]
    assert (tmp_path / "truth.csv").read_text().startswith("item,label,confidence")
