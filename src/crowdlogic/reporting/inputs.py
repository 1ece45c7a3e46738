"""Inputs of a report: labels, estimate, items and gold, aligned to common items, annotators and classes.

A run contains all of them. A saved estimate contains neither labels nor texts, so these are given separately.

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
"""Maximum number of characters of a setting, since some settings are large tables."""


@dataclass(frozen=True, eq=False, kw_only=True)
class ReportInputs:
    """Inputs of a report, over the same items, annotators and classes.

    Attributes:
        labels: The labels.
        estimate: The estimate of the true labels.
        corpus: The items; None if they are not known.
        gold: gold[i], UNKNOWN for units without gold; None if there is no gold.
        record: The record of the run; None for an estimate.
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
        """Options and inputs of a run as (dotted name, value); empty for an estimate."""
        if self.record is None:
            return ()
        parts = {"": self.record.config.get("method"), "inputs": self.record.config.get("inputs")}
        rows = [row for path, part in parts.items() for row in _flatten(part, path)]
        return tuple((name, text[:VALUE_LENGTH]) for name, text in rows)

    @property
    def gold_answers(self) -> Answers | None:
        """The gold as answers, to score others with; None without gold."""
        if self.gold is None or not self.known.any():
            return None
        labels = self.labels
        return Answers(labels.items, labels.classes, self.gold, offsets=labels.offsets, source="the gold")

    def gold_name(self, i: int) -> str | None:
        """Return the name of the gold class of unit i; None without gold."""
        return None if self.gold is None or self.gold[i] == UNKNOWN else self.class_names[self.gold[i]]

    def text(self, item: int) -> str | None:
        """Return the text of a document; None if it is not known."""
        return None if self.corpus is None or self.corpus.texts is None else self.corpus.texts[item]


def _flatten(value: Any, path: str) -> Iterator[tuple[str, str]]:
    if isinstance(value, Mapping):
        for name, entry in value.items():
            yield from _flatten(entry, f"{path}.{name}" if path else str(name))
    elif value is not None:
        yield path, ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)


def inputs_from_run(record: RunRecord, gold: Answers | None = None) -> ReportInputs:
    """Return the inputs of a report on a run; the given gold replaces that of the run."""
    require_whole_labels(record.labels, "The report")
    inputs = ReportInputs(
        labels=record.labels, estimate=record.estimate, corpus=record.corpus, gold=record.corpus.gold, record=record
    )
    return _with_gold(inputs, gold)


def inputs_from_estimate(
    estimate: Estimate, labels: CrowdLabels, corpus: Corpus | None = None, gold: Answers | None = None
) -> ReportInputs:
    """Return the inputs of a report on an estimate and the labels from which it was computed.

    Args:
        estimate: The estimate.
        labels: Its labels, in any order.
        corpus: The items. Their gold is used unless `gold` is given.
        gold: The truth of some items.
    """
    require_whole_labels(labels, "The report")
    if labels.is_sequential != (estimate.offsets is not None):
        kinds = ("sentences", "documents") if labels.is_sequential else ("documents", "sentences")
        raise DataError(
            f"labels: expected labels of {kinds[1]}, like the estimate, found labels of {kinds[0]}. Pass the labels "
            f"from which the estimate was computed."
        )
    has_labels = np.zeros(len(labels.items), dtype=bool)
    has_labels[labels.item_of_unit[labels.unit]] = True
    unknown = np.flatnonzero((find(labels.items, estimate.items) < 0) & has_labels)
    if len(unknown):
        raise DataError(
            f"Item {labels.items[int(unknown[0])]!r} has labels but is not in the estimate ({len(unknown):,} such "
            f"items). Pass the labels from which the estimate was computed."
        )
    whole = Corpus(estimate.items, offsets=estimate.offsets)
    placed, _ = align(labels.with_classes(_extend_classes(estimate.classes, labels.classes)), whole)

    # The annotators in the order of the estimate
    where = find(as_text(placed.annotators), as_text(estimate.annotators))
    if (where < 0).any():
        name = placed.annotators[int(np.flatnonzero(where < 0)[0])]
        hint = did_you_mean(str(name), [str(other) for other in estimate.annotators])
        raise DataError(
            f"Annotator {name!r} is not in the estimate.{hint} Pass the labels from which the estimate was computed."
        )
    kind = None
    if placed.kind is not None:
        kind_of = dict(zip(where.tolist(), placed.kind, strict=True))
        kind = tuple(kind_of.get(j, "") for j in range(len(estimate.annotators)))
    placed = replace(placed, annotator=where[placed.annotator], annotators=estimate.annotators, kind=kind)

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
    """Append the classes of `more` that are not among `classes`, comparing them as text."""
    known = {str(name) for name in classes}
    return (*classes, *(name for name in more if str(name) not in known))


