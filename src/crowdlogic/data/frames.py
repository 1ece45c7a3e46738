"""Labels and items from data in memory: long and wide frames, matrices, dictionaries, lists.

Frames of pandas, polars or pyarrow are accepted directly. All rows of labels are processed by `build_labels` or
`build_sequences`, which encode names and apply the input contract. File formats read a table and then use the same
functions.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import ArrayLike

from crowdlogic.data.corpus import UNKNOWN, Corpus, documents, sentences
from crowdlogic.data.intake.building import (
    build_labels,
    build_sequences,
    code_labels,
    odd_classes,
    unused_confidence,
)
from crowdlogic.data.intake.columns import find_roles, require_columns
from crowdlogic.data.intake.contract import (
    FRAME_NAME,
    Duplicates,
    Intake,
    TableSource,
    is_plain,
    names_column,
    require_unique_items,
    row_error,
    text_column,
    to_column,
    to_polars,
)
from crowdlogic.data.labels import NOT_SEEN, CrowdLabels
from crowdlogic.data.names import as_text
from crowdlogic.data.wording import pluralise
from crowdlogic.errors import CorpusError, FormatError, LabelError, OptionError, name_list
from crowdlogic.numerics.arrays import Ints

FRAME = TableSource(FRAME_NAME, in_memory=True)
LISTS = TableSource("the lists", in_memory=True)
EMPTY = pl.List(pl.String)
Record = dict[str, Any]
LABEL_ROLES = ("item", "annotator", "label", "negated", "weight", "time", "kind")
TAG_ROLES = ("item", "annotator", "tags", "weight", "time", "kind")


def from_frame(
    frame: Any,
    *,
    columns: Mapping[str, str] | None = None,
    classes: Sequence[Any] | None = None,
    duplicates: Duplicates | str = Duplicates.error,
    empty_label: str | None = None,
    source: TableSource = FRAME,
) -> CrowdLabels:
    """Create labels from a long frame: one row per label, with columns for the item, the annotator and the label.

    Args:
        frame: A frame of pandas, polars or pyarrow. Optional columns: weight, time, kind (human, llm or code). A column
            `tags` instead of `label` holds a list of tags (or tags separated by spaces), one per token.
        columns: role -> column, if the column names are not recognised.
        classes: The classes, in the order used to break ties; by default the sorted labels.
        duplicates: Policy for several labels of an item by one annotator: error (unless the labels are
            equal, in which case they count once), first, last or keep.
        empty_label: Class that an empty cell stands for; None if it stands for no label.
        source: Name of the table in messages.
    """
    table = to_polars(frame, source)
    roles = find_roles(table.columns, columns, where=source.name)
    if "label" not in roles and "tags" in roles:
        require_columns(roles, ("item", "annotator", "tags"), table.columns, source=source, purpose="A table of tags")
        if empty_label is not None:
            raise OptionError("empty_label: only applies to labels of whole items. Leave it out for a table of tags.")
        picked = table.select(pl.col(roles[role]).alias(role) for role in TAG_ROLES if role in roles)
        return build_sequences(picked, source, classes=classes, duplicates=duplicates)
    require_columns(roles, ("item", "annotator", "label"), table.columns, source=source, purpose="A label table")
    picked = table.select(pl.col(roles[role]).alias(role) for role in LABEL_ROLES if role in roles)
    filled: tuple[str, ...] = ()
    if empty_label is not None:
        label = text_column(picked["label"], "label", source)
        empty = label.is_null() | (label.str.strip_chars() == "").fill_null(value=False)
        filled = (
            f"{pluralise(int(empty.sum()), 'empty answer')} of {len(picked):,} used as the class {empty_label!r}.",
        )
        picked = picked.with_columns(label.set(empty, empty_label).alias("label"))
    labels = build_labels(picked, source, classes=classes, duplicates=duplicates)
    if empty_label is not None:  # its class was named on purpose
        asked = f"The label {empty_label!r} is taken as a class"
        notices = tuple(one for one in labels.intake.notices if not one.startswith(asked))
        labels = replace(labels, intake=replace(labels.intake, notices=notices))
    return labels.with_notices(*filled, *unused_confidence(table.columns, roles.values(), source))


def from_arrays(
    items: Sequence[Any],
    annotators: Sequence[Any],
    labels: Sequence[Any],
    *,
    weight: ArrayLike | None = None,
    classes: Sequence[Any] | None = None,
    duplicates: Duplicates | str = Duplicates.error,
) -> CrowdLabels:
    """Create labels from three aligned lists: annotators[n] gave items[n] the label labels[n]."""
    if not len(items) == len(annotators) == len(labels):
        raise LabelError(
            f"{pluralise(len(items), 'item')}, {pluralise(len(annotators), 'annotator')} and "
            f"{pluralise(len(labels), 'label')}. "
            f"Give lists of the same length."
        )
    table = {
        "item": to_column("item", items),
        "annotator": to_column("annotator", annotators),
        "label": to_column("label", labels),
    }
    if weight is not None:
        table["weight"] = to_column("weight", np.asarray(weight).tolist())
        if len(table["weight"]) != len(labels):
            given = pluralise(len(table["weight"]), "weight")
            raise LabelError(f"{given} for {pluralise(len(labels), 'label')}. Give one weight per label.")
    return build_labels(pl.DataFrame(table), LISTS, classes=classes, duplicates=duplicates)


def from_wide(
    frame: Any,
    *,
    item: str | None = None,
    annotators: Sequence[str] | None = None,
    classes: Sequence[Any] | None = None,
    abstain: Any = None,
    columns: Mapping[str, str] | None = None,
    duplicates: Duplicates | str = Duplicates.error,
    source: TableSource = FRAME,
) -> CrowdLabels:
    """Create labels from a wide frame: one row per item, one column per annotator, missing cells for missing labels.

    Args:
        frame: A frame of pandas, polars or pyarrow.
        item: Column with the names of the items; by default, a column with a usual name (item, task, id, ...). Without
            such a column, the rows are numbered from 0.
        annotators: Columns of the annotators; by default, all except those of the item, the text and the gold.
        classes: The classes, in the order used to break ties.
        abstain: A value that means "no label", such as -1, in addition to missing cells.
        columns: role -> column for the text and the gold, if the column names are not recognised.
        duplicates: Policy for items with several rows: error, first, last or keep.
        source: Name of the table in messages.
    """
    table = to_polars(frame, source)
    item = find_roles(table.columns).get("item") if item is None and annotators is None else item
    named, left_out = annotator_columns(table.columns, item, columns) if annotators is None else (list(annotators), [])
    known = set(table.columns)
    for name in [*named, *([item] if item else [])]:
        if name not in known:
            raise LabelError(f"{source.name}: no column {name!r} among {', '.join(table.columns)}.")
    items = pl.Series(np.arange(len(table))) if item is None else table[item]
    roles = find_roles(table.columns, where=source.name)
    if annotators is None and {"item", "annotator", "label"} <= set(roles) and items.n_unique() < len(items):
        leave = source.advise("leave --wide out", "use from_frame")
        raise LabelError(
            f"{source.name}: is a long table with one row per label ({roles['item']}, {roles['annotator']}, "
            f"{roles['label']}), not a wide table with one column per annotator. To read it, {leave}."
        )
    melted = _melt(items, [table[name] for name in named], named, source)
    if abstain is not None:
        abstained = text_column(melted["label"], "label", source) == str(abstain)
        melted = melted.with_columns(melted["label"].zip_with(~abstained.fill_null(value=False), pl.Series([None])))
    rows = source.take(np.tile(np.arange(len(table)), len(named)))
    labels = build_labels(melted, rows, classes=classes, duplicates=duplicates)
    notices = odd_classes(labels.classes)
    if left_out:
        notices = (*notices, f"The columns {name_list(left_out)} were not read as annotators' labels.")
    intake = replace(labels.intake, rows=labels.n_labels, missing=0, notices=notices)
    return replace(labels, intake=intake)


def annotator_columns(
    columns: Sequence[str], item: str | None, chosen: Mapping[str, str] | None = None
) -> tuple[list[str], list[str]]:
    """Return the columns of a wide table that contain labels, and the columns with the text or the gold."""
    roles = find_roles(columns, {**(chosen or {}), **({} if item is None else {"item": item})}, gold=True)
    left_out = [roles[role] for role in ("text", "tokens", "label", "tags") if role in roles]
    return [name for name in columns if name != item and name not in left_out], left_out


def _melt(items: pl.Series, columns: Sequence[pl.Series], names: Sequence[str], source: TableSource) -> pl.DataFrame:
    """Return one row per cell of the annotators' columns, which must have compatible types."""
    try:
        cells = pl.concat([column.alias("label").to_frame() for column in columns], how="vertical_relaxed")["label"]
    except (pl.exceptions.PolarsError, TypeError, ValueError) as problem:
        raise LabelError(
            f"{source.name}: the columns of the annotators have different types. Give all as text or all as numbers."
        ) from problem
    who = pl.Series(list(names), dtype=pl.String).gather(np.repeat(np.arange(len(names)), len(items)))
    which = items.gather(np.tile(np.arange(len(items)), len(names)))
    return pl.DataFrame({"item": which, "annotator": who, "label": cells})


