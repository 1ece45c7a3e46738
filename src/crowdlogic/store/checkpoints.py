"""Checkpoints: a fit that was killed resumes from its last state and gives the same result as without interruption.

`StateCheckpoint` is a file with a state of named arrays and the trace so far. `RunCheckpoint` is a folder in a run with
the last epoch, the best epoch and a note. New files in the folder get new names; then state.json, which lists them, is
replaced atomically; then the old files are removed. A process that is killed therefore leaves either the state before
the epoch or the state after it. Arrays that never change are written once.

Both contain a digest of everything that the fit depends on, so that no other fit is resumed, and the SHA-256 of their
content, so that damage is detected.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from crowdlogic.data.blocks import State
from crowdlogic.data.files import draft_target
from crowdlogic.errors import FormatError, OptionError, name_list
from crowdlogic.store.checksums import OTHER_FILE, arrays_sha256, file_sha256, sha256
from crowdlogic.store.files import (
    CHECKPOINT,
    CONFIG,
    FOLDERS,
    HISTORY,
    REFIT_CHECKPOINT,
    REFIT_HISTORY,
    Arrays,
    NamedArrays,
    Status,
    check_own_files,
    get_arrays,
    get_arrays_and_metadata,
    get_json,
    is_run,
    last_epoch,
    make_own_folder,
    put_arrays,
    put_bytes,
    put_lines,
    read_config,
    reading,
    remove_drafts,
    remove_own_files,
    set_status,
)

STATE_PREFIX, TRACE, OWNER, CHECKSUM = "state.", "trace", "owner", "sha256"
START_OVER = "Remove it to start over."
LARGEST = 1e100
"""Upper bound of the parameters of a fit, for validation."""


@dataclass(frozen=True)
class StateCheckpoint:
    """File with the state of a fit and its trace.

    Attributes:
        path: The file.
        owner: Digest of everything that the fit depends on.
    """

    path: Path
    owner: str

    def write(self, state: State, trace: list[float]) -> None:
        """Replace the checkpoint atomically, so that a kill leaves either the old or the new one."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        arrays = {f"{STATE_PREFIX}{name}": array for name, array in state.items()} | {TRACE: np.array(trace)}
        put_arrays(self.path, arrays, metadata={OWNER: self.owner, CHECKSUM: arrays_sha256(arrays)})

    def read(self) -> tuple[State, list[float]] | None:
        """Return the state and the trace; None if there is no checkpoint yet."""
        if not self.path.exists():
            return None
        try:
            arrays, metadata = get_arrays_and_metadata(self.path)
        except FormatError as problem:
            raise FormatError(
                f"{self.path} is not a checkpoint: {problem.__cause__}. Remove it to start over."
            ) from None
        if metadata.get(OWNER) != self.owner:
            raise OptionError(
                f"The checkpoint {self.path} belongs to another fit: its method, options, labels or words differ. "
                f"Name another file, or remove it to start over."
            )
        if metadata.get(CHECKSUM) != arrays_sha256(arrays):
            raise FormatError(f"{self.path}: the checkpoint is damaged (its SHA-256 differs). {START_OVER}")
        trace = arrays.pop(TRACE, None)
        if trace is None or trace.ndim != 1 or trace.dtype != np.float64 or not np.isfinite(trace).all():
            raise FormatError(f"{self.path}: the checkpoint is damaged (its trace). {START_OVER}")
        return {name.removeprefix(STATE_PREFIX): array for name, array in arrays.items()}, trace.tolist()

    def require_like(self, state: State, expected: State, *, signed: bool) -> None:
        """Raise an error for a state from which a fit cannot resume: other arrays, or impossible numbers.

        Args:
            state: The state from the checkpoint.
            expected: The initial state of the fit.
            signed: Whether parameters of the method may be negative.
        """
        if state.keys() != expected.keys():
            raise FormatError(
                f"{self.path}: the checkpoint contains {name_list(state)}, but {name_list(expected)} are expected. "
                f"{START_OVER}"
            )
        for name, array in state.items():
            if (array.shape, array.dtype) != (expected[name].shape, expected[name].dtype):
                raise FormatError(
                    f"{self.path}: in the checkpoint {name} is {array.dtype} {array.shape}, expected "
                    f"{expected[name].dtype} {expected[name].shape}. {START_OVER}"
                )
            if not np.isfinite(array).all() or np.abs(array).max(initial=0) > LARGEST:
                raise FormatError(f"{self.path}: in the checkpoint {name} contains NaN or infinities. {START_OVER}")
            if not signed and (array < 0).any():
                raise FormatError(f"{self.path}: in the checkpoint {name} contains negative numbers. {START_OVER}")

    def remove(self) -> None:
        """Remove the checkpoint after the fit is done."""
        self.path.unlink(missing_ok=True)


