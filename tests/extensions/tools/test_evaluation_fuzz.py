"""Mangled evaluations: every outcome is a CrowdLogicError of one line or a valid table, never another exception."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.data.formats import evaluation_exports as made
from tests.data.test_fuzz_readers import _use, mangled

from crowdlogic.data.frames import from_frame
from crowdlogic.data.reading import read_answers, read_corpus, read_crowd, write_labels

RESULTS = [
    made.promptfoo_result(
        0, 0, made.verdict(True, "contains", metric="m"), made.verdict(False, "llm-rubric", provider="p")
    ),
    made.promptfoo_result(1, 0, made.verdict(False, "contains", metric="m"), output={"a": [1]}),
]
SAMPLES = [made.inspect_sample("q1", {"a": "C", "b": {"x": 1}}), made.inspect_sample(2, {"a": True}, epoch=2)]
SOUND: dict[str, tuple[str, Any]] = {
    "promptfoo": ("f.json", made.promptfoo_file(*RESULTS)),
    "inspect": ("f.json", made.inspect_log(*SAMPLES)),
    "deepeval": ("f.json", made.deepeval_run(made.deepeval_case("c", ("m", True, "gpt"), ("n", False, None)))),
    "lm-eval": ("f.jsonl", made.lm_eval_sample(0, acc=1, f1=0)),
    "langfuse": ("f.json", {"data": [made.langfuse_score("a", 1), made.langfuse_score("b", 0, type="BOOLEAN")]}),
}
ODD = [None, True, -1, 10**30, 1.5, float("nan"), "", "x", [], {}, [None], {"a": {}}, "\ud800", [[[]]]]


def change_somewhere(value: Any, draw: st.DrawFn) -> Any:
    """The value with something odd in one place."""
    inner = (
        list(value.items()) if isinstance(value, dict) else list(enumerate(value)) if isinstance(value, list) else []
    )
    if not inner or draw(st.integers(0, 4)) == 0:
        return draw(st.sampled_from(ODD))
    key, old = draw(st.sampled_from(inner))
    if isinstance(value, dict):
        return {name: change_somewhere(old, draw) if name == key else one for name, one in value.items()}
    return [change_somewhere(old, draw) if place == key else one for place, one in enumerate(value)]


@st.composite
def changed(draw: st.DrawFn, sound: Any) -> Any:
    """A sound export with odd values in up to four places."""
    for _ in range(draw(st.integers(1, 4))):
        sound = change_somewhere(sound, draw)
    return sound


READERS = pytest.mark.parametrize("read", [read_crowd, read_corpus, read_answers], ids=lambda read: read.__name__)


@pytest.mark.parametrize("format", SOUND)
@READERS
def test_odd_values_are_refused_or_read(format: str, read: Callable[..., object], tmp_path: Path) -> None:
    name, sound = SOUND[format]

    @settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
    @given(changed(sound))
    def check(value: Any) -> None:
        (tmp_path / name).write_text(json.dumps(value))
        _use(lambda path: read(path, format=format), tmp_path / name)
        _use(read_crowd, tmp_path / name)

    check()


@pytest.mark.parametrize("format", SOUND)
def test_mangled_bytes_are_refused_or_read(format: str, tmp_path: Path) -> None:
    name, sound = SOUND[format]

    @settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
    @given(mangled(json.dumps(sound, ensure_ascii=False).encode()))
    def check(content: bytes) -> None:
        (tmp_path / name).write_bytes(content)
        _use(lambda path: read_crowd(path, format=format), tmp_path / name)

    check()


def test_mangled_packed_logs_are_refused_or_read(tmp_path: Path) -> None:
    sound = made.write_eval(tmp_path / "sound.eval", *SAMPLES).read_bytes()

    @settings(max_examples=200, deadline=None, suppress_health_check=list(HealthCheck))
    @given(mangled(sound))
    def check(content: bytes) -> None:
        (tmp_path / "f.eval").write_bytes(content)
        _use(read_crowd, tmp_path / "f.eval")

    check()


@READERS
def test_mangled_traces_of_opik_are_refused_or_read(read: Callable[..., object], tmp_path: Path) -> None:
    trace = made.opik_trace("t", {"name": "a", "value": 1, "source": "ui", "value_by_author": {"x": {"value": 0}}})
    folder = made.write_opik(tmp_path / "export", trace, made.opik_trace("u", {"name": "a", "value": 1.0}))
    (place,) = folder.rglob("trace_t.json")

    @settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
    @given(changed({"trace": trace, "spans": []}))
    def check(value: Any) -> None:
        place.write_text(json.dumps(value))
        _use(read, folder)

    check()


@pytest.mark.parametrize("name", ["state.json", "dataset_info.json", "data-00000-of-00001.arrow"])
def test_mangled_datasets_are_refused_or_read(name: str, tmp_path: Path) -> None:
    labels = from_frame({"item": ["u", "u", "v"], "annotator": ["a", "b", "a"], "label": ["x", "y", "x"]})
    write_labels(tmp_path / "d", labels, format="huggingface")
    sound = (tmp_path / "d" / name).read_bytes()

    @settings(max_examples=200, deadline=None, suppress_health_check=list(HealthCheck))
    @given(mangled(sound))
    def check(content: bytes) -> None:
        (tmp_path / "d" / name).write_bytes(content)
        _use(read_crowd, tmp_path / "d")

    check()
