"""Reading and writing of finished runs as plain data, for learning and for reports.

Axes: i unit, j annotator, k class, m true class, n given label.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from crowdlogic.data.corpus import Corpus
from crowdlogic.data.estimate import Beliefs, Estimate
from crowdlogic.data.labels import CrowdLabels
from crowdlogic.data.names import Classes, as_text, find
from crowdlogic.data.reading import write_estimate
from crowdlogic.errors import OptionError
from crowdlogic.numerics.arrays import Floats, Ints
from crowdlogic.store.checksums import CHECKSUMS, check_checksums, sha256, write_checksums
from crowdlogic.store.estimates import read_calibration
from crowdlogic.store.files import (
    ANNOTATOR_ARRAYS,
    ANNOTATORS,
    ANSWERS,
    CLEAN_LABELS,
    CLEAN_TAGS,
    CONFIG,
    CROWD,
    FEATURES,
    HISTORY,
    ITEMS,
    MODEL,
    REFIT_HISTORY,
    RULES,
    TABLES,
    WORDS,
    InvalidValueError,
    NamedArrays,
    Status,
    are_class_names,
    get_arrays,
    get_json,
    get_lines,
    get_table,
    json_bytes,
    make_own_folder,
    put_arrays,
    put_bytes,
    put_json,
    put_lines,
    put_table,
    read_config,
    read_own_bytes,
    reading,
    require,
    require_entry,
    require_finite,
    require_floats,
    sync_file,
)

# Conversion of labels, items and answers to the Parquet tables of a run and back.
#
# Reading validates the required columns, their types, missing values, and whether the tables have the same units and
# classes in the same order.
#
# Axes: i unit, j annotator, k class.

STATED = "p_"
"""Prefix of the columns of labels.parquet with calibrated beliefs, followed by the class."""

VIEWS = {"p": "classifier_", "q_a": "crowd_", "q_b": "rules_", "q_f": "mixed_"}
"""Prefixes of the columns with uncalibrated beliefs: those of the classifier, the crowd, the rules, and their mixture.
The prefix is followed by the class."""

ROUNDING = 1e-6
"""Tolerance for probabilities outside 0 and 1."""


def answers_table(labels: CrowdLabels, estimate: Estimate, views: Mapping[str, Beliefs]) -> pl.DataFrame:
    """Return the table labels.parquet, with one row per unit."""
    columns: dict[str, Any] = {"item": _item_names(labels)}
    if estimate.offsets is not None:
        lengths = np.diff(estimate.offsets)
        # token[i]: the position of unit i in its sequence, from 1
        columns["token"] = np.arange(len(estimate.answer)) - np.repeat(estimate.offsets[:-1], lengths) + 1
    columns["answer"] = pl.Series(estimate.answer_names())
    columns["confidence"] = pl.Series(estimate.confidence).fill_nan(None)
    columns |= {f"{STATED}{name}": estimate.beliefs[:, k] for k, name in enumerate(estimate.classes)}
    for view, prefix in VIEWS.items():
        columns |= {f"{prefix}{name}": views[view][:, k] for k, name in enumerate(estimate.classes)}
    return pl.DataFrame(columns)


def _item_names(labels: CrowdLabels) -> pl.Series:
    """Return the name of the item of each unit."""
    return labels.items.gather(labels.item_of_unit)


def check_answers(answers: pl.DataFrame, labels: CrowdLabels) -> None:
    """Raise an error unless the answers have the same units and classes, in the same order, as the rest of the run."""
    names = [f"{prefix}{name}" for prefix in (STATED, *VIEWS.values()) for name in labels.classes]
    _require_columns(answers, ["item", "answer", *names], ANSWERS)
    if answers.columns[-len(names) :] != names:
        raise InvalidValueError(f"{CONFIG} and {ANSWERS} have the classes in different orders")
    if answers["item"].to_list() != _item_names(labels).to_list():
        raise InvalidValueError(f"{ANSWERS} and {ITEMS} have different items")


def _require_columns(table: pl.DataFrame, names: list[str], file: str) -> None:
    """Raise an error for a table that lacks these columns, or with lists in one of them."""
    missing = [name for name in names if name not in table.columns]
    if missing:
        raise InvalidValueError(f"{file}: no column {missing[0]!r}")
    nested = [name for name in names if table.schema[name].is_nested() or table.schema[name] == pl.Object]
    if nested:
        raise InvalidValueError(f"{file}: {nested[0]} contains invalid values")


def read_view(answers: pl.DataFrame, prefix: str, classes: Classes) -> Beliefs:
    """Return the beliefs [i, k] in the columns with a prefix."""
    found = answers.select([f"{prefix}{name}" for name in classes])
    for column in found:
        if column.dtype != pl.Float64 or column.null_count() or not column.is_between(-ROUNDING, 1 + ROUNDING).all():
            raise InvalidValueError(f"{ANSWERS}: {column.name} contains values that are not probabilities")
    return found.to_numpy().reshape(len(answers), len(classes))


def read_answer(answers: pl.DataFrame, classes: Classes) -> Ints:
    """Return answer[i], the class code of each unit's answer."""
    answer = find(as_text(answers["answer"]), pl.Series([str(name) for name in classes], dtype=pl.String))
    if (answer < 0).any():
        raise InvalidValueError(f"{ANSWERS}: an answer is not one of the classes")
    return answer


