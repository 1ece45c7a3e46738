"""Label files in every layout, and the one clear line that each kind of bad file gets."""

from __future__ import annotations

import gzip
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from tests.data.test_labels import triples

from crowdlogic.data.formats.protocol import all_suffixes
from crowdlogic.data.reading import read_corpus, read_labels
from crowdlogic.errors import CrowdLogicError, FormatError

LONG = pl.DataFrame({"item": ["u", "u", "v"], "annotator": ["a", "b", "a"], "label": ["x", "y", "x"]})
EXPECTED = {("u", "a", "x"), ("u", "b", "y"), ("v", "a", "x")}
CSV = "item,annotator,label\nu,a,x\nu,b,y\nv,a,x\n"
CONLL = "Ann O B-PER ?\nLee O I-PER ?\n\nParis ? B-LOC B-LOC\n"


def write(folder: Path, name: str, content: str | bytes) -> Path:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def files(folder: Path) -> dict[str, Path]:
    """The same table in every layout."""
    LONG.write_parquet(folder / "l.parquet")
    tabs, lines = CSV.replace(",", "\t"), "".join(json.dumps(row) + "\n" for row in LONG.to_dicts())
    return {
        "csv": write(folder, "l.csv", CSV),
        "crlf": write(folder, "crlf.csv", CSV.replace("\n", "\r\n")),
        "bom": write(folder, "bom.csv", b"\xef\xbb\xbf" + CSV.encode()),
        "semicolons": write(folder, "semi.csv", CSV.replace(",", ";")),
        "blank lines": write(folder, "blank.csv", CSV.replace("u,b", "\n\nu,b")),
        "quoted": write(folder, "quoted.csv", CSV.replace("u,a,x", '"u","a","x"')),
        "tsv": write(folder, "l.tsv", tabs),
        "gzip": write(folder, "l.csv.gz", gzip.compress(CSV.encode())),
        "jsonl": write(folder, "l.jsonl", lines),
        "jsonl gzip": write(folder, "l.jsonl.gz", gzip.compress(lines.encode())),
        "parquet": folder / "l.parquet",
        "other names": write(folder, "names.csv", CSV.replace("item,annotator,label", "TaskID,worker id,Response")),
        "other order": write(folder, "order.csv", "label,extra,annotator,item\nx,1,a,u\ny,2,b,u\nx,3,a,v\n"),
    }


@pytest.mark.parametrize(
    "layout",
    [
        "csv",
        "crlf",
        "bom",
        "semicolons",
        "blank lines",
        "quoted",
        "tsv",
        "gzip",
        "jsonl",
        "jsonl gzip",
        "parquet",
        "other names",
        "other order",
    ],
)
def test_every_layout_holds_the_same_labels(tmp_path: Path, layout: str) -> None:
    assert triples(read_labels(files(tmp_path)[layout])) == EXPECTED


def test_standard_input_is_read_as_csv(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(CSV.encode())))

    assert triples(read_labels("-")) == EXPECTED


def test_standard_input_may_be_zipped_jsonl(monkeypatch: pytest.MonkeyPatch) -> None:
    lines = "".join(json.dumps(row) + "\n" for row in LONG.to_dicts())
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(gzip.compress(lines.encode()))))

    assert triples(read_labels("-", format="jsonl")) == EXPECTED


def test_columns_can_be_named(tmp_path: Path) -> None:
    path = write(tmp_path, "odd.csv", CSV.replace("item,annotator,label", "foo,bar,baz"))

    labels = read_labels(path, columns={"item": "foo", "annotator": "bar", "label": "baz"})

    assert triples(labels) == EXPECTED