def _align_items(corpus: Corpus, estimate: Estimate) -> Corpus:
    where = find(as_text(estimate.items), as_text(corpus.items))
    if (where < 0).any():
        missing = np.flatnonzero(where < 0)
        raise DataError(
            f"Item {estimate.items[int(missing[0])]!r} of the estimate is not among the items ({len(missing):,} such "
            f"items). Pass all items."
        )
    placed = corpus.take_items(where)
    lengths = (placed.offsets, estimate.offsets)
    if (lengths[0] is None) != (lengths[1] is None) or (lengths[0] is not None and (lengths[0] != lengths[1]).any()):
        raise DataError(
            "The numbers of tokens in the items and in the estimate differ. Pass the items of the estimate."
        )
    return replace(placed, items=estimate.items)


def extend_beliefs(estimate: Estimate, classes: Classes) -> Estimate:
    """Append classes to an estimate, with belief 0 in the new ones."""
    more = len(classes) - len(estimate.classes)
    if not more:
        return estimate
    beliefs = np.pad(estimate.beliefs, ((0, 0), (0, more)))
    return replace(estimate, beliefs=beliefs, classes=classes, confusion=None, prior=None)


def _with_gold(inputs: ReportInputs, gold: Answers | None) -> ReportInputs:
    """Replace the gold in the inputs, if gold is given."""
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
    """Return gold[i] for the units of an estimate, as codes of the classes; UNKNOWN without gold."""
    answers = answers_from_estimate(estimate, "the report")
    # Names are compared as text, so that item 1 of a file is item "1" of the estimate
    given, wanted = (replace(one, items=as_text(one.items), beliefs=None) for one in (gold, answers))
    pair = align_answers(given, wanted)
    position = {str(name): k for k, name in enumerate(classes)}
    code = np.array([*(position[str(name)] for name in pair.classes), UNKNOWN], dtype=np.int32)
    return code[pair.predicted]  # the code -1, no answer, selects the last entry


Explain = Callable[[Ints], Sequence[UnitEvidence | None]]
"""Function that returns the evidence for each of some units, or None. A report calls it once, with all units."""


def explain_nothing(units: Ints) -> list[UnitEvidence | None]:
    """Return no evidence for any unit."""
    return [None] * len(units)


T = TypeVar("T")


@dataclass(frozen=True, kw_only=True)
class ReportLimits:
    """Maximum lengths of the tables and texts in a report.

    Attributes:
        items: Maximum number of doubtful items, and of items whose gold is probably wrong.
        annotators: Maximum number of annotators.
        rules: Maximum number of rules.
        text: Maximum number of characters of a text.
    """

    items: int = 500
    annotators: int = 200
    rules: int = 200
    text: int = 600

    def __post_init__(self) -> None:
        for name, least in (("items", 0), ("annotators", 0), ("rules", 0), ("text", 1)):
            if getattr(self, name) < least:
                raise OptionError(f"{name} must be at least {least}, got {getattr(self, name)}.")


@dataclass(frozen=True, eq=False, kw_only=True)
class Context:
    """Data from which the pages of a report are computed.

    Attributes:
        inputs: Labels, estimate, items, gold and run.
        limits: Maximum lengths of tables.
        compared: Results of other methods on the same labels.
        seed: Random seed of bootstrap intervals.
        evidence: Evidence for the answers, by unit, for units that are shown on a page.
    """

    inputs: ReportInputs
    limits: ReportLimits = field(default_factory=ReportLimits)
    compared: Sequence[MethodResult] = ()
    seed: int = 0
    evidence: Mapping[int, UnitEvidence | None] = field(default_factory=dict)
    _results: dict[Callable[[Any], Any], Any] = field(default_factory=dict, repr=False)

    def once(self, compute: Callable[[Context], T]) -> T:
        """Return the result of a function of this context. It is cached, because several pages may need it."""
        if compute not in self._results:
            self._results[compute] = compute(self)
        return cast("T", self._results[compute])


def annotator_verdicts(context: Context) -> AnnotatorVerdicts:
    """Judge every annotator. Use `context.once(annotator_verdicts)`, because several pages need the verdicts."""
    inputs = context.inputs
    return judge_annotators(inputs.labels, inputs.estimate, gold=inputs.gold if inputs.known.any() else None)