def labels_table(labels: CrowdLabels) -> pl.DataFrame:
    """Return the table crowd.parquet, with one row of codes per label."""
    columns: dict[str, Any] = {"unit": labels.unit, "annotator": labels.annotator, "label": labels.label}
    known = {name: getattr(labels, name) for name in ("weight", "time", "negated")}
    columns |= {name: column for name, column in known.items() if column is not None}
    return pl.DataFrame(columns)


def read_labels_table(table: pl.DataFrame, corpus: Corpus, annotators: pl.DataFrame, classes: Classes) -> CrowdLabels:
    """Return the labels from crowd.parquet, with the names from the other tables."""
    _require_columns(table, ["unit", "annotator", "label"], CROWD)
    _require_columns(annotators, ["annotator"], ANNOTATORS)
    unit, annotator, label = (_whole_numbers(table, name, CROWD) for name in ("unit", "annotator", "label"))
    weight, time = (_numbers(table, name, CROWD) if name in table.columns else None for name in ("weight", "time"))
    negated = None
    if "negated" in table.columns:
        if table["negated"].dtype != pl.Boolean or table["negated"].null_count():
            raise InvalidValueError(f"{CROWD}: negated contains values that are neither true nor false")
        negated = table["negated"].to_numpy()
    kind = None
    if "kind" in annotators.columns:
        if annotators["kind"].dtype != pl.String or annotators["kind"].null_count():
            raise InvalidValueError(f"{ANNOTATORS}: kind contains values that are not text")
        kind = tuple(annotators["kind"].to_list())
    return CrowdLabels(
        unit=unit,
        annotator=annotator,
        label=label,
        items=corpus.items,
        annotators=annotators["annotator"],
        classes=classes,
        offsets=corpus.offsets,
        weight=weight,
        time=time,
        negated=negated,
        kind=kind,
    )


def _whole_numbers(table: pl.DataFrame, name: str, file: str) -> Ints:
    """Return a column of integers without missing values."""
    if not table[name].dtype.is_integer() or table[name].null_count():
        raise InvalidValueError(f"{file}: {name} contains values that are not integers")
    return table[name].to_numpy()


def _numbers(table: pl.DataFrame, name: str, file: str) -> Floats:
    """Return a column of numbers, possibly NaN, without missing values."""
    if not table[name].dtype.is_numeric() or table[name].null_count():
        raise InvalidValueError(f"{file}: {name} contains values that are not numbers")
    return table[name].to_numpy()


def items_table(corpus: Corpus) -> pl.DataFrame:
    """Return the table items.parquet, with one row per item: its text or tokens, and its gold as codes."""
    columns: dict[str, Any] = {"item": corpus.items}
    if corpus.texts is not None:
        columns["text"] = pl.Series(corpus.texts, dtype=pl.String)
    if corpus.offsets is not None:
        columns["length"] = np.diff(corpus.offsets)
        columns |= {} if corpus.tokens is None else {"tokens": _split(corpus.tokens, corpus, pl.String)}
    if corpus.bounds is not None:
        columns["start"], columns["end"] = (_split(side.tolist(), corpus, pl.Int64) for side in corpus.bounds.T)
    if corpus.gold is not None:
        columns["gold"] = corpus.gold if corpus.offsets is None else _split(corpus.gold.tolist(), corpus, pl.Int32)
    return pl.DataFrame(columns)


def _split(values: Any, corpus: Corpus, kind: Any) -> pl.Series:
    """Return the values of units as one list per sequence."""
    bounds = [] if corpus.offsets is None else corpus.offsets.tolist()
    return pl.Series([list(values[begin:end]) for begin, end in pairwise(bounds)], dtype=pl.List(kind))


