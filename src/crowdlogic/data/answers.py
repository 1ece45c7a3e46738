"""Answers in files: what a method says of each item, written and read again; and two of them put side by side.

A table has the columns item, label, confidence and p_<class>; tagged sentences are CoNLL (`token tag`), jsonl or
parquet (item, tokens, tags). No answer is an empty cell, or ? for a token.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from crowdlogic.data.corpus import Corpus
from crowdlogic.data.estimate import NO_ANSWER, Beliefs, Estimate
from crowdlogic.data.files import write_bytes, write_table
from crowdlogic.data.formats.conll import write_columns
from crowdlogic.data.formats.tables import Format, detect_format, read_table
from crowdlogic.data.intake.cells import code_labels
from crowdlogic.data.intake.columns import find_roles, require_columns
from crowdlogic.data.intake.contract import TableSource, require_unique_items, row_error
from crowdlogic.data.intake.sequences import split_tags
from crowdlogic.data.names import Classes, Names, as_text, find, sort_classes
from crowdlogic.data.reading import read_corpus
from crowdlogic.data.tagging import NOT_SEEN
from crowdlogic.errors import CorpusError, DataError, OptionError, name_list
from crowdlogic.numerics.arrays import Ints

PROBABILITY = "p_"
ROUNDING = 1e-3
"""How far probabilities in a file may be from adding up to one."""
ONE_ROW = "Answers have one row per item. A file of labels must be aggregated first."


@dataclass(frozen=True, eq=False)
class Answers:
    """One class per unit, with the beliefs behind it when they are known.

    Attributes:
        items: The name of each item.
        classes: The classes.
        answer: answer[i], NO_ANSWER where there is none.
        beliefs: q[i, k], when the file has it.
        offsets: Where each sequence begins; None for documents.
        tokens: tokens[i], when the file has them.
        source: Where it was read, for messages.
    """

    items: Names
    classes: Classes
    answer: Ints
    beliefs: Beliefs | None = None
    offsets: Ints | None = None
    tokens: tuple[str, ...] | None = None
    source: str = "the answers"


@dataclass(frozen=True, eq=False)
class AlignedAnswers:
    """Predicted and gold over the same units and classes, in gold's order; -1 where either has none.

    `remarks` says what of the two files was not compared as one would expect.
    """

    classes: Classes
    predicted: Ints
    gold: Ints
    beliefs: Beliefs | None
    offsets: Ints | None
    remarks: tuple[str, ...] = ()


def read_answers(
    path: str | Path, *, format: Format | str | None = None, columns: Mapping[str, str] | None = None
) -> Answers:
    """Answers or gold from a file: a table with item and label, or tagged sentences."""
    layout = detect_format(path, format)
    if layout is Format.conll:
        return _of_corpus(read_corpus(path, format=layout), str(path))
    table, source = read_table(path, format=layout)
    roles = find_roles(table.columns, columns, where=source.name)
    if "tags" in roles and "label" not in roles:
        return _of_tag_table(table, roles, source)
    require_columns(roles, ("item", "label"), table.columns, where=source.name, purpose="A file of answers")
    return _of_table(table, roles, source)


def _of_corpus(corpus: Corpus, name: str) -> Answers:
    if corpus.gold is None:
        raise CorpusError(f"{name}: no tags. Give a tag per token.")
    return Answers(corpus.items, corpus.classes, corpus.gold, None, corpus.offsets, corpus.tokens, name)


def _of_tag_table(table: pl.DataFrame, roles: Mapping[str, str], source: TableSource) -> Answers:
    require_columns(roles, ("item", "tags"), table.columns, where=source.name, purpose="A file of tags")
    require_unique_items(table[roles["item"]], source, ONE_ROW, DataError)
    tags = split_tags(table[roles["tags"]], source)
    lengths = tags.list.len().fill_null(0).to_numpy().astype(np.int64)
    flat = tags.filter(pl.Series(lengths > 0)).explode().cast(pl.String)
    rows = source.take(np.repeat(np.arange(len(lengths)), lengths))
    codes, classes = code_labels(flat.set((flat == NOT_SEEN).fill_null(value=False), None), rows, None)
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    return Answers(table[roles["item"]], classes, codes, offsets=offsets, source=source.name)


def _of_table(table: pl.DataFrame, roles: Mapping[str, str], source: TableSource) -> Answers:
    items, labels = table[roles["item"]], table[roles["label"]]
    require_unique_items(items, source, ONE_ROW, DataError)
    codes, classes = code_labels(labels, source)
    named = tuple(name.removeprefix(PROBABILITY) for name in table.columns if name.startswith(PROBABILITY))
    if not named or {str(name) for name in classes} - set(named):  # a p_value or p_note is no class
        return Answers(items, classes, codes, source=source.name)
    codes, classes = code_labels(labels, source, named)
    return Answers(items, classes, codes, beliefs=_beliefs(table, named, source), source=source.name)


def _beliefs(table: pl.DataFrame, classes: tuple[str, ...], source: TableSource) -> Beliefs:
    """q[i, k] from the p_ columns, which must be probabilities."""
    columns = [f"{PROBABILITY}{name}" for name in classes]
    beliefs = table.select(pl.col(columns).cast(pl.Float64, strict=False).fill_null(np.nan)).to_numpy()
    fine = (beliefs >= 0).all(axis=1) & (np.abs(beliefs.sum(axis=1) - 1) < ROUNDING)
    if not fine.all():
        what = f"the {PROBABILITY} columns are not probabilities that add up to 1"
        raise row_error(source, np.flatnonzero(~fine), what, "Mend them, or drop these columns.", DataError)
    return beliefs


def align_answers(predicted: Answers, gold: Answers) -> AlignedAnswers:
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
            f"{predicted.source} and {gold.source} have no item in common (items there: "
            f"{name_list(predicted.items[:3])}; "
            f"here: {name_list(gold.items[:3])}). Give two files about the same items."
        )
    texts = [str(name) for name in predicted.classes]
    units = _units(predicted, gold, where)
    classes = sort_classes([*texts, *(str(name) for name in gold.classes)])
    moved = _recode(predicted.answer, predicted.classes, classes)
    beliefs = None
    if predicted.beliefs is not None:
        beliefs = np.zeros((len(gold.items), len(classes)))
        beliefs[:, [classes.index(text) for text in texts]] = predicted.beliefs[where]
        beliefs[where < 0] = 1.0 / len(classes)
    answer = np.where(units < 0, NO_ANSWER, moved[units]) if len(moved) else np.full(len(units), NO_ANSWER)
    truth = _recode(gold.answer, gold.classes, classes)
    remarks = tuple(_remarks(predicted, gold, units, AlignedAnswers(classes, answer, truth, beliefs, gold.offsets)))
    return AlignedAnswers(classes, answer, truth, beliefs, gold.offsets, remarks)


def _remarks(predicted: Answers, gold: Answers, units: Ints, pair: AlignedAnswers) -> Iterator[str]:
    """What a user should know about units that were not compared as expected."""
    extra = int(np.count_nonzero(find(predicted.items, gold.items) < 0))
    if extra:
        yield f"{extra:,} items of {predicted.source} are not in {gold.source} and are not scored."
    unanswered = int(np.count_nonzero((pair.predicted < 0) & (pair.gold >= 0)))
    if unanswered:
        yield f"{unanswered:,} units have gold and no answer; they count as wrong."
    unknown = int(np.count_nonzero(pair.gold < 0))
    if unknown:
        yield f"{unknown:,} units have no gold and are not scored."
    if not {str(name) for name in predicted.classes} & {str(name) for name in gold.classes}:
        yield f"The files share no class: {name_list(predicted.classes)} here, {name_list(gold.classes)} there."
    if predicted.tokens is not None and gold.tokens is not None:
        differ = sum(u >= 0 and predicted.tokens[u] != token for u, token in zip(units, gold.tokens, strict=True))
        if differ:
            yield f"{differ:,} tokens differ between the files; are they about the same sentences?"


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


def estimate_table(estimate: Estimate, *, text: bool = False) -> pl.DataFrame:
    """The answers as a table: item, label (as text if asked), confidence and one p_<class> column per class."""
    if estimate.offsets is not None:
        raise OptionError("Tagged sentences do not fit into a table of items. Write .conll, .jsonl or .parquet.")
    labels = pl.Series(estimate.answer_names())
    columns: dict[str, Any] = {
        "item": estimate.items,
        "label": as_text(labels) if text else labels,
        "confidence": pl.Series(estimate.confidence).fill_nan(None),
    }
    for k, name in enumerate(estimate.classes):
        columns[f"{PROBABILITY}{name}"] = estimate.beliefs[:, k]
    return pl.DataFrame(columns)


def tag_table(estimate: Estimate, corpus: Corpus | None) -> pl.DataFrame:
    """The answers for sequences as a table: item, tokens when known, tags and the confidence in each tag."""
    if estimate.offsets is None:
        raise OptionError("The answers are about documents, not sentences.")
    units = pl.DataFrame(
        {
            "s": np.repeat(np.arange(len(estimate.items)), np.diff(estimate.offsets)),
            **({} if corpus is None or corpus.tokens is None else {"tokens": list(corpus.tokens)}),
            "tags": _tags(estimate),
            "confidence": pl.Series(estimate.confidence).fill_nan(None),
        }
    )
    lists = units.group_by("s", maintain_order=True).agg(pl.all())
    frame = pl.DataFrame({"item": estimate.items}).with_row_index("s").with_columns(pl.col("s").cast(pl.Int64))
    return frame.join(lists, on="s", how="left", maintain_order="left").drop("s")


def _tags(estimate: Estimate) -> list[str]:
    return [NOT_SEEN if name is None else str(name) for name in estimate.answer_names()]


def write_estimate(
    path: str | Path, estimate: Estimate, *, corpus: Corpus | None = None, format: Format | str | None = None
) -> None:
    """Write answers: a table for documents; CoNLL, jsonl or parquet of tags for sentences."""
    layout = detect_format(path, format)
    if estimate.offsets is None:
        write_table(path, estimate_table(estimate, text=layout in (Format.csv, Format.tsv)), format=layout)
    elif layout is Format.conll:
        if corpus is None or corpus.tokens is None:
            raise OptionError(f"{path}: CoNLL needs the tokens, and the labels came without. Write .jsonl instead.")
        write_bytes(path, write_columns(estimate.items, corpus.tokens, estimate.offsets, [_tags(estimate)]))
    elif layout in (Format.jsonl, Format.parquet):
        write_table(path, tag_table(estimate, corpus), format=layout)
    else:
        raise OptionError(f"{path}: tagged sentences are written as .conll, .jsonl or .parquet.")
