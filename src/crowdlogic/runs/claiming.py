"""Whose folder it is: a run may take an empty folder, go on in its own, and never touch anything else."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import Any

from crowdlogic.errors import FormatError, MissingDataError, OptionError
from crowdlogic.runs.files import AGAIN, CHECKPOINT, CONFIG, HISTORY, VERSION, get_json, get_lines, put_json


class Status(StrEnum):
    """How far a run is."""

    running = "running"
    interrupted = "interrupted"
    done = "done"


def is_run(folder: Path) -> bool:
    """Whether a run is here."""
    return (folder / CONFIG).is_file()


def read_config(folder: Path) -> dict[str, Any]:
    """The run's config.json."""
    if not is_run(folder):
        raise MissingDataError(f"{folder}: no {CONFIG} in it, so it is no run. Name a folder that `train` wrote.")
    config = get_json(folder / CONFIG)
    if not isinstance(config, dict) or config.get("version") != VERSION or config.get("status") not in list(Status):
        raise FormatError(f"{folder / CONFIG}: is no run of version {VERSION}. Train it again with this version.")
    return config


def set_status(folder: Path, status: Status) -> None:
    """Note how far the run is, if it is a run yet."""
    if is_run(folder):
        put_json(folder / CONFIG, read_config(folder) | {"status": status})


def refuse_taken(folder: Path, *, resume: bool) -> None:
    """Refuse a folder that a run may not write to; nothing is touched.

    Args:
        folder: The run's folder; its parent must be there.
        resume: Whether to go on with the run that is there.
    """
    if folder.exists() and not folder.is_dir():
        raise OptionError(f"{folder}: is a file. Name a folder for the run.")
    if not folder.parent.is_dir():
        raise OptionError(f"{folder}: the folder {folder.parent} does not exist. Make it first.")
    if not folder.exists() or not any(folder.iterdir()):
        return
    if not is_run(folder):
        raise OptionError(f"{folder}: holds other files and no run. Name a new or an empty folder.")
    if read_config(folder)["status"] == Status.done:
        raise OptionError(f"{folder}: holds a run that is done. Name another folder, or remove this one first.")
    if not resume:
        raise OptionError(
            f"{folder}: holds a run that stopped after {epochs_done(folder)}. Go on with it: crowdlogic train "
            f"--resume -o {folder}; or name another folder."
        )


def claim(folder: Path, *, resume: bool) -> None:
    """Make sure that a run may write here; the folder is made when it is not there."""
    refuse_taken(folder, resume=resume)
    folder.mkdir(exist_ok=True)


@contextmanager
def alone(folder: Path) -> Iterator[None]:
    """Refuse to work in a run in which another process works. The lock goes with the process, however it ends.

    It is on the folder itself, so that nothing is left behind. Where the system or the disk has no such locks there is
    none.
    """
    try:
        import fcntl
    except ModuleNotFoundError:  # not on Windows
        yield
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise OptionError(
                f"{folder}: another process is training this run. Wait until it ends, or name another folder."
            ) from None
        except OSError:
            pass  # some network disks lock no folders
        yield
    finally:
        os.close(handle)


def epochs_done(folder: Path) -> str:
    """Which epoch of a run is the last that is finished, in words; empty before the first."""
    first, again = (_lines(folder / name) for name in (HISTORY, AGAIN))
    if again:
        return f"epoch {again} of the second pass"
    return f"epoch {first}" if first else ""


def _lines(path: Path) -> int:
    return len(get_lines(path)) if path.is_file() else 0


def release(folder: Path) -> None:
    """Leave nothing behind of a run that never finished an epoch; else note that it was interrupted."""
    if is_run(folder):
        set_status(folder, Status.interrupted)
        return
    checkpoint = folder / CHECKPOINT
    if checkpoint.is_dir():
        for file in checkpoint.iterdir():
            file.unlink()
        checkpoint.rmdir()
    if folder.is_dir() and not any(folder.iterdir()):
        folder.rmdir()
