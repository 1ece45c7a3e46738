"""WebAnno TSV 3: spans of several annotators in documents, curated ones as gold, places in UTF-16 units."""

from __future__ import annotations

import random
import zipfile
from pathlib import Path

import pytest

from crowdlogic.data.files import InputFile
from crowdlogic.data.formats.protocol import ReadOptions, detect_format
from crowdlogic.data.reading import read_crowd
from crowdlogic.errors import CrowdLogicError, FormatError
from crowdlogic.extensions.tools import webanno_tsv

HEADER = "#FORMAT=WebAnno TSV 3.3\n#T_SP=de.ukp.ner.type.NamedEntity|identifier|value\n\n\n"
FIRST = "#Text=😊 Ann Lee sings .\n1-1\t0-2\t😊\t_\t_\t\n1-2\t3-6\tAnn\t*[1]\tPER[1]\t\n1-3\t7-10\tLee\t*[1]\tPER[1]\t\n1-4\t11-16\tsings\t_\t_\t\n1-5\t17-18\t.\t_\t_\t\n\n"
SECOND = "#Text=In Rome\n2-1\t19-21\tIn\t_\t_\t\n2-2\t22-26\tRome\t*\tLOC\t\n"
EMPTY = "#Text=In Rome\n2-1\t19-21\tIn\t_\t_\t\n2-2\t22-26\tRome\t_\t_\t\n"


def write_project(folder: Path, **users: str) -> Path:
    (folder / "annotation" / "doc1.txt").mkdir(parents=True)
    for name, body in users.items():
        (folder / "annotation" / "doc1.txt" / f"{name}.tsv").write_text(HEADER + body, encoding="utf-8")
    return folder


def test_sentences_are_items_and_users_annotators(tmp_path: Path) -> None:
    folder = write_project(
        tmp_path / "p", ann=FIRST + SECOND, bob=FIRST + EMPTY, CURATION_USER=FIRST + SECOND, INITIAL_CAS=FIRST + EMPTY
    )

    crowd = read_crowd(folder, ReadOptions(question="NamedEntity.value"))

    assert detect_format(InputFile(folder)).name == "webanno-tsv"
    assert crowd.labels.items.to_list() == ["doc1.txt#1", "doc1.txt#2"]
    tags = crowd.labels.to_frame().partition_by("annotator", as_dict=True)
    assert tags["ann",]["label"].to_list() == ["O", "B-PER", "I-PER", "O", "O", "O", "B-LOC"]
    assert tags["bob",]["label"].to_list() == ["O", "B-PER", "I-PER", "O", "O", "O", "O"]
    assert crowd.corpus is not None
    assert crowd.corpus.tokens == ("😊", "Ann", "Lee", "sings", ".", "In", "Rome")
    assert crowd.corpus.gold is not None
    assert [crowd.corpus.classes[k] for k in crowd.corpus.gold] == tags["ann",]["label"].to_list()


@pytest.mark.parametrize("piece", [1, 2, 7, 1 << 20])
def test_lines_are_whole_however_the_file_is_read(piece: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "ann.tsv"
    file.write_bytes(b"\xef\xbb\xbf" + (HEADER + FIRST + SECOND).replace("\n", "\r\n").encode())
    monkeypatch.setattr(webanno_tsv, "CHUNK_BYTES", piece)

    crowd = read_crowd(file, ReadOptions(question="NamedEntity.value"))

    assert crowd.labels.to_frame()["label"].to_list() == ["O", "B-PER", "I-PER", "O", "O", "O", "B-LOC"]
    assert crowd.corpus is not None
    assert crowd.corpus.texts == ("😊 Ann Lee sings .", "In Rome")


def test_features_are_questions(tmp_path: Path) -> None:
    folder = write_project(tmp_path / "p", ann=FIRST)

    with pytest.raises(
        FormatError,
        match=r"there are several questions: NamedEntity\.identifier \(spans\), NamedEntity\.value \(spans\)",
    ):
        read_crowd(folder)
    assert read_crowd(folder, ReadOptions(question="NamedEntity.identifier")).labels.classes == (
        "B-span",
        "I-span",
        "O",
    )


def test_a_zip_file_of_an_export_is_read(tmp_path: Path) -> None:
    folder = write_project(tmp_path / "p", ann=FIRST)
    with zipfile.ZipFile(tmp_path / "p.zip", "w") as packed:
        for file in folder.rglob("*.tsv"):
            packed.write(file, file.relative_to(folder))

    assert read_crowd(tmp_path / "p.zip", ReadOptions(question="NamedEntity.value")).labels.annotators.to_list() == [
        "ann"
    ]


def test_stacked_spans_parts_of_tokens_and_escaped_texts(tmp_path: Path) -> None:
    body = (
        "#Text=a\\tb plays\\_on\n1-1\t0-3\ta\\tb\t_\tX[1]|Y[2]\t\n1-2\t4-9\tplays\t_\t_\t\n1-2.1\t4-8\tplay\t_\tV\\|W\t\n"
        "1-3\t9-12\t\\_on\t_\tY\t\n"
    )
    crowd = read_crowd(write_project(tmp_path / "p", ann=body), ReadOptions(question="NamedEntity.value"))

    assert crowd.corpus is not None
    assert crowd.corpus.texts == ("a\tb plays_on",)
    assert crowd.labels.to_frame()["label"].to_list() == ["B-X", "B-V|W", "B-Y"]
    assert [one.reason for one in crowd.labels.intake.left_out] == [
        "overlapping a longer one of the same annotator: left out"
    ]


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("1-1\t0-3\tAnn\t_\t_\n", "line 5: a token before the text of its sentence."),
        ("#Text=Ann\nAnn\n", "line 6: expected a token with its position, found 'Ann'."),
        ("#Text=Ann\n1-1\t0-9\tAnn\t_\t_\n", "line 6: the token 'Ann' lies outside its sentence."),
    ],
)
def test_a_malformed_line_is_named(body: str, message: str, tmp_path: Path) -> None:
    folder = write_project(tmp_path / "p", ann=body)

    with pytest.raises(FormatError) as caught:
        read_crowd(folder)

    assert str(caught.value).startswith(f"{folder}, annotation/doc1.txt/ann.tsv, {message}")


def test_annotators_must_have_seen_the_same_text(tmp_path: Path) -> None:
    folder = write_project(
        tmp_path / "p", ann=FIRST, bob=FIRST.replace("sings .", "sings ."[:5] + " x.").replace("17-18", "17-18")
    )

    with pytest.raises(FormatError, match="the text differs between annotators' files"):
        read_crowd(folder, ReadOptions(question="NamedEntity.value"))


def test_mangled_files_are_refused_or_read(tmp_path: Path) -> None:
    folder = write_project(tmp_path / "p", ann=FIRST + SECOND)
    path = folder / "annotation" / "doc1.txt" / "ann.tsv"
    whole, rng = path.read_bytes(), random.Random(0)

    for _ in range(200):
        at = rng.randrange(len(whole))
        piece = rng.choice([b"", b"\t", b"\n", b"[", b"|", b"\\", b"\xff", b"#Text=", b"9" * 20, b"1-1.1\t0-1\tx\t_\n"])
        path.write_bytes(whole[:at] + piece + whole[at + rng.choice([0, 1, 9]) :])
        try:
            read_crowd(folder, ReadOptions(question="NamedEntity.value"))
        except CrowdLogicError as problem:
            assert "\n" not in str(problem)
