"""A run to a folder for use elsewhere: read, convert, write whole or not at all."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from crowdlogic.errors import OptionError
from crowdlogic.learning.saved_run import Run, load_run
from crowdlogic.registry import Registry
from crowdlogic.workflows.outputs import check_outputs

MODEL_FORMATS = Registry(
    "format of a model",
    "crowdlogic.model_formats",
    {
        "onnx": "crowdlogic.compat.production.onnx_folder:write_onnx",
        "hf": "crowdlogic.compat.production.huggingface:write_huggingface",
    },
)
"""What a run can be exported to: functions that write a run's files into an empty folder, and return notices."""

WriteModel = Callable[[Run, Path], list[str]]


@dataclass(frozen=True, kw_only=True)
class Exported:
    """What `export` did.

    Attributes:
        out: The folder.
        format: onnx or hf.
        files: The files in it.
        notices: What a person should know.
    """

    out: str
    format: str
    files: tuple[str, ...]
    notices: tuple[str, ...]

    @property
    def message(self) -> str:
        """The outcome in one sentence."""
        return f"{self.format}: {', '.join(self.files)} -> {self.out}"


def export_run(run: str | Path, out: str | Path, *, to: str) -> Exported:
    """Write a run as a folder for use elsewhere.

    Args:
        run: The folder of the run.
        out: The folder to write, which must not exist yet, or be empty.
        to: onnx or hf.
    """
    write: WriteModel = MODEL_FORMATS.load(to)
    target = Path(out)
    check_outputs((target,))
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise OptionError(f"{target}: is there already. Name another folder, or remove it.")
    made = load_run(run)
    target.parent.mkdir(parents=True, exist_ok=True)
    draft = Path(tempfile.mkdtemp(prefix=f".{target.name}.", dir=target.parent))
    try:
        notices = write(made, draft)
        draft.chmod(0o755)
        os.replace(draft, target)
    except BaseException:
        shutil.rmtree(draft, ignore_errors=True)
        raise
    files = tuple(sorted(path.name for path in target.iterdir()))
    return Exported(out=str(target), format=to, files=files, notices=tuple(notices))