def from_matrix(
    matrix: ArrayLike,
    *,
    missing: int = -1,
    classes: Sequence[Any] | None = None,
    items: Sequence[Any] | None = None,
    annotators: Sequence[Any] | None = None,
) -> CrowdLabels:
    """Create labels from a dense integer matrix[item, annotator], with -1 for missing labels.

    If `classes` is given, the numbers are indices of classes; otherwise, they are the names of the classes.
    """
    try:
        dense = np.asarray(matrix)
    except ValueError:
        raise LabelError("The rows of the label matrix have different lengths. Give rows of the same length.") from None
    if dense.ndim != 2 or not np.issubdtype(dense.dtype, np.integer):
        raise LabelError(f"A label matrix must have two axes and integers, got {dense.ndim} axes and {dense.dtype}.")
    row, annotator = np.nonzero(dense != missing)
    given = dense[row, annotator]
    found, codes = np.unique(given, return_inverse=True)
    if classes is not None:
        if len(found) and (found[0] < 0 or found[-1] >= len(classes)):
            raise LabelError(f"The matrix contains labels from {found[0]} to {found[-1]} for {len(classes)} classes.")
        codes = given
    return CrowdLabels(
        unit=row,
        annotator=annotator,
        label=codes,
        items=_axis_names("items", items, dense.shape[0]),
        annotators=_axis_names("annotators", annotators, dense.shape[1]),
        classes=tuple(found.tolist()) if classes is None else tuple(classes),
        intake=Intake(rows=len(row)),
    )


