"""What a run may touch: regular files of its own, in its own folder. A run may come from a stranger.

Nothing in a run is followed that leads out of it: a symbolic link, a pipe or a device among its files is refused before
anything is read, written or removed. Only files whose names the run itself gives are removed.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

from crowdlogic.data.files import draft_target
from crowdlogic.errors import FormatError


def check_own_files(folder: Path, subfolders: tuple[str, ...]) -> None:
    """Refuse a folder that holds, itself or in one of its own subfolders, anything but files and folders.

    Args:
        folder: The run.
        subfolders: The names of the folders in it that the run writes to; others are left alone.
    """
    for entry in _entries(folder):
        if entry.name in subfolders:
            _require_folder(folder, entry)
            for inner in _entries(folder / entry.name):
                _require_file(folder, inner, f"{entry.name}/{inner.name}")
        elif not entry.is_dir(follow_symlinks=False):
            _require_file(folder, entry, entry.name)


def _entries(folder: Path) -> Iterator[os.DirEntry[str]]:
    with os.scandir(folder) as found:
        yield from sorted(found, key=lambda entry: entry.name)


def _require_folder(folder: Path, entry: os.DirEntry[str]) -> None:
    if not entry.is_dir(follow_symlinks=False):
        raise _foreign_error(folder, entry.name, "no folder")


def _require_file(folder: Path, entry: os.DirEntry[str], name: str) -> None:
    if not entry.is_file(follow_symlinks=False):
        raise _foreign_error(folder, name, "no regular file")


def _foreign_error(folder: Path, name: str, what: str) -> FormatError:
    kind = "a symbolic link" if (folder / name).is_symlink() else what
    return FormatError(
        f"{folder}: {name} in it is {kind}. A run holds files of its own and nothing else: remove it, or take another "
        f"copy of the run."
    )


def make_own_folder(folder: Path, name: str) -> Path:
    """A folder of a run, made when it is not there; refused when it is a link or a file."""
    place = folder / name
    place.mkdir(parents=True, exist_ok=True)
    if place.is_symlink():
        raise _foreign_error(folder, name, "no folder")
    return place


def remove_own_files(folder: Path, is_own: Callable[[str], bool]) -> None:
    """Remove the files in a folder that have a name of ours, and drafts of such; everything else stays.

    Args:
        folder: The folder; a link to another is left alone.
        is_own: Whether a file of this name is to go.
    """
    if folder.is_symlink() or not folder.is_dir():
        return
    for entry in _entries(folder):
        if is_own(draft_target(entry.name) or entry.name) and not entry.is_dir(follow_symlinks=False):
            (folder / entry.name).unlink(missing_ok=True)


def remove_drafts(folder: Path, subfolders: tuple[str, ...]) -> None:
    """Remove what a killed process left half-written in a run and in its own subfolders."""
    for place in (folder, *(folder / name for name in subfolders)):
        if place.is_symlink() or not place.is_dir():
            continue
        for entry in _entries(place):
            if draft_target(entry.name) is not None and entry.is_file(follow_symlinks=False):
                (place / entry.name).unlink(missing_ok=True)
