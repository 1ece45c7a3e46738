"""The outline of JSON from its first bytes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crowdlogic.data.files import InputFile
from crowdlogic.data.formats import json_records
from crowdlogic.errors import FormatError
from crowdlogic.extensions.tools.json_exports import iterate_array, iterate_members, outline_json

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


@pytest.mark.parametrize("piece", [1, 5, 1 << 20])
def test_the_members_of_an_object(piece: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_records, "PIECE", piece)
    (tmp_path / "f.json").write_text('{"a": 12345, "b": {"c": []}, "d": null}')

    assert list(iterate_members(InputFile(tmp_path / "f.json"))) == [
        (1, "a", 12345),
        (2, "b", {"c": []}),
        (3, "d", None),
    ]


@pytest.mark.parametrize("piece", [1, 7, 1 << 20])
def test_an_array_inside_the_object_is_read_element_by_element(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, piece: int
) -> None:
    monkeypatch.setattr("crowdlogic.data.formats.json_records.PIECE", piece)
    path = tmp_path / "f.json"
    path.write_text(
        '{"a": {"b": [{}]}, "results": {"x": [0], "results": [{"n": 1}, {"two": [2]}, {}] , "y": 4}, "z": 5}'
    )

    assert list(iterate_array(InputFile(path), "results", "results")) == [(1, {"n": 1}), (2, {"two": [2]}), (3, {})]
    assert list(iterate_array(InputFile(path), "a", "b")) == [(1, {})]
    assert list(iterate_array(InputFile(path), "a", "c", required=False)) == []


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ('{"a": 1}', ": no field 'results'. Export the file again."),
        ('{"results": {}}', ": no array at 'results'. Export the file again."),
        ('{"results": [{} 2]}', ", record 2: expected ',', got '2'. Export the file again."),
        ('{"results": [{}', ", record 2: expected ',', got the end of the file. Export the file again."),
        ("[1]", ", record 1: expected '{', got '['. Export the file again."),
        ('{"a" 1}', ", record 1: expected ':', got '1'. Export the file again."),
    ],
)
def test_an_array_that_is_not_there_or_damaged_is_named(tmp_path: Path, text: str, problem: str) -> None:
    path = tmp_path / "f.json"
    path.write_text(text)

    with pytest.raises(FormatError) as raised:
        list(iterate_array(InputFile(path), "results"))

    assert str(raised.value) == f"{path}{problem}"
