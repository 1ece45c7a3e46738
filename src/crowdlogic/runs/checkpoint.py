"""The checkpoint of a run: after every epoch all that is needed to go on, so that a fit that was killed ends the same.

New files have new names; state.json, which names them, is replaced last and in one move; then the old ones go. So
a kill at any moment leaves the state before the epoch or the one after it. What never changes is written once.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeAlias

from numpy.typing import NDArray

from crowdlogic.classifiers.protocol import FIXED
from crowdlogic.errors import FormatError, OptionError, name_list
from crowdlogic.runs.damage import needed, undamaged
from crowdlogic.runs.files import (
    AGAIN,
    CHECKPOINT,
    HISTORY,
    SECOND,
    get_arrays,
    get_json,
    put,
    put_arrays,
    put_lines,
)

STATE, FIXED_FILE = "state.json", "fixed.safetensors"

NamedArrays: TypeAlias = dict[str, NDArray[Any]]


@dataclass(eq=False)
class RunKeeper:
    """Keeps a fit in a run's checkpoint folder, and its history beside it. A Keeper of `learning.course`.

    Attributes:
        folder: The run.
        owner: What the fit depends on, as a digest for each part by its name: labels, items, options, ...
        begin: Called before the first checkpoint is written, to note what the run is.
        check: Called with what a checkpoint holds before it is gone on from; raises when that cannot be.
        name: The checkpoint's folder in the run.
        history: The file of the history.
    """

    folder: Path
    owner: Mapping[str, str]
    begin: Callable[[], None] | None = None
    check: Callable[[NamedArrays, NamedArrays, Mapping[str, Any]], None] | None = None
    name: str = CHECKPOINT
    history: str = HISTORY
    _begun: bool = field(default=False, init=False)
    _best: str = field(default="", init=False)

    @property
    def place(self) -> Path:
        """Where the checkpoint is."""
        return self.folder / self.name

    def second(self) -> RunKeeper:
        """The keeper of a second pass: the first one's checkpoint stays, since it knows how many epochs there are."""
        return replace(self, begin=None, name=SECOND, history=AGAIN)

    def save(self, last: NamedArrays, best: NamedArrays, note: Mapping[str, Any]) -> None:
        """Replace the checkpoint."""
        self.place.mkdir(parents=True, exist_ok=True)
        if not self._begun:
            self._write_first(last)
        epoch, chosen = len(note["history"]), int(note["best_epoch"])
        files = {"best": f"best-{chosen:04d}.safetensors", "last": f"last-{epoch:04d}.safetensors"}
        if files["best"] != self._best:
            put_arrays(self.place / files["best"], _changing(best))
        if epoch == chosen and last.keys() <= best.keys():
            files["last"] = files["best"]  # the last epoch is the best one, which holds all that it has
        else:
            put_arrays(self.place / files["last"], _changing(last))
        put(self.place / STATE, json.dumps({"owner": dict(self.owner), "files": files, "note": note}).encode())
        self._best = files["best"]
        put_lines(self.folder / self.history, note["history"])
        self._remove_all_but({STATE, FIXED_FILE, *files.values()})

    def load(self) -> tuple[NamedArrays, NamedArrays, Mapping[str, Any]] | None:
        """The last epoch, the best one and what was noted; None when there is nothing yet."""
        if not (self.place / STATE).is_file():
            return None
        with undamaged(self.folder):
            return self._read(get_json(self.place / STATE))

    def _read(self, state: Any) -> tuple[NamedArrays, NamedArrays, Mapping[str, Any]]:
        try:
            owner, files, note = (needed(state[name], dict, name) for name in ("owner", "files", "note"))
            names = {name: needed(files[name], str, name) for name in ("last", "best")}
        except (LookupError, TypeError):
            raise FormatError(f"{self.place / STATE}: is no checkpoint. Remove the run and start over.") from None
        self._refuse_other(owner)
        for name in names.values():
            if Path(name).name != name:
                raise FormatError(
                    f"{self.place / STATE}: {name!r} is not in its folder. Remove the run and start over."
                )
        fixed = get_arrays(self.place / FIXED_FILE)
        last, best = (fixed | get_arrays(self.place / names[name]) for name in ("last", "best"))
        if self.check is not None:
            self.check(last, best, note)
        self._begun, self._best = True, names["best"]
        return last, best, note

    def remove(self) -> None:
        """Forget the checkpoint: the run is done."""
        if self.place.is_dir():
            self._remove_all_but(set())
            self.place.rmdir()

    def _write_first(self, last: NamedArrays) -> None:
        """What the run is, and the arrays that never change."""
        if self.begin is not None:
            self.begin()
        put_arrays(self.place / FIXED_FILE, {name: array for name, array in last.items() if _is_fixed(name)})
        self._begun = True

    def _refuse_other(self, owner: Mapping[str, str]) -> None:
        differing = [part for part in {**self.owner, **owner} if owner.get(part) != self.owner.get(part)]
        if differing:
            raise OptionError(
                f"{self.folder}: its checkpoint is of another fit: not the same {name_list(differing)}. Give what "
                f"the run "
                f"was begun with, or name another folder."
            )

    def _remove_all_but(self, kept: set[str]) -> None:
        for file in self.place.iterdir():
            if file.name not in kept:
                file.unlink()


def _changing(arrays: NamedArrays) -> NamedArrays:
    return {name: array for name, array in arrays.items() if not _is_fixed(name)}


def _is_fixed(name: str) -> bool:
    """Whether a name such as classifier.fixed.words is of an array that never changes."""
    return FIXED.rstrip(".") in name.split(".")
