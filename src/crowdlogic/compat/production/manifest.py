"""What an exported model expects, and how its scores become answers: manifest.json.

Axes: k class.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from crowdlogic import __version__
from crowdlogic.data.corpus import sentences
from crowdlogic.data.names import Classes
from crowdlogic.learning.saved_run import Run
from crowdlogic.numerics.arrays import Floats
from crowdlogic.rules.blocks import Predictions
from crowdlogic.rules.expansion import expand
from crowdlogic.rules.projection.chain import chain_potentials, is_chain
from crowdlogic.rules.projection.presets import Result, find_preset
from crowdlogic.rules.syntax import RuleSet

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