STATE, FIXED_FILE = "state.json", "fixed.safetensors"
OWN_FILE = re.compile(r"(?:best|last)-[0-9]{4,9}\.safetensors")
RESTART = "Remove the run and start over."
FIXED = "fixed"
"""Part of the dotted names of arrays that never change, such as classifier.fixed.words."""

Loaded: TypeAlias = tuple[NamedArrays, NamedArrays, Mapping[str, Any]]
"""Arrays of the last epoch, arrays of the best epoch, and the note."""


@dataclass(eq=False)
class RunCheckpoint:
    """Checkpoint of a run, stored in a subfolder, and its history.

    Attributes:
        folder: Folder of the run.
        owner: Digests of the parts that the fit depends on, by name: labels, items, options, ...
        begin: Function called before the first checkpoint is written, which writes the description of the run.
        check: Function called with the content of a checkpoint before the fit resumes; it raises an error if the
            content is invalid.
        name: Name of the checkpoint's folder in the run.
        history: Name of the file of the history.
    """

    folder: Path
    owner: Mapping[str, str]
    begin: Callable[[], object] | None = None
    check: Callable[[NamedArrays, NamedArrays, Mapping[str, Any]], None] | None = None
    name: str = CHECKPOINT
    history: str = HISTORY
    _begun: bool = field(default=False, init=False)
    _best: str = field(default="", init=False)
    _checksums: dict[str, str] = field(default_factory=dict, init=False)

    @property
    def place(self) -> Path:
        """Folder of the checkpoint."""
        return self.folder / self.name

    def second(self) -> RunCheckpoint:
        """Return the checkpoint of the second pass; the first one is kept, since it determines the number of epochs."""
        return replace(self, begin=None, name=REFIT_CHECKPOINT, history=REFIT_HISTORY)

    def save(self, last: Arrays, best: Arrays, note: Mapping[str, Any]) -> None:
        """Replace the checkpoint."""
        make_own_folder(self.folder, self.name)
        if not self._begun:  # write the description of the run, and the arrays that never change
            if self.begin is not None:
                self.begin()
            self._put(FIXED_FILE, {name: array for name, array in last.items() if _is_fixed(name)})
            self._begun = True
        epoch, chosen = len(note["history"]), int(note["best_epoch"])
        files = {"best": f"best-{chosen:04d}.safetensors", "last": f"last-{epoch:04d}.safetensors"}
        if files["best"] != self._best:
            self._put(files["best"], _changing(best))
        if epoch == chosen and last.keys() <= best.keys():
            files["last"] = files["best"]  # the last epoch is also the best one
        else:
            self._put(files["last"], _changing(last))
        sums = {name: self._checksums[name] for name in (FIXED_FILE, *files.values())}
        put_bytes(self.place / STATE, _seal({"owner": self.owner, "files": files, CHECKSUM: sums, "note": note}))
        self._best = files["best"]
        put_lines(self.folder / self.history, note["history"])
        kept = {STATE, FIXED_FILE, *files.values()}
        remove_own_files(self.place, lambda name: _is_own(name) and name not in kept)

    def load(self) -> Loaded | None:
        """Return the last epoch, the best epoch and the note; None if there is no checkpoint yet."""
        if not (self.place / STATE).is_file():
            return None
        with reading(self.folder):
            check_own_files(self.folder, FOLDERS)
            sealed = get_json(self.place / STATE)
            content = self._entry(sealed, "content", dict)
            if self._entry(sealed, CHECKSUM, str) != sha256(_dump(content)):
                raise FormatError(f"{self.place / STATE}: {OTHER_FILE} {RESTART}")
            return self._read(content)

    def _read(self, state: Any) -> Loaded:
        owner, files, note = (self._entry(state, name, dict) for name in ("owner", "files", "note"))
        names = {name: self._entry(files, name, str) for name in ("last", "best")}
        differing = [part for part in {**self.owner, **owner} if owner.get(part) != self.owner.get(part)]
        if differing:
            raise OptionError(
                f"{self.folder}: the checkpoint belongs to a fit with other {name_list(differing)}. Use those of the "
                f"interrupted run, or name another folder."
            )
        for name in names.values():
            if not OWN_FILE.fullmatch(name):
                raise FormatError(
                    f"{self.place / STATE}: {name[:40]!r} is not the name of a checkpoint file. {RESTART}"
                )
        checksums = self._entry(state, CHECKSUM, dict)
        for name in sorted({FIXED_FILE, *names.values()}):
            if (self.place / name).is_file() and file_sha256(self.place / name) != checksums.get(name):
                raise FormatError(f"{self.place / name}: {OTHER_FILE} {RESTART}")
            self._checksums[name] = str(checksums.get(name))
        fixed = get_arrays(self.place / FIXED_FILE)
        last, best = (fixed | get_arrays(self.place / names[name]) for name in ("last", "best"))
        if self.check is not None:
            self.check(last, best, note)
        self._begun, self._best = True, names["best"]
        return last, best, note

    def _entry(self, stored: Any, name: str, kind: type) -> Any:
        """Return an entry of state.json."""
        if not isinstance(stored, dict) or not isinstance(stored.get(name), kind):
            raise FormatError(f"{self.place / STATE}: is not a checkpoint. {RESTART}")
        return stored[name]

    def remove(self) -> None:
        """Remove the checkpoint after the run is done."""
        remove_checkpoint_files(self.place)

    def _put(self, name: str, arrays: Arrays) -> None:
        self._checksums[name] = put_arrays(self.place / name, arrays)


