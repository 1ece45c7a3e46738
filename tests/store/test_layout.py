"""What config.json says of a run, and how far it is."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from crowdlogic.errors import FormatError, MissingDataError
from crowdlogic.store.files import VERSION, Status, is_run, last_epoch, put_json, put_lines, read_config, set_status


def test_the_layout_has_the_version_that_its_runs_say(tmp_path: Path) -> None:
    """A change of the layout is a new version, so that a run of an old one is refused and not misread."""
    assert VERSION == 3


def test_the_status_changes_and_nothing_else(tmp_path: Path) -> None:
    put_json(tmp_path / "config.json", {"version": VERSION, "status": "running", "seed": 3})

    set_status(tmp_path, Status.interrupted)

    assert read_config(tmp_path) == {"version": VERSION, "status": "interrupted", "seed": 3}


def test_the_status_of_no_run_is_not_written(tmp_path: Path) -> None:
    set_status(tmp_path, Status.interrupted)

    assert not is_run(tmp_path)


@pytest.mark.parametrize(
    "config",
    [
        {"version": 2, "status": "done"},
        {"version": "3", "status": "done"},
        {"version": VERSION, "status": "over"},
        {"version": VERSION, "status": ["done"]},
        {"version": VERSION},
        [VERSION],
        3,
    ],
)
def test_a_run_of_another_version_is_refused(tmp_path: Path, config: Any) -> None:
    put_json(tmp_path / "config.json", config)

    with pytest.raises(FormatError) as refused:
        read_config(tmp_path)

    assert str(refused.value) == f"{tmp_path}/config.json: is not a run of version 3. Train it again with this version."


def test_a_folder_without_a_run_is_named(tmp_path: Path) -> None:
    with pytest.raises(MissingDataError) as refused:
        read_config(tmp_path)

    assert (
        str(refused.value)
        == f"{tmp_path}: contains no config.json, so it is not a run. Name a folder written by `train`."
    )


def test_the_last_epoch_is_that_of_the_second_pass_once_it_began(tmp_path: Path) -> None:
    said = [last_epoch(tmp_path)]
    for file, epochs in (("history.jsonl", 3), ("refit.jsonl", 2)):
        put_lines(tmp_path / file, [{"epoch": epoch} for epoch in range(epochs)])
        said.append(last_epoch(tmp_path))

    assert said == ["", "epoch 3", "epoch 2 of the second pass"]
