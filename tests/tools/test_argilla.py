"""argilla's own package writes records, nested and flat; we read them alike."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from crowdlogic.data.reading import read_crowd

pytestmark = pytest.mark.heavy

SAVE = """
import json, uuid
import argilla as rg
from argilla.records._io import GenericIO, JsonIO
users = [uuid.UUID(int=n) for n in (1, 2)]
records = [
    rg.Record(
        id=f"r{n}",
        fields={"text": f"Text {n} \\U0001F600"},
        responses=[rg.Response("label", value, user_id=user, status="submitted") for user, value in zip(users, values)],
        suggestions=[rg.Suggestion("label", "pos", agent="gpt-4o", score=0.5)],
    )
    for n, values in enumerate([("pos", "neg"), ("neg", "neg")])
]
JsonIO.to_json(records, "nested.json")
with open("flat.json", "w") as file:
    json.dump(GenericIO.to_list(records, flatten=True), file)
"""


def test_records_that_argilla_wrote(tools: Callable[..., str], tmp_path: Path) -> None:
    tools(SAVE)

    nested, flat = (read_crowd(tmp_path / name) for name in ("nested.json", "flat.json"))

    assert nested.labels.to_frame().equals(flat.labels.to_frame())
    assert nested.labels.to_frame()["label"].to_list() == ["pos", "neg", "pos", "neg", "neg", "pos"]
    assert nested.labels.kind == ("human", "human", "llm")
    assert nested.corpus is not None
    assert nested.corpus.texts == ("Text 0 😀", "Text 1 😀")
