"""Checksums made to fit again after a file was changed, as somebody who tampers with a run would do."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from crowdlogic.store.checkpoints import CHECKSUM, STATE, _seal
from crowdlogic.store.checksums import CHECKSUMS, file_sha256, write_checksums


def reseal(folder: Path) -> None:
    """Make the checksums of a run, an estimate or a checkpoint those of its files as they are now."""
    if (folder / CHECKSUMS).is_file():
        names = [line[66:] for line in (folder / CHECKSUMS).read_text().splitlines()]
        write_checksums(folder, {name: file_sha256(folder / name) for name in names if (folder / name).is_file()})
    for place in folder.glob("checkpoint*"):
        reseal_state(place)


def reseal_state(place: Path) -> None:
    """Make the checksums in a checkpoint's state.json those of its files, and its own."""
    state = unsealed(place / STATE)
    if isinstance(state, dict) and isinstance(state.get(CHECKSUM), dict):
        state[CHECKSUM] = {name: file_sha256(place / name) for name in state[CHECKSUM] if (place / name).is_file()}
    if isinstance(state, dict):
        (place / STATE).write_bytes(_seal(state))


def unsealed(path: Path) -> Any:
    """What state.json holds beside its checksum."""
    return json.loads(path.read_text())["content"]
