"""Items from tables: texts or sentences, with gold where the table has it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl

from crowdlogic.data.corpus import Corpus
from crowdlogic.data.formats.records import corpus_from_records
from crowdlogic.data.frames import FRAME
from crowdlogic.data.intake.cells import code_labels
from crowdlogic.data.intake.columns import find_roles, require_columns
from crowdlogic.data.intake.contract import TableSource, require_unique_items, row_error
from crowdlogic.data.intake.dataframes import to_polars
from crowdlogic.errors import CorpusError


def corpus_from_frame(frame: Any, *, columns: Mapping[str, str] | None = None) -> Corpus:
    """Items from a frame: one row per item, with its text (or its tokens), and its gold if it is known.

    Args:
        frame: A frame of pandas, polars or pyarrow with columns for the item and the text; or for the item and the
            tokens, as lists or as text separated by spaces. A column `label` (or `gold`, `tags`) holds the gold.
        columns: role -> column, when the columns' names are not recognised.
    """
    return corpus_from_table(to_polars(frame, FRAME), FRAME, columns)


def corpus_from_table(table: pl.DataFrame, source: TableSource, columns: Mapping[str, str] | None = None) -> Corpus:
    """Texts from a table with item and text, sentences from one with tokens; gold from a label or tags.

    Of two columns, the one that is not the item is the text, whatever it is called.
    """
    roles = find_roles(table.columns, columns, where=source.name, gold=True)
    if "tokens" in roles:
        return corpus_from_records(table.to_dicts(), source, columns)
    if "item" in roles and "text" not in roles and not columns and len(table.columns) == 2:
        roles = {**roles, "text": next(name for name in table.columns if name != roles["item"])}
    require_columns(roles, ("item", "text"), table.columns, source=source, purpose="A table of items")
    texts = table[roles["text"]].cast(pl.String)
    if texts.null_count():
        rows = texts.is_null().arg_true().to_numpy()
        raise row_error(source, rows, "no text", "Fill in the text, or remove the row.", error=CorpusError)
    require_unique_items(table[roles["item"]], source, "Give each item once.")
    gold, classes = code_labels(table[roles["label"]], source) if "label" in roles else (None, ())
    return Corpus(table[roles["item"]], texts=tuple(texts.to_list()), classes=classes, gold=gold)


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
    """A table of texts whose items have no names, with their numbers from 0 on; None where it is no such table.

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
    """The texts of the items in a table of labels that has them beside the labels; None where it has not.

    A column whose text differs between the labels of one item is an annotator's comment, and no text of the item.
    """
    roles = find_roles(table.columns, columns, where=source.name)
    if not {"item", "label", "text"} <= set(roles) or "tokens" in roles or "tags" in roles:
        return None
    return _one_text_each(table, roles)


def _one_text_each(table: pl.DataFrame, roles: Mapping[str, str]) -> Corpus | None:
    """The text of every item, where all its rows have the same; None otherwise."""
    rows = table.select(pl.col(roles["item"]).alias("item"), pl.col(roles["text"]).cast(pl.String).alias("text"))
    rows = rows.filter(rows["item"].is_not_null() & (rows["item"].cast(pl.String).str.strip_chars() != ""))
    several = pl.col("text").drop_nulls().unique(maintain_order=True)
    texts = rows.group_by("item", maintain_order=True).agg(several)
    if not len(texts) or (texts["text"].list.len() != 1).any():
        return None
    return Corpus(texts["item"], texts=tuple(texts["text"].list.first().to_list()))
