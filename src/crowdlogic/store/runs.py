"""A finished run, written and read: plain data, which learning makes into a model again and reports show.

Axes: i unit, j annotator, k class, m true class, n given label.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from crowdlogic.data.corpus import Corpus
from crowdlogic.data.estimate import Beliefs, Estimate
from crowdlogic.data.labels import CrowdLabels
from crowdlogic.data.names import Classes
from crowdlogic.errors import OptionError
from crowdlogic.numerics.arrays import Floats
from crowdlogic.store.checksums import CHECKSUMS, check_checksums, sha256, write_checksums
from crowdlogic.store.damage import (
    InvalidValueError,
    are_class_names,
    reading,
    require,
    require_entry,
    require_finite,
    require_floats,
)
from crowdlogic.store.estimates import read_calibration
from crowdlogic.store.files import (
    NamedArrays,
    get_arrays,
    get_json,
    get_lines,
    get_table,
    json_bytes,
    put_arrays,
    put_bytes,
    put_json,
    put_lines,
    put_table,
)
from crowdlogic.store.layout import (
    ANNOTATOR_ARRAYS,
    ANNOTATORS,
    ANSWERS,
    CONFIG,
    CROWD,
    FEATURES,
    HISTORY,
    ITEMS,
    MODEL,
    REFIT_HISTORY,
    RULES,
    Status,
    read_config,
)
from crowdlogic.store.packed_rules import PackedRules, get_rules, put_rules
from crowdlogic.store.run_tables import (
    STATED,
    answers_table,
    check_answers,
    items_table,
    labels_table,
    read_answer,
    read_items_table,
    read_labels_table,
    read_view,
    view_prefixes,
)

NEEDED = (CONFIG, MODEL, ANNOTATOR_ARRAYS, ANSWERS, ANNOTATORS, CROWD, ITEMS, RULES, HISTORY)
"""The files that every run has."""

CONFUSION = "confusion"


@dataclass(frozen=True, eq=False, kw_only=True)
class RunRecord:
    """A run that is done, as plain data.

    Attributes:
        config: What config.json holds.
        labels: The labels that it learnt from.
        corpus: The items.
        estimate: The answers, with stated beliefs, and the confusion matrices.
        views: p, q_a, q_b and q_f, each [i, k]: what the classifier, the crowd with it, the rules, and their mixture
            believe, as it was learnt.
        model: The classifier's arrays.
        annotator_arrays: The annotator model's arrays by name, confusion[j, m, n] among them.
        annotators: A table with a row per annotator: `annotator`, `kind` where that is known, and what else is known.
        history: A mapping for each epoch of the pass that chose their number.
        audit: A mapping for each rule: what it does, alone.
        refit_history: A mapping for each epoch of the second pass, with all labels; empty without one.
        rules: The rules that it learnt with; None without any.
    """

    config: Mapping[str, Any]
    labels: CrowdLabels
    corpus: Corpus
    estimate: Estimate
    views: Mapping[str, Beliefs]
    model: NamedArrays
    annotator_arrays: NamedArrays
    annotators: pl.DataFrame
    history: tuple[Mapping[str, Any], ...]
    audit: tuple[Mapping[str, Any], ...] = ()
    refit_history: tuple[Mapping[str, Any], ...] = ()
    rules: PackedRules | None = None


def write_run(folder: Path, run: RunRecord) -> None:
    """Write a run; config.json, which then says that it is done, comes last, after the checksums of all files."""
    arrays = {MODEL: run.model, ANNOTATOR_ARRAYS: run.annotator_arrays}
    if run.corpus.features is not None:
        arrays[FEATURES] = {"features": np.asarray(run.corpus.features)}
    sums = {file: put_arrays(folder / file, named) for file, named in arrays.items()}
    tables = {
        ANSWERS: answers_table(run.labels, run.estimate, run.views),
        ANNOTATORS: run.annotators,
        CROWD: labels_table(run.labels),
        ITEMS: items_table(run.corpus),
    }
    sums |= {file: put_table(folder / file, table) for file, table in tables.items()}
    sums[RULES] = put_json(folder / RULES, run.audit)
    sums[HISTORY] = put_lines(folder / HISTORY, run.history)
    if run.refit_history:
        sums[REFIT_HISTORY] = put_lines(folder / REFIT_HISTORY, run.refit_history)
    rules, packed = (None, {}) if run.rules is None else put_rules(folder, run.rules)
    config = json_bytes({**run.config, "rules": rules, "status": Status.done})
    write_checksums(folder, sums | packed | {CONFIG: sha256(config)})
    put_bytes(folder / CONFIG, config)


def read_run(folder: str | Path) -> RunRecord:
    """Read a run that is done."""
    home = Path(folder)
    config = read_config(home)
    if config["status"] != Status.done:
        raise OptionError(
            f"{home}: the run is not done ({config['status']}). Finish it: crowdlogic train --resume -o {home}"
        )
    with reading(home):
        files = check_checksums(home)
        for file in NEEDED:
            if file not in files:
                raise InvalidValueError(f"{CHECKSUMS} has no {file}")
        return _read(home, config, files)


def _read(home: Path, config: Mapping[str, Any], files: frozenset[str]) -> RunRecord:
    """A run from those of its files that have a checksum."""
    classes = _read_classes(config)
    features = get_arrays(home / FEATURES).get("features") if FEATURES in files else None
    corpus = read_items_table(get_table(home / ITEMS), features, classes)
    annotators, answers = get_table(home / ANNOTATORS), get_table(home / ANSWERS)
    labels = read_labels_table(get_table(home / CROWD), corpus, annotators, classes)
    check_answers(answers, labels)
    history, rules = _read_history(home, HISTORY), require_entry(config, "rules")
    annotator_arrays = get_arrays(home / ANNOTATOR_ARRAYS)
    return RunRecord(
        config=config,
        labels=labels,
        corpus=corpus,
        estimate=_read_estimate(config, answers, labels, annotator_arrays, history),
        views={view: read_view(answers, prefix, classes) for view, prefix in view_prefixes(answers, classes).items()},
        model=get_arrays(home / MODEL),
        annotator_arrays=annotator_arrays,
        annotators=annotators,
        history=history,
        audit=tuple(
            require(row, dict, RULES) for row in require_finite(require(get_json(home / RULES), list, RULES), RULES)
        ),
        refit_history=_read_history(home, REFIT_HISTORY) if REFIT_HISTORY in files else (),
        rules=None if rules is None else get_rules(home, rules, files),
    )


def _read_classes(config: Mapping[str, Any]) -> Classes:
    """The classes: texts, whole numbers or true and false, each once."""
    classes = require_entry(config, "classes", list)
    if not are_class_names(classes):
        raise InvalidValueError(f"classes is {classes!r:.80}")
    return tuple(classes)


def _read_estimate(
    config: Mapping[str, Any],
    answers: pl.DataFrame,
    labels: CrowdLabels,
    annotator_arrays: NamedArrays,
    history: tuple[Mapping[str, Any], ...],
) -> Estimate:
    """The answers with stated beliefs and the confusion matrices; its trace is the stopping score of each epoch."""
    confidence = require(config.get("confidence", {}), Mapping, "confidence")
    return Estimate(
        method=require_entry(require_entry(config, "method", dict), "name", str, where="method"),
        beliefs=read_view(answers, STATED, labels.classes),
        answer=read_answer(answers, labels.classes),
        items=labels.items,
        classes=labels.classes,
        offsets=labels.offsets,
        annotators=labels.annotators,
        confusion=_read_confusion(annotator_arrays, labels),
        trace=np.array([_stopping_score(row) for row in history]),
        calibration=read_calibration(confidence.get("answers")),
    )


def _read_confusion(arrays: NamedArrays, labels: CrowdLabels) -> Floats | None:
    """confusion[j, m, n], where the annotator model has one."""
    confusion = arrays.get(CONFUSION)
    if confusion is not None:
        expected = (len(labels.annotators), labels.n_classes, labels.n_classes)
        require_floats(confusion, expected, f"{ANNOTATOR_ARRAYS}: {CONFUSION}", gaps=True)
    return confusion


def _read_audit(home: Path) -> tuple[dict[str, Any], ...]:
    rows = require_finite(require(get_json(home / RULES), list, RULES), RULES)
    return tuple(require(row, dict, RULES) for row in rows)


def _read_history(home: Path, file: str) -> tuple[dict[str, Any], ...]:
    return tuple(require_finite(require(row, dict, f"a line of {file}"), file) for row in get_lines(home / file))


def _stopping_score(row: Mapping[str, Any]) -> float:
    value = require_entry(row, "stopping", where="a line of the history")
    return np.nan if value is None else float(require(value, (int, float), "stopping"))
