"""Corpus: the items, aligned with the units, with gold if it is known.

An item is a document (a text, or a row of features) or a sequence of tokens. Axes: i unit, k class, s sequence.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from crowdlogic.data.intake.contract import to_pandas
from crowdlogic.data.labels import CrowdLabels, find_codes, split_codes
from crowdlogic.data.names import Classes, Names, class_column, find, merge_classes, sort_classes
from crowdlogic.data.wording import SHOWN_ROWS, html_table, pluralise
from crowdlogic.errors import CorpusError, name_list
from crowdlogic.numerics.arrays import Floats, Ints, read_only

if TYPE_CHECKING:
    import pandas as pd

UNKNOWN = -1
"""Gold code of a unit whose true class is unknown."""


@dataclass(frozen=True)
class Question:
    """Question of an annotation tool, so that answers are written under its names.

    Attributes:
        name: Name of the question; empty if it has none.
        kind: Kind of the question in the tool, such as choices or rating.
        target: Object of the question, if the tool names it (Label Studio's to_name).
        field: Name of the field with the text.
    """

    name: str = ""
    kind: str = ""
    target: str = ""
    field: str = ""


@dataclass(frozen=True, eq=False, repr=False)
class Corpus:
    """Items with the input of classifiers, and gold if it is known.

    Attributes:
        items: Name of each item.
        texts: texts[s] of documents; for sequences, the original text of the tokens, if known.
        tokens: tokens[i] of all sequences, concatenated.
        offsets: offsets[s] is the first unit of sequence s; None for documents.
        bounds: bounds[i] = (start, end), the position of token i in the text of its sequence, in characters, with an
            exclusive end; None if unknown.
        features: features[i, d], numeric features of each unit (dense or sparse), instead of the text or in addition
            to it.
        feature_names: Name of each feature; empty if they are numbered from 0.
        classes: Classes of the gold codes; empty if there is no gold.
        gold: gold[i], the true class of unit i, UNKNOWN if unknown; None if there is no gold.
        question: The question of the annotation tool in which the items were annotated.
    """

    items: Names
    _: KW_ONLY
    texts: tuple[str, ...] | None = None
    tokens: tuple[str, ...] | None = None
    offsets: Ints | None = None
    bounds: Ints | None = None
    features: Floats | None = None
    feature_names: tuple[str, ...] = ()
    classes: Classes = ()
    gold: Ints | None = None
    question: Question = Question()

    def __post_init__(self) -> None:
        if self.items.n_unique() != len(self.items):
            name = self.items.filter(self.items.is_duplicated())[0]
            raise CorpusError(f"Item {name!r} appears twice in the corpus. Give each item once.")
        if self.offsets is not None:
            object.__setattr__(self, "offsets", read_only(np.asarray(self.offsets, dtype=np.int64)))
        expected = {"texts": len(self.items)} | dict.fromkeys(("tokens", "bounds", "features", "gold"), self.n_units)
        for name, size in expected.items():
            column = getattr(self, name)
            found = size if column is None else column.shape[0] if hasattr(column, "shape") else len(column)
            if found != size:
                raise CorpusError(
                    f"{name} has {pluralise(found, 'entry', 'entries')} where {size:,} "
                    f"{'is' if size == 1 else 'are'} expected."
                )
        if self.gold is not None:
            gold = np.asarray(self.gold, dtype=np.int32)
            if len(gold) and (gold.min() < UNKNOWN or gold.max() >= len(self.classes)):
                raise CorpusError(
                    f"gold contains codes from {gold.min()} to {gold.max()} for {len(self.classes)} classes."
                )
            object.__setattr__(self, "gold", read_only(gold))

    @property
    def n_units(self) -> int:
        """Number of units."""
        return len(self.items) if self.offsets is None else int(self.offsets[-1])

    @property
    def is_sequential(self) -> bool:
        """Whether the units are tokens of sequences."""
        return self.offsets is not None

    def sentence(self, s: int) -> tuple[str, ...]:
        """Return the tokens of sequence s."""
        if self.tokens is None or self.offsets is None:
            raise CorpusError("This corpus contains documents, not token sequences.")
        return self.tokens[int(self.offsets[s]) : int(self.offsets[s + 1])]

    def select(self, items: Iterable[Any]) -> Corpus:
        """Return some items, by name and in the given order."""
        return self.take_items(find_codes(items, self.items, "item"))

    def take_items(self, codes: Ints) -> Corpus:
        """Return some items by code, in the given order."""
        units = self._select_units(codes)
        lengths = None if self.offsets is None else np.diff(self.offsets)[codes]
        return replace(
            self,
            items=self.items.gather(codes),
            texts=None if self.texts is None else tuple(self.texts[s] for s in codes),
            tokens=None if self.tokens is None else tuple(self.tokens[i] for i in units),
            offsets=None if lengths is None else np.concatenate([[0], np.cumsum(lengths)]),
            bounds=None if self.bounds is None else self.bounds[units],
            features=None if self.features is None else self.features[units],
            gold=None if self.gold is None else self.gold[units],
        )

    def split(self, *sizes: int, seed: int) -> tuple[Corpus, ...]:
        """Split the items at random into parts of the given sizes, and a last part with the rest, if any."""
        return tuple(self.take_items(codes) for codes in split_codes(len(self.items), sizes, seed))

    def with_classes(self, classes: Sequence[Any]) -> Corpus:
        """Return the same gold over other classes, which may be more or in another order."""
        position = {str(name): k for k, name in enumerate(classes)}
        codes = np.array([*(position.get(str(name), -2) for name in self.classes), UNKNOWN], dtype=np.int32)
        if self.gold is None:
            return replace(self, classes=tuple(classes))
        gold = codes[self.gold]
        if (gold == -2).any():
            lost = self.classes[int(self.gold[gold == -2][0])]
            raise CorpusError(
                f"The gold class {lost!r} is not among the classes {name_list(classes)}. Add it, or correct the gold."
            )
        return replace(self, classes=tuple(classes), gold=gold)

    def _select_units(self, codes: Ints) -> Ints:
        if self.offsets is None:
            return codes
        lengths = np.diff(self.offsets)[codes]
        # unit[u] = first unit of the item + position within it, for all chosen items at once
        starts = np.repeat(self.offsets[:-1][codes] - np.concatenate([[0], np.cumsum(lengths)[:-1]]), lengths)
        return starts + np.arange(lengths.sum())

    def to_frame(self) -> pl.DataFrame:
        """Return one row per unit: item, text (of the document or the token), and label (the gold, if any).

        For sequences, the additional column `token` is the position in the sentence, from 0. Features are not included.
        """
        columns: dict[str, Any] = {"item": self.items}
        text = self.texts
        if self.offsets is not None:
            item = np.repeat(np.arange(len(self.items)), np.diff(self.offsets))
            columns["item"] = self.items.gather(item)
            columns["token"] = np.arange(self.n_units) - self.offsets[item]
            text = self.tokens
        if text is not None:
            columns["text"] = pl.Series(text, dtype=pl.String)
        if self.gold is not None:
            codes = pl.Series(self.gold).cast(pl.Int64)
            columns["label"] = class_column(self.classes).gather(codes.set(codes == UNKNOWN, None))
        return pl.DataFrame(columns)

    def to_pandas(self) -> pd.DataFrame:
        """Convert to a pandas DataFrame; see `to_frame`."""
        return to_pandas(self.to_frame())

    def _repr_html_(self) -> str:
        first = self.take_items(np.arange(min(SHOWN_ROWS, len(self.items))))
        return html_table("Corpus", self._facts(), first.to_frame(), self.n_units)

    def __repr__(self) -> str:
        return f"Corpus({self._facts()})"

    def _facts(self) -> str:
        known = 0 if self.gold is None else int((self.gold != UNKNOWN).sum())
        if self.is_sequential:
            size = f"{pluralise(len(self.items), 'sequence')}, {pluralise(self.n_units, 'token')}"
            return f"{size}, gold for {known:,}"
        return f"{pluralise(len(self.items), 'item')}, gold for {known:,}"


def align(labels: CrowdLabels, corpus: Corpus) -> tuple[CrowdLabels, Corpus]:
    """Return the labels and the corpus with the same items, in the order of the corpus, and the same classes.

    Items of the corpus without labels are kept. An item with labels that is missing from the corpus, or a sequence with
    another length, raises an error.
    """
    where = find(labels.items, corpus.items)
    labelled = np.zeros(len(labels.items), dtype=bool)
    labelled[labels.item_of_unit[labels.unit]] = True
    lost = np.flatnonzero((where < 0) & labelled)
    if len(lost):
        raise CorpusError(
            f"Item {labels.items[int(lost[0])]!r} has labels but no text ({len(lost):,} such items). "
            f"Add the items to the corpus, or select the labels of its items."
        )
    if labels.is_sequential != corpus.is_sequential:
        kinds = ("sequences", "documents") if labels.is_sequential else ("documents", "sequences")
        raise CorpusError(
            f"The labels are of {kinds[0]}, but the corpus contains {kinds[1]}. Give both of the same kind."
        )
    item = labels.item_of_unit[labels.unit]
    unit = where[item]
    if labels.offsets is not None and corpus.offsets is not None:
        known = np.flatnonzero(where >= 0)
        ours, theirs = np.diff(labels.offsets)[known], np.diff(corpus.offsets)[where[known]]
        wrong = np.flatnonzero(ours != theirs)
        if len(wrong):
            s = int(wrong[0])
            raise CorpusError(
                f"Sequence {labels.items[int(known[s])]!r} has {pluralise(int(ours[s]), 'tag')} and "
                f"{pluralise(int(theirs[s]), 'token')} ({pluralise(len(wrong), 'such sequence')}). "
                f"Give one tag per token."
            )
        unit = corpus.offsets[unit] + (labels.unit - labels.offsets[item])
    classes = merge_classes(labels.classes, corpus.classes if corpus.gold is not None else ())
    moved = replace(labels.with_classes(classes), unit=unit, items=corpus.items, offsets=corpus.offsets)
    return moved, corpus.with_classes(classes)


def merge_corpora(known: Corpus | None, more: Corpus | None) -> Corpus | None:
    """Return the items of both; duplicates are taken from the first. Texts and features are kept if both have them."""
    if known is None or more is None:
        return more if known is None else known
    if known.is_sequential != more.is_sequential:
        raise CorpusError("One corpus contains documents, the other sequences. Give both of the same kind.")
    fresh = more.take_items(np.flatnonzero(find(more.items, known.items) < 0))
    classes = sort_classes({str(name): name for name in (*known.classes, *fresh.classes)}.values())
    parts = [part.with_classes(classes) for part in (known, fresh)]
    features = [part.features for part in parts if part.features is not None]
    bounds = [part.bounds for part in parts if part.bounds is not None]
    gold = [np.full(part.n_units, UNKNOWN) if part.gold is None else part.gold for part in parts]
    lengths = [np.diff(part.offsets) for part in parts if part.offsets is not None]
    return Corpus(
        pl.concat([part.items for part in parts]),
        texts=None if known.texts is None or fresh.texts is None else known.texts + fresh.texts,
        tokens=None if known.tokens is None or fresh.tokens is None else known.tokens + fresh.tokens,
        offsets=np.concatenate([[0], np.cumsum(np.concatenate(lengths))]) if lengths else None,
        bounds=np.concatenate(bounds) if len(bounds) == len(parts) else None,
        features=np.concatenate(features) if len(features) == len(parts) else None,
        classes=classes,
        gold=None if known.gold is None and fresh.gold is None else np.concatenate(gold),
    )


def code_gold(values: Sequence[Any], classes: Classes | None = None) -> tuple[Ints, Classes]:
    """Return gold codes for values (None if unknown), and their classes."""
    found = sort_classes(value for value in values if value is not None) if classes is None else classes
    position = {name: k for k, name in enumerate(found)}
    lost = [value for value in values if value is not None and value not in position]
    if lost:
        raise CorpusError(
            f"The gold class {lost[0]!r} is not among the classes {name_list(found)}. Add it, or correct the gold."
        )
    return np.array([UNKNOWN if v is None else position[v] for v in values], dtype=np.int32), found


def documents(
    items: Sequence[Any],
    texts: Sequence[str] | None = None,
    *,
    features: Floats | None = None,
    gold: Sequence[Any] | None = None,
) -> Corpus:
    """Create a corpus of documents: texts or features, with optional gold (None if unknown)."""
    codes, classes = (None, ()) if gold is None else code_gold(gold)
    return Corpus(
        pl.Series(items), texts=None if texts is None else tuple(texts), features=features, classes=classes, gold=codes
    )


def sentences(
    items: Sequence[Any], tokens: Sequence[Sequence[str]], *, gold: Sequence[Sequence[Any]] | None = None
) -> Corpus:
    """Create a corpus of token sequences, with the true tag of each token if known."""
    offsets = np.concatenate([[0], np.cumsum([len(sentence) for sentence in tokens], dtype=np.int64)])
    flat = tuple(token for sentence in tokens for token in sentence)
    codes, classes = (None, ()) if gold is None else code_gold([tag for tags in gold for tag in tags])
    return Corpus(pl.Series(items), tokens=flat, offsets=offsets, classes=classes, gold=codes)
