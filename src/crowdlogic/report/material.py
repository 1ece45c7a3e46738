"""Material: what a report is made from, put over the same items, annotators and classes.

A run keeps everything; a saved estimate has neither votes nor texts, so labels and items come beside it. Axes: i unit,
j annotator, k class.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from crowdlogic.data.answers import Answers
from crowdlogic.data.corpus import UNKNOWN, Corpus, align
from crowdlogic.data.estimate import Beliefs, Estimate
from crowdlogic.data.labels import CrowdLabels
from crowdlogic.data.names import Classes, as_text, find
from crowdlogic.data.tagging import is_span_tag_set
from crowdlogic.errors import DataError, did_you_mean
from crowdlogic.numerics.arrays import Bools, Ints
from crowdlogic.report.findings import Setting, Task
from crowdlogic.store.runs import RunRecord

VALUE_LENGTH = 200
"""A setting's value is cut at this many characters: a table of transitions is one of them."""


@dataclass(frozen=True, eq=False)
class Material:
    """What is known.

    Attributes:
        labels: The labels.
        estimate: What is believed, over the same items, annotators and classes.
        corpus: The items, likewise; None when they are not known.
        gold: gold[i], UNKNOWN where it is not known; None without any.
        kept: The run; None for an estimate alone.
    """

    labels: CrowdLabels
    estimate: Estimate
    corpus: Corpus | None = None
    gold: Ints | None = None
    kept: RunRecord | None = None

    @property
    def task(self) -> Task:
        """What carries a label."""
        if self.labels.offsets is None:
            return Task.documents
        return Task.spans if is_span_tag_set(self.labels.classes) else Task.tags

    @property
    def known(self) -> Bools:
        """known[i], whether the gold of unit i is known."""
        return np.zeros(self.labels.n_units, dtype=bool) if self.gold is None else np.asarray(self.gold != UNKNOWN)

    @property
    def views(self) -> Mapping[str, Beliefs]:
        """What classifier, crowd and rules of a run believe, over the same classes; empty without a run."""
        if self.kept is None:
            return {}
        more = self.labels.n_classes - len(self.kept.estimate.classes)
        return {name: np.pad(view, ((0, 0), (0, more))) for name, view in self.kept.views.items()}

    @property
    def class_names(self) -> tuple[str, ...]:
        """The classes as text."""
        return tuple(str(name) for name in self.labels.classes)

    @property
    def settings(self) -> tuple[Setting, ...]:
        """The options of a run, dotted, and what it was given; an estimate does not keep its own."""
        if self.kept is None:
            return ()
        parts = {"method": self.kept.config.get("method"), "inputs": self.kept.config.get("inputs")}
        rows = [row for part in ("method", "inputs") for row in _dotted(parts[part], "" if part == "method" else part)]
        return tuple(Setting(name, text[:VALUE_LENGTH]) for name, text in rows)


def _dotted(value: Any, path: str) -> Iterator[tuple[str, str]]:
    if isinstance(value, Mapping):
        for name, entry in value.items():
            yield from _dotted(entry, f"{path}.{name}" if path else str(name))
    elif value is not None:
        yield path, ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)


def of_run(kept: RunRecord, gold: Answers | None = None) -> Material:
    """The material of a run; its own gold unless another is given."""
    return _judged(Material(kept.labels, kept.estimate, kept.corpus, kept.corpus.gold, kept), gold)


def of_estimate(
    estimate: Estimate, labels: CrowdLabels, corpus: Corpus | None = None, gold: Answers | None = None
) -> Material:
    """The material of an estimate, with the labels that it was made from.

    Args:
        estimate: What is believed.
        labels: The labels that it was made from, in any order.
        corpus: The items; their gold is used unless another is given.
        gold: The truth of some items.
    """
    if labels.is_sequential != (estimate.offsets is not None):
        kinds = ("sentences", "documents") if labels.is_sequential else ("documents", "sentences")
        raise DataError(f"The labels are of {kinds[0]} and the estimate is of {kinds[1]}. Give what it was made from.")
    _refuse_strangers(labels, estimate)
    whole = Corpus(estimate.items, offsets=estimate.offsets)
    placed, _ = align(labels.with_classes(_extended(estimate.classes, labels.classes)), whole)
    placed = _over_annotators(placed, estimate)
    known = None if corpus is None else _over_items(corpus, estimate)
    classes = placed.classes if known is None or known.gold is None else _extended(placed.classes, known.classes)
    made = Material(placed.with_classes(classes), widened(estimate, classes), known)
    if known is not None and known.gold is not None:
        known = known.with_classes(classes)
        made = replace(made, corpus=known, gold=known.gold)
    return _judged(made, gold)