def test_a_wide_file_has_a_column_per_annotator(tmp_path: Path) -> None:
    path = write(tmp_path, "wide.csv", "item,a,b\nu,x,y\nv,x,\n")

    assert triples(read_labels(path, wide=True)) == EXPECTED


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("e.csv", "", "e.csv: the file is empty. A table needs a header and at least one row."),
        (
            "e.csv",
            "item,annotator,label\n",
            "e.csv: contains a header (item, annotator, label) but no rows. Add at least one row.",
        ),
        (
            "e.csv",
            "item,annotator,label\nu,a\n",
            "e.csv, row 2: 2 fields, but the header has 3. Correct the row. Fields with ',' or a line break must be quoted.",
        ),
        (
            "e.csv",
            "item,annotator,label\nu,a,x\nu,b,y,z\n",
            "e.csv, row 3: 4 fields, but the header has 3. Correct the row. Fields with ',' or a line break must be quoted.",
        ),
        (
            "e.csv",
            "item,annotator,label\n\nu,,x\n",
            "e.csv, row 3: no annotator is named. Fill in the annotator, or remove the row.",
        ),
        (
            "e.csv",
            "item,annotator,label,label\nu,a,x,y\n",
            "e.csv, row 1: two columns are called 'label'. Give each its own name.",
        ),
        (
            "e.csv",
            "item,who,label\nu,a,x\n",
            'e.csv: no column for the annotator among item, who, label. A label table needs: item, annotator, label. Rename the column (annotator, worker, rater, user, ...) or name it: --column annotator=NAME (in Python columns={"annotator": "NAME"}).',
        ),
        ("e.csv", b"item,annotator,label\nu,\xff,x\n", "e.csv, row 2: not UTF-8 text. Save the file as UTF-8."),
        (
            "e.csv",
            "item,annotator,label\nu,a,x\nu,a,y\n",
            'e.csv, row 3: annotator \'a\' labels item \'u\' again, with another label than in row 2. Choose which labels count: --duplicates first, last or keep (in Python duplicates="first", "last" or "keep").',
        ),
        (
            "e.csv.gz",
            gzip.compress(b"item,annotator,label\nu,a,x\n", mtime=0)[:-9],
            "e.csv.gz: the gzip file is damaged (Compressed file ended before the end-of-stream marker was reached). Fetch or compress it again.",
        ),
        ("e.parquet", "PAR1 not really", None),
        ("e.jsonl", "", "e.jsonl: the file is empty. Give one JSON object per line."),
        (
            "e.jsonl",
            '{"item": 1, "annotator": "a", "label": "x"}\n\n{"item": 2,\n',
            "e.jsonl, line 3: not JSON (Expecting property name enclosed in double quotes: line 1 column 12 (char 11)). Write one JSON object per line.",
        ),
        ("e.jsonl", "[1, 2]\n", "e.jsonl, line 1: expected an object, got a JSON list. Write one object per line."),
        (
            "e.jsonl",
            '{"item": 1, "annotator": "a", "label": true}\n{"item": 2, "annotator": "a", "label": 7}\n',
            "e.jsonl: the field 'label' contains values of different types. Use one type everywhere.",
        ),
        (
            "e.jsonl",
            '{"item": 1, "annotator": "a", "label": "x"}\n\n{"item": 1, "annotator": "a", "label": "y"}\n',
            'e.jsonl, line 3: annotator \'a\' labels item 1 again, with another label than in line 1. Choose which labels count: --duplicates first, last or keep (in Python duplicates="first", "last" or "keep").',
        ),
        ("e.conll", "", "e.conll: the file is empty. Each line of CoNLL has a token and its tags."),
        (
            "e.conll",
            "Ann O\nLee O O\n",
            "e.conll, line 2: 3 columns, but the first line has 2. Give every token the same number of tags, ? for not seen.",
        ),
        ("e.conll", "Ann\n", "e.conll, line 1: a token without a tag. Give each token at least one tag."),
        ("e.conll", b"\xffnn O\n", "e.conll, line 1: not UTF-8 text. Save the file as UTF-8."),
        (
            "e.conll",
            "# annotators = a b\nAnn O\n",
            "e.conll, line 1: 2 names of annotators for 1 column of tags. Give one name per column.",
        ),
        (
            "e.xyz",
            CSV,
            f"e.xyz: no format has the suffix '.xyz'. Use {', '.join(all_suffixes())}, or give --format.",
        ),
    ],
)
def test_each_bad_file_gets_one_clear_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, content: str | bytes, message: str | None
) -> None:
    write(tmp_path, name, content)
    monkeypatch.chdir(tmp_path)

    with pytest.raises(CrowdLogicError) as caught:
        read_labels(name)

    assert "\n" not in str(caught.value)
    if message is None:
        assert str(caught.value).startswith(f"{name}: cannot be read as a Parquet file")
    else:
        assert str(caught.value) == message


