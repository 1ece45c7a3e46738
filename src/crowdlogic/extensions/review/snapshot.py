"""Immutable snapshot of a review between two refits, with everything needed by the queue, views and filters.

Axes: i unit, j annotator, k class, l rule, s item.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl

from crowdlogic.confidence.annotator_verdicts import annotator_table
from crowdlogic.data.character_spans import scale_odds, span_probability
from crowdlogic.data.corpus import UNKNOWN, Corpus
from crowdlogic.data.estimate import Estimate
from crowdlogic.data.evidence import UnitEvidence
from crowdlogic.data.labels import NOT_SEEN, CrowdLabels
from crowdlogic.data.names import as_text
from crowdlogic.data.tagging import tags_to_spans
from crowdlogic.data.wording import pluralise, shorten_name
from crowdlogic.extensions.review.decision_log import Cause, Choice, Decision, DecisionKind
from crowdlogic.extensions.review.evidence import (
    AnswerForm,
    annotator_confusion,
    count_contradictions,
    item_units,
    rule_name,
    run_evidence,
    vote_evidence,
)
from crowdlogic.extensions.review.material import ReviewFit, ReviewMaterial
from crowdlogic.extensions.review.review_queue import RANDOM_SHARE, Decisions, expected_mistakes_removed, make_queue
from crowdlogic.numerics.arrays import Bools, Floats, Ints
from crowdlogic.numerics.logspace import HALF, credible_interval
from crowdlogic.reporting.charts import shorten, show_controls
from crowdlogic.reporting.findings import round_figure

NO_FLAG = "ok"
"""Verdict on annotators without problems."""


@dataclass(frozen=True, kw_only=True)
class AnnotatorStanding:
    """Reliability of an annotator, and the verdict on them.

    Attributes:
        name: Name of the annotator.
        n_labels: Number of labels.
        reliability: Expected share of correct labels, or F1 of spans; None without labels.
        low: Lower end of the credible interval.
        high: Upper end of the credible interval.
        flag: The verdict, such as careless, or ok.
        reason: The verdict as a sentence; empty for ok.
    """

    name: str
    n_labels: int
    reliability: float | None
    low: float | None
    high: float | None
    flag: str = NO_FLAG
    reason: str = ""


def annotator_standings(labels: CrowdLabels, estimate: Estimate) -> tuple[AnnotatorStanding, ...]:
    """Return the standing of every annotator, in the order of the labels."""
    standings = []
    for row in annotator_table(labels, estimate).iter_rows(named=True):
        names = ("reliability", "reliability_low", "reliability_high")
        reliability, low, high = (round_figure(row[name]) if row["labels"] else None for name in names)
        standings.append(
            AnnotatorStanding(
                name=str(row["annotator"]),
                n_labels=int(row["labels"]),
                reliability=reliability,
                low=low,
                high=high,
                flag=row["verdict"] or NO_FLAG,
                reason=row["reason"] or "",
            )
        )
    return tuple(standings)


# Progress follows from the log, which is never changed. The latest decision of each reviewer on an item counts, unless
# it was undone. Different decisions of two reviewers are a conflict: both count until it is settled or one of them
# changes.


@dataclass(frozen=True, kw_only=True)
class ItemProgress:
    """State of one item according to the log.

    Attributes:
        revision: Number of the last log entry about it; 0 for none.
        lines: The entries that count: the latest one of each reviewer, in the order of the log.
    """

    revision: int = 0
    lines: tuple[Decision, ...] = ()

    @property
    def decisions(self) -> tuple[Decision, ...]:
        """Entries that give an answer."""
        return tuple(line for line in self.lines if line.kind is DecisionKind.decide)

    @property
    def answer(self) -> Any:
        """The current answer: the first one, until a conflict is settled; None without any."""
        return self.decisions[0].after if self.decisions else None

    @property
    def is_decided(self) -> bool:
        """Whether there is an answer."""
        return bool(self.decisions)

    @property
    def is_handled(self) -> bool:
        """Whether it needs no further attention: decided, or marked as cannot-say."""
        return any(line.kind is not DecisionKind.skip for line in self.lines)

    @property
    def in_conflict(self) -> bool:
        """Whether reviewers differ: different answers, or an answer and a cannot-say."""
        said = [line.after for line in self.lines if line.kind is not DecisionKind.skip]
        return any(other != said[0] for other in said[1:])

    @property
    def is_certain(self) -> bool:
        """Whether the answer can be used for fitting: decided and not contradicted."""
        return self.is_decided and not self.in_conflict

    def by(self, reviewer: str) -> Decision | None:
        """Return the entry of a reviewer; None if there is none."""
        return next((line for line in self.lines if line.reviewer == reviewer), None)


NO_PROGRESS = ItemProgress()
"""State of an item without log entries."""


def fold_lines(lines: Iterable[Decision]) -> ItemProgress:
    """Return the state of an item after all its log entries, in order."""
    kept = list(lines)
    undone = {line.undoes for line in kept if line.kind is DecisionKind.undo}
    counting: dict[str, Decision] = {}
    for line in kept:
        if line.kind is DecisionKind.undo or line.number in undone:
            continue
        if line.settles:
            counting.clear()
        counting.pop(line.reviewer, None)
        counting[line.reviewer] = line
    return ItemProgress(revision=kept[-1].number if kept else 0, lines=tuple(counting.values()))


@dataclass(eq=False)
class ReviewProgress:
    """States of all items of a review, by item name, updated with every log entry."""

    _items: dict[str, ItemProgress] = field(default_factory=dict)
    _lines: dict[str, list[Decision]] = field(default_factory=lambda: defaultdict(list))
    _by_reviewer: dict[str, list[Decision]] = field(default_factory=lambda: defaultdict(list))
    _undone: set[int] = field(default_factory=set)

    def add(self, line: Decision) -> ItemProgress:
        """Add the next entry of the log and return the state of its item."""
        self._lines[line.item].append(line)
        if line.kind is DecisionKind.undo and line.undoes is not None:
            self._undone.add(line.undoes)
        else:
            self._by_reviewer[line.reviewer].append(line)
        self._items[line.item] = fold_lines(self._lines[line.item])
        return self._items[line.item]

    def of(self, item: str) -> ItemProgress:
        """Return the state of an item."""
        return self._items.get(item, NO_PROGRESS)

    def last_of(self, reviewer: str) -> Decision | None:
        """Return the last entry of a reviewer that was not undone; None without any."""
        lines = self._by_reviewer.get(reviewer, [])
        while lines and lines[-1].number in self._undone:
            lines.pop()
        return lines[-1] if lines else None


class ItemState(StrEnum):
    """State of the items that a filter selects."""

    open = "open"
    decided = "decided"
    conflict = "conflict"
    cannot_say = "cannot-say"
    all = "all"


@dataclass(frozen=True, kw_only=True)
class QueueFilter:
    """Filter of the items that a reviewer wants to see.

    Attributes:
        answer: Answer: a class, or the type of a span in a sentence.
        annotator: Name of an annotator who labelled the item.
        rule: Index of a rule that touches the item.
        least_confidence: Minimum confidence.
        most_confidence: Maximum confidence.
        search: Text to find in text or name, ignoring case.
        state: State of the items.
    """

    answer: str | None = None
    annotator: str | None = None
    rule: int | None = None
    least_confidence: float = 0.0
    most_confidence: float = 1.0
    search: str = ""
    state: ItemState = ItemState.open

    @property
    def is_empty(self) -> bool:
        """Whether this is the default filter, which selects all open items."""
        return self == QueueFilter()


def expected_mistakes(estimate: Estimate) -> Floats:
    """Return mistakes[s], the expected number of wrong units of each item."""
    doubt = 1.0 - np.where(estimate.answered, estimate.confidence, estimate.beliefs.max(axis=1, initial=0.0))
    if estimate.offsets is None:
        return doubt
    sums = np.concatenate([[0.0], np.cumsum(doubt)])
    return np.asarray(sums[estimate.offsets[1:]] - sums[estimate.offsets[:-1]])


@dataclass(frozen=True)
class ServedItem:
    """Item to serve, and how it was chosen."""

    item: int
    chosen: Choice


@dataclass(frozen=True, eq=False, kw_only=True)
class ServingOrder:
    """Order in which items are served, with random items mixed in.

    Attributes:
        labels: The labels.
        removed: removed[i], the expected number of mistakes removed by deciding a unit.
        share: Share of random items.
        seed: Random seed of the sample.
    """

    labels: CrowdLabels
    removed: Floats
    share: float
    seed: int

    def serve(self, most: int, free: Bools, *, answered: int) -> list[ServedItem]:
        """Return the next items among free[s], including random ones."""
        found = make_queue(
            self.removed,
            self.labels,
            open_items=free,
            answered=answered,
            random_share=self.share,
            seed=self.seed,
            length=most,
        )
        pairs = zip(found.items.tolist(), found.at_random.tolist(), strict=True)
        return [ServedItem(item, Choice.random if drawn else Choice.queue) for item, drawn in pairs]

    def serve_filtered(self, most: int, free: Bools) -> list[ServedItem]:
        """Return the next items among free[s] that match a filter; none counts as random."""
        found = make_queue(self.removed, self.labels, open_items=free, random_share=0.0, length=most)
        return [ServedItem(item, Choice.filter) for item in found.items.tolist()]


# Accuracy from random checks, with an interval: (1) of the consensus before the review, the share of the random sample
# whose first answer was confirmed; (2) of the current labels, where decided items are right, and the share for the
# others comes from items that only the sample brought up, compared with the answer shown to the reviewer before the
# decision:
#
# now = (decided + (all - decided) x share) / all.
#
# The answer for a sentence is right if all its tags are.

LEVEL = 0.95
"""Probability of the credible intervals."""


@dataclass(frozen=True, kw_only=True)
class CheckedItem:
    """Decided item of the random sample.

    Attributes:
        first_is_right: Whether the consensus before the review was confirmed.
        shown_is_right: Whether the answer shown to the reviewer was confirmed.
        drawn: Whether it was served as part of the sample instead of the queue.
    """

    first_is_right: bool
    shown_is_right: bool
    drawn: bool


@dataclass(frozen=True, kw_only=True)
class CheckedShare:
    """Share of right answers with its interval and the number of checked items."""

    share: float
    low: float
    high: float
    n: int


@dataclass(frozen=True, kw_only=True)
class CheckedAccuracy:
    """Estimated accuracy of the consensus before the review, and now; None if nothing was checked."""

    before: CheckedShare | None
    now: CheckedShare | None


def checked_accuracy(checked: Sequence[CheckedItem], *, decided: int, items: int) -> CheckedAccuracy:
    """Return both estimates from the checked items of the sample.

    Args:
        checked: The decided items of the sample.
        decided: Number of decided items.
        items: Number of items.
    """
    before = _share([one.first_is_right for one in checked])
    rest = _share([one.shown_is_right for one in checked if one.drawn])
    if rest is None:
        return CheckedAccuracy(before=before, now=None)
    share, low, high = ((decided + (items - decided) * end) / items for end in (rest.share, rest.low, rest.high))
    return CheckedAccuracy(before=before, now=CheckedShare(share=share, low=low, high=high, n=rest.n))


def _share(right: Sequence[bool]) -> CheckedShare | None:
    if not right:
        return None
    n, found = len(right), sum(right)
    low, high = credible_interval(np.array([found]), np.array([n]), LEVEL)
    return CheckedShare(share=(found + HALF) / (n + 2 * HALF), low=float(low[0]), high=float(high[0]), n=n)


# Text from data has its control characters made visible; it must still be displayed as text, not as markup.

MAX_TEXT_LENGTH = 20_000
"""Maximum number of characters shown of a text."""
MAX_SHARES = 9
"""Maximum number of classes shown with their probability, one per number key."""


@dataclass(frozen=True, kw_only=True)
class SpanView:
    """Span of a sentence: the tokens start to end (exclusive), its type, and its confidence if known."""

    start: int
    end: int
    type: str
    confidence: float | None = None


@dataclass(frozen=True, kw_only=True)
class ClassProbability:
    """Probability of a class."""

    name: str
    share: float


@dataclass(frozen=True, kw_only=True)
class VoteView:
    """Labels of one annotator for an item.

    Attributes:
        annotator: Name of the annotator, or a number if names are hidden.
        label: The class; None for a sentence.
        spans: The spans of a sentence; empty for a document.
        reliability: Reliability of the annotator.
        flag: Verdict on the annotator.
    """

    annotator: str
    label: str | None
    spans: list[SpanView]
    reliability: float | None
    flag: str


@dataclass(frozen=True, kw_only=True)
class DecisionView:
    """Decision on an item."""

    number: int
    kind: DecisionKind
    reviewer: str
    answer: str | list[str] | None
    spans: list[SpanView]
    cause: Cause | None
    note: str
    made_at: str


@dataclass(frozen=True, kw_only=True)
class ItemView:
    """View of an item.

    Attributes:
        item: Number of the item in the review.
        name: Name of the item.
        revision: Number of the last log entry about it, which a decision must state.
        chosen: How it was chosen.
        text: Text of a document; None if unknown.
        tokens: Tokens of a sentence; empty for a document.
        answer: Estimated answer: a class, or the tags of a sentence; None if nobody labelled it.
        spans: Spans of the estimated answer.
        confidence: Confidence of the answer; for a sentence, that of its least confident token.
        doubtful: Index of the least confident token of a sentence; None for a document.
        shares: Most probable classes of a document.
        classifier: Most probable classes according to the classifier alone; empty without one.
        votes: Labels of the annotators.
        decisions: Decisions that count.
        is_decided: Whether there is a decided answer.
        in_conflict: Whether reviewers differ.
    """

    item: int
    name: str
    revision: int
    chosen: Choice
    text: str | None
    tokens: list[str]
    answer: str | list[str] | None
    spans: list[SpanView]
    confidence: float | None
    doubtful: int | None
    shares: list[ClassProbability]
    classifier: list[ClassProbability]
    votes: list[VoteView]
    decisions: list[DecisionView]
    is_decided: bool
    in_conflict: bool


@dataclass(frozen=True, eq=False, kw_only=True)
class ItemViewer:
    """Creates views of items from a snapshot.

    Attributes:
        form: Conversion of answers, with the labels.
        corpus: The items; None if only their names are known.
        estimate: The current estimate.
        standings: Standings of the annotators.
        classifier: p[i, k], the classifier's predictions; None without one.
        hide_names: Whether annotators are shown by number.
    """

    form: AnswerForm
    corpus: Corpus | None
    estimate: Estimate
    standings: tuple[AnnotatorStanding, ...]
    classifier: Floats | None = None
    hide_names: bool = False

    def view(self, item: int, progress: ItemProgress, chosen: Choice) -> ItemView:
        """Return the view of an item."""
        units = item_units(self.form.labels.offsets, np.array([item]))
        answer, is_sentence = self.estimate.answer[units], self.form.labels.is_sequential
        sure, corpus = self.estimate.confidence[units], self.corpus
        text, tokens = None, list[str]()
        if is_sentence:
            known = corpus is not None and corpus.tokens is not None
            words = corpus.sentence(item) if corpus is not None and known else ()
            tokens = [show_controls(word) for word in words] if known else [f"token {n + 1}" for n in range(len(units))]
        elif corpus is not None and corpus.texts is not None:
            text = shorten(corpus.texts[item], MAX_TEXT_LENGTH)
        return ItemView(
            item=item,
            name=shorten(str(self.form.labels.items[item]), 200),
            revision=progress.revision,
            chosen=chosen,
            text=text,
            tokens=tokens,
            answer=None if (answer < 0).all() else self.form.decode(answer),
            spans=self._believed_spans(units) if is_sentence else [],
            confidence=round(float(np.nanmin(sure)), 4) if np.isfinite(sure).any() else None,
            doubtful=int(np.nan_to_num(sure).argmin()) if is_sentence and len(units) else None,
            shares=[] if is_sentence else self._shares(self.estimate.beliefs[units[0]]),
            classifier=[] if is_sentence or self.classifier is None else self._shares(self.classifier[units[0]]),
            votes=self._votes(units),
            decisions=[self._decision(item, line) for line in progress.lines],
            is_decided=progress.is_decided,
            in_conflict=progress.in_conflict,
        )

    def annotator_name(self, j: int) -> str:
        """Return the displayed name of an annotator."""
        return f"annotator {j + 1}" if self.hide_names else show_controls(self.standings[j].name)

    def _shares(self, beliefs: Floats) -> list[ClassProbability]:
        best = np.argsort(-beliefs, kind="stable")[:MAX_SHARES]
        return [ClassProbability(name=self.form.class_names[k], share=round(float(beliefs[k]), 4)) for k in best]

    def _believed_spans(self, units: Ints) -> list[SpanView]:
        """Return the spans of the answer with their confidence."""
        codes, tag_set = self.estimate.answer[units], self.form.tag_set
        spans = self.form.spans(codes)
        if tag_set is None or not len(units):
            sure = self.estimate.confidence[units] if len(units) else np.zeros(0)
        else:
            offsets = np.array([0, len(units)])
            found = tags_to_spans(codes, offsets, tag_set)
            beliefs = self.estimate.beliefs[units]
            sure = span_probability(beliefs, codes, found, tag_set=tag_set, offsets=offsets)
            scale = self.estimate.calibration
            sure = sure if scale is None else scale_odds(sure, shift=scale.span_shift, slope=scale.span_slope)
        pairs = zip(spans, sure.tolist(), strict=True)
        return [SpanView(**span, confidence=round(p, 4) if np.isfinite(p) else None) for span, p in pairs]

    def _votes(self, units: Ints) -> list[VoteView]:
        labels = self.form.labels
        if not len(units):
            return []
        rows = slice(*np.searchsorted(labels.unit, [units[0], units[-1] + 1]).tolist())
        annotators, codes = labels.annotator[rows], labels.label[rows]
        if not labels.is_sequential:
            return [self._vote(int(j), label=self.form.class_names[k]) for j, k in zip(annotators, codes, strict=True)]
        votes = []
        for j in np.unique(annotators).tolist():
            tags = np.full(len(units), -1, dtype=np.int64)  # -1 for tokens that the annotator did not see
            tags[labels.unit[rows][annotators == j] - units[0]] = codes[annotators == j]
            spans = [SpanView(**span) for span in self.form.spans(tags) if span["type"] != NOT_SEEN]
            votes.append(self._vote(j, spans=spans))
        return votes

    def _vote(self, j: int, *, label: str | None = None, spans: list[SpanView] | None = None) -> VoteView:
        standing = self.standings[j]
        return VoteView(
            annotator=self.annotator_name(j),
            label=label,
            spans=spans or [],
            reliability=standing.reliability,
            flag=standing.flag,
        )

    def _decision(self, item: int, line: Decision) -> DecisionView:
        answer: Any = line.after
        is_sentence = self.form.labels.is_sequential and answer is not None
        spans = self.form.spans(self.form.encode(item, answer)) if is_sentence else []
        return DecisionView(
            number=line.number,
            kind=line.kind,
            reviewer=show_controls(line.reviewer),
            answer=answer,
            spans=[SpanView(**span) for span in spans],
            cause=line.cause,
            note=show_controls(line.note),
            made_at=line.made_at,
        )


@dataclass(frozen=True, eq=False, kw_only=True)
class ReviewMoment:
    """Snapshot of a fit and everything derived from it.

    Attributes:
        number: Number of earlier fits.
        fit: The current fit.
        order: Order of serving items.
        mistakes: mistakes[s], the expected number of wrong units of an item.
        standings: Standings of the annotators.
        viewer: Creates views of items.
        confusion: confusion[j, m, n], for the evidence of votes; None if too large.
    """

    number: int
    fit: ReviewFit
    order: ServingOrder
    mistakes: Floats
    standings: tuple[AnnotatorStanding, ...]
    viewer: ItemViewer
    confusion: Floats | None

    @cached_property
    def item_confidence(self) -> Floats:
        """confidence[s]; of a sentence, that of its least confident token; 0 without an answer."""
        estimate = self.fit.estimate
        sure = np.nan_to_num(estimate.confidence, nan=0.0)
        if estimate.offsets is None:
            return sure
        starts, ends = estimate.offsets[:-1], estimate.offsets[1:]
        least = np.ones(len(starts))
        full = np.flatnonzero(ends > starts)
        if len(full):
            least[full] = np.minimum.reduceat(sure, starts[full])
        return least

    def evidence(self, labels: CrowdLabels, item: int) -> list[UnitEvidence]:
        """Return the evidence for the answer of an item."""
        if self.fit.learned is not None:
            return run_evidence(self.fit.learned, labels.items[item])
        if self.confusion is None:
            return []
        return vote_evidence(labels, self.fit.estimate, self.confusion, item)


@dataclass(frozen=True, kw_only=True)
class ServingOptions:
    """Options for serving items: share and seed of random items, and whether annotators' names are hidden."""

    share: float = RANDOM_SHARE
    seed: int = 0
    hide_names: bool = False


