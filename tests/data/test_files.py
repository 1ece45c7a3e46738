from __future__ import annotations

from pathlib import Path

import pytest

from crowdlogic.data.files import atomic_write
from crowdlogic.data.frames import from_arrays
from crowdlogic.data.reading import read_labels
from crowdlogic.data.writing import write_labels
from crowdlogic.errors import MissingDataError

CSV = "item,annotator,label\nu,a,x\nu,b,y\nv,a,x\n"


def write(folder: Path, name: str, content: str | bytes) -> Path:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def test_an_old_file_stays_whole_when_writing_fails_midway(tmp_path: Path) -> None:
    path = tmp_path / "o.csv"
    path.write_text("old")

    def write_half() -> None:
        with atomic_write(path) as draft:
            draft.write_text("half")
            raise RuntimeError("midway")

    with pytest.raises(RuntimeError, match="midway"):
        write_half()

    assert path.read_text() == "old"
    assert [p.name for p in tmp_path.iterdir()] == ["o.csv"]


def test_a_written_file_has_the_usual_permissions(tmp_path: Path) -> None:
    (tmp_path / "plain").write_text("")
    write_labels(tmp_path / "l.csv", from_arrays(["u"], ["a"], ["x"]))

    assert (tmp_path / "l.csv").stat().st_mode == (tmp_path / "plain").stat().st_mode


def test_a_name_that_ends_in_gz_is_gzipped(tmp_path: Path) -> None:
    write_labels(tmp_path / "l.csv.gz", from_arrays(["u"], ["a"], ["x"]))

    assert (tmp_path / "l.csv.gz").read_bytes()[:2] == b"\x1f\x8b"


def test_an_absent_file_names_its_neighbours(tmp_path: Path) -> None:
    write(tmp_path, "labels.csv", CSV)

    with pytest.raises(MissingDataError) as caught:
        read_labels(tmp_path / "lables.csv")

    assert str(caught.value) == f"{tmp_path / 'lables.csv'}: no such file. Beside it are: labels.csv."


def test_a_folder_is_not_a_file(tmp_path: Path) -> None:
    with pytest.raises(MissingDataError, match=r"is a folder\. Name a file in it\."):
        read_labels(tmp_path, format="csv")
