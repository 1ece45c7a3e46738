"""An item as a reviewer sees it, as plain data: text, answer, votes, and what was decided.

Whatever comes from data is text with its control characters made visible; whoever shows it must show it as text.

Axes: i unit, j annotator, k class, s item.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from crowdlogic.data.corpus import Corpus
from crowdlogic.data.estimate import Estimate
from crowdlogic.data.span_confidence import scale_odds, span_probability
from crowdlogic.data.tagging import NOT_SEEN, tags_to_spans
from crowdlogic.numerics.arrays import Floats, Ints
from crowdlogic.report.plain_text import shorten, show_controls
from crowdlogic.store.decisions import Cause, Choice, Decision, DecisionKind
from crowdlogic.workflows.review.answers import AnswerForm, item_units
from crowdlogic.workflows.review.progress import ItemProgress
from crowdlogic.workflows.review.standing import AnnotatorStanding

LONGEST_TEXT = 20_000
"""How many characters of a text are shown."""
MOST_SHARES = 9
"""How many classes are shown with their probability: those that have a key."""


@dataclass(frozen=True, kw_only=True)
class SpanView:
    """A span of a sentence: the tokens start to end (exclusive), its type, and how sure it is where that is known."""

    start: int
    end: int
    type: str
    confidence: float | None = None


@dataclass(frozen=True, kw_only=True)
class ClassProbability:
    """How probable a class is."""

    name: str
    share: float


@dataclass(frozen=True, kw_only=True)
class VoteView:
    """What one annotator said of an item.

    Attributes:
        annotator: The annotator's name, or a number where names are hidden.
        label: The class; None for a sentence.
        spans: The spans of a sentence; empty for a document.
        reliability: How reliable the annotator is.
        flag: What is wrong with the annotator.
    """

    annotator: str
    label: str | None
    spans: list[SpanView]
    reliability: float | None
    flag: str


@dataclass(frozen=True, kw_only=True)
class DecisionView:
    """What somebody decided about an item."""

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
    """An item.

    Attributes:
        item: Its number in the review.
        name: Its name.
        revision: The number of the last line of the log about it; a decision must name it.
        chosen: How it came up.
        text: The text of a document; None where it is not known.
        tokens: The tokens of a sentence; empty for a document.
        answer: What is believed: a class, or the tags of a sentence; None where nobody labelled it.
        spans: The spans of a sentence that is believed.
        confidence: How sure that is; of a sentence, its least sure token.
        doubtful: The least sure token of a sentence; None for a document.
        shares: The most probable classes of a document.
        classifier: The same by the classifier alone; empty without one.
        votes: What the annotators said.
        decisions: What counts of what was decided.
        is_decided: Whether an answer stands.
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
    """Shows items as they are at one moment.

    Attributes:
        form: What answers look like, with the labels.
        corpus: The items; None where only their names are known.
        estimate: What is believed.
        standings: How the annotators stand.
        classifier: p[i, k], the classifier's own beliefs; None without one.
        hide_names: Whether annotators are shown by number.
    """

    form: AnswerForm
    corpus: Corpus | None
    estimate: Estimate
    standings: tuple[AnnotatorStanding, ...]
    classifier: Floats | None = None
    hide_names: bool = False

    def view(self, item: int, progress: ItemProgress, chosen: Choice) -> ItemView:
        """One item."""
        units = item_units(self.form.labels.offsets, np.array([item]))
        answer, is_sentence = self.estimate.answer[units], self.form.labels.is_sequential
        decided = self.form.encode(item, progress.answer) if progress.is_decided else None
        return ItemView(
            item=item,
            name=shorten(str(self.form.labels.items[item]), 200),
            revision=progress.revision,
            chosen=chosen,
            text=self._text(item),
            tokens=self._tokens(item, len(units)) if is_sentence else [],
            answer=None if (answer < 0).all() else self.form.decode(answer),
            spans=self._believed_spans(units) if is_sentence else [],
            confidence=self._confidence(units),
            doubtful=self._doubtful(units) if is_sentence else None,
            shares=[] if is_sentence else self._shares(self.estimate.beliefs[units[0]]),
            classifier=[] if is_sentence or self.classifier is None else self._shares(self.classifier[units[0]]),
            votes=self._votes(units),
            decisions=[self._decision(item, line) for line in progress.lines],
            is_decided=decided is not None,
            in_conflict=progress.in_conflict,
        )

    def annotator_name(self, j: int) -> str:
        """What reviewers call an annotator."""
        return f"annotator {j + 1}" if self.hide_names else show_controls(self.standings[j].name)

    def _text(self, item: int) -> str | None:
        if self.corpus is None or self.corpus.texts is None or self.form.labels.is_sequential:
            return None
        return shorten(self.corpus.texts[item], LONGEST_TEXT)

    def _tokens(self, item: int, size: int) -> list[str]:
        if self.corpus is None or self.corpus.tokens is None:
            return [f"token {n + 1}" for n in range(size)]
        return [show_controls(token) for token in self.corpus.sentence(item)]

    def _confidence(self, units: Ints) -> float | None:
        found = self.estimate.confidence[units]
        return round(float(np.nanmin(found)), 4) if len(found) and np.isfinite(found).any() else None

    def _doubtful(self, units: Ints) -> int | None:
        return int(np.nan_to_num(self.estimate.confidence[units]).argmin()) if len(units) else None

    def _shares(self, beliefs: Floats) -> list[ClassProbability]:
        best = np.argsort(-beliefs, kind="stable")[:MOST_SHARES]
        return [ClassProbability(name=self.form.class_names[k], share=round(float(beliefs[k]), 4)) for k in best]

    def _believed_spans(self, units: Ints) -> list[SpanView]:
        """The spans of the answer, each with how sure it is."""
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
        return [
            self._vote(
                int(j),
                spans=self._marked(labels.unit[rows][annotators == j] - units[0], codes[annotators == j], len(units)),
            )
            for j in np.unique(annotators)
        ]

    def _marked(self, places: Ints, codes: Ints, size: int) -> list[SpanView]:
        """The spans that an annotator marked; tokens that they did not see have none."""
        tags = np.full(size, -1, dtype=np.int64)
        tags[places] = codes
        return [SpanView(**span) for span in self.form.spans(tags) if span["type"] != NOT_SEEN]

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
