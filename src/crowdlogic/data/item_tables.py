"""Items from tables: texts or sentences, with gold where the table has it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl

from crowdlogic.data.corpus import UNKNOWN, Corpus, align, documents, sentences
from crowdlogic.data.formats.protocol import Crowd
from crowdlogic.data.frames import FRAME, from_sequences
from crowdlogic.data.intake.building import code_labels
from crowdlogic.data.intake.columns import find_roles, require_columns
from crowdlogic.data.intake.contract import (
    TableSource,
    is_plain,
    names_column,
    require_unique_items,
    row_error,
    text_column,
    to_polars,
)
from crowdlogic.data.labels import CrowdLabels
from crowdlogic.data.names import Names, as_text
from crowdlogic.data.tagging import NOT_SEEN
from crowdlogic.data.wording import pluralise
from crowdlogic.errors import CorpusError, FormatError, LabelError
from crowdlogic.numerics.arrays import Ints

# Sentences as records: a dictionary each, with tokens, and tags of one or of several annotators.

CROWD_FIELDS = ("crowd", "annotations", "annotators")
"""The names under which a record may hold {annotator: tags}."""

Record = dict[str, Any]


def holds_crowd(record: Record) -> bool:
    """Return whether a record has {annotator: tags}."""
    return any(isinstance(record.get(name), dict) for name in CROWD_FIELDS)


def crowd_from_records(
    records: Sequence[Record],
    source: TableSource,
    *,
    classes: Sequence[Any] | None,
    columns: Mapping[str, str] | None = None,
) -> Crowd:
    """Labels and tokens of records that hold {annotator: tags}; tags of None mean that the sentence was not seen."""
    corpus = corpus_from_records(records, source, columns)
    rows, places = [], []
    for at, (item, record) in enumerate(zip(corpus.items.to_list(), records, strict=True)):
        for annotator, tags in _annotator_tags(record, source, at).items():
            if tags is not None:
                rows.append((item, annotator, _text_list(tags, "tags", source, at)))
                places.append(at)
    labels = from_sequences(rows, classes=classes, source=source.take(np.array(places, dtype=np.int64)))
    return Crowd(*align(labels, corpus))


def corpus_from_records(
    records: Sequence[Record], source: TableSource, columns: Mapping[str, str] | None = None
) -> Corpus:
    """Return a corpus from records with tokens, and tags when they have them; `columns` is role -> field."""
    header = list(dict.fromkeys(name for record in records for name in record))
    roles = find_roles(header, columns, where=source.name)
    if "tokens" not in roles:
        raise LabelError(
            f"{source.name}: no field for the tokens among {', '.join(header)}. Give each line its tokens."
        )
    items = [record.get(roles["item"], s) if "item" in roles else s for s, record in enumerate(records)]
    names = names_column("item", items)
    require_unique_items(names, source, "Give each item once.")
    tokens = [_text_list(record.get(roles["tokens"]), "tokens", source, at) for at, record in enumerate(records)]
    offsets = np.concatenate([[0], np.cumsum([len(sentence) for sentence in tokens], dtype=np.int64)])
    corpus = Corpus(names, tokens=tuple(t for sentence in tokens for t in sentence), offsets=offsets)
    if "tags" not in roles or all(record.get(roles["tags"]) is None for record in records):
        return corpus
    return _add_gold(corpus, offsets, [record.get(roles["tags"]) for record in records], source)


def _add_gold(corpus: Corpus, offsets: Ints, tags: list[Any], source: TableSource) -> Corpus:
    """Return the corpus with gold from one list of tags per sentence; a sentence without tags has none."""
    lengths = np.diff(offsets)
    flat: list[str | None] = []
    for at, (given, length) in enumerate(zip(tags, lengths, strict=True)):
        known = [None] * int(length) if given is None else _text_list(given, "tags", source, at)
        if len(known) != length:
            found = f"{pluralise(len(known), 'tag')} for {pluralise(int(length), 'token')}"
            raise row_error(source, [at], found, "Give one tag per token.", error=CorpusError)
        flat.extend(None if tag == NOT_SEEN else tag for tag in known)
    rows = np.repeat(np.arange(len(lengths)), lengths)
    codes, names = code_labels(pl.Series("tags", flat, dtype=pl.String), source.take(rows), None)
    return replace(corpus, classes=names, gold=np.where(codes < 0, UNKNOWN, codes))


def _annotator_tags(record: Record, source: TableSource, at: int) -> Record:
    for name in CROWD_FIELDS:
        if isinstance(record.get(name), dict):
            return dict(record[name])
    remedy = 'Give "crowd": {"ann": ["O", ...]} on each line.'
    raise row_error(source, [at], "no {annotator: tags}", remedy, error=FormatError)


def _text_list(value: Any, what: str, source: TableSource, at: int) -> list[str]:
    """Return a list of text as it is, text split at white space; anything else is an error."""
    if isinstance(value, str):
        return value.split()
    if not isinstance(value, list) or not all(isinstance(entry, str) for entry in value):
        raise row_error(
            source, [at], f"the {what} are not a list of text", f'Write {what} as ["...", "..."].', error=FormatError
        )
    return value


def corpus_from_frame(frame: Any, *, columns: Mapping[str, str] | None = None) -> Corpus:
    """Return items from a frame: one row per item, with its text (or its tokens), and its gold if it is known.

    Args:
        frame: A frame of pandas, polars or pyarrow with columns for the item and the text; or for the item and the
            tokens, as lists or as text separated by spaces. A column `label` (or `gold`, `tags`) holds the gold.
        columns: role -> column, when the columns' names are not recognised.
    """
    return corpus_from_table(to_polars(frame, FRAME), FRAME, columns)


def corpus_from_table(table: pl.DataFrame, source: TableSource, columns: Mapping[str, str] | None = None) -> Corpus:
    """Return texts from a table with item and text, sentences from one with tokens; gold from a label or tags.

    Of two columns, the one that is not the item is the text, whatever it is called.
    """
    roles = find_roles(table.columns, columns, where=source.name, gold=True)
    if "tokens" in roles:
        return corpus_from_records(table.to_dicts(), source, columns)
    if "item" in roles and "text" not in roles and not columns and len(table.columns) == 2:
        roles = {**roles, "text": next(name for name in table.columns if name != roles["item"])}
    require_columns(roles, ("item", "text"), table.columns, source=source, purpose="A table of items")
    texts = text_column(table[roles["text"]], "text", source, error=CorpusError)
    _refuse_lists(table[roles["item"]], source)
    if texts.null_count():
        rows = texts.is_null().arg_true().to_numpy()
        raise row_error(source, rows, "no text", "Fill in the text, or remove the row.", error=CorpusError)
    require_unique_items(table[roles["item"]], source, "Give each item once.")
    gold, classes = code_labels(table[roles["label"]], source) if "label" in roles else (None, ())
    return Corpus(table[roles["item"]], texts=tuple(texts.to_list()), classes=classes, gold=gold)


def _refuse_lists(items: Names, source: TableSource) -> None:
    if not is_plain(items.dtype):
        raise CorpusError(f"{source.name}: the item column holds {items.dtype}. Give each item one name.")


def texts_beside_labels(frame: Any) -> Corpus | None:
    """The texts of the items in a frame with a row per label; None where it is none, or has no text for its items.

    What is left of such a frame without its labels, the item and its text in each row, is one, too.
    """
    table = to_polars(frame, FRAME)
    roles = find_roles(table.columns)
    if {"item", "annotator", "label"} <= set(roles):
        return texts_of_labels(table, FRAME)
    if set(roles) != {"item", "text"} or not table[roles["item"]].is_duplicated().any():
        return None
    return _one_text_each(table, roles)


def number_items(table: pl.DataFrame, columns: Mapping[str, str] | None = None) -> pl.DataFrame | None:
    """Return a table of texts whose items have no names, with their numbers from 0 on; None where it is no such table.

    The one column of a table holds the texts, whatever it is called.
    """
    roles = find_roles(table.columns, columns)
    if len(table.columns) == 1 and not columns:
        return table.select(pl.int_range(len(table)).alias("item"), pl.all().alias("text"))
    if "item" in roles or "text" not in roles or "item" in table.columns:
        return None
    return table.with_columns(pl.int_range(len(table)).alias("item"))


def texts_of_labels(
    table: pl.DataFrame, source: TableSource, columns: Mapping[str, str] | None = None
) -> Corpus | None:
    """Return the texts of the items in a table of labels that has them beside the labels; None where it has not.

    A column whose text differs between the labels of one item is an annotator's comment, and no text of the item.
    """
    roles = find_roles(table.columns, columns, where=source.name)
    if not {"item", "label", "text"} <= set(roles) or "tokens" in roles or "tags" in roles:
        return None
    return _one_text_each(table, roles)


def texts_of_wide(table: pl.DataFrame, source: TableSource, columns: Mapping[str, str] | None = None) -> Corpus | None:
    """Return the texts, and the gold, of a wide table of labels; None where it has no text for each item.

    Rows without a column for the item are numbered from 0, as `from_wide` does.
    """
    roles = find_roles(table.columns, columns, where=source.name, gold=True)
    if "text" not in roles or "tokens" in roles or "tags" in roles:
        return None
    item = roles.get("item")
    items = pl.Series("item", np.arange(len(table))) if item is None else table[item]
    texts = table[roles["text"]]
    if not is_plain(items.dtype) or items.null_count() or items.n_unique() < len(items):
        return None
    if not is_plain(texts.dtype) or texts.null_count():
        return None
    gold, classes = code_labels(table[roles["label"]], source) if "label" in roles else (None, ())
    return Corpus(items, texts=tuple(texts.cast(pl.String).to_list()), classes=classes, gold=gold)


def _one_text_each(table: pl.DataFrame, roles: Mapping[str, str]) -> Corpus | None:
    """Return the text of every item, where all its rows have the same; None otherwise."""
    if not (is_plain(table.schema[roles["item"]]) and is_plain(table.schema[roles["text"]])):
        return None
    rows = table.select(pl.col(roles["item"]).alias("item"), pl.col(roles["text"]).cast(pl.String).alias("text"))
    rows = rows.filter(rows["item"].is_not_null() & (as_text(rows["item"]).str.strip_chars() != ""))
    several = pl.col("text").drop_nulls().unique(maintain_order=True)
    texts = rows.group_by("item", maintain_order=True).agg(several)
    if not len(texts) or (texts["text"].list.len() != 1).any():
        return None
    return Corpus(texts["item"], texts=tuple(texts["text"].list.first().to_list()))


# What people hand to a trained classifier: a corpus, a frame, a list of texts, a list of sentences.

ACCEPTED = "Give a Corpus, a frame of items, a dictionary item -> text, a list of texts or a list of token lists."


def has_names(items: Any) -> bool:
    """Whether the items come with their names: a corpus, a frame, a dictionary, a series with an index of its own."""
    return isinstance(items, Corpus | Mapping) or hasattr(items, "columns") or _has_own_index(items)


def _has_own_index(items: Any) -> bool:
    """Return whether it is a series of pandas whose index is more than 0, 1, 2, ..."""
    index = getattr(items, "index", None)
    return hasattr(index, "is_unique") and type(index).__name__ != "RangeIndex"


def to_corpus(items: Any, *, sequential: bool) -> Corpus:
    """Return new items as a corpus of the kind that a classifier learnt from.

    Args:
        items: A Corpus, a frame, a dictionary item -> text, a series of texts with an index, a list of texts, or a
            list of token lists. Items of a list are named 0, 1, 2, ...
        sequential: Whether the classifier tags the tokens of sentences. Texts are then split into words and
            punctuation marks (`data.tokenization.tokenize`).
    """
    corpus = items if isinstance(items, Corpus) else _name_items(items)
    if sequential:
        if corpus.is_sequential:
            return corpus
        from crowdlogic.data.text_tokens import tokenize_corpus

        return tokenize_corpus(corpus)
    if corpus.is_sequential:
        raise CorpusError(
            "These items are sentences of tokens, and the classifier learnt from whole documents. Give it texts."
        )
    return corpus


def _name_items(items: Any) -> Corpus:
    """Return a corpus from what is none."""
    if isinstance(items, str):
        raise CorpusError(f"{items[:40]!r} is one text where a list of items is expected. Write [text].")
    if isinstance(items, CrowdLabels):
        raise CorpusError(f"These are labels where items are expected. {ACCEPTED}")
    if _has_own_index(items) and not hasattr(items, "columns"):
        items = dict(zip(items.index.tolist(), items.tolist(), strict=True))
    if isinstance(items, Mapping) and items and all(isinstance(text, str) for text in items.values()):
        return documents(list(items), list(items.values()))
    if hasattr(items, "columns") or isinstance(items, dict):
        table = to_polars(items, FRAME)
        numbered = number_items(table)  # where the items have no names
        return corpus_from_table(table if numbered is None else numbered, FRAME)
    try:
        listed = list(items)
    except TypeError:
        raise CorpusError(f"{type(items).__name__} where items are expected. {ACCEPTED}") from None
    if all(isinstance(one, str) for one in listed):
        return documents(range(len(listed)), listed)
    if all(isinstance(one, list | tuple) and all(isinstance(word, str) for word in one) for one in listed):
        return sentences(range(len(listed)), listed)
    raise CorpusError(f"A list of neither texts nor token lists where items are expected. {ACCEPTED}")
