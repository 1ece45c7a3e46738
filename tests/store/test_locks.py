"""A run takes new folders and its own, and nothing else."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from crowdlogic.errors import FormatError, OptionError
from crowdlogic.store.checkpoints import claim, lock, release
from crowdlogic.store.files import VERSION, Status, put_json, put_lines, read_config


def begun(folder: Path, status: Status, epochs: int = 3) -> None:
    folder.mkdir(exist_ok=True)
    put_json(folder / "config.json", {"version": VERSION, "status": status})
    put_lines(folder / "history.jsonl", [{"epoch": t} for t in range(epochs)])


@pytest.mark.parametrize("resume", [True, False])
def test_a_new_or_an_empty_folder_may_be_taken(tmp_path: Path, resume: bool) -> None:
    claim(tmp_path / "new", resume=resume)
    claim(tmp_path / "new", resume=resume)

    assert (tmp_path / "new").is_dir()


def test_a_run_that_stopped_is_gone_on_with_when_asked(tmp_path: Path) -> None:
    for status in (Status.running, Status.interrupted):
        begun(tmp_path / status, status)

        claim(tmp_path / status, resume=True)
        with pytest.raises(OptionError) as refused:
            claim(tmp_path / status, resume=False)

        assert str(refused.value) == (
            f"{tmp_path / status}: contains a run that stopped after epoch 3. Resume it with crowdlogic train --resume "
            f"-o {tmp_path / status}; or name another folder."
        )


@pytest.mark.parametrize("resume", [True, False])
def test_what_is_someone_elses_is_refused(tmp_path: Path, resume: bool) -> None:
    begun(tmp_path / "done", Status.done)
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "thesis.tex").write_text("mine")
    (tmp_path / "file").write_text("mine")

    said = {}
    for name in ("done", "other", "file", "no/run"):
        with pytest.raises(OptionError) as refused:
            claim(tmp_path / name, resume=resume)
        said[name] = str(refused.value).removeprefix(f"{tmp_path}/")

    assert said == {
        "done": "done: this run is already done. Use it with predict, explain or report, or train into another folder."
        if resume
        else "done: contains a completed run. Choose another folder, or remove this one first.",
        "other": "other: contains other files but no run. Choose a new or an empty folder.",
        "file": "file: is a file. Name a folder for the run.",
        "no/run": f"no/run: the folder {tmp_path}/no does not exist. Create it first.",
    }
    assert (tmp_path / "other" / "thesis.tex").read_text() == "mine"


def test_a_run_without_an_epoch_vanishes_and_one_with_epochs_is_interrupted(tmp_path: Path) -> None:
    claim(tmp_path / "early", resume=False)
    (tmp_path / "early" / "checkpoint").mkdir()
    (tmp_path / "early" / "checkpoint" / "fixed.safetensors").write_bytes(b"")
    begun(tmp_path / "late", Status.running)

    release(tmp_path / "early")
    release(tmp_path / "late")

    assert not (tmp_path / "early").exists()
    assert read_config(tmp_path / "late")["status"] == "interrupted"


HOLD = """
import sys, time
from pathlib import Path
from crowdlogic.store.checkpoints import lock
with lock(Path(sys.argv[1])):
    print("held", flush=True)
    time.sleep(600)
"""


def test_a_lock_goes_with_the_process_that_was_killed(tmp_path: Path) -> None:
    pytest.importorskip("fcntl")
    other = subprocess.Popen([sys.executable, "-c", HOLD, str(tmp_path)], stdout=subprocess.PIPE, text=True)
    assert other.stdout is not None
    with other, other.stdout:
        try:
            assert other.stdout.readline() == "held\n"
            with pytest.raises(OptionError, match="another process is training this run"), lock(tmp_path):
                pass
        finally:
            other.kill()
            other.wait()

    with lock(tmp_path):
        pass
    assert list(tmp_path.iterdir()) == []


def test_without_locks_there_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "fcntl", None)

    with lock(tmp_path), lock(tmp_path):
        held = list(tmp_path.iterdir())

    assert held == []


def test_a_run_that_was_killed_before_its_config_was_written_may_be_begun_again(tmp_path: Path) -> None:
    (tmp_path / "run" / "checkpoint").mkdir(parents=True)
    (tmp_path / "run" / ".config.json.abcd1234.part").write_text("{")
    (tmp_path / "run" / "checkpoint" / "fixed.safetensors").write_bytes(b"half")

    claim(tmp_path / "run", resume=False)

    assert not (tmp_path / "run" / ".config.json.abcd1234.part").exists()


def test_what_a_killed_training_left_half_written_goes_when_it_is_resumed(tmp_path: Path) -> None:
    begun(tmp_path / "run", Status.running)
    (tmp_path / "run" / "checkpoint").mkdir()
    left = [
        tmp_path / "run" / ".history.jsonl.abcd1234.part",
        tmp_path / "run" / "checkpoint" / ".last-0001.safetensors.abcd1234.part",
    ]
    for path in left:
        path.write_text("half")

    claim(tmp_path / "run", resume=True)

    assert not any(path.exists() for path in left)


@pytest.mark.parametrize("name", ["checkpoint", "words", "tables", "checkpoint-refit"])
def test_a_run_with_a_link_is_neither_claimed_nor_emptied(tmp_path: Path, name: str) -> None:
    begun(tmp_path / "run", Status.running)
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "precious").write_text("mine")
    (tmp_path / "run" / name).symlink_to(tmp_path / "outside")

    with pytest.raises(FormatError, match=f"{name} in it is a symbolic link"):
        claim(tmp_path / "run", resume=True)
    (tmp_path / "run" / "config.json").unlink()
    release(tmp_path / "run")

    assert (tmp_path / "outside" / "precious").read_text() == "mine"