def remove_checkpoint_files(place: Path) -> None:
    """Remove the files of a checkpoint, and its folder unless it contains other files."""
    remove_own_files(place, _is_own)
    if place.is_dir() and not place.is_symlink() and not any(place.iterdir()):
        place.rmdir()


def _is_own(name: str) -> bool:
    """Return whether this is the name of a file of a checkpoint."""
    return name in (STATE, FIXED_FILE) or OWN_FILE.fullmatch(name) is not None


def _seal(content: Mapping[str, Any]) -> bytes:
    """Return JSON with its checksum. NaN is preserved, whereas `put_json` would write null."""
    plain = json.loads(_dump(content))
    return _dump({CHECKSUM: sha256(_dump(plain)), "content": plain})


def _dump(content: Mapping[str, Any]) -> bytes:
    return json.dumps(content, default=dict).encode()


def _changing(arrays: Arrays) -> NamedArrays:
    return {name: array for name, array in arrays.items() if not _is_fixed(name)}


def _is_fixed(name: str) -> bool:
    return FIXED in name.split(".")


# Folders that a run may write to: a new or empty folder, or that of the run itself. Other folders are never changed.


def check_claimable(folder: Path, *, resume: bool) -> None:
    """Raise an error for a folder that a run may not write to, without changing anything.

    Args:
        folder: Folder of the run; its parent must exist.
        resume: Whether to resume the run in the folder.
    """
    if folder.exists() and not folder.is_dir():
        raise OptionError(f"{folder}: is a file. Name a folder for the run.")
    if not folder.parent.is_dir():
        raise OptionError(f"{folder}: the folder {folder.parent} does not exist. Create it first.")
    if not folder.exists() or not any(folder.iterdir()):
        return
    check_own_files(folder, FOLDERS)
    if _is_stillborn(folder):
        return
    if not is_run(folder):
        raise OptionError(f"{folder}: contains other files but no run. Choose a new or an empty folder.")
    if read_config(folder)["status"] == Status.done:
        if resume:
            raise OptionError(
                f"{folder}: this run is already done. Use it with predict, explain or report, "
                f"or train into another folder."
            )
        raise OptionError(f"{folder}: contains a completed run. Choose another folder, or remove this one first.")
    if not resume:
        raise OptionError(
            f"{folder}: contains a run that stopped after {last_epoch(folder)}. Resume it with crowdlogic train "
            f"--resume -o {folder}; or name another folder."
        )


def claim(folder: Path, *, resume: bool) -> None:
    """Create the folder of a run if needed, after checking that the run may write to it."""
    check_claimable(folder, resume=resume)
    folder.mkdir(exist_ok=True)
    remove_drafts(folder, FOLDERS)


def _is_stillborn(folder: Path) -> bool:
    """Return whether a run was killed before it wrote config.json: there are only drafts or an empty checkpoint."""
    entries = list(folder.iterdir())
    others = [one for one in entries if draft_target(one.name) is None and one.name != CHECKPOINT]
    return not others and not (folder / CHECKPOINT / STATE).exists()


def release(folder: Path) -> None:
    """Remove a run that did not finish an epoch; otherwise mark it as interrupted."""
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
    """Lock a folder within the context; raise an error if another process uses it. The lock ends with the process.

    The folder itself is locked, so that no lock file remains. Systems and disks without such locks are
    not protected.

    Args:
        folder: The folder.
        doing: Activity of the other process, for the message.
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
                f"{folder}: another process is {doing}. Wait until it ends, or choose another folder."
            ) from None
        except OSError:
            pass  # some network disks do not support locks on folders
        yield
    finally:
        os.close(handle)
