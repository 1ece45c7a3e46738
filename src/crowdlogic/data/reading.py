"""Labels, corpora and gold from files, whatever their layout: the functions that users and commands call."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from crowdlogic.data.corpus import UNKNOWN, Corpus, align
from crowdlogic.data.formats.conll import ConllColumns, read_columns
from crowdlogic.data.formats.tables import (
    Format,
    detect_format,
    display_name,
    parse_jsonl,
    read_bytes,
    read_table,
    table_of_jsonl,
)
from crowdlogic.data.frames import from_frame, from_sequences, from_wide
from crowdlogic.data.intake.cells import code_labels
from crowdlogic.data.intake.columns import ALIASES, find_roles, normalise_name, require_columns
from crowdlogic.data.intake.contract import (
    Duplicates,
    Intake,
    TableSource,
    require_unique_items,
    row_error,
    suspicious_classes,
)
from crowdlogic.data.labels import CrowdLabels
from crowdlogic.data.tagging import NOT_SEEN
from crowdlogic.errors import CorpusError, FormatError, LabelError, OptionError

CROWD_FIELDS = ("crowd", "annotations", "annotators")
"""The names under which a jsonl record may hold {annotator: tags}."""


@dataclass(frozen=True, eq=False)
class Crowd:
    """Labels, and the items they are about when the file holds them too."""

    labels: CrowdLabels
    corpus: Corpus | None = None


def read_labels(
    path: str | Path,
    *,
    format: Format | str | None = None,
    columns: Mapping[str, str] | None = None,
    classes: Sequence[Any] | None = None,
    duplicates: Duplicates | str = Duplicates.error,
    wide: bool = False,
    abstain: str | None = None,
) -> CrowdLabels:
    """The labels in a file; see `read_crowd` for the layouts and options."""
    return read_crowd(
        path, format=format, columns=columns, classes=classes, duplicates=duplicates, wide=wide, abstain=abstain
    ).labels


def read_crowd(
    path: str | Path,
    *,
    format: Format | str | None = None,
    columns: Mapping[str, str] | None = None,
    classes: Sequence[Any] | None = None,
    duplicates: Duplicates | str = Duplicates.error,
    wide: bool = False,
    abstain: str | None = None,
) -> Crowd:
    """Labels from a file, with the tokens when it holds them.

    Layouts: a long table (item, annotator, label; or tags for sentences) in csv, tsv, parquet or jsonl; a wide table
    (one column per annotator) with `wide`; CoNLL with one column per annotator; jsonl records with tokens and
    {annotator: tags}.

    Args:
        path: The file, "-" for standard input.
        format: csv, tsv, parquet, jsonl or conll, when the suffix does not say.
        columns: role -> column, for columns whose names are not recognised.
        classes: The classes in the order that decides ties; other labels are then errors.
        duplicates: What to do when an annotator labels an item twice: error, first, last or keep.
        wide: Whether the table has one row per item and one column per annotator.
        abstain: In a wide table, a value that means "no label", such as -1.
    """
    layout = detect_format(path, format)
    if abstain is not None and not wide:
        raise OptionError("abstain: goes with a wide table (--wide). In other layouts an absent label is left out.")
    if wide and layout is Format.conll:
        raise OptionError("wide: CoNLL has a column per annotator as it is. Leave --wide out.")
    if layout is Format.conll:
        return crowd_of_columns(read_columns(path), classes=classes)
    if layout is Format.jsonl:
        content = read_bytes(path)
        if _holds_crowds(content):
            return _crowd_of_records(*parse_jsonl(content, display_name(path)), classes=classes)
        table, source = table_of_jsonl(content, display_name(path))
    else:
        table, source = read_table(path, format=layout)
    if wide:
        item = find_roles(table.columns, columns, where=source.name).get("item")
        made = from_wide(table, item=item, classes=classes, abstain=abstain, duplicates=duplicates, source=source)
        return Crowd(made)
    return Crowd(from_frame(table, columns=columns, classes=classes, duplicates=duplicates, source=source))


def _holds_crowds(content: bytes) -> bool:
    """Whether the first record of a jsonl file has {annotator: tags}."""
    try:
        records, _ = parse_jsonl(content.lstrip().partition(b"\n")[0], "")
    except FormatError:
        return False
    return any(isinstance(records[0].get(name), dict) for name in CROWD_FIELDS)


def _unlike(columns: ConllColumns) -> tuple[str, ...]:
    """A notice when a column shares no tag with any other: it may hold something else than an annotator's tags."""
    width = len(columns.annotators)
    used = [set(columns.tags.gather_every(width, j).unique()) - {NOT_SEEN} for j in range(width)]
    odd = [
        name
        for j, name in enumerate(columns.annotators)
        if width > 1 and used[j] and not any(used[j] & other for o, other in enumerate(used) if o != j)
    ]
    if not odd:
        return ()
    return (f"The column of {odd[0]} shares no tag with the others; is every column an annotator's?",)


