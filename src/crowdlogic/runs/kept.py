"""What a finished run keeps, written and read: plain data, which learning makes into a model again and reports show.

Axes: i unit, j annotator, k class, m true class, n given label.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from crowdlogic.classifiers.protocol import PROGRESS
from crowdlogic.data.corpus import Corpus
from crowdlogic.data.estimate import Beliefs, Estimate
from crowdlogic.data.labels import CrowdLabels
from crowdlogic.data.names import Classes, as_text, find
from crowdlogic.errors import FormatError, OptionError
from crowdlogic.rules.audit import RuleAudit, Verdict
from crowdlogic.runs.claiming import Status, read_config
from crowdlogic.runs.damage import needed, undamaged
from crowdlogic.runs.files import (
    AGAIN,
    ANNOTATORS,
    ANSWERS,
    CONFIG,
    CONFUSION,
    CROWD,
    FEATURES,
    HISTORY,
    ITEMS,
    MODEL,
    RULES,
    get_arrays,
    get_json,
    get_lines,
    get_table,
    put_arrays,
    put_json,
    put_lines,
    put_table,
)
from crowdlogic.truth.annotators import annotator_table

VIEWS = {"q_f": "p_", "p": "classifier_", "q_a": "crowd_", "q_b": "rules_"}
"""Whose beliefs stand in labels.parquet under which columns: prefix and class."""


@dataclass(frozen=True, eq=False)
class Kept:
    """A run that is done, as plain data.

    Attributes:
        config: What config.json holds.
        labels: The labels that it learnt from.
        corpus: The items.
        estimate: The answers (q_f) and the confusion matrices.
        views: p, q_a, q_b and q_f, each [i, k]: what the classifier, the crowd with it, and the rules believe.
        model: What the classifier knows.
        history: A mapping for each epoch of the pass that chose their number.
        audit: What each rule does, alone.
        again: A mapping for each epoch of the second pass, with all labels; empty without one.
    """

    config: Mapping[str, Any]
    labels: CrowdLabels
    corpus: Corpus
    estimate: Estimate
    views: Mapping[str, Beliefs]
    model: dict[str, NDArray[Any]]
    history: tuple[Mapping[str, Any], ...]
    audit: tuple[RuleAudit, ...] = ()
    again: tuple[Mapping[str, Any], ...] = ()

    @property
    def annotators(self) -> pl.DataFrame:
        """One row per annotator: `annotator_table`, and what kind each is where that is known."""
        table = annotator_table(self.labels, self.estimate)
        return table if self.labels.kind is None else table.with_columns(kind=pl.Series(self.labels.kind))


def write_run(folder: Path, kept: Kept) -> None:
    """Write a run; config.json, which then says that it is done, comes last."""
    model = {name: array for name, array in kept.model.items() if not name.startswith(PROGRESS)}
    put_arrays(folder / MODEL, model)
    put_table(folder / ANSWERS, _answers(kept))
    put_table(folder / ANNOTATORS, kept.annotators)
    put_arrays(folder / CONFUSION, {"confusion": _confusion(kept)})
    put_table(folder / CROWD, _crowd(kept.labels))
    put_table(folder / ITEMS, _items(kept.corpus))
    if kept.corpus.features is not None:
        put_arrays(folder / FEATURES, {"features": np.asarray(kept.corpus.features)})
    put_json(folder / RULES, [asdict(one) for one in kept.audit])
    put_lines(folder / HISTORY, kept.history)
    if kept.again:
        put_lines(folder / AGAIN, kept.again)
    put_json(folder / CONFIG, {**kept.config, "status": Status.done})


def read_run(folder: str | Path) -> Kept:
    """Read a run that is done."""
    home = Path(folder)
    config = read_config(home)
    if config["status"] != Status.done:
        raise OptionError(
            f"{home}: the run is not done ({config['status']}). Finish it: crowdlogic train --resume -o {home}"
        )
    with undamaged(home):
        return _read(home, config)


def _read(home: Path, config: Mapping[str, Any]) -> Kept:
    classes: Classes = tuple(needed(config["classes"], list, "classes"))
    corpus = _read_items(home, classes)
    annotators = get_table(home / ANNOTATORS)
    labels = _read_crowd(home, corpus, annotators, classes)
    answers = get_table(home / ANSWERS)
    _check_answers(home, answers, labels)
    views = {view: _columns(answers, prefix, classes) for view, prefix in VIEWS.items()}
    history, again = _read_epochs(home, HISTORY), _read_epochs(home, AGAIN) if (home / AGAIN).is_file() else ()
    return Kept(
        config,
        labels,
        corpus,
        _read_estimate(home, config, answers, views["q_f"], labels, history),
        views,
        get_arrays(home / MODEL),
        history,
        tuple(map(_audited, needed(get_json(home / RULES), list, RULES))),
        again,
    )


def _read_epochs(home: Path, file: str) -> tuple[dict[str, Any], ...]:
    return tuple(needed(row, dict, f"a line of {file}") for row in get_lines(home / file))


def _answers(kept: Kept) -> pl.DataFrame:
    """labels.parquet: one row per unit."""
    estimate = kept.estimate
    columns: dict[str, Any] = {"item": _item_of_unit(kept.labels)}
    if estimate.offsets is not None:
        lengths = np.diff(estimate.offsets)
        columns["token"] = np.arange(len(estimate.answer)) - np.repeat(estimate.offsets[:-1], lengths) + 1
    columns["answer"] = pl.Series(estimate.answer_names())
    columns["confidence"] = pl.Series(estimate.confidence).fill_nan(None)
    for view, prefix in VIEWS.items():
        beliefs = kept.views[view]
        columns |= {f"{prefix}{name}": beliefs[:, k] for k, name in enumerate(estimate.classes)}
    return pl.DataFrame(columns)


def _item_of_unit(labels: CrowdLabels) -> pl.Series:
    return labels.items.gather(labels.item_of_unit)


def _check_answers(home: Path, answers: pl.DataFrame, labels: CrowdLabels) -> None:
    """Raise unless the answers are of the same units and classes as the rest of the run, in the same order."""
    names = [f"{prefix}{name}" for prefix in VIEWS.values() for name in labels.classes]
    missing = [name for name in names if name not in answers.columns]
    if missing:
        raise FormatError(f"{home / ANSWERS}: no column {missing[0]!r}. The run is damaged.")
    if answers.columns[-len(names) :] != names:
        raise FormatError(f"{home}: the run is damaged ({CONFIG} and {ANSWERS} have the classes in different orders).")
    if answers["item"].to_list() != _item_of_unit(labels).to_list():
        raise FormatError(f"{home}: the run is damaged ({ANSWERS} and {ITEMS} are not of the same items).")


def _columns(answers: pl.DataFrame, prefix: str, classes: Classes) -> Beliefs:
    found = answers.select([f"{prefix}{name}" for name in classes])
    odd = [name for name, kind in found.schema.items() if kind != pl.Float64 or found[name].null_count()]
    if odd:
        raise TypeError(f"{ANSWERS}: {odd[0]} holds what is no probability")
    return found.to_numpy().reshape(len(answers), len(classes))


def _whole(table: pl.DataFrame, name: str, file: str) -> NDArray[Any]:
    """A column of whole numbers without gaps."""
    if not table[name].dtype.is_integer() or table[name].null_count():
        raise TypeError(f"{file}: {name} holds what is no whole number")
    return table[name].to_numpy()


def _crowd(labels: CrowdLabels) -> pl.DataFrame:
    columns: dict[str, Any] = {"unit": labels.unit, "annotator": labels.annotator, "label": labels.label}
    columns |= {name: getattr(labels, name) for name in ("weight", "time") if getattr(labels, name) is not None}
    return pl.DataFrame(columns)


def _read_crowd(home: Path, corpus: Corpus, annotators: pl.DataFrame, classes: Classes) -> CrowdLabels:
    table = get_table(home / CROWD)
    unit, annotator, label = (_whole(table, name, CROWD) for name in ("unit", "annotator", "label"))
    weight, time = (table[name].to_numpy() if name in table.columns else None for name in ("weight", "time"))
    kind = tuple(annotators["kind"].to_list()) if "kind" in annotators.columns else None
    unit, annotator, label = (_whole(table, name, CROWD) for name in ("unit", "annotator", "label"))
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
        kind=kind,
    )


def _items(corpus: Corpus) -> pl.DataFrame:
    """items.parquet: one row per item, with its text or its tokens, and its gold as codes."""
    columns: dict[str, Any] = {"item": corpus.items}
    if corpus.texts is not None:
        columns["text"] = pl.Series(corpus.texts, dtype=pl.String)
    if corpus.offsets is not None:
        columns["length"] = np.diff(corpus.offsets)
        columns |= {} if corpus.tokens is None else {"tokens": _lists(corpus.tokens, corpus, pl.String)}
    if corpus.gold is not None:
        columns["gold"] = corpus.gold if corpus.offsets is None else _lists(corpus.gold.tolist(), corpus, pl.Int32)
    return pl.DataFrame(columns)


def _lists(values: Any, corpus: Corpus, kind: Any) -> pl.Series:
    bounds = [] if corpus.offsets is None else corpus.offsets.tolist()
    return pl.Series([list(values[begin:end]) for begin, end in pairwise(bounds)], dtype=pl.List(kind))


def _read_items(home: Path, classes: Classes) -> Corpus:
    table = get_table(home / ITEMS)
    flat = {name: table[name] for name in ("text", "tokens", "gold") if name in table.columns}
    offsets = None
    if "length" in table.columns:
        offsets = np.concatenate([[0], np.cumsum(_whole(table, "length", ITEMS))]).astype(np.int64)
        filled = table["length"] > 0  # an empty list would explode to a missing value
        flat = {name: series.filter(filled).explode() for name, series in flat.items()}
    for name, series in flat.items():
        if series.null_count() or not (series.dtype.is_integer() if name == "gold" else series.dtype == pl.String):
            raise TypeError(f"{ITEMS}: {name} holds what does not belong there")
    features = get_arrays(home / FEATURES)["features"] if (home / FEATURES).is_file() else None
    return Corpus(
        table["item"],
        offsets=offsets,
        features=features,
        classes=classes,
        texts=tuple(flat["text"].to_list()) if "text" in flat else None,
        tokens=tuple(flat["tokens"].to_list()) if "tokens" in flat else None,
        gold=flat["gold"].to_numpy() if "gold" in flat else None,
    )


def _read_estimate(
    home: Path,
    config: Mapping[str, Any],
    answers: pl.DataFrame,
    q_f: Beliefs,
    labels: CrowdLabels,
    history: tuple[Mapping[str, Any], ...],
) -> Estimate:
    confusion = get_arrays(home / CONFUSION)["confusion"]
    expected = (len(labels.annotators), labels.n_classes, labels.n_classes)
    if confusion.shape != expected:
        raise ValueError(f"{CONFUSION}: confusion is {confusion.shape} where {expected} is expected")
    answer = find(as_text(answers["answer"]), pl.Series([str(name) for name in labels.classes], dtype=pl.String))
    if (answer < 0).any():
        raise ValueError(f"{ANSWERS}: an answer is none of the classes")
    trace = [_number(row["stopping"]) for row in history]
    method = needed(config["method"]["name"], str, "the name of the method")
    return Estimate(
        method=method,
        beliefs=q_f,
        answer=answer,
        items=labels.items,
        classes=labels.classes,
        offsets=labels.offsets,
        annotators=labels.annotators,
        confusion=confusion,
        trace=np.array(trace),
    )


def _number(value: Any) -> float:
    return np.nan if value is None else float(needed(value, (int, float), "stopping"))


def _confusion(kept: Kept) -> NDArray[Any]:
    size = (len(kept.labels.annotators), kept.labels.n_classes, kept.labels.n_classes)
    return np.full(size, np.nan) if kept.estimate.confusion is None else kept.estimate.confusion


KINDS: Mapping[Any, Any] = {"float": (int, float), "int": int, "int | None": int, "str": str, "Verdict": str}
"""What JSON holds for each type of a RuleAudit's fields."""


def _audited(noted: Any) -> RuleAudit:
    read = {}
    for one in fields(RuleAudit):
        value = needed(noted, dict, RULES)[one.name]
        may_miss = value is None and one.type in ("float", "int | None")
        read[one.name] = value if may_miss else needed(value, KINDS[one.type], f"{RULES}: {one.name}")
        read[one.name] = np.nan if may_miss and one.type == "float" else read[one.name]
    return RuleAudit(**{**read, "verdict": Verdict(read["verdict"])})