def _extended(classes: Classes, more: Classes) -> Classes:
    """The classes in their order, and after them further ones that are not among them, compared as text."""
    known = {str(name) for name in classes}
    return (*classes, *(name for name in more if str(name) not in known))


def _refuse_strangers(labels: CrowdLabels, estimate: Estimate) -> None:
    heard = np.zeros(len(labels.items), dtype=bool)
    heard[labels.item_of_unit[labels.unit]] = True
    strange = np.flatnonzero((find(labels.items, estimate.items) < 0) & heard)
    if len(strange):
        raise DataError(
            f"Item {labels.items[int(strange[0])]!r} has labels and is not in the estimate ({len(strange):,} such "
            f"items). Give the labels that it was made from."
        )


def _over_annotators(labels: CrowdLabels, estimate: Estimate) -> CrowdLabels:
    where = find(as_text(labels.annotators), as_text(estimate.annotators))
    if (where < 0).any():
        name = labels.annotators[int(np.flatnonzero(where < 0)[0])]
        known = [str(other) for other in estimate.annotators]
        raise DataError(
            f"Annotator {name!r} is not in the estimate.{did_you_mean(str(name), known)} Give its own labels."
        )
    kind = None
    if labels.kind is not None:
        kinds = dict(zip(where.tolist(), labels.kind, strict=True))
        kind = tuple(kinds.get(j, "") for j in range(len(estimate.annotators)))
    return replace(labels, annotator=where[labels.annotator], annotators=estimate.annotators, kind=kind)


def _over_items(corpus: Corpus, estimate: Estimate) -> Corpus:
    where = find(as_text(estimate.items), as_text(corpus.items))
    if (where < 0).any():
        missing = np.flatnonzero(where < 0)
        raise DataError(f"Item {estimate.items[int(missing[0])]!r} is not among the items ({len(missing):,} such).")
    placed = corpus.take_items(where)
    lengths = (placed.offsets, estimate.offsets)
    if (lengths[0] is None) != (lengths[1] is None) or (lengths[0] is not None and (lengths[0] != lengths[1]).any()):
        raise DataError("The items are not as long as those of the estimate. Give the items that it was made from.")
    return replace(placed, items=estimate.items)


def widened(estimate: Estimate, classes: Classes) -> Estimate:
    """The estimate over more classes, in which it does not believe at all; its own come first."""
    more = len(classes) - len(estimate.classes)
    if not more:
        return estimate
    beliefs = np.pad(estimate.beliefs, ((0, 0), (0, more)))
    return replace(estimate, beliefs=beliefs, classes=classes, confusion=None, prior=None)


def _judged(made: Material, gold: Answers | None) -> Material:
    """The same with gold from a file."""
    if gold is None:
        return made
    classes = _extended(made.labels.classes, gold.classes)
    codes = gold_codes(gold, made.estimate, classes)
    if not (codes != UNKNOWN).any():
        raise DataError(
            f"{gold.source}: no item is among those of the report ({made.labels.items[:1].to_list()}, ...)."
        )
    return replace(made, labels=made.labels.with_classes(classes), estimate=widened(made.estimate, classes), gold=codes)


def gold_codes(gold: Answers, estimate: Estimate, classes: Classes) -> Ints:
    """gold[i] over the units of an estimate, as codes among the classes; UNKNOWN where it is not known."""
    if (gold.offsets is None) != (estimate.offsets is None):
        raise DataError(f"{gold.source}: documents and tagged sentences do not go together. Give gold of one kind.")
    position = {str(name): k for k, name in enumerate(classes)}
    codes = np.array([*(position[str(name)] for name in gold.classes), UNKNOWN], dtype=np.int32)[gold.answer]
    where = find(as_text(gold.items), as_text(estimate.items))
    found = np.full(len(estimate.answer), UNKNOWN, dtype=np.int32)
    if gold.offsets is None or estimate.offsets is None:
        found[where[where >= 0]] = codes[where >= 0]
        return found
    lengths, theirs = np.diff(gold.offsets), np.diff(estimate.offsets)
    for s in np.flatnonzero(where >= 0):
        if lengths[s] != theirs[where[s]]:
            raise DataError(
                f"{gold.source}: item {gold.items[int(s)]!r} has {lengths[s]} tags, not {theirs[where[s]]}."
            )
    kept = np.repeat(where >= 0, lengths)
    within = np.arange(len(codes)) - np.repeat(gold.offsets[:-1], lengths)
    found[(estimate.offsets[np.repeat(where, lengths)[kept]] + within[kept])] = codes[kept]
    return found
