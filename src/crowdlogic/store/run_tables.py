"""The tables of a run directory: labels, items and answers as Parquet holds them, and back.

What is read is checked: the columns that are needed, their types, gaps, and whether the tables have the same units
and classes in the same order.

Axes: i unit, j annotator, k class.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import Any

import numpy as np
import polars as pl

from crowdlogic.data.corpus import Corpus
from crowdlogic.data.estimate import Beliefs, Estimate
from crowdlogic.data.labels import CrowdLabels
from crowdlogic.data.names import Classes, as_text, find
from crowdlogic.numerics.arrays import Bools, Floats, Ints
from crowdlogic.store.damage import InvalidValueError
from crowdlogic.store.layout import ANNOTATORS, ANSWERS, CONFIG, CROWD, ITEMS

STATED = "p_"
"""The columns of labels.parquet with the stated beliefs begin with this, followed by the class."""

VIEWS = {"p": "classifier_", "q_a": "crowd_", "q_b": "rules_", "q_f": "mixed_"}
"""The columns that hold beliefs as they were learnt: each view's prefix, followed by the class."""

EARLIER_VIEWS = {"q_f": STATED, "p": "classifier_", "q_a": "crowd_", "q_b": "rules_"}
"""The same in runs whose stated beliefs are those that were learnt."""

ROUNDING = 1e-6
"""How far a probability may lie outside 0 and 1."""


def answers_table(labels: CrowdLabels, estimate: Estimate, views: Mapping[str, Beliefs]) -> pl.DataFrame:
    """labels.parquet: one row per unit."""
    columns: dict[str, Any] = {"item": _item_names(labels)}
    if estimate.offsets is not None:
        lengths = np.diff(estimate.offsets)
        # token[i]: the place of unit i in its sequence, counted from 1
        columns["token"] = np.arange(len(estimate.answer)) - np.repeat(estimate.offsets[:-1], lengths) + 1
    columns["answer"] = pl.Series(estimate.answer_names())
    columns["confidence"] = pl.Series(estimate.confidence).fill_nan(None)
    columns |= {f"{STATED}{name}": estimate.beliefs[:, k] for k, name in enumerate(estimate.classes)}
    for view, prefix in VIEWS.items():
        columns |= {f"{prefix}{name}": views[view][:, k] for k, name in enumerate(estimate.classes)}
    return pl.DataFrame(columns)


def _item_names(labels: CrowdLabels) -> pl.Series:
    """The name of the item of each unit."""
    return labels.items.gather(labels.item_of_unit)


def view_prefixes(answers: pl.DataFrame, classes: Classes) -> Mapping[str, str]:
    """The prefixes of the columns that hold beliefs as they were learnt."""
    return VIEWS if any(f"{VIEWS['q_f']}{name}" in answers.columns for name in classes) else EARLIER_VIEWS


def check_answers(answers: pl.DataFrame, labels: CrowdLabels) -> None:
    """Raise unless the answers are of the same units and classes as the rest of the run, in the same order."""
    prefixes = dict.fromkeys([STATED, *view_prefixes(answers, labels.classes).values()])
    names = [f"{prefix}{name}" for prefix in prefixes for name in labels.classes]
    _require_columns(answers, ["item", "answer", *names], ANSWERS)
    if answers.columns[-len(names) :] != names:
        raise InvalidValueError(f"{CONFIG} and {ANSWERS} have the classes in different orders")
    if answers["item"].to_list() != _item_names(labels).to_list():
        raise InvalidValueError(f"{ANSWERS} and {ITEMS} are not of the same items")


def _require_columns(table: pl.DataFrame, names: list[str], file: str) -> None:
    """Refuse a table without these columns, or with lists in one of them."""
    missing = [name for name in names if name not in table.columns]
    if missing:
        raise InvalidValueError(f"{file}: no column {missing[0]!r}")
    nested = [name for name in names if table.schema[name].is_nested() or table.schema[name] == pl.Object]
    if nested:
        raise InvalidValueError(f"{file}: {nested[0]} holds what does not belong there")


def read_view(answers: pl.DataFrame, prefix: str, classes: Classes) -> Beliefs:
    """The beliefs [i, k] whose columns begin with a prefix."""
    found = answers.select([f"{prefix}{name}" for name in classes])
    for column in found:
        if column.dtype != pl.Float64 or column.null_count() or not column.is_between(-ROUNDING, 1 + ROUNDING).all():
            raise InvalidValueError(f"{ANSWERS}: {column.name} holds what is no probability")
    return found.to_numpy().reshape(len(answers), len(classes))


def read_answer(answers: pl.DataFrame, classes: Classes) -> Ints:
    """answer[i], the code of the class that each unit was given."""
    answer = find(as_text(answers["answer"]), pl.Series([str(name) for name in classes], dtype=pl.String))
    if (answer < 0).any():
        raise InvalidValueError(f"{ANSWERS}: an answer is none of the classes")
    return answer


