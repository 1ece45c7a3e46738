"""CrowdLabels: the labels of all annotators as a sparse table of integer codes, with the names of the codes.

Axes: i unit, j annotator, k class, s sequence. A unit carries one latent label: a document is one unit, a sentence is
a run of units, one per token, and `offsets` marks where each begins. Both go through the same code.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from crowdlogic.data.intake.contract import Intake, to_column, to_pandas
from crowdlogic.data.names import Classes, Names, class_column, find
from crowdlogic.data.wording import SHOWN_ROWS, html_table, pluralise
from crowdlogic.errors import LabelError, OptionError, did_you_mean, name_list
from crowdlogic.numerics.arrays import Bools, Floats, Ints, read_only, stable_order

if TYPE_CHECKING:
    import pandas as pd

NOT_SEEN = "?"
"""Tag of a token that an annotator did not see, or that has no answer."""

KINDS = ("human", "llm", "code")
"""Kinds of annotators."""


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class CrowdLabels:
    """Labels by several annotators. Immutable; rows are sorted by unit, then annotator.

    Build it with `from_frame`, `from_wide`, `from_matrix`, `from_dict`, `from_sequences` or `read_labels`, which turn
    names into codes and apply the input contract; the constructor itself takes codes and only checks them.

    Attributes:
        unit: unit[n], the labelled unit.
        annotator: annotator[n], the annotator who gave the label.
        label: label[n], the given class.
        items: Name of each item (document or sequence).
        annotators: Name of each annotator.
        classes: Name of each class, in the order used for ties and columns.
        offsets: offsets[s] is the first unit of sequence s, offsets[-1] the number of units; None for documents.
        weight: weight[n] of each label; None if all are 1.
        time: time[n], the time of the label in seconds; None if unknown.
        kind: kind[j], one of KINDS; None if unknown.
        negated: negated[n], whether row n is a partial label ("not this class"); None if all are complete.
        intake: Report on how the rows of the table were read.
    """

    unit: Ints
    annotator: Ints
    label: Ints
    items: Names
    annotators: Names
    classes: Classes
    offsets: Ints | None = None
    weight: Floats | None = None
    time: Floats | None = None
    kind: tuple[str, ...] | None = None
    negated: Bools | None = None
    intake: Intake = field(default_factory=Intake)

    def __post_init__(self) -> None:
        _check_sizes(self)
        if self.negated is not None and not self.negated.any():
            object.__setattr__(self, "negated", None)
        # Sort rows by unit, then annotator, keeping the order of the file within, unless they are sorted already
        key = self.unit.astype(np.int64) * max(len(self.annotators), 1) + self.annotator
        order = slice(None) if len(key) < 2 or (key[1:] >= key[:-1]).all() else stable_order(key)
        kinds = {"unit": np.int32, "annotator": np.int32, "label": np.int32, "weight": np.float64, "time": np.float64}
        for name, kind in (kinds | {"negated": np.bool_}).items():
            column = getattr(self, name)
            if column is not None:
                object.__setattr__(self, name, read_only(column.astype(kind, copy=False)[order]))
        _check_codes(self)

    @property
    def n_labels(self) -> int:
        """Number of labels."""
        return len(self.label)

    @property
    def n_units(self) -> int:
        """Number of units, labelled or not."""
        return len(self.items) if self.offsets is None else int(self.offsets[-1])

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return len(self.classes)

    @property
    def is_sequential(self) -> bool:
        """Whether the units are tokens of sequences."""
        return self.offsets is not None

    @property
    def item_of_unit(self) -> Ints:
        """item[i], the item that unit i belongs to."""
        if self.offsets is None:
            return np.arange(self.n_units, dtype=np.int32)
        return np.repeat(np.arange(len(self.items), dtype=np.int32), np.diff(self.offsets))

    @property
    def weights(self) -> Floats:
        """weight[n], ones when none were given."""
        return np.ones(self.n_labels) if self.weight is None else self.weight

    def votes(self, *, weighted: bool = True) -> Floats:
        """Return votes[i, k], the total weight (or the number) of the labels k of unit i.

        A partial label is a vote divided equally among the other classes.
        """
        if self.negated is not None:
            return self._shared_votes(weighted=weighted)
        cell = self.unit.astype(np.int64) * self.n_classes + self.label  # (i, k) as one number
        counts = np.bincount(cell, weights=self.weight if weighted else None, minlength=self.n_units * self.n_classes)
        return counts.astype(np.float64).reshape(self.n_units, self.n_classes)

    def _shared_votes(self, *, weighted: bool) -> Floats:
        """Return votes[i, k] if some labels are partial."""
        whole = replace(self.take(~self._negated), negated=None).votes(weighted=weighted)
        refused = replace(self.take(self._negated), negated=None).votes(weighted=weighted)
        return np.asarray(whole + (refused.sum(axis=1, keepdims=True) - refused) / max(self.n_classes - 1, 1))

    @property
    def _negated(self) -> Bools:
        return np.zeros(self.n_labels, dtype=bool) if self.negated is None else self.negated

    def labels_per_unit(self) -> Ints:
        """Return n[i], the number of labels of unit i."""
        return np.bincount(self.unit, minlength=self.n_units)

    def labels_per_annotator(self) -> Ints:
        """Return n[j], the number of labels of annotator j."""
        return np.bincount(self.annotator, minlength=len(self.annotators))

    def annotations(self) -> tuple[Ints, Ints, Ints]:
        """Return each (item, annotator) pair once, and the pair of every label.

        A pair is the label of a document, or all tags of a sentence, by one annotator.
        """
        item = self.unit if self.offsets is None else self.item_of_unit[self.unit]
        # (item, annotator) as one number, so that each pair is found once
        key = item.astype(np.int64) * max(len(self.annotators), 1) + self.annotator
        pairs, pair_of_label = np.unique(key, return_inverse=True)
        return pairs // max(len(self.annotators), 1), pairs % max(len(self.annotators), 1), pair_of_label

    def take(self, rows: Ints | Bools) -> CrowdLabels:
        """Return some of the labels; items, annotators and classes stay, so codes keep their meaning."""
        return replace(
            self,
            unit=self.unit[rows],
            annotator=self.annotator[rows],
            label=self.label[rows],
            weight=None if self.weight is None else self.weight[rows],
            time=None if self.time is None else self.time[rows],
            negated=None if self.negated is None else self.negated[rows],
        )

    def select(self, *, items: Iterable[Any] | None = None, annotators: Iterable[Any] | None = None) -> CrowdLabels:
        """Return some items, some annotators, by name and in the given order; classes stay."""
        chosen = self
        if items is not None:
            chosen = chosen.take_items(find_codes(items, self.items, "item"))
        if annotators is not None:
            chosen = chosen._take_annotators(find_codes(annotators, self.annotators, "annotator"))
        return chosen

    def take_items(self, codes: Ints) -> CrowdLabels:
        """Return some items by code, in the given order, each at most once; annotators and classes stay."""
        position = np.full(len(self.items), -1, dtype=np.int64)
        position[codes] = np.arange(len(codes))
        item = self.item_of_unit[self.unit]
        rows = position[item] >= 0
        kept = self.take(rows)
        if self.offsets is None:
            return replace(kept, unit=position[kept.unit], items=self.items.gather(codes))
        lengths = np.diff(self.offsets)[codes]
        offsets = np.concatenate([[0], np.cumsum(lengths)])
        within = kept.unit - self.offsets[item[rows]]  # the position of each label within its sequence
        return replace(
            kept, unit=offsets[position[item[rows]]] + within, items=self.items.gather(codes), offsets=offsets
        )

    def _take_annotators(self, codes: Ints) -> CrowdLabels:
        position = np.full(len(self.annotators), -1, dtype=np.int64)
        position[codes] = np.arange(len(codes))
        kept = self.take(position[self.annotator] >= 0)
        return replace(
            kept,
            annotator=position[kept.annotator],
            annotators=self.annotators.gather(codes),
            kind=None if self.kind is None else tuple(self.kind[code] for code in codes),
        )

    def subsample(self, size: int | float, *, seed: int) -> CrowdLabels:
        """Return a random part of the annotations: a count, or a fraction below 1.

        Pairs of item and annotator are drawn, so a sentence's tags by one person stay together.
        """
        _, _, pair_of_label = self.annotations()
        n_pairs = int(pair_of_label.max(initial=-1)) + 1
        count = size * n_pairs if isinstance(size, float) and size <= 1 else size
        if not 0 <= count <= n_pairs:
            raise OptionError(f"subsample: {size} requested, but there are {n_pairs:,} annotations. Give at most that.")
        drawn = np.zeros(n_pairs, dtype=bool)
        drawn[np.random.default_rng(seed).choice(n_pairs, round(count), replace=False)] = True
        return self.take(drawn[pair_of_label])

    def split(self, *sizes: int, seed: int) -> tuple[CrowdLabels, ...]:
        """Split the items at random into parts of the given sizes, and a last part with the rest, if any."""
        return tuple(self.take_items(codes) for codes in split_codes(len(self.items), sizes, seed))

    def with_classes(self, classes: Sequence[Any]) -> CrowdLabels:
        """Return the same labels over other classes (compared as text), which may be more or in another order.

        A class in use cannot be left out.
        """
        position = {str(name): k for k, name in enumerate(classes)}
        gone = [name for k, name in enumerate(self.classes) if str(name) not in position and (self.label == k).any()]
        if gone:
            raise LabelError(
                f"The class {gone[0]!r} is in use and cannot be left out. Keep it, or drop its labels first."
            )
        codes = np.array([position.get(str(name), -1) for name in self.classes], dtype=np.int32)
        return replace(self, label=codes[self.label], classes=tuple(classes))

    def with_notices(self, *notices: str) -> CrowdLabels:
        """Return the same labels with additional notices about how they were read."""
        if not notices:
            return self
        return replace(self, intake=replace(self.intake, notices=(*self.intake.notices, *notices)))

    def to_frame(self) -> pl.DataFrame:
        """Return one row per label: item, annotator, label; negated, weight, time (in seconds) and kind if available.

        For sequences, the additional column `token` is the position in the sentence, from 0.
        """
        item = self.item_of_unit[self.unit]
        columns: dict[str, Any] = {"item": self.items.gather(item)}
        if self.offsets is not None:
            columns["token"] = self.unit - self.offsets[item]
        columns["annotator"] = self.annotators.gather(self.annotator)
        columns["label"] = class_column(self.classes).gather(self.label)
        if self.negated is not None:
            columns["negated"] = self.negated
        if self.weight is not None:
            columns["weight"] = self.weight
        if self.time is not None:
            columns["time"] = pl.Series(self.time).fill_nan(None)
        if self.kind is not None:
            columns["kind"] = pl.Series(self.kind, dtype=pl.String).gather(self.annotator)
        return pl.DataFrame(columns)

    def to_pandas(self) -> pd.DataFrame:
        """Convert to a pandas DataFrame; see `to_frame`."""
        return to_pandas(self.to_frame())

    def _repr_html_(self) -> str:
        first = self.take(np.arange(min(SHOWN_ROWS, self.n_labels)))
        return html_table("CrowdLabels", self._facts(), first.to_frame(), self.n_labels)

    def __repr__(self) -> str:
        return f"CrowdLabels({self._facts()})"

    def _facts(self) -> str:
        units = f" of {pluralise(self.n_units, 'unit')}" if self.is_sequential else ""
        return (
            f"{pluralise(self.n_labels, 'label')}, {pluralise(len(self.items), 'item')}{units}, "
            f"{pluralise(len(self.annotators), 'annotator')}, {pluralise(self.n_classes, 'class', 'classes')}"
        )


def require_whole_labels(labels: CrowdLabels, name: str) -> None:
    """Raise an error for partial labels ("not X"). `name` is the component that does not support them."""
    if labels.negated is not None:
        count = int(np.count_nonzero(labels.negated))
        raise LabelError(
            f"{name} does not support partial labels ('not this class'), but {count:,} of {labels.n_labels:,} labels "
            f"are partial. Use a method with a confusion matrix: dawid-skene, ibcc, ebcc, or bsc-seq for sentences."
        )


def split_codes(n: int, sizes: Sequence[int], seed: int) -> list[Ints]:
    """Split a random permutation of 0..n-1 into parts of the given sizes, and a last part with the rest, if any."""
    if any(size < 0 for size in sizes) or sum(sizes) > n:
        raise OptionError(f"split: parts of {', '.join(map(str, sizes))} exceed {n:,} items. Give smaller parts.")
    order = np.random.default_rng(seed).permutation(n)
    parts = np.split(order, np.cumsum(sizes))
    return parts if len(parts[-1]) else parts[:-1]


def find_codes(wanted: Iterable[Any], names: Names, what: str) -> Ints:
    """Return the codes of some names. Unknown and repeated names raise an error."""
    asked = to_column(what, list(wanted))
    codes = find(asked, names)
    if len(asked) and (codes < 0).any():
        name = asked[int(np.flatnonzero(codes < 0)[0])]
        hint = did_you_mean(str(name), [str(n) for n in names]) or f" There are {name_list(names, most=5)}."
        raise LabelError(f"No {what} is called {name!r}.{hint}")
    if len(np.unique(codes)) != len(codes):
        raise LabelError(f"An {what} is named twice. Name each once.")
    return codes


def _check_sizes(labels: CrowdLabels) -> None:
    for name in ("annotator", "label", "weight", "time", "negated"):
        column = getattr(labels, name)
        if column is not None and len(column) != len(labels.unit):
            raise LabelError(
                f"{name} has {len(column):,} rows and unit has {len(labels.unit):,}. Give arrays of one length."
            )
    if labels.offsets is not None:
        offsets = np.asarray(labels.offsets, dtype=np.int64)
        if len(offsets) != len(labels.items) + 1 or offsets[0] != 0 or (np.diff(offsets) < 0).any():
            raise LabelError("offsets must increase from 0 and have one entry more than there are items.")
        object.__setattr__(labels, "offsets", read_only(offsets))
    if labels.kind is not None and (len(labels.kind) != len(labels.annotators) or set(labels.kind) - {*KINDS, ""}):
        raise LabelError(
            f"kind needs one of {', '.join(KINDS)} for each of {pluralise(len(labels.annotators), 'annotator')}."
        )
    if len(set(labels.classes)) != len(labels.classes):
        raise LabelError("A class is named twice. Give each class once.")


def _check_codes(labels: CrowdLabels) -> None:
    limits = {"unit": labels.n_units, "annotator": len(labels.annotators), "label": labels.n_classes}
    for name, limit in limits.items():
        column = getattr(labels, name)
        if len(column) and (column.min() < 0 or column.max() >= limit):
            raise LabelError(f"{name} contains codes from {column.min()} to {column.max()}, expected 0 to {limit - 1}.")
    if labels.negated is not None and labels.n_classes < 2:
        raise LabelError("Partial labels ('not this class') need at least two classes. Give all classes: --classes.")
    if labels.weight is not None and not (np.isfinite(labels.weight).all() and (labels.weight >= 0).all()):
        raise LabelError("A weight is negative or not finite. Give weights of 0 or more.")
