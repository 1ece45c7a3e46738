"""The outline of JSON from its first bytes."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crowdlogic.data.formats.json_records import outline_json

RECORD = {
    "id": 1,
    "annotations": [{"result": [{"value": {"text": 'a "quoted": {'}}], "ok": True}],
    "data": {"text": "x"},
}
PATHS = {"id", "annotations", "annotations[].result", "annotations[].result[].value", "annotations[].result[].value.text", "annotations[].ok", "data", "data.text"}  # fmt: skip


@pytest.mark.parametrize(
    ("text", "root"),
    [
        (json.dumps([RECORD, {"other": 1}]), "array"),
        (json.dumps(RECORD, indent=2), "object"),
        (json.dumps(RECORD) + "\n" + json.dumps({"other": 1}), "lines"),
        ("\ufeff \n" + json.dumps(RECORD), "object"),
    ],
)
def test_the_fields_of_the_first_record(text: str, root: str) -> None:
    found = outline_json(text.encode())

    assert (found.root, found.paths) == (root, PATHS)
    assert found.has("id", "data.text")
    assert not found.has("id", "other")


def test_a_head_that_is_cut_off_gives_what_it_has() -> None:
    assert outline_json(json.dumps([RECORD]).encode()[:48]).paths == {
        "id",
        "annotations",
        "annotations[].result",
        "annotations[].result[].value",
    }


@pytest.mark.parametrize("head", [b"", b"item,label\n", b"PAR1", b'"text"'])
def test_what_is_not_json_has_no_outline(head: bytes) -> None:
    assert outline_json(head).root == ""


@given(st.binary(max_size=200))
def test_any_bytes_are_taken(head: bytes) -> None:
    outline_json(b"[{" + head)
    outline_json(b'{"' + head)
