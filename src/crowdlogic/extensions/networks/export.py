"""A run to a folder for use elsewhere: read, convert, write whole or not at all."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from crowdlogic import __version__
from crowdlogic.data.corpus import sentences
from crowdlogic.data.names import Classes
from crowdlogic.errors import OptionError
from crowdlogic.learning.saved_run import Run, load_run
from crowdlogic.numerics.arrays import Floats
from crowdlogic.registry import Registry
from crowdlogic.rules.blocks import Predictions
from crowdlogic.rules.expansion import expand
from crowdlogic.rules.projection.chain import chain_potentials, is_chain
from crowdlogic.rules.projection.projector import Result, find_preset
from crowdlogic.rules.syntax import RuleSet
from crowdlogic.workflows.inputs import check_outputs

MODEL_FORMATS = Registry(
    "format of a model",
    "crowdlogic.model_formats",
    {
        "onnx": "crowdlogic.extensions.networks.onnx:write_onnx",
        "hf": "crowdlogic.extensions.networks.huggingface_folder:write_huggingface",
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


# What an exported model expects, and how its scores become answers: manifest.json.
#
# Axes: k class.

FORMAT, VERSION = "crowdlogic-onnx", 1
WORDLESS = {"Label", "Previous", "Next", "First", "Last"}
"""Predicates that look at no word: rules of these alone are one table of transitions."""
TOKENS = ["w"] * 4
"""A sentence to ground such rules over: a first, two middle and a last token."""


def make_manifest(run: Run, preprocessing: dict[str, Any], decoding: dict[str, Any]) -> dict[str, Any]:
    """The manifest of a run."""
    rules = run.teacher.projector.rules
    exact = run.teacher.is_idle or decoding.get("rules") is not None
    return {
        "format": FORMAT,
        "version": VERSION,
        "crowdlogic": __version__,
        "task": "tagging" if run.learned.task.labels.is_sequential else "classification",
        "classes": list(run.estimate.classes),
        "classifier": run.record.config["method"]["classifier"]["name"],
        "model": "model.onnx",
        "preprocessing": preprocessing,
        "decoding": decoding,
        "predictor": "teacher" if exact and not run.teacher.is_idle else "student",
        "rules": None if rules is None else str(rules),
        "rules_exported": exact,
    }


def rule_decoding(run: Run) -> dict[str, Any] | None:
    """The rules and transitions of a tagger as tables for the decoding; None where they are more than that."""
    projector = run.teacher.projector
    if (
        run.teacher.is_idle
        or not run.learned.task.labels.is_sequential
        or not _is_wordless(projector.rules, run.estimate.classes)
    ):
        return None
    if find_preset(projector.preset).result is not Result.marginals:
        return None
    size = len(run.estimate.classes)
    corpus = sentences([0, 1], [TOKENS, TOKENS[:1]])
    ground = run.teacher.ground(corpus)
    found = projector.potentials(ground, Predictions(units=np.full((5, size), 1.0 / size)))
    if found.pairs is not None and not is_chain(found.pairs, corpus):
        return None
    unary = found.apply(np.zeros((5, size)), projector.strength)
    table = projector.transitions if not isinstance(projector.transitions, str) else None
    tables, which = chain_potentials(found.pairs, table, (5, size), strength=projector.strength)
    between = tables[0] if which is None else tables[which[1]]
    start = np.zeros(size) if table is None else table.log_start
    places = {"first": 0, "middle": 1, "last": 3, "only": 4}
    return {name: _plain(unary[i]) for name, i in places.items()} | {
        "start": _plain(start),
        "transitions": [_plain(row) for row in between],
    }


def _is_wordless(rules: RuleSet | None, classes: Classes) -> bool:
    """Whether no rule looks at a word."""
    if rules is None:
        return True
    atoms = [atom for rule in expand(rules, classes).rules for atom in rule.atoms]
    return all(atom.is_comparison or atom.predicate in WORDLESS for atom in atoms)


def _plain(values: Floats) -> list[float | None]:
    """Numbers for JSON; null for minus infinity."""
    return [float(value) if np.isfinite(value) else None for value in values]