def make_moment(
    material: ReviewMaterial, fit: ReviewFit, decisions: Decisions, *, number: int, options: ServingOptions
) -> ReviewMoment:
    """Create the snapshot of a fit with some decisions."""
    labels, estimate = material.labels, fit.estimate
    removed = expected_mistakes_removed(labels, estimate, decisions=decisions, before=material.committee)
    standings = annotator_standings(labels, estimate)
    viewer = ItemViewer(
        form=AnswerForm(labels),
        corpus=material.corpus,
        estimate=estimate,
        standings=standings,
        classifier=None if fit.learned is None else fit.learned.epoch.p,
        hide_names=options.hide_names,
    )
    return ReviewMoment(
        number=number,
        fit=fit,
        order=ServingOrder(labels=labels, removed=removed, share=options.share, seed=options.seed),
        mistakes=expected_mistakes(estimate),
        standings=standings,
        viewer=viewer,
        confusion=annotator_confusion(labels, estimate),
    )


@dataclass(eq=False)
class ItemSearch:
    """Search for items that match a filter, with cached texts."""

    material: ReviewMaterial
    form: AnswerForm

    @cached_property
    def _words(self) -> pl.Series:
        """Name and text of every item in lower case."""
        names, corpus = as_text(self.material.labels.items), self.material.corpus
        if corpus is None:
            return names.str.to_lowercase()
        if corpus.tokens is not None and corpus.offsets is not None:
            texts = [" ".join(corpus.sentence(s)) for s in range(len(names))]
        else:
            texts = list(corpus.texts or [""] * len(names))
        return (names + "\n" + pl.Series(texts, dtype=pl.String)).str.to_lowercase()

    def find(self, wanted: QueueFilter, moment: ReviewMoment) -> Bools:
        """Return fits[s], whether an item matches, regardless of its state."""
        sure = moment.item_confidence
        fits: Bools = (sure >= wanted.least_confidence) & (sure <= wanted.most_confidence)
        if wanted.answer is not None:
            # The class, or all tags of a span type
            tag_set = self.form.tag_set
            names = self.form.class_names
            if tag_set is not None:
                names = tuple("" if kind < 0 else tag_set.types[int(kind)] for kind in tag_set.kind)
            codes = [k for k, name in enumerate(names) if name == wanted.answer]
            fits &= self._with_units(np.flatnonzero(np.isin(moment.fit.estimate.answer, codes)))
        if wanted.annotator is not None:
            labels = self.material.labels
            names = tuple(moment.viewer.annotator_name(j) for j in range(len(labels.annotators)))
            people = [j for j, name in enumerate(names) if name == wanted.annotator]
            fits &= self._with_units(labels.unit[np.isin(labels.annotator, people)])
        if wanted.rule is not None:
            units = () if self.material.rules is None else self.material.rules.units
            known = 0 <= wanted.rule < len(units)
            fits &= self._with_units(units[wanted.rule] if known else np.zeros(0, dtype=np.int64))
        if wanted.search:
            fits &= self._words.str.contains(wanted.search.lower(), literal=True).to_numpy()
        return fits

    def _with_units(self, units: Ints) -> Bools:
        """Return a mask of the items that contain one of these units."""
        fits = np.zeros(len(self.material.labels.items), dtype=bool)
        fits[self.material.labels.item_of_unit[units]] = True
        return fits


