"""Answers in files: what a method says of each item, written and read again; and two of them put side by side.

A table has the columns item, label, confidence and p_<class>; tagged sentences are CoNLL (`token tag`), jsonl or
parquet (item, tokens, tags). No answer is an empty cell, or ? for a token.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from crowdlogic.data.cells import code_labels
from crowdlogic.data.columns import require, roles_of
from crowdlogic.data.conll import NOT_SEEN, write_columns
from crowdlogic.data.corpus import Corpus
from crowdlogic.data.estimate import Beliefs, Estimate
from crowdlogic.data.intake import Source, refuse
from crowdlogic.data.names import Classes, Names, find, listed, sort_classes
from crowdlogic.data.reading import read_corpus
from crowdlogic.data.tables import Format, format_of, read_table
from crowdlogic.data.writing import write_bytes, write_table
from crowdlogic.errors import CorpusError, DataError, OptionError
from crowdlogic.numerics.arrays import Ints

NO_ANSWER = -1
PROBABILITY = "p_"


@dataclass(frozen=True, eq=False)
class Answers:
    """One class per unit, with the beliefs behind it when they are known.

    Attributes:
        items: The name of each item.
        classes: The classes.
        answer: answer[i], NO_ANSWER where there is none.
        beliefs: q[i, k], when the file has it.
        offsets: Where each sequence begins; None for documents.
        source: Where it was read, for messages.
    """

    items: Names
    classes: Classes
    answer: Ints
    beliefs: Beliefs | None = None
    offsets: Ints | None = None
    source: str = "the answers"


@dataclass(frozen=True, eq=False)
class Matched:
    """Predicted and gold over the same units and classes, in gold's order; -1 where either has none."""

    classes: Classes
    predicted: Ints
    gold: Ints
    beliefs: Beliefs | None
    offsets: Ints | None


def read_answers(
    path: str | Path, *, format: Format | str | None = None, columns: Mapping[str, str] | None = None
) -> Answers:
    """Answers or gold from a file: a table with item and label, or tagged sentences."""
    layout = format_of(path, format)
    if layout is Format.conll:
        return _of_corpus(read_corpus(path, format=layout), str(path))
    table, source = read_table(path, format=layout)
    roles = roles_of(table.columns, columns, where=source.name)
    if "tags" in roles and "label" not in roles:
        return _of_tag_table(table, roles, source)
    require(roles, ("item", "label"), table.columns, where=source.name, purpose="A file of answers")
    return _of_table(table, roles, source)


def _of_corpus(corpus: Corpus, name: str) -> Answers:
    if corpus.gold is None:
        raise CorpusError(f"{name}: no tags. Give a tag per token.")
    return Answers(corpus.items, corpus.classes, corpus.gold, offsets=corpus.offsets, source=name)


def _of_tag_table(table: pl.DataFrame, roles: Mapping[str, str], source: Source) -> Answers:
    require(roles, ("item", "tags"), table.columns, where=source.name, purpose="A file of tags")
    tags = table[roles["tags"]]
    if tags.dtype == pl.String:
        tags = tags.str.strip_chars().str.split(" ")
    lengths = tags.list.len().fill_null(0).to_numpy().astype(np.int64)
    flat = tags.filter(tags.list.len() > 0).explode().cast(pl.String)
    codes, classes = code_labels(flat.set(flat == NOT_SEEN, None), Source(source.name), None)
    _distinct(table[roles["item"]], source)
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    return Answers(table[roles["item"]], classes, codes, offsets=offsets, source=source.name)


def _of_table(table: pl.DataFrame, roles: Mapping[str, str], source: Source) -> Answers:
    _distinct(table[roles["item"]], source)
    named = [name for name in table.columns if name.startswith(PROBABILITY)]
    labels = table[roles["label"]]
    if not named:
        codes, classes = code_labels(labels, source, None)
        return Answers(table[roles["item"]], classes, codes, source=source.name)
    classes = tuple(name.removeprefix(PROBABILITY) for name in named)
    codes, _ = code_labels(labels, source, classes)
    beliefs = table.select(pl.col(named).cast(pl.Float64, strict=False)).to_numpy()
    if not np.isfinite(beliefs).all():
        row = np.flatnonzero(~np.isfinite(beliefs).all(axis=1))
        raise refuse(source, row, f"a {PROBABILITY} column holds no number", "Give every class a probability.")
    return Answers(table[roles["item"]], classes, codes, beliefs=beliefs, source=source.name)


def _distinct(items: Names, source: Source) -> None:
    again = (~items.is_first_distinct()).arg_true().to_numpy()
    if len(again):
        what = f"item {items[int(again[0])]!r} stands here again"
        raise refuse(source, again, what, "Answers have one row per item. A file of labels must be aggregated first.")


