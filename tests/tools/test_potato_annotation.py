"""Potato's own package writes the state of an annotator; we read it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from tests.data.formats.exports import write_lines

from crowdlogic.data.reading import read_crowd

pytestmark = pytest.mark.heavy

SAVE = """
from potato.item_state_management import Label, SpanAnnotation
from potato.phase import UserPhase
from potato.user_state_management import InMemoryUserState
for user, label, spans in (("alice", "positive", [(0, 3, "PER")]), ("bob", "negative", [(0, 3, "PER"), (14, 18, "LOC")])):
    state = InMemoryUserState(user, 10)
    state.current_phase_and_page = (UserPhase.ANNOTATION, "annotation")
    for item in ("r1", "r2"):
        state.add_label_annotation(item, Label("sentiment", label), "true")
    for start, end, name in spans:
        state.add_span_annotation("r1", SpanAnnotation("ner", name, name, start, end), f"{start}-{end}")
    state.save(f"out/{user}")
"""


def test_states_that_potato_saved(tools: Callable[..., str], tmp_path: Path) -> None:
    write_lines(
        tmp_path / "data.jsonl", [{"id": "r1", "text": "Ann 😀 sings in Rome"}, {"id": "r2", "text": "Nobody."}]
    )

    tools(SAVE)

    labels = read_crowd(tmp_path, question="sentiment").labels
    assert labels.to_frame().select("item", "annotator", "label").rows() == [
        ("r1", "alice", "positive"),
        ("r1", "bob", "negative"),
        ("r2", "alice", "positive"),
        ("r2", "bob", "negative"),
    ]
    with pytest.raises(ValueError, match="several questions"):
        read_crowd(tmp_path)
