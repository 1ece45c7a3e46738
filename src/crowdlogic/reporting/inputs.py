"""Inputs of a report, aligned to the same items, annotators and classes.

A run keeps everything; a saved estimate has neither votes nor texts, so labels and items come beside it.

Axes: i unit, j annotator, k class.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, TypeVar, cast

import numpy as np

from crowdlogic.confidence.annotator_verdicts import AnnotatorVerdicts, judge_annotators
from crowdlogic.data.corpus import UNKNOWN, Corpus, align
from crowdlogic.data.estimate import Answers, Beliefs, Estimate, align_answers, answers_from_estimate
from crowdlogic.data.evidence import UnitEvidence
from crowdlogic.data.labels import CrowdLabels, require_whole_labels
from crowdlogic.data.names import Classes, as_text, find
from crowdlogic.data.tagging import is_span_tag_set
from crowdlogic.errors import DataError, OptionError, did_you_mean
from crowdlogic.numerics.arrays import Bools, Ints
from crowdlogic.reporting.findings import TaskKind
from crowdlogic.store.runs import RunRecord
from crowdlogic.truth.comparison import MethodResult

VALUE_LENGTH = 200
"""A setting's value is cut at this many characters: a table of transitions is one of them."""


@dataclass(frozen=True, eq=False, kw_only=True)
class ReportInputs:
    """Labels, beliefs and what else is known.

    Attributes:
        labels: The labels.
        estimate: What is believed, over the same items, annotators and classes.
        corpus: The items, likewise; None when they are not known.
        gold: gold[i], UNKNOWN where it is not known; None without any.
        record: The record of the run; None for an estimate alone.
    """

    labels: CrowdLabels
    estimate: Estimate
    corpus: Corpus | None = None
    gold: Ints | None = None
    record: RunRecord | None = None

    @property
    def task(self) -> TaskKind:
        """Kind of the task: documents, spans or tags."""
        if self.labels.offsets is None:
            return TaskKind.documents
        return TaskKind.spans if is_span_tag_set(self.labels.classes) else TaskKind.tags

    @cached_property
    def known(self) -> Bools:
        """known[i], whether the gold of unit i is known."""
        return np.zeros(self.labels.n_units, dtype=bool) if self.gold is None else np.asarray(self.gold != UNKNOWN)

    @cached_property
    def views(self) -> Mapping[str, Beliefs]:
        """Beliefs of classifier (p), crowd (q_a), rules (q_b) and answers (q_f) of a run; empty without a run."""
        if self.record is None:
            return {}
        more = self.labels.n_classes - len(self.record.estimate.classes)
        return {name: np.pad(view, ((0, 0), (0, more))) for name, view in self.record.views.items()}

    @cached_property
    def class_names(self) -> tuple[str, ...]:
        """The classes as text."""
        return tuple(str(name) for name in self.labels.classes)

    @property
    def settings(self) -> tuple[tuple[str, str], ...]:
        """Options and inputs of a run as (dotted name, value); an estimate does not keep its options."""
        if self.record is None:
            return ()
        parts = {"": self.record.config.get("method"), "inputs": self.record.config.get("inputs")}
        rows = [row for path, part in parts.items() for row in _flatten(part, path)]
        return tuple((name, text[:VALUE_LENGTH]) for name, text in rows)

    def gold_name(self, i: int) -> str | None:
        """Return the gold of unit i by name; None where it is not known."""
        return None if self.gold is None or self.gold[i] == UNKNOWN else self.class_names[self.gold[i]]

    def text(self, item: int) -> str | None:
        """Return the text of a document; None where it is not known."""
        return None if self.corpus is None or self.corpus.texts is None else self.corpus.texts[item]


def _flatten(value: Any, path: str) -> Iterator[tuple[str, str]]:
    if isinstance(value, Mapping):
        for name, entry in value.items():
            yield from _flatten(entry, f"{path}.{name}" if path else str(name))
    elif value is not None:
        yield path, ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)


def inputs_from_run(record: RunRecord, gold: Answers | None = None) -> ReportInputs:
    """Return the inputs of a report on a run, with its own gold unless another is given."""
    require_whole_labels(record.labels, "The report")
    inputs = ReportInputs(
        labels=record.labels, estimate=record.estimate, corpus=record.corpus, gold=record.corpus.gold, record=record
    )
    return _with_gold(inputs, gold)


def inputs_from_estimate(
    estimate: Estimate, labels: CrowdLabels, corpus: Corpus | None = None, gold: Answers | None = None
) -> ReportInputs:
    """Return the inputs of a report on an estimate and the labels that it was made from.

    Args:
        estimate: What is believed.
        labels: The labels that it was made from, in any order.
        corpus: The items; their gold is used unless another is given.
        gold: The truth of some items.
    """
    require_whole_labels(labels, "The report")
    if labels.is_sequential != (estimate.offsets is not None):
        kinds = ("sentences", "documents") if labels.is_sequential else ("documents", "sentences")
        raise DataError(f"The labels are of {kinds[0]} and the estimate is of {kinds[1]}. Give what it was made from.")
    has_labels = np.zeros(len(labels.items), dtype=bool)
    has_labels[labels.item_of_unit[labels.unit]] = True
    unknown = np.flatnonzero((find(labels.items, estimate.items) < 0) & has_labels)
    if len(unknown):
        raise DataError(
            f"Item {labels.items[int(unknown[0])]!r} has labels and is not in the estimate ({len(unknown):,} such "
            f"items). Give the labels that it was made from."
        )
    whole = Corpus(estimate.items, offsets=estimate.offsets)
    placed, _ = align(labels.with_classes(_extend_classes(estimate.classes, labels.classes)), whole)
    placed = _align_annotators(placed, estimate)
    known, classes = None if corpus is None else _align_items(corpus, estimate), placed.classes
    if known is not None and known.gold is not None:
        classes = _extend_classes(classes, known.classes)
        known = known.with_classes(classes)
    inputs = ReportInputs(
        labels=placed.with_classes(classes),
        estimate=extend_beliefs(estimate, classes),
        corpus=known,
        gold=None if known is None else known.gold,
    )
    return _with_gold(inputs, gold)