@pytest.mark.data
def test_ner_labels_are_the_same_in_both_files(data_root: Path) -> None:
    conll = read_labels(data_root / "ner_conll_mturk/train.answers.conll.gz")
    table = read_labels(data_root / "ner_conll_mturk/labels.csv.gz")

    assert conll.n_labels == table.n_labels == 366_370
    assert conll.votes().sum(axis=0).tolist() == table.votes().sum(axis=0).tolist()


@pytest.mark.parametrize(
    ("name", "content", "options", "message"),
    [
        (
            "c.conll",
            "a O\n\nb B-X\n",
            {"classes": ["O"]},
            "c.conll, line 3: the label 'B-X' is not among the classes O. Correct the label, or add it to the classes.",
        ),
        (
            "c.conll",
            "# id = s\na O\n\n# id = s\nb O\n",
            {},
            "c.conll, line 5: a second sentence is called 's'. Give each sentence its own id.",
        ),
        (
            "c.conll",
            "# annotators = a a\nx O O\n",
            {},
            "c.conll, line 1: an annotator is named twice. Name each column once.",
        ),
        ("c.conll", "a O\n", {"wide": True}, "wide: CoNLL always has a column per annotator. Leave --wide out."),
        (
            "l.csv",
            CSV,
            {"abstain": "-1"},
            "abstain: goes with a wide table (--wide). In other layouts an absent label is left out.",
        ),
        (
            "l.csv",
            'item,annotator,label\nu,a,"x"y\nv,a,z\n',
            {},
            "l.csv, row 2: ',' expected after '\"'. Correct the row.",
        ),
        (
            "l.csv",
            'item,annotator,label\nu,a,"x\nv,a,z\n',
            {},
            "l.csv, row 3: unexpected end of data. Correct the row.",
        ),
        (
            "l.csv",
            "\n\nitem,annotator,label\nu,a,\nv,a\n",
            {},
            "l.csv, row 5: 2 fields, but the header has 3. Correct the row. Fields with ',' or a line break must be quoted.",
        ),
        (
            "w.csv",
            "item,a,b\nu,x,x\nv,x,q\n",
            {"wide": True, "classes": ["x"]},
            "w.csv, row 3: the label 'q' is not among the classes x. Correct the label, or add it to the classes.",
        ),
    ],
)
def test_problems_are_told_by_the_row_a_person_would_count(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, content: str, options: dict[str, object], message: str
) -> None:
    write(tmp_path, name, content)
    monkeypatch.chdir(tmp_path)

    with pytest.raises(CrowdLogicError) as caught:
        read_labels(name, **options)  # type: ignore[arg-type]

    assert str(caught.value) == message


def test_an_id_names_the_item_rather_than_its_sentence(tmp_path: Path) -> None:
    labels = read_labels(write(tmp_path, "l.csv", "id,sentence,worker,label\n1,same,a,x\n2,same,a,y\n"))

    assert labels.items.to_list() == ["1", "2"]


@pytest.mark.parametrize("read", [read_labels, read_corpus])
def test_half_a_character_is_one_line(tmp_path: Path, read: Callable[..., Any]) -> None:
    path = tmp_path / "l.jsonl"
    path.write_text(json.dumps({"item": "\ud800", "tokens": ["Ann"], "crowd": {"a": ["x"]}}))

    with pytest.raises(FormatError) as refused:
        read(path)

    assert str(refused.value) == (
        f"{path}: contains an incomplete character ('\\ud800'). Save the file again as UTF-8."
    )
