"""Records of JSON, one at a time, whatever the size of the pieces that are read."""

from __future__ import annotations

import contextlib
import gzip
import io
import json
from pathlib import Path
from typing import Any

import pytest

from crowdlogic.data.files import InputFile
from crowdlogic.data.formats import json_records
from crowdlogic.data.formats.json_records import iterate_records, require_object
from crowdlogic.errors import FormatError

RECORDS = [{"a": "x" * n, "b": [n, {"c": "é😀"}]} for n in range(40)]


@pytest.mark.parametrize("piece", [1, 7, 64, 1000, 1 << 20])
@pytest.mark.parametrize("lines", [False, True])
def test_an_array_and_lines_give_their_records(
    piece: int, lines: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(json_records, "PIECE", piece)
    text = "\n\n".join(map(json.dumps, RECORDS)) if lines else json.dumps(RECORDS, indent=1, ensure_ascii=False)
    (tmp_path / "f.json").write_text("\ufeff" + text, encoding="utf-8")

    assert list(iterate_records(InputFile(tmp_path / "f.json"))) == list(enumerate(RECORDS, start=1))


def test_a_gzipped_file_is_read(tmp_path: Path) -> None:
    (tmp_path / "f.json.gz").write_bytes(gzip.compress(json.dumps(RECORDS).encode()))

    assert len(list(iterate_records(InputFile(tmp_path / "f.json.gz")))) == 40


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "f.json: the file is empty. Export the file again."),
        (b"item,label\n", "f.json, record 1: not JSON (Expecting value). Export the file again."),
        (b'[{"a": 1}, {"a" 2}]', "f.json, record 2: not JSON (Expecting ':' delimiter). Export the file again."),
        (b'[{"a": 1} {"a": 2}]', "f.json, record 2: expected ',', got '{'. Export the file again."),
        (b'[{"a": 1}, ', "f.json, record 2: not JSON (Expecting value). Export the file again."),
        (b'[{"a": 1}', "f.json, record 2: expected ',', got the end of the file. Export the file again."),
        (b'[{"a": "x', "f.json, record 1: not JSON (Unterminated string starting at). Export the file again."),
        (b'[{"a": 1}] x', "f.json, record 1: unexpected text after the last record. Export the file again."),
        (b'{"a": 1}\n{"a": }', "f.json, record 2: not JSON (Expecting value). Export the file again."),
        (b'[{"a": "\xff"}]', "f.json: not UTF-8 text. Save the file as UTF-8."),
        (b"[" + b"9" * 5000 + b"]", "f.json, record 1: not JSON (Exceeds the limit"),
        (b"[" + b"[" * 200_000, "f.json, record 1: not JSON (it is nested too deeply"),
    ],
)
def test_what_is_wrong_is_one_line_with_the_record(
    content: bytes, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("f.json").write_bytes(content)

    with pytest.raises(FormatError) as caught:
        list(iterate_records(InputFile("f.json")))

    assert str(caught.value).startswith(message)


def test_a_problem_in_the_middle_is_found_without_reading_on(monkeypatch: pytest.MonkeyPatch) -> None:
    content = io.BytesIO(b'[{"a": 1}, {"a" 2}' + b', {"a": 3}' * 100_000 + b"]")
    monkeypatch.setattr(json_records, "PIECE", 1000)
    monkeypatch.setattr(InputFile, "open_unpacked", lambda _: contextlib.nullcontext(content))

    with pytest.raises(FormatError, match="record 2"):
        list(iterate_records(InputFile("f.json")))

    assert content.tell() < 10_000


@pytest.mark.parametrize("record", [1, "x", None, [1]])
def test_a_record_must_be_an_object(record: Any) -> None:
    with pytest.raises(FormatError, match=r"f, record 7: expected an object, got a JSON (int|str|NoneType|list)"):
        require_object(record, 7, InputFile("f"))


def test_half_characters_are_replaced_and_whole_ones_kept(tmp_path: Path) -> None:
    (tmp_path / "f.json").write_text(r'[{"a": "x\ud83dy", "b": "\ud83d\ude00", "c": "\\ud83d"}]')

    assert [record for _, record in iterate_records(InputFile(tmp_path / "f.json"))] == [
        {"a": "x\ufffdy", "b": "😀", "c": "\\ud83d"}
    ]
