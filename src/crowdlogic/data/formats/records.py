"""Sentences as records: a dictionary each, with tokens, and tags of one or of several annotators."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl

from crowdlogic.data.corpus import UNKNOWN, Corpus, align
from crowdlogic.data.formats.protocol import Crowd
from crowdlogic.data.frames import from_sequences
from crowdlogic.data.intake.cells import code_labels
from crowdlogic.data.intake.columns import find_roles
from crowdlogic.data.intake.contract import TableSource, require_unique_items, row_error
from crowdlogic.data.tagging import NOT_SEEN
from crowdlogic.data.wording import pluralise
from crowdlogic.errors import CorpusError, FormatError, LabelError
from crowdlogic.numerics.arrays import Ints

CROWD_FIELDS = ("crowd", "annotations", "annotators")
"""The names under which a record may hold {annotator: tags}."""

Record = dict[str, Any]


def holds_crowd(record: Record) -> bool:
    """Whether a record has {annotator: tags}."""
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
    """A corpus from records with tokens, and tags when they have them; `columns` is role -> field."""
    header = list(dict.fromkeys(name for record in records for name in record))
    roles = find_roles(header, columns, where=source.name)
    if "tokens" not in roles:
        raise LabelError(
            f"{source.name}: no field for the tokens among {', '.join(header)}. Give each line its tokens."
        )
    items = [record.get(roles["item"], s) if "item" in roles else s for s, record in enumerate(records)]
    names = pl.Series("item", items if all(isinstance(i, int) for i in items) else [str(i) for i in items])
    require_unique_items(names, source, "Give each item once.")
    tokens = [_text_list(record.get(roles["tokens"]), "tokens", source, at) for at, record in enumerate(records)]
    offsets = np.concatenate([[0], np.cumsum([len(sentence) for sentence in tokens], dtype=np.int64)])
    corpus = Corpus(names, tokens=tuple(t for sentence in tokens for t in sentence), offsets=offsets)
    if "tags" not in roles or all(record.get(roles["tags"]) is None for record in records):
        return corpus
    return _add_gold(corpus, offsets, [record.get(roles["tags"]) for record in records], source)


def _add_gold(corpus: Corpus, offsets: Ints, tags: list[Any], source: TableSource) -> Corpus:
    """The corpus with gold from one list of tags per sentence; a sentence without tags has none."""
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
    """A list of text as it is, text split at white space; anything else is an error."""
    if isinstance(value, str):
        return value.split()
    if not isinstance(value, list) or not all(isinstance(entry, str) for entry in value):
        raise row_error(
            source, [at], f"the {what} are not a list of text", f'Write {what} as ["...", "..."].', error=FormatError
        )
    return value