def _axis_names(what: str, given: Sequence[Any] | None, size: int) -> pl.Series:
    names = pl.Series(np.arange(size)) if given is None else to_column(what, given)
    if len(names) != size or names.n_unique() != size:
        raise LabelError(
            f"The matrix has {size:,} {what}, but {names.n_unique():,} different names were given. Give one for each."
        )
    return names


def from_dict(labels: Mapping[Any, Mapping[Any, Any]], *, classes: Sequence[Any] | None = None) -> CrowdLabels:
    """Create labels from {item: {annotator: label}}; None means no label."""
    rows = [(item, annotator, label) for item, given in labels.items() for annotator, label in given.items()]
    items, annotators, values = zip(*rows, strict=True) if rows else ((), (), ())
    return from_arrays(items, annotators, values, classes=classes)


def from_sequences(
    rows: Iterable[tuple[Any, Any, Sequence[Any]]],
    *,
    classes: Sequence[Any] | None = None,
    duplicates: Duplicates | str = Duplicates.error,
    source: TableSource = FRAME,
) -> CrowdLabels:
    """Create labels of token sequences from rows (item, annotator, tags).

    A sequence in which an annotator saw no entities has a row of O tags; a sequence that was not seen has no row.
    """
    items, annotators, tags = zip(*given, strict=True) if (given := _check_rows(rows)) else ((), (), ())
    table = pl.DataFrame(
        {
            "item": to_column("item", items),
            "annotator": to_column("annotator", annotators),
            "tags": to_column("tags", [list(sentence) for sentence in tags]) if tags else pl.Series([], dtype=EMPTY),
        }
    )
    return build_sequences(table, source, classes=classes, duplicates=duplicates)


