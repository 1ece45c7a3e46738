from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

from crowdlogic.data.formats.jsonl import parse_jsonl
from crowdlogic.data.reading import read_labels, read_table, write_table
from crowdlogic.errors import FormatError, SizeLimitError


def write(folder: Path, name: str, content: str | bytes) -> Path:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def test_jsonl_may_begin_with_a_byte_order_mark_and_hold_unrelated_fields(tmp_path: Path) -> None:
    lines = '{"item": "u", "annotator": "a", "label": "x", "meta": 1}\n{"item": "v", "annotator": "a", "label": "y", "meta": true}\n'

    labels = read_labels(write(tmp_path, "l.jsonl", b"\xef\xbb\xbf" + lines.encode()))

    assert labels.n_labels == 2


def test_a_table_survives_with_its_types(tmp_path: Path) -> None:
    table = pl.DataFrame({"n": [1, 2], "x": [0.5, None], "b": [True, False], "t": [["a"], []]})

    write_table(tmp_path / "t.jsonl", table)

    assert read_table(tmp_path / "t.jsonl")[0].equals(table)


def test_objects_one_by_one_and_their_lines() -> None:
    records, source = parse_jsonl(b'{"a": 1}\n\n{"b": 2}\n', "f.jsonl")

    assert records == [{"a": 1}, {"b": 2}]
    assert source.at(1) == "f.jsonl, line 3"


def test_one_pretty_printed_object_is_not_jsonl(tmp_path: Path) -> None:
    path = write(tmp_path, "p.jsonl", '{\n  "item": 1,\n  "annotator": "a",\n  "label": "x"\n}\n')

    with pytest.raises(FormatError, match="Write one JSON object per line"):
        read_labels(path)


def test_fields_of_nested_objects_count_for_every_row(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [{"item": n, "annotator": "a", "label": "x", "meta": [{f"k{n % 30}": {"v": n}}]} for n in range(3_000)]
    (tmp_path / "x.jsonl").write_text("\n".join(map(json.dumps, rows)))
    assert len(read_labels(tmp_path / "x.jsonl").items) == 3_000

    monkeypatch.setenv("CROWDLOGIC_MAX_UNPACKED", "2M")  # 3,000 rows of 30 fields of 96 bytes are 8.2 MiB

    with pytest.raises(SizeLimitError, match=r"x\.jsonl: 3,000 rows of 30 columns or fields need more than 8 MiB"):
        read_labels(tmp_path / "x.jsonl")