def crowd_of_columns(columns: ConllColumns, *, classes: Sequence[Any] | None = None) -> Crowd:
    """Labels and tokens of a CoNLL file with one column of tags per annotator."""
    n_annotators = len(columns.annotators)
    seen = (columns.tags != NOT_SEEN).to_numpy()
    cell = np.flatnonzero(seen)
    source = TableSource(columns.name, word="line", numbers=columns.lines[cell // n_annotators])
    label, names = code_labels(columns.tags.filter(pl.Series(seen)), source, classes)
    labels = CrowdLabels(
        unit=cell // n_annotators,
        annotator=cell % n_annotators,
        label=label,
        items=columns.items,
        annotators=columns.annotators,
        classes=names,
        offsets=columns.offsets,
        intake=Intake(rows=len(columns.items), notices=(*suspicious_classes(names), *_unlike(columns))),
    )
    return Crowd(labels, Corpus(columns.items, tokens=tuple(columns.tokens.to_list()), offsets=columns.offsets))


def _crowd_of_records(records: list[dict[str, Any]], source: TableSource, *, classes: Sequence[Any] | None) -> Crowd:
    corpus = _corpus_of_records(records, source)
    rows = [
        (item, annotator, _list_of(tags, "tags", source, at))
        for at, (item, record) in enumerate(zip(corpus.items.to_list(), records, strict=True))
        for annotator, tags in _crowd_of(record, source, at).items()
        if tags is not None
    ]
    at = [s for s, record in enumerate(records) for tags in _crowd_of(record, source, s).values() if tags is not None]
    labels = from_sequences(rows, classes=classes, source=source.take(np.array(at, dtype=np.int64)))
    return Crowd(*align(labels, corpus))


def _crowd_of(record: dict[str, Any], source: TableSource, at: int) -> dict[str, Any]:
    for name in CROWD_FIELDS:
        if isinstance(record.get(name), dict):
            return dict(record[name])
    raise row_error(
        source, [at], "no {annotator: tags}", 'Give "crowd": {"ann": ["O", ...]} on each line.', FormatError
    )


def _list_of(value: Any, what: str, source: TableSource, at: int) -> list[str]:
    if isinstance(value, str):
        return value.split()
    if not isinstance(value, list) or not all(isinstance(entry, str) for entry in value):
        raise row_error(
            source, [at], f"the {what} are not a list of text", f'Write {what} as ["...", "..."].', FormatError
        )
    return value


def read_corpus(
    path: str | Path,
    *,
    format: Format | str | None = None,
    columns: Mapping[str, str] | None = None,
) -> Corpus:
    """The items themselves: texts or token sequences, with gold when a label (or tags) stands beside them."""
    layout = detect_format(path, format)
    if layout is Format.conll:
        return _corpus_of_columns(read_columns(path))
    if layout is Format.jsonl:
        content = read_bytes(path)
        records, source = parse_jsonl(content, display_name(path))
        if any(normalise_name(name) in ALIASES["tokens"] for name in records[0]):
            return _corpus_of_records(records, source)
        table, source = table_of_jsonl(content, display_name(path))
    else:
        table, source = read_table(path, format=layout)
    roles = find_roles(table.columns, columns, where=source.name)
    if "tokens" in roles:
        return _corpus_of_records(table.to_dicts(), source)
    require_columns(roles, ("item", "text"), table.columns, where=source.name, purpose="A file of items")
    texts = table[roles["text"]].cast(pl.String)
    if texts.null_count():
        raise row_error(
            source,
            texts.is_null().arg_true().to_numpy(),
            "no text",
            "Fill in the text, or remove the row.",
            CorpusError,
        )
    require_unique_items(table[roles["item"]], source, "Give each item once.")
    gold, names = _gold_codes(table[roles["label"]], source) if "label" in roles else (None, ())
    return Corpus(table[roles["item"]], texts=tuple(texts.to_list()), classes=names, gold=gold)


def _gold_codes(labels: pl.Series, source: TableSource) -> tuple[Any, tuple[Any, ...]]:
    return code_labels(labels, source)


def _corpus_of_columns(columns: ConllColumns) -> Corpus:
    if len(columns.annotators) != 1:
        raise FormatError(
            f"{columns.name}: {len(columns.annotators)} columns of tags where one is expected (token tag). "
            f"Keep the column that is meant; a file with one column per annotator holds labels, not gold."
        )
    source = TableSource(columns.name, word="line", numbers=columns.lines)
    tags = columns.tags.set(columns.tags == NOT_SEEN, None)
    gold, names = code_labels(tags, source, None)
    return Corpus(
        columns.items, tokens=tuple(columns.tokens.to_list()), offsets=columns.offsets, classes=names, gold=gold
    )


def _corpus_of_records(records: list[dict[str, Any]], source: TableSource) -> Corpus:
    """A corpus from records with tokens, and tags when they have them."""
    header = list(dict.fromkeys(name for record in records for name in record))
    roles = find_roles(header, where=source.name)
    if "tokens" not in roles:
        raise LabelError(
            f"{source.name}: no field for the tokens among {', '.join(header)}. Give each line its tokens."
        )
    items = [record.get(roles["item"], s) if "item" in roles else s for s, record in enumerate(records)]
    names = pl.Series("item", items if all(isinstance(i, int) for i in items) else [str(i) for i in items])
    require_unique_items(names, source, "Give each item once.")
    tokens = [_list_of(record.get(roles["tokens"]), "tokens", source, at) for at, record in enumerate(records)]
    offsets = np.concatenate([[0], np.cumsum([len(sentence) for sentence in tokens], dtype=np.int64)])
    corpus = Corpus(names, tokens=tuple(t for sentence in tokens for t in sentence), offsets=offsets)
    if "tags" not in roles or all(record.get(roles["tags"]) is None for record in records):
        return corpus
    return _with_tags(corpus, [record.get(roles["tags"]) for record in records], source)


def _with_tags(corpus: Corpus, tags: list[Any], source: TableSource) -> Corpus:
    lengths = np.diff(corpus.offsets if corpus.offsets is not None else [0])
    flat: list[str | None] = []
    for at, (given, length) in enumerate(zip(tags, lengths, strict=True)):
        known = [None] * int(length) if given is None else _list_of(given, "tags", source, at)
        if len(known) != length:
            raise row_error(
                source, [at], f"{len(known)} tags for {length} tokens", "Give one tag per token.", CorpusError
            )
        flat.extend(None if tag == NOT_SEEN else tag for tag in known)
    rows = np.repeat(np.arange(len(lengths)), lengths)
    codes, names = code_labels(pl.Series("tags", flat, dtype=pl.String), source.take(rows), None)
    return replace(corpus, classes=names, gold=np.where(codes < 0, UNKNOWN, codes))
