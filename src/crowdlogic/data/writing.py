"""Labels and corpora written to files, so that reading them gives back the same."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from crowdlogic.data.corpus import UNKNOWN, Corpus
from crowdlogic.data.files import write_bytes, write_table
from crowdlogic.data.formats.conll import write_columns
from crowdlogic.data.formats.tables import Format, detect_format
from crowdlogic.data.labels import CrowdLabels
from crowdlogic.data.names import as_text
from crowdlogic.data.tagging import NOT_SEEN
from crowdlogic.errors import OptionError


def write_labels(
    path: str | Path, labels: CrowdLabels, *, corpus: Corpus | None = None, format: Format | str | None = None
) -> None:
    """Write labels as a long table, or (sentences with tokens) as CoNLL with one column per annotator."""
    layout = detect_format(path, format)
    if layout is Format.conll:
        write_bytes(path, _columns_text(path, labels, corpus))
    else:
        write_table(path, label_table(labels, text=layout in (Format.csv, Format.tsv)), format=layout)


def label_table(labels: CrowdLabels, *, text: bool = False) -> pl.DataFrame:
    """Labels as a long table: item, annotator, label (or tags, as lists or as text), and what else is known."""
    if labels.is_sequential:
        return _tag_table(labels, text=text)
    classes = pl.Series(labels.classes) if labels.classes else pl.Series([], dtype=pl.String)
    columns: dict[str, Any] = {
        "item": labels.items.gather(labels.unit),
        "annotator": labels.annotators.gather(labels.annotator),
        "label": (as_text(classes) if text else classes).gather(labels.label),
    }
    if labels.weight is not None:
        columns["weight"] = labels.weight
    if labels.time is not None:
        columns["time"] = pl.Series(labels.time).fill_nan(None)
    if labels.kind is not None:
        columns["kind"] = pl.Series(labels.kind, dtype=pl.String).gather(labels.annotator)
    return pl.DataFrame(columns)


def _tag_table(labels: CrowdLabels, *, text: bool) -> pl.DataFrame:
    """One row per (sentence, annotator) with its tags. A sentence seen in part cannot be written this way."""
    _refuse_repeats(labels)
    item, annotator, pair = labels.annotations()
    lengths = np.diff(labels.offsets if labels.offsets is not None else [0])
    partial = np.flatnonzero(np.bincount(pair, minlength=len(item)) != lengths[item])
    if len(partial):
        who = labels.annotators[int(annotator[partial[0]])]
        raise OptionError(
            f"Annotator {who!r} saw only a part of sentence {labels.items[int(item[partial[0]])]!r}. "
            f"A table of tags needs whole sentences; write .conll instead."
        )
    names = pl.Series(list(map(str, labels.classes)), dtype=pl.String)
    tags = pl.DataFrame({"pair": pair, "unit": labels.unit, "tags": names.gather(labels.label)})
    lists = tags.sort("pair", "unit").group_by("pair", maintain_order=True).agg("tags")["tags"]
    return pl.DataFrame(
        {
            "item": labels.items.gather(item),
            "annotator": labels.annotators.gather(annotator),
            "tags": lists.list.join(" ") if text else lists,
        }
    )


def _columns_text(path: str | Path, labels: CrowdLabels, corpus: Corpus | None) -> bytes:
    if corpus is None or corpus.tokens is None or labels.offsets is None:
        raise OptionError(f"{path}: CoNLL needs sentences with their tokens. Write .csv or .jsonl instead.")
    _refuse_repeats(labels)
    names = np.array([*map(str, labels.classes), NOT_SEEN], dtype=object)
    columns = []
    for j in range(len(labels.annotators)):
        tags = np.full(labels.n_units, -1)
        mine = labels.annotator == j
        tags[labels.unit[mine]] = labels.label[mine]
        columns.append(names[tags].tolist())
    annotators = [str(name) for name in labels.annotators]
    default = annotators == [f"annotator_{j + 1}" for j in range(len(annotators))]
    return write_columns(labels.items, corpus.tokens, labels.offsets, columns, None if default else annotators)


def _refuse_repeats(labels: CrowdLabels) -> None:
    """A sentence tagged twice by one annotator (kept duplicates) does not fit into one column or row."""
    again = np.flatnonzero((np.diff(labels.unit) == 0) & (np.diff(labels.annotator) == 0))
    if len(again):
        item = labels.items[int(labels.item_of_unit[labels.unit[again[0]]])]
        who = labels.annotators[int(labels.annotator[again[0]])]
        raise OptionError(
            f"Annotator {who!r} tagged sentence {item!r} twice. Read the labels with --duplicates first or last."
        )


def write_corpus(path: str | Path, corpus: Corpus, *, format: Format | str | None = None) -> None:
    """Write a corpus with its gold: a table of texts; CoNLL, jsonl or parquet for sentences."""
    layout = detect_format(path, format)
    if layout is Format.conll:
        if corpus.tokens is None or corpus.offsets is None:
            raise OptionError(f"{path}: CoNLL needs sentences with their tokens. Write .csv or .jsonl instead.")
        write_bytes(path, write_columns(corpus.items, corpus.tokens, corpus.offsets, [_gold_tags(corpus)]))
    elif corpus.is_sequential and layout in (Format.csv, Format.tsv):
        raise OptionError(f"{path}: sentences are written as .conll, .jsonl or .parquet.")
    else:
        write_table(path, corpus_table(corpus), format=layout)


def corpus_table(corpus: Corpus) -> pl.DataFrame:
    """A corpus as a table: item, text and label; for sentences item, tokens and tags."""
    columns: dict[str, Any] = {"item": corpus.items}
    if corpus.texts is not None:
        columns["text"] = list(corpus.texts)
    if corpus.tokens is not None and corpus.offsets is not None:
        columns["tokens"] = _by_sentence(list(corpus.tokens), corpus)
        if corpus.gold is not None:
            columns["tags"] = _by_sentence(_gold_tags(corpus), corpus)
    elif corpus.gold is not None:
        columns["label"] = pl.Series([None if g == UNKNOWN else corpus.classes[g] for g in corpus.gold])
    return pl.DataFrame(columns)


def _by_sentence(values: list[str], corpus: Corpus) -> list[list[str]]:
    bounds = [] if corpus.offsets is None else corpus.offsets.tolist()
    return [values[start:end] for start, end in pairwise(bounds)]


def _gold_tags(corpus: Corpus) -> list[str]:
    names = [*map(str, corpus.classes), NOT_SEEN]
    return [NOT_SEEN] * corpus.n_units if corpus.gold is None else [names[code] for code in corpus.gold]
