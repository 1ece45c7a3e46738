"""The tables that labels, corpora and answers are written as, so that reading them gives back the same."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import polars as pl

from crowdlogic.data.corpus import Corpus
from crowdlogic.data.estimate import Estimate
from crowdlogic.data.labels import CrowdLabels, require_whole_labels
from crowdlogic.data.names import as_text
from crowdlogic.data.tagging import NOT_SEEN
from crowdlogic.errors import OptionError
from crowdlogic.numerics.arrays import Ints

TEXTS = pl.List(pl.String)
NUMBERS = pl.List(pl.Float64)


def labels_table(labels: CrowdLabels, *, only_text: bool = False) -> pl.DataFrame:
    """Labels as a long table: item, annotator, label (or tags, as lists or as text), and what else is known."""
    if labels.is_sequential:
        return _tagged_sentences_table(labels, only_text=only_text)
    table = labels.to_frame()
    return table.with_columns(as_text(table["label"]).alias("label")) if only_text else table


def _tagged_sentences_table(labels: CrowdLabels, *, only_text: bool) -> pl.DataFrame:
    """One row per (sentence, annotator) with its tags. A sentence seen in part cannot be written this way."""
    require_whole_labels(labels, "A table of tags")
    require_single_tags(labels)
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
            "tags": lists.list.join(" ") if only_text else lists,
        }
    )


def require_single_tags(labels: CrowdLabels) -> None:
    """Raise if a sentence was tagged twice by one annotator (kept duplicates): it fits into no single column or row."""
    again = np.flatnonzero((np.diff(labels.unit) == 0) & (np.diff(labels.annotator) == 0))
    if len(again):
        item = labels.items[int(labels.item_of_unit[labels.unit[again[0]]])]
        who = labels.annotators[int(labels.annotator[again[0]])]
        raise OptionError(
            f"Annotator {who!r} tagged sentence {item!r} twice. Read the labels with --duplicates first or last."
        )


def corpus_table(corpus: Corpus) -> pl.DataFrame:
    """A corpus as a table: item, text and label; for sentences item, tokens and tags."""
    if corpus.tokens is None or corpus.offsets is None:
        return corpus.to_frame()
    columns: dict[str, Any] = {"item": corpus.items, "tokens": _split(list(corpus.tokens), corpus.offsets, TEXTS)}
    if corpus.gold is not None:
        columns["tags"] = _split(gold_tags(corpus), corpus.offsets, TEXTS)
    return pl.DataFrame(columns)


def gold_tags(corpus: Corpus) -> list[str]:
    """The gold tag of every token, NOT_SEEN where it is not known."""
    names = [*map(str, corpus.classes), NOT_SEEN]  # the code UNKNOWN = -1 picks the last one
    return [NOT_SEEN] * corpus.n_units if corpus.gold is None else [names[code] for code in corpus.gold]


def sentence_answers_table(estimate: Estimate, corpus: Corpus | None) -> pl.DataFrame:
    """The answers for sentences: item, tokens when known, tags and the confidence in each tag."""
    if estimate.offsets is None:
        raise OptionError("The answers are about documents, not sentences.")
    columns: dict[str, Any] = {"item": estimate.items}
    if corpus is not None and corpus.tokens is not None:
        columns["tokens"] = _split(list(corpus.tokens), estimate.offsets, TEXTS)
    columns["tags"] = _split(answer_tags(estimate), estimate.offsets, TEXTS)
    confidence = pl.Series(estimate.confidence).fill_nan(None).to_list()
    columns["confidence"] = _split(confidence, estimate.offsets, NUMBERS)
    return pl.DataFrame(columns)


def answer_tags(estimate: Estimate) -> list[str]:
    """The tag chosen for every token, NOT_SEEN where there is no answer."""
    return [NOT_SEEN if name is None else str(name) for name in estimate.answer_names()]


def _split(values: list[Any], offsets: Ints, dtype: pl.List) -> pl.Series:
    """One list per sentence."""
    return pl.Series([values[start:end] for start, end in pairwise(offsets.tolist())], dtype=dtype)