def _extend_classes(classes: Classes, more: Classes) -> Classes:
    """Return the classes in their order, and after them further ones that are not among them, compared as text."""
    known = {str(name) for name in classes}
    return (*classes, *(name for name in more if str(name) not in known))


def _align_annotators(labels: CrowdLabels, estimate: Estimate) -> CrowdLabels:
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


def _align_items(corpus: Corpus, estimate: Estimate) -> Corpus:
    where = find(as_text(estimate.items), as_text(corpus.items))
    if (where < 0).any():
        missing = np.flatnonzero(where < 0)
        raise DataError(f"Item {estimate.items[int(missing[0])]!r} is not among the items ({len(missing):,} such).")
    placed = corpus.take_items(where)
    lengths = (placed.offsets, estimate.offsets)
    if (lengths[0] is None) != (lengths[1] is None) or (lengths[0] is not None and (lengths[0] != lengths[1]).any()):
        raise DataError("The items are not as long as those of the estimate. Give the items that it was made from.")
    return replace(placed, items=estimate.items)


def extend_beliefs(estimate: Estimate, classes: Classes) -> Estimate:
    """Return the estimate over further classes, with belief 0 in them; its own classes come first."""
    more = len(classes) - len(estimate.classes)
    if not more:
        return estimate
    beliefs = np.pad(estimate.beliefs, ((0, 0), (0, more)))
    return replace(estimate, beliefs=beliefs, classes=classes, confusion=None, prior=None)


def _with_gold(inputs: ReportInputs, gold: Answers | None) -> ReportInputs:
    """Return the inputs with gold from a file."""
    if gold is None:
        return inputs
    classes = _extend_classes(inputs.labels.classes, gold.classes)
    codes = gold_codes(gold, inputs.estimate, classes)
    return replace(
        inputs,
        labels=inputs.labels.with_classes(classes),
        estimate=extend_beliefs(inputs.estimate, classes),
        gold=codes,
    )


def gold_codes(gold: Answers, estimate: Estimate, classes: Classes) -> Ints:
    """Return gold[i] over the units of an estimate, as codes among the classes; UNKNOWN where it is not known."""
    answers = answers_from_estimate(estimate, "the report")
    # Names are compared as text, so that item 1 of a file is item "1" of the estimate.
    given, wanted = (replace(one, items=as_text(one.items), beliefs=None) for one in (gold, answers))
    pair = align_answers(given, wanted)
    position = {str(name): k for k, name in enumerate(classes)}
    code = np.array([*(position[str(name)] for name in pair.classes), UNKNOWN], dtype=np.int32)
    return code[pair.predicted]  # no answer, -1, is the last one


Explain = Callable[[Ints], Sequence[UnitEvidence | None]]
"""The evidence for each of some units, None where there is none. A report calls it once, with all units it shows."""


def explain_nothing(units: Ints) -> list[UnitEvidence | None]:
    """No evidence."""
    return [None] * len(units)


# What the pages of one report are computed from.

T = TypeVar("T")


@dataclass(frozen=True, kw_only=True)
class ReportLimits:
    """How long the tables of a report may be; what is left out is counted.

    Attributes:
        items: Items in doubt, and likely mistakes in the gold.
        annotators: Rows of annotators.
        rules: Rows of rules.
        text: Characters of a text.
    """

    items: int = 500
    annotators: int = 200
    rules: int = 200
    text: int = 600

    def __post_init__(self) -> None:
        for name, least in (("items", 0), ("annotators", 0), ("rules", 0), ("text", 1)):
            if getattr(self, name) < least:
                raise OptionError(f"{name}: {getattr(self, name)} is not valid. Give {least} or more.")


@dataclass(frozen=True, eq=False, kw_only=True)
class Context:
    """What the pages of one report are computed from.

    Attributes:
        inputs: Labels, beliefs, items, gold and run.
        limits: How long tables may be.
        compared: Results of other methods on the same labels.
        seed: Random seed of bootstrap intervals.
        evidence: Why units got their answers, by unit, for those that some page shows.
    """

    inputs: ReportInputs
    limits: ReportLimits = field(default_factory=ReportLimits)
    compared: Sequence[MethodResult] = ()
    seed: int = 0
    evidence: Mapping[int, UnitEvidence | None] = field(default_factory=dict)
    _results: dict[Callable[[Any], Any], Any] = field(default_factory=dict, repr=False)

    def once(self, compute: Callable[[Context], T]) -> T:
        """Return the result of a function of this context, computed on first use: for what several pages need."""
        if compute not in self._results:
            self._results[compute] = compute(self)
        return cast("T", self._results[compute])


# The verdicts on annotators, which several pages need.


def annotator_verdicts(context: Context) -> AnnotatorVerdicts:
    """Judge every annotator, mistakes in spans by gold where there is any; `context.once(annotator_verdicts)`."""
    inputs = context.inputs
    return judge_annotators(inputs.labels, inputs.estimate, gold=inputs.gold if inputs.known.any() else None)
