"""Small exports of evaluation tools, in the shapes that the tools write."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

Json = dict[str, Any]


def write_json(path: Path, value: Any) -> Path:
    path.write_text(json.dumps(value, ensure_ascii=False), encoding="utf-8")
    return path


def write_lines(path: Path, values: list[Any]) -> Path:
    path.write_text("".join(json.dumps(value, ensure_ascii=False) + "\n" for value in values), encoding="utf-8")
    return path


def verdict(passed: bool, type: str, **assertion: Any) -> Json:
    """The verdict of one assertion of promptfoo."""
    return {"pass": passed, "score": float(passed), "reason": "...", "assertion": {"type": type, **assertion}}


def promptfoo_result(test: int, prompt: int, *verdicts: Json, output: Any = "an output", **fields: Any) -> Json:
    """What promptfoo keeps of one output."""
    grading = {
        "pass": all(one["pass"] for one in verdicts),
        "score": 1,
        "reason": "...",
        "componentResults": [*verdicts],
    }
    return {
        "cost": 0,
        "gradingResult": grading if verdicts else None,
        "id": f"{test}-{prompt}",
        "promptIdx": prompt,
        "testIdx": test,
        "provider": {"id": "echo", "label": ""},
        "response": {"output": output, "cached": False},
        "vars": {"word": "hello"},
        "success": True,
        **fields,
    }


def promptfoo_file(*results: Json) -> Json:
    """What `promptfoo eval -o results.json` writes."""
    summary = {"version": 3, "timestamp": "2026-11-17T22:07:15Z", "prompts": [{"raw": "x"}], "results": [*results]}
    return {"evalId": "eval-1", "results": {**summary, "stats": {}}, "config": {"prompts": []}, "shareableUrl": None}


def inspect_sample(name: Any, scores: Json, *, epoch: int = 1, text: str = "an answer", **fields: Any) -> Json:
    """A sample of an Inspect log, with scores as {scorer: value}."""
    kept = {scorer: {"value": value, "answer": text, "history": []} for scorer, value in scores.items()}
    output = {"model": "mockllm/model", "choices": [], "completion": text}
    return {
        "id": name,
        "epoch": epoch,
        "input": "a question",
        "target": "yes",
        "output": output,
        "scores": kept,
        **fields,
    }


def inspect_log(*samples: Json) -> Json:
    """An Inspect log as one JSON file."""
    run = {"run_id": "r1", "task": "task", "model": "mockllm/model", "config": {"epochs": 1}}
    return {"version": 2, "status": "success", "eval": run, "plan": {"steps": []}, "samples": [*samples]}


def write_eval(path: Path, *samples: Json) -> Path:
    """An Inspect log as a zip file; the package itself packs with Zstandard."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr("_journal/start.json", json.dumps({"version": 2}))
        for sample in samples:
            name = f"samples/{sample.get('id')}_epoch_{sample.get('epoch')}.json"
            packed.writestr(name, json.dumps(sample, ensure_ascii=False))
        packed.writestr("header.json", json.dumps(inspect_log()))
    return path


def deepeval_case(name: str, *metrics: tuple[str, bool, str | None], text: str = "an answer") -> Json:
    """A test case of DeepEval with metrics as (name, success, evaluation model)."""
    data = [
        {"name": metric, "threshold": 0.5, "success": success, "score": float(success), "strictMode": False}
        | ({} if model is None else {"evaluationModel": model})
        for metric, success, model in metrics
    ]
    return {"name": name, "input": "a question", "actualOutput": text, "success": True, "metricsData": data}


def deepeval_run(*cases: Json) -> Json:
    """A test run of DeepEval."""
    return {"testFile": "t.py", "testCases": [*cases], "conversationalTestCases": [], "metricsScores": []}


def lm_eval_sample(doc: int, *, filter: str = "none", answer: str = "yes", **metrics: Any) -> Json:
    """A sample of lm-eval with the values of its metrics."""
    return {
        "doc_id": doc,
        "doc": {"question": "a question"},
        "target": "yes",
        "arguments": {"gen_args_0": {"arg_0": "a prompt"}},
        "resps": [[answer]],
        "filtered_resps": [answer],
        "filter": filter,
        "metrics": list(metrics),
        "doc_hash": "0",
        "prompt_hash": "0",
        "target_hash": "0",
        **metrics,
    }


def langfuse_score(name: str, value: Any, *, type: str = "NUMERIC", source: str = "EVAL", **fields: Any) -> Json:
    """A score of Langfuse's API, version 2."""
    return {
        "id": "s",
        "traceId": "t1",
        "name": name,
        "source": source,
        "timestamp": "2026-11-17T22:00:00.000Z",
        "value": value,
        "dataType": type,
        **fields,
    }


def write_opik(folder: Path, *traces: Json) -> Path:
    """A folder as `opik export` writes it."""
    place = folder / "default" / "projects" / "p1"
    place.mkdir(parents=True)
    write_json(place / "project.json", {"id": "p1", "name": "demo"})
    for trace in traces:
        write_json(place / f"trace_{trace['id']}.json", {"trace": trace, "spans": [], "project_name": "demo"})
    return folder


def opik_trace(name: str, *scores: Json, output: Any = "an answer") -> Json:
    """A trace of Opik with its feedback scores."""
    return {"id": name, "name": "chat", "input": {"q": "?"}, "output": output, "feedback_scores": [*scores]}