MAX_NAMED = 3
"""Maximum number of annotators and rules named in a sentence."""
ENOUGH_DECISIONS = 3
"""Minimum number of decisions to which a rule applies before it is named."""


@dataclass(frozen=True, kw_only=True)
class NewFlag:
    """Annotator whose flag changed."""

    annotator: str
    before: str
    after: str


@dataclass(frozen=True, kw_only=True)
class ContradictedRule:
    """Rule that is contradicted by most of the decisions to which it applies."""

    rule: str
    against: int
    decisions: int


@dataclass(frozen=True, kw_only=True)
class RefitChanges:
    """Changes by a refit.

    Attributes:
        decisions: Number of decisions since the last refit.
        changed: Number of undecided answers that changed.
        mistakes_before: Expected mistakes among the undecided answers before the refit.
        mistakes_after: Expected mistakes among the undecided answers after the refit.
        flags: Annotators whose flags changed.
        rules: Rules that are contradicted by decisions.
        seconds: Duration of the refit.
        with_classifier: Whether the classifier was trained as well.
    """

    decisions: int
    changed: int
    mistakes_before: float
    mistakes_after: float
    flags: tuple[NewFlag, ...] = ()
    rules: tuple[ContradictedRule, ...] = ()
    seconds: float = 0.0
    with_classifier: bool = False

    @property
    def sentence(self) -> str:
        """The changes in one sentence."""
        answers = pluralise(self.changed, "other answer")
        parts = [f"{pluralise(self.decisions, 'decision')} changed {answers}"]
        rise = ""
        if round(self.mistakes_after) > round(self.mistakes_before):
            rise = " (more, because your decisions lowered the estimated reliability of the annotators)"
        before, after = f"{self.mistakes_before:,.0f}", f"{self.mistakes_after:,.0f}"
        parts.append(f"expected mistakes among the answers left {before} → {after}{rise}")
        for one in self.flags[:MAX_NAMED]:
            change = f"no longer {one.before!r}" if one.after == NO_FLAG else f"now {one.after!r}"
            parts.append(f"{shorten_name(one.annotator)} is {change}")
        if len(self.flags) > MAX_NAMED:
            parts.append(f"{len(self.flags) - MAX_NAMED} more annotators have new flags")
        for rule in self.rules[:MAX_NAMED]:
            decisions = pluralise(rule.decisions, "decision")
            parts.append(f"{rule_name(rule.rule)} contradicts {rule.against} of {decisions}")
        return "; ".join(parts) + "."