def read_items_table(table: pl.DataFrame, features: Floats | None, classes: Classes) -> Corpus:
    """Return the items from items.parquet and their features."""
    _require_columns(table, ["item"], ITEMS)
    known = ("text", "tokens", "gold", "start", "end")
    columns: dict[str, pl.Series] = {name: table[name] for name in known if name in table.columns}
    offsets = None
    if "length" in table.columns:
        lengths = _whole_numbers(table, "length", ITEMS)
        if (lengths < 0).any():
            raise InvalidValueError(f"{ITEMS}: length contains invalid lengths")
        offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        of_units = {name: _flatten(series, lengths, name) for name, series in columns.items() if name != "text"}
        columns |= of_units
    for name, series in columns.items():
        is_text = name in ("text", "tokens")
        if series.null_count() or not (series.dtype == pl.String if is_text else series.dtype.is_integer()):
            raise InvalidValueError(f"{ITEMS}: {name} contains invalid values")
    bounds = [columns[name].to_numpy() for name in ("start", "end") if name in columns]
    return Corpus(
        items=table["item"],
        offsets=offsets,
        features=features,
        classes=classes,
        texts=tuple(columns["text"].to_list()) if "text" in columns else None,
        tokens=tuple(columns["tokens"].to_list()) if "tokens" in columns else None,
        bounds=np.column_stack(bounds) if len(bounds) == 2 else None,
        gold=columns["gold"].to_numpy() if "gold" in columns else None,
    )


def _flatten(series: pl.Series, lengths: Ints, name: str) -> pl.Series:
    """Return the inverse of `_split`: one value per unit."""
    if not isinstance(series.dtype, pl.List):
        raise InvalidValueError(f"{ITEMS}: {name} contains invalid values")
    return series.filter(pl.Series(lengths > 0)).explode()  # an empty list would explode to a missing value


# Rules in a run directory: the text in config.json, tables of facts and word lists in subfolders.
#
# No file outside the run is needed, so the run can be moved. No file outside is read, whatever config.json contains.


@dataclass(frozen=True, kw_only=True, eq=False)
class PackedRules:
    """Rules as plain data.

    Attributes:
        text: The rules as in a rule file; included files are inserted.
        source: Name of the text in messages.
        tables: Predicate name -> facts, with a column per argument, and `truth` if it is not always 1.
        table_sources: Name of each table in messages.
        word_lists: Name in the rules (a file name without a folder) -> content of the word list.
        functions: Predicates registered from Python, which are not saved.
    """

    text: str
    source: str = "the rules"
    tables: Mapping[str, pl.DataFrame] = field(default_factory=dict)
    table_sources: Mapping[str, str] = field(default_factory=dict)
    word_lists: Mapping[str, bytes] = field(default_factory=dict)
    functions: tuple[str, ...] = ()


def put_rules(folder: Path, packed: PackedRules) -> tuple[dict[str, Any], dict[str, str]]:
    """Write tables and word lists to a run; return the entry for config.json, and the SHA-256 of each file."""
    sums = {}
    for name, frame in packed.tables.items():
        sums[f"{TABLES}/{name}.parquet"] = put_table(make_own_folder(folder, TABLES) / f"{name}.parquet", frame)
    for name, content in packed.word_lists.items():
        sums[f"{WORDS}/{name}"] = put_bytes(make_own_folder(folder, WORDS) / name, content)
    noted = {
        "source": packed.source,
        "text": packed.text,
        "tables": dict(packed.table_sources),
        "functions": list(packed.functions),
    }
    return noted, sums


def get_rules(folder: Path, stored: Any, files: Collection[str]) -> PackedRules:
    """Read rules written by `put_rules`.

    Args:
        folder: Folder of the run.
        stored: Entry for the rules in config.json.
        files: Names of the files of the run; no others are read.
    """
    sources = require_entry(stored, "tables", Mapping, where="rules")
    functions = require_entry(stored, "functions", list, where="rules")
    for name, source in sources.items():
        if not (name.isidentifier() and name.isascii()):
            raise InvalidValueError(f"{name!r} is not a valid table name")
        require(source, str, f"rules: {name}")
        if f"{TABLES}/{name}.parquet" not in files:
            raise InvalidValueError(f"no {TABLES}/{name}.parquet")
    return PackedRules(
        text=require_entry(stored, "text", str, where="rules"),
        source=require_entry(stored, "source", str, where="rules"),
        tables={name: get_table(folder / TABLES / f"{name}.parquet") for name in sources},
        table_sources=dict(sources),
        word_lists={
            file.removeprefix(f"{WORDS}/"): read_own_bytes(folder / file)
            for file in sorted(files)
            if file.startswith(f"{WORDS}/")
        },
        functions=tuple(require(name, str, "rules: functions") for name in functions),
    )


