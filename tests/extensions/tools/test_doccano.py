"""doccano's export: one file per member, as a folder or a zip file."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

import pytest
from tests.data.formats.exports import write_lines

from crowdlogic.data.files import InputFile
from crowdlogic.data.formats.protocol import ReadOptions, detect_format
from crowdlogic.data.reading import read_crowd
from crowdlogic.errors import FormatError

TEXT = "EU rejects German call to boycott British lamb."


def record(number: int, label: Any, text: str = TEXT, field: str = "label") -> dict[str, Any]:
    return {"id": number, "text": text, field: label, "Comments": []}


def write_project(folder: Path, **members: list[dict[str, Any]]) -> Path:
    folder.mkdir()
    for name, records in members.items():
        write_lines(folder / f"{name}.jsonl", records)
    return folder


def pack(folder: Path) -> Path:
    path = folder.with_suffix(".zip")
    with zipfile.ZipFile(path, "w") as packed:
        for file in sorted(folder.iterdir()):
            packed.write(file, file.name)
    return path


def test_a_folder_and_its_zip_file_give_the_same_labels(tmp_path: Path) -> None:
    folder = write_project(
        tmp_path / "p", ann=[record(1, ["pos"]), record(2, ["neg"])], bob=[record(1, ["neg"]), record(2, [])]
    )

    crowd, zipped = read_crowd(folder), read_crowd(pack(folder))

    assert detect_format(InputFile(folder)).name == "doccano"
    assert crowd.labels.to_frame().drop("kind").rows() == [(1, "ann", "pos"), (1, "bob", "neg"), (2, "ann", "neg")]
    assert zipped.labels.to_frame().equals(crowd.labels.to_frame())
    assert zipped.corpus is not None
    assert zipped.corpus.texts == (TEXT, TEXT)
    assert crowd.labels.intake.messages() == ["1 annotation without an answer: no label (first: bob.jsonl, record 2)."]


@pytest.mark.parametrize(
    ("field", "spans"),
    [
        ("label", [[0, 2, "ORG"], [11, 17, "MISC"]]),
        ("entities", [[0, 2, "ORG"], [11, 17, "MISC"]]),
        ("entities", [{"id": 1, "start_offset": 0, "end_offset": 2, "label": "ORG"}, {"id": 2, "start_offset": 11, "end_offset": 17, "label": "MISC"}]),
    ],
)  # fmt: skip
def test_spans_in_all_their_layouts(field: str, spans: Any, tmp_path: Path) -> None:
    folder = write_project(
        tmp_path / "p", ann=[record(1, spans, field=field)], bob=[record(1, [[0, 2, "ORG"]], field=field)]
    )

    tags = read_crowd(folder).labels.to_frame().partition_by("annotator", as_dict=True)

    assert tags["ann",]["label"].to_list()[:3] == ["B-ORG", "O", "B-MISC"]
    assert tags["bob",]["label"].to_list()[:3] == ["B-ORG", "O", "O"]


def test_a_text_without_spans_was_seen_only_where_the_files_differ(tmp_path: Path) -> None:
    every = write_project(
        tmp_path / "every",
        ann=[record(1, [[0, 2, "ORG"]]), record(2, [])],
        bob=[record(1, []), record(2, [[0, 2, "ORG"]])],
    )
    confirmed = write_project(
        tmp_path / "confirmed", ann=[record(1, [[0, 2, "ORG"]]), record(2, [])], bob=[record(2, [[0, 2, "ORG"]])]
    )

    assert read_crowd(every).labels.n_labels == 2 * 9
    assert read_crowd(every).labels.intake.left_out[0].count == 2
    assert read_crowd(confirmed).labels.n_labels == 3 * 9


def test_a_shared_project_is_refused_with_the_reason(tmp_path: Path) -> None:
    folder = write_project(tmp_path / "p", all=[record(1, ["pos"])])

    for path in (folder, folder / "all.jsonl"):
        with pytest.raises(FormatError) as caught:
            read_crowd(path)
        assert str(caught.value) == (
            f"{folder / 'all.jsonl'}: members share their annotations, so the export does not say who made them. "
            f"In doccano, create a project without 'Share annotations across all users', and export it."
        )


def test_intents_and_slots_are_two_questions(tmp_path: Path) -> None:
    records = [
        {"id": 1, "text": "Find a flight to Tacoma", "cats": ["flight"], "entities": [[17, 23, "City"]], "Comments": []}
    ]
    folder = write_project(tmp_path / "p", ann=records)

    with pytest.raises(FormatError, match=r"there are several questions: cats \(categories\), entities \(spans\)"):
        read_crowd(folder)
    assert read_crowd(folder, ReadOptions(question="cats")).labels.classes == ("flight",)
    assert read_crowd(folder, ReadOptions(question="entities")).labels.is_sequential


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"text": None}, "ann.jsonl, record 2: no text. Export the project again."),
        ({"id": [1]}, "ann.jsonl, record 2: the id is neither a number nor text. Export the project again."),
        ({"label": "pos"}, "ann.jsonl, record 2: label is not a list. Export the project again."),
        ({"label": [[0, 2]]}, "ann.jsonl, record 2: expected a span with start_offset, end_offset and label, found '[0, 2]'. Export the project again."),
        ({"label": [[0, 99, "ORG"]]}, "ann.jsonl, record 2: the span 0 to 99 lies outside the text of 47 characters. Export the file again; offsets are in characters and start at 0."),
        ({"label": [[0, 2, 3]]}, "ann.jsonl, record 2: the span 0 to 2 has no type. Give each span a label."),
    ],
)  # fmt: skip
def test_a_malformed_record_gets_one_line_with_its_place(wrong: dict[str, Any], message: str, tmp_path: Path) -> None:
    folder = write_project(tmp_path / "p", ann=[record(1, [[0, 2, "ORG"]]), record(2, [[0, 2, "ORG"]]) | wrong])

    with pytest.raises(FormatError) as caught:
        read_crowd(folder)

    assert str(caught.value) == f"{folder}, {message}"


def test_a_cut_off_file_names_the_record(tmp_path: Path) -> None:
    folder = write_project(tmp_path / "p", ann=[record(1, ["a"])])
    (folder / "ann.jsonl").write_text(json.dumps(record(1, ["a"])) + "\n" + json.dumps(record(2, ["a"]))[:-9])

    with pytest.raises(FormatError, match=r"p/ann\.jsonl, record 2: not JSON"):
        read_crowd(folder)