def _check_rows(rows: Any) -> list[tuple[Any, Any, Sequence[Any]]]:
    """Return the rows of `from_sequences` after validating them."""
    if isinstance(rows, Mapping | str) or hasattr(rows, "columns") or not isinstance(rows, Iterable):
        hint = " Use from_frame for a data frame." if hasattr(rows, "columns") else ""
        raise LabelError(f"from_sequences: expected rows, got a {type(rows).__name__}. {SEQUENCE_ROWS}{hint}")
    given = list(rows)
    for number, row in enumerate(given):
        if isinstance(row, str) or not isinstance(row, Sequence) or len(row) != 3:
            raise LabelError(f"from_sequences: row {number} is {f'{row!r}'[:60]}. {SEQUENCE_ROWS}")
        if isinstance(row[2], str) or not isinstance(row[2], Iterable):
            raise LabelError(f"from_sequences: the tags of row {number} are {f'{row[2]!r}'[:60]}. {SEQUENCE_ROWS}")
    return given


SEQUENCE_ROWS = 'Give a list of (item, annotator, tags), such as [("s1", "ann", ["B-PER", "O"])].'
"""Expected argument of `from_sequences`, used in messages."""


def as_labels(labels: Any, where: str) -> CrowdLabels:
    """Return labels unchanged, or create them from a frame; raise an error for other arguments.

    Args:
        labels: The argument.
        where: Name of the called function in messages.
    """
    if isinstance(labels, CrowdLabels):
        return labels
    if hasattr(labels, "columns") and not isinstance(labels, type):
        return from_frame(labels)
    given = f"{labels!r}"[:60] if isinstance(labels, str) else f"a {type(labels).__name__}"
    hint = (
        "Read a file with read_labels(path)"
        if isinstance(labels, str)
        else "Create labels with from_frame or from_dict"
    )
    raise LabelError(f"{where}: expected labels, got {given}. {hint}.")


# Items: texts or sentences, with gold if it is known.


def corpus_from_frame(frame: Any, *, columns: Mapping[str, str] | None = None) -> Corpus:
    """Create a corpus from a frame with one row per item: its text or its tokens, and its gold if known.

    Args:
        frame: A frame of pandas, polars or pyarrow with columns for the item and the text, or for the item and the
            tokens (lists, or text separated by spaces). A column `label` (or `gold`, `tags`) contains the gold.
        columns: role -> column, if the column names are not recognised.
    """
    return corpus_from_table(to_polars(frame, FRAME), FRAME, columns)


def corpus_from_table(table: pl.DataFrame, source: TableSource, columns: Mapping[str, str] | None = None) -> Corpus:
    """Create a corpus from a table with items and texts, or with tokens; a column of labels or tags is the gold.

    In a table with two columns, the column that is not the item is the text, even if its name is not recognised.
    """
    roles = find_roles(table.columns, columns, where=source.name, gold=True)
    if "tokens" in roles:
        return corpus_from_records(table.to_dicts(), source, columns)
    if "item" in roles and "text" not in roles and not columns and len(table.columns) == 2:
        roles = {**roles, "text": next(name for name in table.columns if name != roles["item"])}
    require_columns(roles, ("item", "text"), table.columns, source=source, purpose="A table of items")
    texts = text_column(table[roles["text"]], "text", source, error=CorpusError)
    if not is_plain(table[roles["item"]].dtype):
        held = table[roles["item"]].dtype
        raise CorpusError(f"{source.name}: the item column has type {held}. Give each item one name.")
    if texts.null_count():
        rows = texts.is_null().arg_true().to_numpy()
        raise row_error(source, rows, "no text", "Fill in the text, or remove the row.", error=CorpusError)
    require_unique_items(table[roles["item"]], source, "Give each item once.")
    gold, classes = code_labels(table[roles["label"]], source) if "label" in roles else (None, ())
    return Corpus(table[roles["item"]], texts=tuple(texts.to_list()), classes=classes, gold=gold)