def labels_table(labels: CrowdLabels) -> pl.DataFrame:
    """crowd.parquet: one row per label, as codes."""
    columns: dict[str, Any] = {"unit": labels.unit, "annotator": labels.annotator, "label": labels.label}
    known = {name: getattr(labels, name) for name in ("weight", "time", "negated")}
    columns |= {name: column for name, column in known.items() if column is not None}
    return pl.DataFrame(columns)


def read_labels_table(table: pl.DataFrame, corpus: Corpus, annotators: pl.DataFrame, classes: Classes) -> CrowdLabels:
    """The labels, from crowd.parquet and the names in the other tables."""
    _require_columns(table, ["unit", "annotator", "label"], CROWD)
    _require_columns(annotators, ["annotator"], ANNOTATORS)
    unit, annotator, label = (_whole_numbers(table, name, CROWD) for name in ("unit", "annotator", "label"))
    weight, time = (_numbers(table, name, CROWD) if name in table.columns else None for name in ("weight", "time"))
    kind = None
    if "kind" in annotators.columns:
        if annotators["kind"].dtype != pl.String or annotators["kind"].null_count():
            raise InvalidValueError(f"{ANNOTATORS}: kind holds what is no text")
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
        negated=_truth_values(table, "negated", CROWD) if "negated" in table.columns else None,
        kind=kind,
    )


def _whole_numbers(table: pl.DataFrame, name: str, file: str) -> Ints:
    """A column of whole numbers without gaps."""
    if not table[name].dtype.is_integer() or table[name].null_count():
        raise InvalidValueError(f"{file}: {name} holds what is no whole number")
    return table[name].to_numpy()


def _truth_values(table: pl.DataFrame, name: str, file: str) -> Bools:
    """A column of true and false without gaps."""
    if table[name].dtype != pl.Boolean or table[name].null_count():
        raise InvalidValueError(f"{file}: {name} holds what is neither true nor false")
    return table[name].to_numpy()


def _numbers(table: pl.DataFrame, name: str, file: str) -> Floats:
    """A column of numbers, NaN among them, without gaps."""
    if not table[name].dtype.is_numeric() or table[name].null_count():
        raise InvalidValueError(f"{file}: {name} holds what is no number")
    return table[name].to_numpy()


def items_table(corpus: Corpus) -> pl.DataFrame:
    """items.parquet: one row per item, with its text or its tokens, and its gold as codes."""
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
    """What each unit has as one list per sequence."""
    bounds = [] if corpus.offsets is None else corpus.offsets.tolist()
    return pl.Series([list(values[begin:end]) for begin, end in pairwise(bounds)], dtype=pl.List(kind))


def read_items_table(table: pl.DataFrame, features: Floats | None, classes: Classes) -> Corpus:
    """The items, from items.parquet and their features."""
    _require_columns(table, ["item"], ITEMS)
    known = ("text", "tokens", "gold", "start", "end")
    columns: dict[str, pl.Series] = {name: table[name] for name in known if name in table.columns}
    offsets = None
    if "length" in table.columns:
        lengths = _whole_numbers(table, "length", ITEMS)
        if (lengths < 0).any():
            raise InvalidValueError(f"{ITEMS}: length holds what is no length")
        offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        of_units = {name: _flatten(series, lengths, name) for name, series in columns.items() if name != "text"}
        columns |= of_units
    for name, series in columns.items():
        is_text = name in ("text", "tokens")
        if series.null_count() or not (series.dtype == pl.String if is_text else series.dtype.is_integer()):
            raise InvalidValueError(f"{ITEMS}: {name} holds what does not belong there")
    return Corpus(
        items=table["item"],
        offsets=offsets,
        features=features,
        classes=classes,
        texts=tuple(columns["text"].to_list()) if "text" in columns else None,
        tokens=tuple(columns["tokens"].to_list()) if "tokens" in columns else None,
        bounds=_bounds(columns),
        gold=columns["gold"].to_numpy() if "gold" in columns else None,
    )


def _bounds(columns: dict[str, pl.Series]) -> Ints | None:
    """The places of the tokens in their texts, where the table has them."""
    if "start" not in columns or "end" not in columns:
        return None
    return np.column_stack([columns["start"].to_numpy(), columns["end"].to_numpy()])


def _flatten(series: pl.Series, lengths: Ints, name: str) -> pl.Series:
    """What `_split` made, as one value per unit again."""
    if not isinstance(series.dtype, pl.List):
        raise InvalidValueError(f"{ITEMS}: {name} holds what does not belong there")
    return series.filter(pl.Series(lengths > 0)).explode()  # an empty list would explode to a missing value
