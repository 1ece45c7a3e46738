"""Label Studio's exports, recognised by content and read to answers."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.data.formats.exports import annotation, choice, rating, span, task, write_json

from crowdlogic.data.files import InputFile
from crowdlogic.data.formats.protocol import ReadOptions, detect_format
from crowdlogic.data.reading import read_crowd

MIN_RECORD = {"id": 1, "text": "Good.", "sentiment": "pos", "annotator": 1, "annotation_id": 3, "created_at": "x", "updated_at": "x", "lead_time": 1}  # fmt: skip


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("tasks.json", json.dumps([task(1, "Good.", annotation(1, choice("pos")))])),
        ("one.json", json.dumps(task(1, "Good.", annotation(1, choice("pos"))))),
        ("old.json", json.dumps([{"id": 1, "completions": [annotation(1, choice("pos"))], "data": {"text": "Good."}}])),
        ("long.json", json.dumps([task(1, "word " * 50_000, annotation(1, choice("pos")))])),
        ("min.json", json.dumps([MIN_RECORD])),
        (
            "rows.csv",
            "annotation_id,annotator,created_at,id,lead_time,sentiment,text,updated_at\n3,1,x,1,1,pos,Good.,x\n",
        ),
    ],
)
def test_each_export_is_recognised_by_its_content(name: str, content: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_text(content)

    assert detect_format(InputFile(path)).name == "label-studio"
    assert read_crowd(path, ReadOptions(question="sentiment")).labels.n_labels == 1


@pytest.mark.parametrize(("name", "content", "format"), [("t.csv", "item,annotator,label\n1,a,x\n", "csv"), ("t.json", '[{"item": 1, "annotator": "a", "label": "x"}]', "json")])  # fmt: skip
def test_plain_tables_are_not_taken_for_it(name: str, content: str, format: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(content)

    assert detect_format(InputFile(tmp_path / name)).name == format


def test_all_three_exports_of_a_project_give_the_same_labels(tmp_path: Path) -> None:
    tasks = [
        task(n, f"Text {n}", annotation(1, choice(a)), annotation(2, choice(b)))
        for n, (a, b) in enumerate([("x", "y"), ("y", "y")])
    ]
    records = [
        {"text": one["data"]["text"], "id": one["id"], "sentiment": ann["result"][0]["value"]["choices"][0], "annotator": ann["completed_by"]}
        | {"annotation_id": 9, "created_at": ann["created_at"], "updated_at": ann["updated_at"], "lead_time": 2.5}
        for one in tasks
        for ann in one["annotations"]
    ]  # fmt: skip
    write_json(tmp_path / "json.json", tasks)
    write_json(tmp_path / "min.json", records)
    lines = [",".join(records[0]), *(",".join(map(str, one.values())) for one in records)]
    (tmp_path / "rows.csv").write_text("\n".join(lines) + "\n")

    whole, small, rows = (read_crowd(tmp_path / name) for name in ("json.json", "min.json", "rows.csv"))

    assert whole.labels.to_frame().equals(small.labels.to_frame())
    assert rows.labels.to_frame().drop("item").equals(whole.labels.to_frame().drop("item"))
    assert whole.corpus is not None
    assert small.corpus is not None
    assert rows.corpus is not None
    assert whole.corpus.texts == small.corpus.texts == rows.corpus.texts == ("Text 0", "Text 1")


def test_ratings_and_comparisons_are_labels(tmp_path: Path) -> None:
    pairwise = {"from_name": "better", "to_name": "a,b", "type": "pairwise", "value": {"selected": "left"}}
    write_json(tmp_path / "r.json", [task(1, "t", annotation(1, rating(4)), annotation(2, rating(5)))])
    write_json(tmp_path / "p.json", [task(1, "t", annotation(1, pairwise))])

    assert read_crowd(tmp_path / "r.json").labels.classes == (4, 5)
    assert read_crowd(tmp_path / "p.json").labels.classes == ("left",)


def test_spans_become_tags_with_places(tmp_path: Path) -> None:
    text = "Ann Lee lives in Paris."
    write_json(
        tmp_path / "s.json",
        [task(5, text, annotation(1, span(0, 7, "PER", "Ann Lee"), span(17, 22, "LOC", "Paris")), annotation(2))],
    )

    crowd = read_crowd(tmp_path / "s.json")

    assert crowd.corpus is not None
    assert crowd.corpus.tokens == ("Ann", "Lee", "lives", "in", "Paris", ".")
    assert crowd.corpus.bounds is not None
    assert [text[a:b] for a, b in crowd.corpus.bounds] == list(crowd.corpus.tokens)
    tags = crowd.labels.to_frame().partition_by("annotator", as_dict=True)
    assert tags["1",]["label"].to_list() == ["B-PER", "I-PER", "O", "O", "B-LOC", "O"]
    assert tags["2",]["label"].to_list() == ["O"] * 6, "an empty result was seen and holds no entity"
