"""Export of a run to a folder for other programs, which is written completely or not at all."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from crowdlogic import __version__
from crowdlogic.data.corpus import sentences
from crowdlogic.data.files import new_folder
from crowdlogic.data.names import Classes
from crowdlogic.errors import OptionError
from crowdlogic.learning.saved_run import Run, load_run
from crowdlogic.numerics.arrays import Floats
from crowdlogic.registry import Registry
from crowdlogic.rules.expansion import expand
from crowdlogic.rules.potentials import Predictions
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
"""Export formats: functions that write the files of a run into an empty folder and return notices."""

WriteModel = Callable[[Run, Path], list[str]]


@dataclass(frozen=True, kw_only=True)
class Exported:
    """Result of `export_run`.

    Attributes:
        out: Output folder.
        format: onnx or hf.
        files: Files in the folder.
        notices: Messages to the user.
    """

    out: str
    format: str
    files: tuple[str, ...]
    notices: tuple[str, ...]

    @property
    def message(self) -> str:
        """Summary in one line."""
        return f"{self.format}: {', '.join(self.files)} -> {self.out}"


def export_run(run: str | Path, out: str | Path, *, to: str) -> Exported:
    """Export a run to a folder for other programs.

    Args:
        run: Folder of the run.
        out: Output folder, which must not exist yet, or be empty.
        to: onnx or hf.
    """
    write: WriteModel = MODEL_FORMATS.load(to)
    target = Path(out)
    check_outputs((target,))
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise OptionError(f"{target}: already exists. Choose another folder, or remove it.")
    made = load_run(run)
    target.parent.mkdir(parents=True, exist_ok=True)
    with new_folder(target) as draft:
        notices = write(made, draft)
    files = tuple(sorted(path.name for path in target.iterdir()))
    return Exported(out=str(target), format=to, files=files, notices=tuple(notices))


FORMAT, VERSION = "crowdlogic-onnx", 1
TAG_PREDICATES = {"Label", "Previous", "Next", "First", "Last"}
"""Predicates that do not depend on words. Rules with only these predicates become a table of transitions."""
SAMPLE_TOKENS = ["w"] * 4
"""Sample sentence to ground such rules: a first, two middle and a last token."""


def make_manifest(run: Run, preprocessing: dict[str, Any], decoding: dict[str, Any]) -> dict[str, Any]:
    """Return the content of manifest.json for a run."""
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
    """Return the rules and transitions of a tagger as decoding tables; None if tables cannot express them."""
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
    corpus = sentences([0, 1], [SAMPLE_TOKENS, SAMPLE_TOKENS[:1]])
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
    """Return whether all rules are independent of words."""
    if rules is None:
        return True
    atoms = [atom for rule in expand(rules, classes).rules for atom in rule.atoms]
    return all(atom.is_comparison or atom.predicate in TAG_PREDICATES for atom in atoms)


def _plain(values: Floats) -> list[float | None]:
    """Convert numbers for JSON; minus infinity becomes null."""
    return [float(value) if np.isfinite(value) else None for value in values]
