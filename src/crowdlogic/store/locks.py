"""Which folder a run may write to: a new or an empty one, or its own. It never touches anything else."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from crowdlogic.data.files import draft_target
from crowdlogic.errors import OptionError
from crowdlogic.store.checkpoints import STATE, remove_checkpoint_files
from crowdlogic.store.layout import CHECKPOINT, CONFIG, FOLDERS, Status, is_run, last_epoch, read_config, set_status
from crowdlogic.store.own_files import check_own_files, remove_drafts, remove_own_files


def check_claimable(folder: Path, *, resume: bool) -> None:
    """Refuse a folder that a run may not write to; nothing is touched.

    Args:
        folder: The run's folder; its parent must be there.
        resume: Whether to resume the run that is there.
    """
    if folder.exists() and not folder.is_dir():
        raise OptionError(f"{folder}: is a file. Name a folder for the run.")
    if not folder.parent.is_dir():
        raise OptionError(f"{folder}: the folder {folder.parent} does not exist. Make it first.")
    if not folder.exists() or not any(folder.iterdir()):
        return
    check_own_files(folder, FOLDERS)
    if _is_stillborn(folder):
        return
    if not is_run(folder):
        raise OptionError(f"{folder}: holds other files and no run. Name a new or an empty folder.")
    if read_config(folder)["status"] == Status.done:
        if resume:
            raise OptionError(
                f"{folder}: this run is done, and there is nothing to resume. Use it with predict, explain or report, "
                f"or train into another folder."
            )
        raise OptionError(f"{folder}: holds a run that is done. Name another folder, or remove this one first.")
    if not resume:
        raise OptionError(
            f"{folder}: holds a run that stopped after {last_epoch(folder)}. Go on with it: crowdlogic train "
            f"--resume -o {folder}; or name another folder."
        )


def claim(folder: Path, *, resume: bool) -> None:
    """Make sure that a run may write here; the folder is made when it is not there."""
    check_claimable(folder, resume=resume)
    folder.mkdir(exist_ok=True)
    remove_drafts(folder, FOLDERS)


def _is_stillborn(folder: Path) -> bool:
    """Whether a run was killed here before its config.json was there: only drafts, and a checkpoint without a state."""
    entries = list(folder.iterdir())
    others = [one for one in entries if draft_target(one.name) is None and one.name != CHECKPOINT]
    return not others and not (folder / CHECKPOINT / STATE).exists()


def release(folder: Path) -> None:
    """Leave nothing behind of a run that never finished an epoch; else note that it was interrupted."""
    if is_run(folder) and ((folder / CHECKPOINT / STATE).is_file() or last_epoch(folder)):
        set_status(folder, Status.interrupted)
        return
    remove_own_files(folder, lambda name: name == CONFIG)
    remove_drafts(folder, FOLDERS)
    remove_checkpoint_files(folder / CHECKPOINT)
    if folder.is_dir() and not any(folder.iterdir()):
        folder.rmdir()


@contextmanager
def lock(folder: Path, doing: str = "training this run") -> Iterator[None]:
    """Refuse to work in a folder in which another process works. The lock goes with the process, however it ends.

    It is on the folder itself, so that nothing is left behind. Where the system or the disk has no such locks there is
    none.

    Args:
        folder: The folder.
        doing: What the other process is doing, for the message.
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
                f"{folder}: another process is {doing}. Wait until it ends, or name another folder."
            ) from None
        except OSError:
            pass  # some network disks lock no folders
        yield
    finally:
        os.close(handle)