def texts_beside_labels(frame: Any) -> Corpus | None:
    """Return the texts of the items in a frame with one row per label; None if it does not contain texts.

    The columns for the annotator and the label may be missing if items are repeated.
    """
    table = to_polars(frame, FRAME)
    roles = find_roles(table.columns)
    if {"item", "annotator", "label"} <= set(roles):
        return texts_of_labels(table, FRAME)
    if set(roles) != {"item", "text"} or not table[roles["item"]].is_duplicated().any():
        return None
    return _one_text_each(table, roles)


def number_items(table: pl.DataFrame, columns: Mapping[str, str] | None = None) -> pl.DataFrame | None:
    """Number the rows of a table of texts without item names from 0; return None for other tables.

    If the table has only one column, it contains the texts, even if its name is not recognised.
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
    """Return the texts of the items in a table of labels; None if it has no column with one text per item.

    A column with different texts in the rows of one item contains comments of annotators, not texts of items.
    """
    roles = find_roles(table.columns, columns, where=source.name)
    if not {"item", "label", "text"} <= set(roles) or "tokens" in roles or "tags" in roles:
        return None
    return _one_text_each(table, roles)


def texts_of_wide(table: pl.DataFrame, source: TableSource, columns: Mapping[str, str] | None = None) -> Corpus | None:
    """Return the texts and the gold of a wide table of labels; None unless every item has a text.

    Without a column for the item, rows are numbered from 0, as by `from_wide`.
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
    """Return the text of every item; None if an item has no text or several texts."""
    if not (is_plain(table.schema[roles["item"]]) and is_plain(table.schema[roles["text"]])):
        return None
    rows = table.select(pl.col(roles["item"]).alias("item"), pl.col(roles["text"]).cast(pl.String).alias("text"))
    rows = rows.filter(rows["item"].is_not_null() & (as_text(rows["item"]).str.strip_chars() != ""))
    several = pl.col("text").drop_nulls().unique(maintain_order=True)
    texts = rows.group_by("item", maintain_order=True).agg(several)
    if not len(texts) or (texts["text"].list.len() != 1).any():
        return None
    return Corpus(texts["item"], texts=tuple(texts["text"].list.first().to_list()))


def corpus_from_records(
    records: Sequence[Record], source: TableSource, columns: Mapping[str, str] | None = None
) -> Corpus:
    """Create a corpus from records with tokens, and with tags if known; `columns` maps roles to fields."""
    header = list(dict.fromkeys(name for record in records for name in record))
    roles = find_roles(header, columns, where=source.name)
    if "tokens" not in roles:
        raise LabelError(
            f"{source.name}: no field for the tokens among {', '.join(header)}. Add a field with the tokens."
        )
    items = [record.get(roles["item"], s) if "item" in roles else s for s, record in enumerate(records)]
    names = names_column("item", items)
    require_unique_items(names, source, "Give each item once.")
    tokens = [text_list(record.get(roles["tokens"]), "tokens", source, at) for at, record in enumerate(records)]
    offsets = np.concatenate([[0], np.cumsum([len(sentence) for sentence in tokens], dtype=np.int64)])
    corpus = Corpus(names, tokens=tuple(t for sentence in tokens for t in sentence), offsets=offsets)
    if "tags" not in roles or all(record.get(roles["tags"]) is None for record in records):
        return corpus
    return _add_gold(corpus, offsets, [record.get(roles["tags"]) for record in records], source)


