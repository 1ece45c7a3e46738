"""What people hand to a trained classifier: a corpus, a frame, a list of texts, a list of sentences."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from crowdlogic.data.corpus import Corpus, documents, sentences
from crowdlogic.data.frames import FRAME
from crowdlogic.data.intake.dataframes import to_polars
from crowdlogic.data.item_tables import corpus_from_table, number_items
from crowdlogic.data.labels import CrowdLabels
from crowdlogic.data.tokenization import tokenize_corpus
from crowdlogic.errors import CorpusError

ACCEPTED = "Give a Corpus, a frame of items, a dictionary item -> text, a list of texts or a list of token lists."


def has_names(items: Any) -> bool:
    """Whether the items come with their names: a corpus, a frame, a dictionary, a series with an index of its own."""
    return isinstance(items, Corpus | Mapping) or hasattr(items, "columns") or _has_own_index(items)


def _has_own_index(items: Any) -> bool:
    """Whether it is a series of pandas whose index is more than 0, 1, 2, ..."""
    index = getattr(items, "index", None)
    return hasattr(index, "is_unique") and type(index).__name__ != "RangeIndex"


def to_corpus(items: Any, *, sequential: bool) -> Corpus:
    """New items as a corpus of the kind that a classifier learnt from.

    Args:
        items: A Corpus, a frame, a dictionary item -> text, a series of texts with an index, a list of texts, or a
            list of token lists. Items of a list are named 0, 1, 2, ...
        sequential: Whether the classifier tags the tokens of sentences. Texts are then split into words and
            punctuation marks (`data.tokenization.tokenize`).
    """
    corpus = items if isinstance(items, Corpus) else _name_items(items)
    if sequential:
        return corpus if corpus.is_sequential else tokenize_corpus(corpus)
    if corpus.is_sequential:
        raise CorpusError(
            "These items are sentences of tokens, and the classifier learnt from whole documents. Give it texts."
        )
    return corpus


def _name_items(items: Any) -> Corpus:
    """A corpus from what is none."""
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