def match(predicted: Answers, gold: Answers) -> Matched:
    """Put predicted answers beside gold. An item of gold without a prediction counts as not answered.

    Classes are compared as text, so that 1 in one file and "1" in another are the same.
    """
    if (predicted.offsets is None) != (gold.offsets is None):
        kinds = ("documents", "tagged sentences") if predicted.offsets is None else ("tagged sentences", "documents")
        raise DataError(
            f"{predicted.source} holds {kinds[0]} and {gold.source} holds {kinds[1]}. Give two of one kind."
        )
    where = find(gold.items, predicted.items)
    if (where < 0).all():
        raise DataError(
            f"{predicted.source} and {gold.source} have no item in common (items there: {listed(predicted.items[:3])}; "
            f"here: {listed(gold.items[:3])}). Give two files about the same items."
        )
    texts = [str(name) for name in predicted.classes]
    classes = sort_classes([*texts, *(str(name) for name in gold.classes)])
    moved = _recode(predicted.answer, predicted.classes, classes)
    beliefs = None
    if predicted.beliefs is not None:
        beliefs = np.zeros((len(gold.items), len(classes)))
        beliefs[:, [classes.index(text) for text in texts]] = predicted.beliefs[where]
        beliefs[where < 0] = 1.0 / len(classes)
    units = _units(predicted, gold, where)
    answer = np.where(units < 0, NO_ANSWER, moved[units]) if len(moved) else np.full(len(units), NO_ANSWER)
    return Matched(classes, answer, _recode(gold.answer, gold.classes, classes), beliefs, gold.offsets)


def _recode(codes: Ints, names: Classes, classes: Classes) -> Ints:
    table = np.array([*(classes.index(str(name)) for name in names), NO_ANSWER], dtype=np.int32)
    return table[codes]


def _units(predicted: Answers, gold: Answers, where: Ints) -> Ints:
    """For each unit of gold the unit of the prediction, -1 where there is none."""
    if predicted.offsets is None or gold.offsets is None:
        return where
    ours, theirs = np.diff(gold.offsets), np.diff(predicted.offsets)[where]
    wrong = np.flatnonzero((ours != theirs) & (where >= 0))
    if len(wrong):
        s = int(wrong[0])
        raise DataError(
            f"Sentence {gold.items[s]!r} has {theirs[s]} tags in {predicted.source} and {ours[s]} in {gold.source} "
            f"({len(wrong):,} such sentences). Give two files about the same tokens."
        )
    start = np.repeat(np.where(where >= 0, predicted.offsets[:-1][where], 0), ours)
    within = np.arange(int(gold.offsets[-1])) - np.repeat(gold.offsets[:-1], ours)
    return np.where(np.repeat(where, ours) >= 0, start + within, -1)


def estimate_table(estimate: Estimate) -> pl.DataFrame:
    """The answers as a table: item, label, confidence and one p_<class> column per class."""
    if estimate.offsets is not None:
        raise OptionError("Tagged sentences do not fit into a table of items. Write .conll, .jsonl or .parquet.")
    columns: dict[str, Any] = {
        "item": estimate.items,
        "label": pl.Series(estimate.answer_names()),
        "confidence": pl.Series(estimate.confidence).fill_nan(None),
    }
    for k, name in enumerate(estimate.classes):
        columns[f"{PROBABILITY}{name}"] = estimate.beliefs[:, k]
    return pl.DataFrame(columns)


def tag_table(estimate: Estimate, corpus: Corpus | None) -> pl.DataFrame:
    """The answers for sequences as a table: item, tokens when known, tags and the confidence in each tag."""
    if estimate.offsets is None:
        raise OptionError("The answers are about documents, not sentences.")
    units = pl.DataFrame({
        "s": np.repeat(np.arange(len(estimate.items)), np.diff(estimate.offsets)),
        **({} if corpus is None or corpus.tokens is None else {"tokens": list(corpus.tokens)}),
        "tags": _tags(estimate),
        "confidence": pl.Series(estimate.confidence).fill_nan(None),
    })  # fmt: skip
    lists = units.group_by("s", maintain_order=True).agg(pl.all())
    frame = pl.DataFrame({"item": estimate.items}).with_row_index("s").with_columns(pl.col("s").cast(pl.Int64))
    return frame.join(lists, on="s", how="left", maintain_order="left").drop("s")


def _tags(estimate: Estimate) -> list[str]:
    return [NOT_SEEN if name is None else str(name) for name in estimate.answer_names()]


def write_estimate(
    path: str | Path, estimate: Estimate, *, corpus: Corpus | None = None, format: Format | str | None = None
) -> None:
    """Write answers: a table for documents; CoNLL, jsonl or parquet of tags for sentences."""
    layout = format_of(path, format)
    if estimate.offsets is None:
        write_table(path, estimate_table(estimate), format=layout)
    elif layout is Format.conll:
        if corpus is None or corpus.tokens is None:
            raise OptionError(f"{path}: CoNLL needs the tokens, and the labels came without. Write .jsonl instead.")
        write_bytes(path, write_columns(estimate.items, corpus.tokens, estimate.offsets, [_tags(estimate)]))
    elif layout in (Format.jsonl, Format.parquet):
        write_table(path, tag_table(estimate, corpus), format=layout)
    else:
        raise OptionError(f"{path}: tagged sentences are written as .conll, .jsonl or .parquet.")