NEEDED = (CONFIG, MODEL, ANNOTATOR_ARRAYS, ANSWERS, ANNOTATORS, CROWD, ITEMS, RULES, HISTORY)
"""Files that every run contains."""

CONFUSION = "confusion"


@dataclass(frozen=True, eq=False, kw_only=True)
class RunRecord:
    """Finished run as plain data.

    Attributes:
        config: Content of config.json.
        labels: The labels used for training.
        corpus: The items.
        estimate: The answers, with calibrated beliefs, and the confusion matrices.
        views: p, q_a, q_b and q_f, each [i, k]: the beliefs of the classifier, of the crowd with the classifier, of
            the rules, and of their mixture, before calibration.
        model: Arrays of the classifier.
        annotator_arrays: Arrays of the annotator model by name, including confusion[j, m, n].
        annotators: Table with a row per annotator: `annotator`, `kind` if known, and further columns.
        history: A mapping for each epoch of the pass that determined the number of epochs.
        audit: A mapping for each rule with its individual effect.
        refit_history: A mapping for each epoch of the second pass, with all labels; empty without one.
        rules: The rules used for training; None without rules.
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
    """Write a run. config.json, which marks it as done, is written last, after the checksums of all files."""
    arrays = {MODEL: run.model, ANNOTATOR_ARRAYS: run.annotator_arrays}
    if run.corpus.features is not None:
        arrays[FEATURES] = {"features": np.asarray(run.corpus.features)}
        if run.corpus.feature_names:
            arrays[FEATURES]["names"] = np.frombuffer(json.dumps(run.corpus.feature_names).encode(), dtype=np.uint8)
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
    clean = CLEAN_LABELS if run.estimate.offsets is None else CLEAN_TAGS
    write_estimate(folder / clean, run.estimate, corpus=run.corpus)
    sums[clean] = sync_file(folder / clean)
    rules, packed = (None, {}) if run.rules is None else put_rules(folder, run.rules)
    config = json_bytes({**run.config, "rules": rules, "status": Status.done})
    write_checksums(folder, sums | packed | {CONFIG: sha256(config)})
    put_bytes(folder / CONFIG, config)


def read_run(folder: str | Path) -> RunRecord:
    """Read a finished run."""
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
                raise InvalidValueError(f"{CHECKSUMS} has no checksum for {file}")
        return _read(home, config, files)


def _read(home: Path, config: Mapping[str, Any], files: frozenset[str]) -> RunRecord:
    """Read a run from its files with a checksum."""
    classes = _read_classes(config)
    arrays = get_arrays(home / FEATURES) if FEATURES in files else {}
    corpus = read_items_table(get_table(home / ITEMS), arrays.get("features"), classes)
    if "names" in arrays:
        corpus = replace(corpus, feature_names=tuple(map(str, json.loads(arrays["names"].tobytes()))))
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
        views={view: read_view(answers, prefix, classes) for view, prefix in VIEWS.items()},
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
    """Return the classes, which must be unique text, integers or booleans."""
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
    """Return the answers with calibrated beliefs and the confusion matrices; the trace contains the stopping scores."""
    confidence = require(config.get("confidence", {}), Mapping, "confidence")
    stopping = [require_entry(row, "stopping", where="a line of the history") for row in history]
    return Estimate(
        method=require_entry(require_entry(config, "method", dict), "name", str, where="method"),
        beliefs=read_view(answers, STATED, labels.classes),
        answer=read_answer(answers, labels.classes),
        items=labels.items,
        classes=labels.classes,
        offsets=labels.offsets,
        annotators=labels.annotators,
        confusion=_read_confusion(annotator_arrays, labels),
        trace=np.array([np.nan if one is None else float(require(one, (int, float), "stopping")) for one in stopping]),
        calibration=read_calibration(confidence.get("answers")),
    )


def _read_confusion(arrays: NamedArrays, labels: CrowdLabels) -> Floats | None:
    """Return confusion[j, m, n]; None if the annotator model has none."""
    confusion = arrays.get(CONFUSION)
    if confusion is not None:
        expected = (len(labels.annotators), labels.n_classes, labels.n_classes)
        require_floats(confusion, expected, f"{ANNOTATOR_ARRAYS}: {CONFUSION}", gaps=True)
    return confusion


def _read_history(home: Path, file: str) -> tuple[dict[str, Any], ...]:
    return tuple(require_finite(require(row, dict, f"a line of {file}"), file) for row in get_lines(home / file))