def new_flags(before: Sequence[AnnotatorStanding], after: Sequence[AnnotatorStanding]) -> tuple[NewFlag, ...]:
    """Return the annotators whose flag changed, those with the most labels first."""
    found = [
        (new.n_labels, NewFlag(annotator=new.name, before=old.flag, after=new.flag))
        for old, new in zip(before, after, strict=True)
        if old.flag != new.flag
    ]
    return tuple(flag for _, flag in sorted(found, key=lambda pair: -pair[0]))


def contradicted_rules(texts: Sequence[str], counts: Sequence[tuple[int, int]]) -> tuple[ContradictedRule, ...]:
    """Return the rules that contradict more than half of their decisions, the worst first."""
    found = [
        ContradictedRule(rule=text, against=against, decisions=total)
        for text, (against, total) in zip(texts, counts, strict=True)
        if total >= ENOUGH_DECISIONS and 2 * against > total
    ]
    return tuple(sorted(found, key=lambda one: -one.against / one.decisions))


def compare_moments(
    material: ReviewMaterial, last: ReviewMoment, following: ReviewMoment, decisions: Decisions
) -> RefitChanges:
    """Return the changes between two snapshots, excluding decided answers."""
    known, left = decisions.classes(material.labels), ~decisions.items(material.labels)
    changed = (last.fit.estimate.answer != following.fit.estimate.answer) & (known == UNKNOWN)
    return RefitChanges(
        decisions=len(decisions.truth),
        changed=int(changed.sum()),
        mistakes_before=float(last.mistakes[left].sum()),
        mistakes_after=float(following.mistakes[left].sum()),
        flags=() if following.viewer.hide_names else new_flags(last.standings, following.standings),
        rules=find_contradicted(material, following, known),
    )


def find_contradicted(material: ReviewMaterial, moment: ReviewMoment, known: Ints) -> tuple[ContradictedRule, ...]:
    """Return the rules that are contradicted by most of the decisions known[i]."""
    rules, labels = material.rules, material.labels
    items = np.unique(labels.item_of_unit[known != UNKNOWN])
    if rules is None or not len(items):
        return ()
    bits = rules.say(items, moment.fit.estimate.beliefs, moment.fit.learned)
    return contradicted_rules(rules.texts, count_contradictions(bits, known[item_units(labels.offsets, items)]))
