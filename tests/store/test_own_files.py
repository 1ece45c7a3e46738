"""A run touches regular files of its own, and nothing that a link, a pipe or a stranger put into it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from crowdlogic.errors import FormatError
from crowdlogic.store.files import check_own_files, make_own_folder, remove_drafts, remove_own_files

FOLDERS = ("words", "checkpoint")


def made(folder: Path) -> Path:
    (folder / "run" / "words").mkdir(parents=True)
    (folder / "run" / "notes").mkdir()
    (folder / "run" / "config.json").write_text("{}")
    (folder / "run" / "words" / "w.txt").write_text("a")
    (folder / "outside").mkdir()
    (folder / "outside" / "precious").write_text("mine")
    return folder / "run"


def test_files_and_folders_are_fine(tmp_path: Path) -> None:
    run = made(tmp_path)
    (run / "notes" / "link").symlink_to(tmp_path)  # a folder that is not the run's is left alone

    check_own_files(run, FOLDERS)


@pytest.mark.parametrize("name", ["config.json", "words", "words/w.txt", "checkpoint", "extra"])
def test_a_link_anywhere_is_refused(tmp_path: Path, name: str) -> None:
    run = made(tmp_path)
    if (run / name).is_dir():
        (run / "words" / "w.txt").unlink()
        (run / name).rmdir()
    (run / name).unlink(missing_ok=True)
    (run / name).symlink_to(tmp_path / "outside")

    with pytest.raises(FormatError) as refused:
        check_own_files(run, FOLDERS)

    assert str(refused.value) == (
        f"{run}: {name} in it is a symbolic link. A run may only contain regular files: remove it, or use "
        f"another copy of the run."
    )


@pytest.mark.parametrize(("name", "what"), [("pipe", "not a regular file"), ("words/pipe", "not a regular file")])
def test_a_pipe_is_refused(tmp_path: Path, name: str, what: str) -> None:
    run = made(tmp_path)
    os.mkfifo(run / name)

    with pytest.raises(FormatError, match=f"{name} in it is {what}"):
        check_own_files(run, FOLDERS)


def test_a_file_in_the_place_of_a_folder_is_refused(tmp_path: Path) -> None:
    run = made(tmp_path)
    (run / "checkpoint").write_text("x")

    with pytest.raises(FormatError, match="checkpoint in it is not a folder"):
        check_own_files(run, FOLDERS)


def test_a_folder_is_made_unless_a_link_is_in_its_place(tmp_path: Path) -> None:
    run = made(tmp_path)
    (run / "checkpoint").symlink_to(tmp_path / "outside")

    assert make_own_folder(run, "tables") == run / "tables"
    with pytest.raises(FormatError, match="checkpoint in it is a symbolic link"):
        make_own_folder(run, "checkpoint")


def test_only_own_files_and_their_drafts_are_removed_and_never_behind_a_link(tmp_path: Path) -> None:
    run = made(tmp_path)
    (run / "checkpoint").symlink_to(tmp_path / "outside")
    for name in ("mine.txt", ".mine.txt.abcd1234.part", "other.txt", ".other.txt.abcd1234.part"):
        (run / "words" / name).write_text("x")
    (run / "words" / "mine-too.txt").symlink_to(tmp_path / "outside" / "precious")

    remove_own_files(run / "words", lambda name: name.startswith("mine"))
    remove_own_files(run / "checkpoint", lambda name: True)

    assert sorted(os.listdir(run / "words")) == [".other.txt.abcd1234.part", "other.txt", "w.txt"]
    assert (tmp_path / "outside" / "precious").read_text() == "mine"


def test_what_a_killed_process_left_is_removed(tmp_path: Path) -> None:
    run = made(tmp_path)
    for name in (".config.json.abcd1234.part", "words/.w.txt.a_cd1234.part", "notes/.x.abcd1234.part", "x.part"):
        (run / name).write_text("half")

    remove_drafts(run, FOLDERS)

    left = sorted(path.relative_to(run).as_posix() for path in run.rglob("*") if path.is_file())
    assert left == ["config.json", "notes/.x.abcd1234.part", "words/w.txt", "x.part"]
