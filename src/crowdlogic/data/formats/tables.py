"""Shared parts of table formats: labels, items and answers are found by the names of columns."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import replace
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np
import polars as pl

from crowdlogic.data.corpus import Corpus, align
from crowdlogic.data.estimate import PROBABILITY_PREFIX, Answers, Beliefs, Estimate
from crowdlogic.data.files import GZIP_MAGIC, InputFile
from crowdlogic.data.formats.protocol import Crowd, Encoded, FileFormat, ReadOptions, assemble_crowd
from crowdlogic.data.frames import corpus_from_table, from_wide, texts_of_labels, texts_of_wide
from crowdlogic.data.intake.building import code_labels, split_tags
from crowdlogic.data.intake.columns import add_unnamed_annotator, find_roles, require_columns
from crowdlogic.data.intake.contract import TableSource, number_column, require_unique_items, row_error, text_column
from crowdlogic.data.labels import NOT_SEEN, CrowdLabels, require_whole_labels
from crowdlogic.data.names import as_text
from crowdlogic.errors import DataError, FormatError, OptionError, name_list
from crowdlogic.numerics.arrays import Bools, Ints

# Conversion of labels, corpora and answers to tables. Reading such a table returns the same data.

TEXTS = pl.List(pl.String)
NUMBERS = pl.List(pl.Float64)


def labels_table(labels: CrowdLabels, *, only_text: bool = False) -> pl.DataFrame:
    """Convert labels to a long table: item, annotator, label (or tags, as lists or text), and weight, time and kind."""
    if labels.is_sequential:
        return _tagged_sentences_table(labels, only_text=only_text)
    table = labels.to_frame()
    return table.with_columns(as_text(table["label"]).alias("label")) if only_text else table


def _tagged_sentences_table(labels: CrowdLabels, *, only_text: bool) -> pl.DataFrame:
    """Return one row per sentence and annotator with the tags; partly tagged sentences raise an error."""
    require_whole_labels(labels, "A table of tags")
    require_single_tags(labels)
    item, annotator, pair = labels.annotations()
    lengths = np.diff(labels.offsets if labels.offsets is not None else [0])
    partial = np.flatnonzero(np.bincount(pair, minlength=len(item)) != lengths[item])
    if len(partial):
        who = labels.annotators[int(annotator[partial[0]])]
        raise OptionError(
            f"Annotator {who!r} tagged only a part of sentence {labels.items[int(item[partial[0]])]!r}. "
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
    """Raise an error if an annotator tagged a sentence twice, because a file has one row or column for its tags."""
    again = np.flatnonzero((np.diff(labels.unit) == 0) & (np.diff(labels.annotator) == 0))
    if len(again):
        item = labels.items[int(labels.item_of_unit[labels.unit[again[0]]])]
        who = labels.annotators[int(labels.annotator[again[0]])]
        raise OptionError(
            f"Annotator {who!r} tagged sentence {item!r} twice. Read the labels with --duplicates first or last."
        )


def corpus_table(corpus: Corpus) -> pl.DataFrame:
    """Convert a corpus to a table: item, text and label; for sentences, item, tokens and tags."""
    if corpus.tokens is None or corpus.offsets is None:
        return corpus.to_frame()
    columns: dict[str, Any] = {"item": corpus.items, "tokens": _split(list(corpus.tokens), corpus.offsets, TEXTS)}
    if corpus.gold is not None:
        columns["tags"] = _split(gold_tags(corpus), corpus.offsets, TEXTS)
    return pl.DataFrame(columns)


def gold_tags(corpus: Corpus) -> list[str]:
    """Return the gold tag of every token, NOT_SEEN if unknown."""
    names = [*map(str, corpus.classes), NOT_SEEN]  # the code UNKNOWN = -1 picks the last one
    return [NOT_SEEN] * corpus.n_units if corpus.gold is None else [names[code] for code in corpus.gold]


def sentence_answers_table(estimate: Estimate, corpus: Corpus | None) -> pl.DataFrame:
    """Convert the answers for sentences to a table: item, tokens if known, tags, and the confidence in each tag."""
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
    """Return the tag chosen for every token, NOT_SEEN if there is no answer."""
    return [NOT_SEEN if name is None else str(name) for name in estimate.answer_names()]


def _split(values: list[Any], offsets: Ints, dtype: pl.List) -> pl.Series:
    """Return one list per sentence."""
    return pl.Series([values[start:end] for start, end in pairwise(offsets.tolist())], dtype=dtype)


UNREADABLE = (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError, ValueError)
"""Exceptions that polars raises on invalid files."""

ROUNDING = 1e-3
"""Tolerance for probabilities in a file that do not sum to one."""

CHOSEN, AT_RANDOM = "chosen", "random"
"""Column of the reviewed items that says how each was chosen, and its value for items drawn at random."""

ONE_ROW = "Give one row per item, or aggregate a file of labels first."


class TableFormat(FileFormat):
    """Base class of formats for tables. A subclass only defines how a table is read and encoded.

    Attributes:
        only_text: Whether all cells are text, without types and lists.
    """

    only_text: ClassVar[bool] = False

    def read_crowd(self, file: InputFile, options: ReadOptions) -> Crowd:
        """Read labels from a long table, or from a wide one with the option `wide`."""
        table, source = self.read_table(file)
        if options.single and not options.wide:
            table = add_unnamed_annotator(table, options.columns)
        if not options.wide:
            return assemble_crowd(table, source, options, corpus=texts_of_labels(table, source, options.columns))
        labels = from_wide(
            table,
            item=find_roles(table.columns, options.columns, where=source.name).get("item"),
            classes=options.classes,
            abstain=options.abstain,
            columns=options.columns,
            duplicates=options.duplicates,
            source=source,
        )
        corpus = texts_of_wide(table, source, options.columns)
        return Crowd(labels) if corpus is None else Crowd(*align(labels, corpus))

    def read_corpus(self, file: InputFile, columns: Mapping[str, str] | None = None) -> Corpus:
        """Read texts from a table with item and text, or sentences from one with tokens; with gold if known."""
        table, source = self.read_table(file)
        return corpus_from_table(table, source, columns)

    def read_answers(self, file: InputFile, columns: Mapping[str, str] | None = None) -> Answers:
        """Read answers from a table with item and label (and p_ columns), or with item and tags."""
        return answers_from_table(*self.read_table(file), columns)

    def encode_labels(self, labels: CrowdLabels, corpus: Corpus | None, target: str) -> Encoded:  # noqa: ARG002
        """Encode labels as a long table; for sequences, with one row per tagged sentence."""
        return self.encode_table(labels_table(labels, only_text=self.only_text), target)

    def encode_corpus(self, corpus: Corpus, target: str) -> Encoded:
        """Encode item, text and label; for sequences, item, tokens and tags."""
        if corpus.is_sequential and self.only_text:
            raise OptionError(f"{target}: sentences cannot be written as {self.name}. Use .conll, .jsonl or .parquet.")
        return self.encode_table(corpus_table(corpus), target)

    def encode_estimate(self, estimate: Estimate, corpus: Corpus | None, target: str) -> Encoded:
        """Encode item, label, confidence and p_ columns; for sequences, item, tokens, tags and confidence."""
        if estimate.offsets is None:
            table = estimate.to_frame()
            if self.only_text:
                table = table.with_columns(as_text(table["label"]).alias("label"))
            return self.encode_table(table, target)
        if self.only_text:
            raise OptionError(f"{target}: sentences cannot be written as {self.name}. Use .conll, .jsonl or .parquet.")
        return self.encode_table(sentence_answers_table(estimate, corpus), target)


def _read_choices(table: pl.DataFrame) -> Bools | None:
    """Return at_random[s] from the column that says how items were chosen; None without such a column."""
    if CHOSEN not in table.columns or table[CHOSEN].dtype != pl.String:
        return None
    return np.asarray((table[CHOSEN] == AT_RANDOM).fill_null(value=False).to_numpy())


COMPRESSED = (GZIP_MAGIC, b"\x28\xb5\x2f\xfd", b"\x78\x01", b"\x78\x9c", b"\x78\xda")
"""First bytes of gzip, Zstandard and zlib."""


def require_uncompressed(content: bytes, name: str) -> None:
    """Raise an error for compressed content of a text file, which polars would decompress without a limit."""
    if content.startswith(COMPRESSED):
        raise FormatError(f"{name}: is compressed twice, or not with gzip. Decompress it, or compress it with gzip.")


def require_rows(table: pl.DataFrame, name: str) -> pl.DataFrame:
    """Return the table; raise an error if it has no rows."""
    if not len(table):
        raise FormatError(f"{name}: contains a header ({name_list(table.columns)}) but no rows. Add at least one row.")
    return table


def answers_from_table(table: pl.DataFrame, source: TableSource, columns: Mapping[str, str] | None = None) -> Answers:
    """Convert a table with item and label (and p_ columns), or with item and tags, to Answers."""
    roles = find_roles(table.columns, columns, where=source.name, gold=True)
    if "tags" in roles and "label" not in roles:
        return replace(_answers_from_tags(table, roles, source), at_random=_read_choices(table))
    require_columns(roles, ("item", "label"), table.columns, source=source, purpose="A file of answers")
    return replace(_answers_from_labels(table, roles, source), at_random=_read_choices(table))


def _answers_from_tags(table: pl.DataFrame, roles: Mapping[str, str], source: TableSource) -> Answers:
    require_columns(roles, ("item", "tags"), table.columns, source=source, purpose="A file of tags")
    require_unique_items(table[roles["item"]], source, ONE_ROW, error=DataError)
    tags = split_tags(table[roles["tags"]], source)
    lengths = tags.list.len().fill_null(0).to_numpy().astype(np.int64)
    flat = text_column(tags.filter(pl.Series(lengths > 0)).explode(), "tag", source, error=DataError)
    rows = source.take(np.repeat(np.arange(len(lengths)), lengths))
    codes, classes = code_labels(flat.set((flat == NOT_SEEN).fill_null(value=False), None), rows, None)
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    return Answers(table[roles["item"]], classes, codes, offsets=offsets, source=source.name)


def _answers_from_labels(table: pl.DataFrame, roles: Mapping[str, str], source: TableSource) -> Answers:
    items, labels = table[roles["item"]], table[roles["label"]]
    require_unique_items(items, source, ONE_ROW, error=DataError)
    codes, classes = code_labels(labels, source)
    prefix = PROBABILITY_PREFIX
    named = tuple(name.removeprefix(prefix) for name in table.columns if name.startswith(prefix))
    if not named or {str(name) for name in classes} - set(named):  # such as p_value or p_note, which are not classes
        return Answers(items, classes, codes, source=source.name)
    codes, classes = code_labels(labels, source, named)
    return Answers(items, classes, codes, beliefs=_read_beliefs(table, named, source), source=source.name)


def _read_beliefs(table: pl.DataFrame, classes: tuple[str, ...], source: TableSource) -> Beliefs:
    """Return q[i, k] from the p_ columns, which must be probabilities."""
    columns = [f"{PROBABILITY_PREFIX}{name}" for name in classes]
    numbers = [number_column(table[name], name, source, error=DataError).fill_null(np.nan) for name in columns]
    beliefs = pl.DataFrame(numbers).to_numpy()
    fine = (beliefs >= 0).all(axis=1) & (np.abs(beliefs.sum(axis=1) - 1) < ROUNDING)
    if not fine.all():
        what = f"the {PROBABILITY_PREFIX} columns are not probabilities that sum to 1"
        raise row_error(source, np.flatnonzero(~fine), what, "Correct or remove these columns.", error=DataError)
    return beliefs


# Messages of Rust on standard error if polars cannot read a file; suppressed, because our own error follows.

STANDARD_ERROR = 2


@contextmanager
def hold_back_panics() -> Iterator[None]:
    """Capture standard error within the block, and write it at the end unless polars panicked."""
    try:
        before = os.dup(STANDARD_ERROR)
    except OSError:  # there is no standard error
        yield
        return
    with tempfile.TemporaryFile() as held:
        if sys.stderr is not None:
            sys.stderr.flush()
        os.dup2(held.fileno(), STANDARD_ERROR)
        panicked = False
        try:
            yield
        except pl.exceptions.PanicException:
            panicked = True
            raise
        finally:
            os.dup2(before, STANDARD_ERROR)
            os.close(before)
            held.seek(0)
            if not panicked and (said := held.read()):
                with suppress(OSError):
                    os.write(STANDARD_ERROR, said)