def _add_gold(corpus: Corpus, offsets: Ints, tags: list[Any], source: TableSource) -> Corpus:
    """Return the corpus with gold from one list of tags per sentence; sentences without tags have no gold."""
    lengths = np.diff(offsets)
    flat: list[str | None] = []
    for at, (given, length) in enumerate(zip(tags, lengths, strict=True)):
        known = [None] * int(length) if given is None else text_list(given, "tags", source, at)
        if len(known) != length:
            found = f"{pluralise(len(known), 'tag')} for {pluralise(int(length), 'token')}"
            raise row_error(source, [at], found, "Give one tag per token.", error=CorpusError)
        flat.extend(None if tag == NOT_SEEN else tag for tag in known)
    rows = np.repeat(np.arange(len(lengths)), lengths)
    codes, names = code_labels(pl.Series("tags", flat, dtype=pl.String), source.take(rows), None)
    return replace(corpus, classes=names, gold=np.where(codes < 0, UNKNOWN, codes))


def text_list(value: Any, what: str, source: TableSource, at: int) -> list[str]:
    """Return a list of text unchanged, or split text at white space; other values raise an error."""
    if isinstance(value, str):
        return value.split()
    if not isinstance(value, list) or not all(isinstance(entry, str) for entry in value):
        raise row_error(
            source, [at], f"the {what} are not a list of texts", f'Write {what} as ["...", "..."].', error=FormatError
        )
    return value


# Inputs of a trained classifier: a corpus, a frame, a list of texts, or a list of sentences.

ACCEPTED = "Give a Corpus, a frame of items, a dictionary item -> text, a list of texts or a list of token lists."


def has_names(items: Any) -> bool:
    """Return whether the items have names: a corpus, a frame, a dictionary, or a series with an index."""
    return isinstance(items, Corpus | Mapping) or hasattr(items, "columns") or _has_own_index(items)


def _has_own_index(items: Any) -> bool:
    """Return whether this is a series of pandas with an index other than 0, 1, 2, ..."""
    index = getattr(items, "index", None)
    return hasattr(index, "is_unique") and type(index).__name__ != "RangeIndex"


def to_corpus(items: Any, *, sequential: bool) -> Corpus:
    """Convert new items to a corpus of the kind that a classifier was trained on.

    Args:
        items: A Corpus, a frame, a dictionary item -> text, a series of texts with an index, a list of texts, or a
            list of token lists. Items of a list are named 0, 1, 2, ...
        sequential: Whether the classifier tags the tokens of sentences. Texts are then split into words and
            punctuation marks (`data.text_tokens.tokenize_texts`).
    """
    corpus = items if isinstance(items, Corpus) else _name_items(items)
    if sequential:
        if corpus.is_sequential:
            return corpus
        from crowdlogic.data.text_tokens import tokenize_corpus

        return tokenize_corpus(corpus)
    if corpus.is_sequential:
        raise CorpusError(
            "These items are tokenised sentences, but the classifier was trained on documents. Give texts."
        )
    return corpus


def _name_items(items: Any) -> Corpus:
    """Create a corpus from texts, token lists or a table."""
    if isinstance(items, str):
        raise CorpusError(f"Expected a list of items, got the text {items[:40]!r}. Write [text].")
    if isinstance(items, CrowdLabels):
        raise CorpusError(f"Expected items, got labels. {ACCEPTED}")
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
        raise CorpusError(f"Expected items, got {type(items).__name__}. {ACCEPTED}") from None
    if all(isinstance(one, str) for one in listed):
        return documents(range(len(listed)), listed)
    if all(isinstance(one, list | tuple) and all(isinstance(word, str) for word in one) for one in listed):
        return sentences(range(len(listed)), listed)
    raise CorpusError(f"Expected items, got a list of neither texts nor token lists. {ACCEPTED}")
