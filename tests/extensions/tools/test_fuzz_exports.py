"""Mangled exports of every tool: a CrowdLogicError of one line or a valid table, never another exception."""

from __future__ import annotations

import copy
import json
import random
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.data.formats import evaluation_exports as evaluations
from tests.data.formats.exports import annotation, choice, rating, span, task

from crowdlogic.data.formats.protocol import Crowd, ReadOptions
from crowdlogic.data.reading import read_crowd
from crowdlogic.errors import CrowdLogicError

TEXT = "Ann 😀 sings in Rome"
SPANS = [span(0, 3, "PER", "Ann"), span(16, 20, "LOC", "Rome")]
HASHES = {
    "_input_hash": 5,
    "_task_hash": 6,
    "_session_id": "s",
    "_annotator_id": "ann",
    "_timestamp": 17,
    "answer": "accept",
}
MIN = {"annotation_id": 1, "created_at": "2024-01-01", "updated_at": "2024-01-01", "lead_time": 1.5}
STATE = {
    "user_id": "ann",
    "instance_id_ordering": ["r"],
    "instance_id_to_label_to_value": {"r": [[{"schema": "q", "name": "x"}, "true"]]},
}

SOUND: dict[str, tuple[str, Any]] = {
    "label-studio": ("e.json", [task(1, TEXT, annotation(1, choice("x"), rating(3)), annotation({"id": 2, "email": "b"}, choice("y"), ground_truth=True), predictions=[{"model_version": "gpt", "score": 0.5, "result": [choice("x")]}])]),
    "label-studio spans": ("e.json", [task("a", TEXT, annotation(1, *SPANS), annotation(2), annotation(3, SPANS[0], was_cancelled=True))]),
    "label-studio min": ("e.json", [{"id": 1, "text": TEXT, "label": [{"start": 0, "end": 3, "labels": ["PER"], "text": "Ann"}], "annotator": 1, **MIN}, {"id": 1, "text": TEXT, "label": [], "annotator": 2, **MIN}]),
    "prodigy choice": ("e.jsonl", [{"text": TEXT, "options": [{"id": "x"}], "accept": ["x"], **HASHES}, {"text": TEXT, "options": [], "accept": [], **HASHES}]),
    "prodigy spans": ("e.jsonl", [{"text": TEXT, "tokens": [{"text": "Ann", "start": 0, "end": 3, "id": 0}], "spans": [{"start": 0, "end": 3, "token_start": 0, "token_end": 0, "label": "PER"}], **HASHES}]),
    "prodigy binary": ("e.jsonl", [{"text": TEXT, "label": label, **HASHES, "answer": answer} for label in "xyz" for answer in ("accept", "reject", "ignore")]),
    "doccano": ("p/ann.jsonl", [{"id": 1, "text": TEXT, "label": ["x"], "Comments": []}, {"id": 2, "text": TEXT, "label": [], "Comments": []}]),
    "doccano spans": ("p/ann.jsonl", [{"id": 1, "text": TEXT, "entities": [{"id": 1, "start_offset": 0, "end_offset": 3, "label": "PER"}], "Comments": []}, {"id": 2, "text": TEXT, "entities": [[0, 3, "PER"]], "Comments": []}]),
    "potato": ("p/ann/user_state.json", STATE),
    "potato spans": ("p/ann/user_state.json", STATE | {"instance_id_to_span_to_value": {"r": [[{"schema": "q2", "name": "PER", "start": 0, "end": 3, "title": "PER"}, "x"]]}}),
    "promptfoo": ("e.json", evaluations.promptfoo_file(evaluations.promptfoo_result(0, 0, evaluations.verdict(True, "llm-rubric", value="good?"), evaluations.verdict(False, "contains", value="x")))),
    "inspect": ("e.json", evaluations.inspect_log(evaluations.inspect_sample("a", {"match": "C", "judge": 0.5}))),
    "deepeval": ("e.json", evaluations.deepeval_run(evaluations.deepeval_case("a", ("G-Eval", True, "gpt-4o"), ("Exact", False, None)))),
    "lm-eval": ("samples_task_2026-11-17.jsonl", [evaluations.lm_eval_sample(0, acc=1.0), evaluations.lm_eval_sample(1, acc=0.0)]),
    "langfuse": ("e.jsonl", [evaluations.langfuse_score("correct", 1), evaluations.langfuse_score("tone", "good", type="CATEGORICAL")]),
    "argilla": ("e.json", [{"id": "r", "fields": {"text": TEXT}, "responses": {"label": [{"value": "x", "user_id": "a"}]}, "suggestions": {"label": {"value": "y", "score": 0.5, "agent": "gpt"}}}]),
    "argilla spans": ("e.json", [{"id": "r", "fields": {"text": TEXT}, "responses": {"label": [{"value": [{"start": 0, "end": 3, "label": "PER"}], "user_id": "a"}]}, "suggestions": {}}]),
    "argilla flat": ("e.jsonl", [{"id": "r", "text": TEXT, "label.responses": ["x", "y"], "label.responses.users": ["a", "b"], "label.responses.status": ["submitted", "draft"], "label.suggestion": "x", "label.suggestion.score": 1, "label.suggestion.agent": None}]),
    "wrench": ("e.json", {"0": {"label": 1, "weak_labels": [1, -1], "data": {"text": TEXT}}, "1": {"label": 0, "weak_labels": [0, 1], "data": {"text": TEXT}}}),
    "wrench tags": ("e.json", {"0": {"label": ["O"], "weak_labels": [["O", "B-X"]], "data": {"text": ["Ann"]}}, "1": {"label": ["O"], "weak_labels": [["O", "B-X"]], "data": {"text": ["Ann"]}}}),
    "json": ("e.json", [{"item": 1, "annotator": "a", "label": "x"}, {"item": 1, "annotator": "b", "label": "y"}]),
}  # fmt: skip
ODD = [None, True, False, 0, -1, 1e999, 2**70, 1.5, "", " ", "x" * 300, "\ud83d", "\u202eé\r\n", "1", [], {}, [[]], [None], {"a": {}}, [{}, 1], "2024-13-45", float("nan")]  # fmt: skip
EXAMPLES = 250
"""Mangled files of each kind."""


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The paths of all values inside a value."""
    yield path
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, one in inner:
        yield from places(one, (*path, key))


def mangle(value: Any, rng: random.Random) -> Any:
    """The value with one to three places replaced by something odd, removed, doubled or swapped."""
    changed = copy.deepcopy(value)
    for _ in range(rng.randint(1, 3)):
        path = rng.choice([place for place in places(changed) if place] or [()])
        if not path:
            return rng.choice(ODD)
        parent = changed
        for key in path[:-1]:
            parent = parent[key]
        action = rng.choice(["replace", "replace", "remove", "double"])
        if action == "replace":
            parent[path[-1]] = copy.deepcopy(rng.choice(ODD))
        elif action == "remove":
            del parent[path[-1]]
        elif isinstance(parent, list):
            parent.insert(path[-1], copy.deepcopy(parent[path[-1]]))
    return changed


def encode(name: str, value: Any, rng: random.Random) -> bytes:
    """The bytes of a file, one in four of them damaged."""
    lines = name.endswith(".jsonl") and isinstance(value, list)
    text = "\n".join(map(json.dumps, value)) if lines else json.dumps(value)
    content = text.encode("utf-8", errors="surrogatepass")
    if rng.random() < 0.25 and content:
        at = rng.randrange(len(content))
        piece = rng.choice([b"", b"\x00", b"\xff", b'"', b"[", b"}", b",", b"\\u", b"9" * 5000, b"\xef\xbb\xbf"])
        content = content[:at] + piece + content[at + rng.choice([0, 1, 40, len(content)]) :]
    return content


def use(path: Path, kind: str) -> Crowd | None:
    """Read, and see that what was read can be used."""
    question = {"label-studio": "sentiment", "potato": "q"}.get(kind)
    try:
        crowd = read_crowd(path, ReadOptions(question=question))
    except CrowdLogicError as problem:
        assert str(problem)
        assert "\n" not in str(problem).strip()
        return None
    labels = crowd.labels
    assert labels.n_labels == round(labels.votes(weighted=False).sum())
    assert len(labels.to_frame()) == labels.n_labels
    assert np.isfinite(labels.weights).all()
    labels.intake.messages()
    if crowd.corpus is not None:
        assert crowd.corpus.items.equals(labels.items)
        crowd.corpus.to_frame()
    return crowd


@pytest.mark.parametrize("kind", SOUND)
def test_a_sound_export_is_read(kind: str, tmp_path: Path) -> None:
    name, value = SOUND[kind]
    path = tmp_path / name
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = name.endswith(".jsonl")
    path.write_text("\n".join(map(json.dumps, value)) if lines else json.dumps(value))

    readable = use(tmp_path / "p" if name.startswith("p/") else path, kind)

    assert readable is not None or kind in (
        "potato spans",
        "inspect",
        "promptfoo",
        "deepeval",
        "langfuse",
        "lm-eval",
    ), kind


@pytest.mark.parametrize("kind", SOUND)
def test_a_mangled_export_is_refused_or_read(kind: str, tmp_path: Path) -> None:
    rng = random.Random(f"{kind} 20261117")
    name, value = SOUND[kind]
    path = tmp_path / name
    path.parent.mkdir(parents=True, exist_ok=True)
    read = 0

    for _ in range(EXAMPLES):
        path.write_bytes(encode(name, mangle(value, rng), rng))
        read += use(tmp_path / "p" if name.startswith("p/") else path, kind) is not None

    assert read < EXAMPLES, "some of them must be refused"


@pytest.mark.parametrize("kind", [kind for kind, (name, _) in SOUND.items() if name.startswith("p/")])
def test_a_mangled_zip_file_is_refused_or_read(kind: str, tmp_path: Path) -> None:
    rng = random.Random(f"{kind} zip 20261117")
    name, value = SOUND[kind]
    path = tmp_path / "e.zip"

    for _ in range(EXAMPLES // 2):
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as packed:
            packed.writestr(
                rng.choice([name.removeprefix("p/"), "../x.jsonl", "a\\b.json", name]), encode(name, value, rng)
            )
        raw = bytearray(path.read_bytes())
        for _ in range(rng.randint(0, 3)):
            raw[rng.randrange(len(raw))] = rng.randrange(256)
        path.write_bytes(raw[: len(raw) - rng.choice([0, 0, 5, 60])])
        use(path, kind)
