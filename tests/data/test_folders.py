"""Folders and zip files of exports: the same members either way, confined and limited."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from crowdlogic.data.files import InputFile, member_file
from crowdlogic.data.folders import open_folder
from crowdlogic.data.formats.protocol import detect_format
from crowdlogic.errors import FormatError


def pack(path: Path, members: dict[str, bytes], compression: int = zipfile.ZIP_DEFLATED) -> Path:
    with zipfile.ZipFile(path, "w", compression) as packed:
        for name, content in members.items():
            packed.writestr(name, content)
    return path


def test_a_folder_and_a_zip_file_have_the_same_members(tmp_path: Path) -> None:
    (tmp_path / "f" / "b").mkdir(parents=True)
    (tmp_path / "f" / "b" / "x.jsonl").write_bytes(b"1")
    (tmp_path / "f" / "a.jsonl").write_bytes(b"22")
    pack(tmp_path / "f.zip", {"b/x.jsonl": b"1", "a.jsonl": b"22"})

    for path in (tmp_path / "f", tmp_path / "f.zip"):
        folder = open_folder(path)
        assert InputFile(path).is_folder
        assert folder.names == ("a.jsonl", "b/x.jsonl")
        assert folder.read("b/x.jsonl") == b"1"
        assert member_file(folder, "a.jsonl").head() == b"22"
        assert member_file(folder, "a.jsonl").name == f"{path}/a.jsonl"


@pytest.mark.parametrize("name", ["../x", "/etc/x", "a/../../x", "..\\x", "C:\\x", "c:/x"])
def test_a_member_that_leads_out_is_refused(name: str, tmp_path: Path) -> None:
    path = pack(tmp_path / "f.zip", {name: b"1"})

    with pytest.raises(FormatError, match="points outside of the zip file"):
        _ = open_folder(path).names


def test_a_zip_bomb_is_refused_before_and_while_it_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = pack(tmp_path / "f.zip", {"a": bytes(10_000_000)})
    monkeypatch.setenv("CROWDLOGIC_MAX_UNPACKED", "1M")

    with pytest.raises(FormatError, match="decompresses to more than 1 MiB"):
        _ = open_folder(path).names
    with pytest.raises(FormatError, match=r"f\.zip: a: decompresses to more than 1 MiB"):
        open_folder(path).read("a")


def test_a_member_is_read_in_pieces(tmp_path: Path) -> None:
    path = pack(tmp_path / "f.zip", {"a": b"0123456789"})

    with open_folder(path).open("a") as opened:
        assert (opened.read(4), opened.read(4), opened.read(4), opened.read(4)) == (b"0123", b"4567", b"89", b"")


@pytest.mark.parametrize("damage", ["cut", "flip", "encrypt"])
def test_a_damaged_zip_file_is_refused_in_one_line(damage: str, tmp_path: Path) -> None:
    path = pack(tmp_path / "f.zip", {"a": b"0123456789" * 100}, zipfile.ZIP_STORED)
    raw = bytearray(path.read_bytes())
    if damage == "cut":
        del raw[-10:]
    elif damage == "flip":
        raw[60] ^= 1
    else:
        raw[6] |= 1
        raw[raw.index(b"PK\x01\x02") + 8] |= 1
    path.write_bytes(raw)

    folder = open_folder(path)
    with pytest.raises(FormatError, match="the zip file cannot be read"):
        [folder.read(name) for name in folder.names]


def test_a_folder_or_zip_file_that_no_format_knows_says_so(tmp_path: Path) -> None:
    (tmp_path / "f").mkdir()
    pack(tmp_path / "f.zip", {"readme.txt": b"1"})

    with pytest.raises(FormatError, match=r"f: is a folder whose files are not recognised\."):
        detect_format(InputFile(tmp_path / "f"))
    with pytest.raises(FormatError, match=r"f\.zip: is a zip file whose files are not recognised\."):
        detect_format(InputFile(tmp_path / "f.zip"))


def test_a_member_that_is_not_there_is_one_line(tmp_path: Path) -> None:
    path = tmp_path / "export.zip"
    with zipfile.ZipFile(path, "w") as packed:
        packed.writestr("a.json", "{}")

    with pytest.raises(FormatError) as refused:
        open_folder(path).read("train.json")

    assert str(refused.value) == f"{path}: contains no member 'train.json'. Compress the export again."


def test_a_member_without_a_name_is_refused(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "x.zip", "w") as packed:
        packed.writestr("m", b"1")
    content = (tmp_path / "x.zip").read_bytes()
    at = content.index(b"PK\x01\x02")
    damaged = bytearray(content)
    damaged[at + 28 : at + 30] = b"\0\0"  # the length of the name in the directory
    del damaged[at + 46]
    damaged[-10:-6] = (len(damaged) - 22 - at).to_bytes(4, "little")  # the size of the directory
    (tmp_path / "x.zip").write_bytes(bytes(damaged))

    with pytest.raises(FormatError, match="points outside of the zip file"):
        list(open_folder(tmp_path / "x.zip").names)
