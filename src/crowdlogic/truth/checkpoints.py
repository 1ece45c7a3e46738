"""Checkpoints: the state of a fit on disk, so that a fit that was killed goes on where it was.

A state is complete (all randomness is spent in the first one), so the fit that goes on ends where the other would have.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from crowdlogic.data.corpus import Corpus
from crowdlogic.data.estimate import Estimate
from crowdlogic.data.labels import CrowdLabels
from crowdlogic.errors import FormatError, OptionError
from crowdlogic.numerics.arrays import Floats

State: TypeAlias = dict[str, Floats]


@dataclass(frozen=True)
class Checkpoint:
    """A file that holds a state and the trace so far, and whose fit it belongs to."""

    path: Path
    owner: str

    def write(self, state: State, trace: list[float]) -> None:
        """Replace the checkpoint in one move: a kill leaves the old one or the new one, never half of one."""
        from safetensors.numpy import save_file

        arrays = {f"state.{name}": np.ascontiguousarray(array) for name, array in state.items()}
        partial = self.path.with_name(self.path.name + ".partial")
        self.path.parent.mkdir(parents=True, exist_ok=True)
        save_file(arrays | {"trace": np.array(trace)}, partial, metadata={"owner": self.owner})
        os.replace(partial, self.path)

    def read(self) -> tuple[State, list[float]] | None:
        """The state and the trace, or None when there is no checkpoint yet."""
        if not self.path.exists():
            return None
        from safetensors import SafetensorError, safe_open

        try:
            with safe_open(self.path, framework="numpy") as file:
                owner = (file.metadata() or {}).get("owner")
                arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 (no mapping)
        except SafetensorError as problem:
            raise FormatError(f"{self.path} is no checkpoint: {problem}. Remove it to start over.") from problem
        if owner != self.owner:
            raise OptionError(
                f"The checkpoint {self.path} belongs to another fit: its method, options, labels or words differ. "
                f"Name another file, or remove it to start over."
            )
        trace = arrays.pop("trace").tolist()
        return {name.removeprefix("state."): array for name, array in arrays.items()}, trace

    def remove(self) -> None:
        """Forget the checkpoint: the fit is done."""
        self.path.unlink(missing_ok=True)


def fingerprint(
    method: Any,
    labels: CrowdLabels,
    start: Estimate | None,
    anchors: Mapping[Any, Any] | None,
    corpus: Corpus | None = None,
) -> str:
    """What a fit depends on, in short: two fits with the same fingerprint take the same steps."""
    digest = hashlib.blake2b(repr(method).encode(), digest_size=16)
    digest.update(json.dumps([str(name) for name in labels.classes]).encode())
    digest.update(repr(sorted((str(item), str(truth)) for item, truth in (anchors or {}).items())).encode())
    digest.update(json.dumps(None if corpus is None else corpus.tokens).encode())
    columns = [labels.unit, labels.annotator, labels.label, labels.weight, labels.offsets]
    for column in [*columns, None if start is None else start.beliefs]:
        digest.update(b"none" if column is None else np.ascontiguousarray(column).data)
    return digest.hexdigest()
