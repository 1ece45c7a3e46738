"""Labels: how sure the answers are, the items most in doubt, and gold that is probably wrong."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, is_dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from crowdlogic.confidence.calibration import mistakes_by_rank
from crowdlogic.confidence.expected_accuracy import describe_range, expected_accuracy
from crowdlogic.data.corpus import UNKNOWN
from crowdlogic.data.estimate import NO_ANSWER, Estimate
from crowdlogic.data.evidence import UnitEvidence
from crowdlogic.data.tagging import parse_tags, tags_to_spans
from crowdlogic.data.wording import approximate, percent, pluralise
from crowdlogic.metrics.calibration import TIE_TOLERANCE
from crowdlogic.numerics.arrays import Bools, Floats, Ints, sum_by
from crowdlogic.reporting.charts import Curve, Plot, format_percent, histogram_chart, line_chart, shorten
from crowdlogic.reporting.findings import (
    Histogram,
    ReportFinding,
    TaskKind,
    Urgency,
    round_figure,
    share_histogram,
    sort_by_importance,
)
from crowdlogic.reporting.inputs import Context, ReportInputs, annotator_verdicts
from crowdlogic.reporting.page import Highlights, Page, Tile


@dataclass(frozen=True, kw_only=True)
class Threshold:
    """Expected cost and benefit of checking every answer below a confidence.

    Attributes:
        confidence: The threshold.
        n_below: Number of units below the threshold.
        expected_wrong: Expected number of wrong answers below the threshold.
        share_found: Share of all expected wrong answers that are below the threshold; None if none are expected.
    """

    confidence: float
    n_below: int
    expected_wrong: float
    share_found: float | None


@dataclass(frozen=True, kw_only=True)
class Belief:
    """A class and its probability."""

    name: str
    share: float


@dataclass(frozen=True, kw_only=True)
class Vote:
    """A label with its weight and the reliability of its annotator; None if unknown."""

    annotator: str
    label: str
    weight: float
    reliability: float | None


@dataclass(frozen=True, kw_only=True)
class Span:
    """A span: its first token, the token after its last one, and its type. Other tags are spans of one token."""

    start: int
    end: int
    kind: str


@dataclass(frozen=True, kw_only=True)
class Reading:
    """An annotator's spans in a sentence, and the reliability of the annotator; None if unknown."""

    annotator: str
    spans: tuple[Span, ...]
    reliability: float | None


@dataclass(frozen=True, kw_only=True)
class TaggedSentence:
    """A sentence with the spans of all annotators.

    Attributes:
        tokens: The tokens, up to a maximum number; `token 1`, ... if the words are unknown.
        n_tokens: Number of tokens.
        confidence: Confidence of each token that is shown; None without an answer.
        consensus: Spans of the answer.
        readings: Spans of each annotator, up to a maximum number of annotators.
        n_readings: Number of annotators.
        gold: Spans of the gold; None without gold.
    """

    tokens: tuple[str, ...]
    n_tokens: int
    confidence: tuple[float | None, ...]
    consensus: tuple[Span, ...]
    readings: tuple[Reading, ...]
    n_readings: int
    gold: tuple[Span, ...] | None


@dataclass(frozen=True, kw_only=True)
class ShownItem:
    """Details of an item. For a sentence, most of them are about its least certain token.

    Attributes:
        name: Name of the item.
        text: Text, shortened; None if unknown, and for sentences.
        is_cut: Whether the text or the sentence was shortened.
        answer: The answer; None for a sentence, and if there is no answer.
        confidence: Confidence of the answer, or of the least certain token; None without an answer.
        expected_wrong: 1 - confidence; for a sentence, the expected number of wrong tokens.
        beliefs: Classes with their probabilities, most probable first.
        token: Number of the least certain token of a sentence, starting at 0; None for documents.
        votes: Labels, up to a maximum number.
        n_votes: Number of labels.
        gold: The gold class; None without gold.
        sentence: The sentence with all spans; None for documents.
        evidence: Evidence for the answer; None if it is not known.
    """

    name: str
    text: str | None
    is_cut: bool
    answer: str | None
    confidence: float | None
    expected_wrong: float
    beliefs: tuple[Belief, ...]
    token: int | None
    votes: tuple[Vote, ...]
    n_votes: int
    gold: str | None
    sentence: TaggedSentence | None
    evidence: UnitEvidence | None


@dataclass(frozen=True, kw_only=True)
class LabelFindings:
    """Content of the page of labels: how certain the answers are, and which to check.

    Attributes:
        n_answered: Number of units with an answer.
        n_unanswered: Number of units without an answer.
        n_tied: Number of units with several most probable classes.
        expected_wrong: Expected number of wrong answers, according to the beliefs.
        expected_wrong_share: Expected share of wrong answers; None without answers.
        confidence: Histogram of the confidence of the answers.
        check_below: Confidence below which answers should be checked; None if all or none should be checked.
        thresholds: Cost and benefit of checking, for several thresholds.
        doubts: The most doubtful items, most doubtful first.
        n_doubts: Number of doubtful items.
        gold_mistakes: Items whose gold contradicts a confident answer, most confident first.
        n_gold_mistakes: Number of such items.
        sure: Minimum confidence of answers that cast doubt on the gold.
        text_length: Maximum number of characters of texts.
        findings: Sentences of this page.
    """

    n_answered: int
    n_unanswered: int
    n_tied: int
    expected_wrong: float
    expected_wrong_share: float | None
    confidence: Histogram
    check_below: float | None
    thresholds: tuple[Threshold, ...]
    doubts: tuple[ShownItem, ...]
    n_doubts: int
    gold_mistakes: tuple[ShownItem, ...]
    n_gold_mistakes: int
    sure: float
    text_length: int
    findings: tuple[ReportFinding, ...]


# Plots of the page of labels.


def draw_labels(found: LabelFindings, task: TaskKind) -> Mapping[str, Sequence[Plot]]:
    """Return the plots of the page of labels."""
    return {"main": [*_confidence("confidence", found, task), *_checking(found, task)]}


def highlight_labels(found: LabelFindings, task: TaskKind) -> Highlights:
    """Return the expected number of mistakes, and the histogram of the confidence."""
    tiles = []
    if found.expected_wrong_share is not None:
        note = f"{format_percent(found.expected_wrong_share)} of the answers"
        tiles.append(Tile(figure=f"{found.expected_wrong:,.0f}", name="expected mistakes", note=note))
    return Highlights(tiles, [*_confidence("overview-confidence", found, task)])


def _units(task: TaskKind) -> str:
    return "items" if task is TaskKind.documents else "tokens"


def _confidence(name: str, found: LabelFindings, task: TaskKind) -> Iterator[Plot]:
    edges, counts = found.confidence.edges, found.confidence.counts
    if len(edges) < 2:
        return
    # Leave out the empty left side: with K classes, the confidence is at least 1 / K
    first = max(0, next((b for b, count in enumerate(counts) if count), 0) - 1)
    yield histogram_chart(
        name,
        "How sure the answers are",
        Histogram(edges[first:], counts[first:]),
        x="confidence in the answer",
        y=_units(task),
        weak_below=found.check_below,
    )


def _checking(found: LabelFindings, task: TaskKind) -> Iterator[Plot]:
    points = [(row.n_below, row.share_found) for row in found.thresholds if row.share_found is not None]
    if len(points) > 1:
        yield line_chart(
            "checking",
            "What checking the least sure answers would find",
            [Curve("mistakes found", [(0, 0.0), *points])],
            x=f"{_units(task)} checked, the least sure first",
            y="of expected mistakes",
        )


# Sentences with the spans of all annotators, computed for all sentences at once.
#
# Axes: i unit, t token that is shown, e sentence, j annotator, p pair of a sentence and an annotator.

MOST_TOKENS = 200
"""Maximum number of tokens of a sentence; more are shown if needed to include its least certain token."""
MOST_READINGS = 30
"""Maximum number of annotators of a sentence."""


def read_spans(inputs: ReportInputs, tags: Ints, offsets: Ints) -> list[tuple[Span, ...]]:
    """Return the spans of every sentence; if the tags are not span tags, every token is a span.

    Args:
        inputs: The inputs of the report.
        tags: tags[i] of all sentences; NO_ANSWER is not part of a span.
        offsets: First token of each sentence, and the end of the last one.
    """
    if inputs.task is TaskKind.spans:
        tag_set = parse_tags(inputs.labels.classes)
        found = tags_to_spans(tags, offsets, tag_set)
        start, end, kind, names = found.start, found.end, found.kind, tag_set.types
    else:
        at = np.flatnonzero(tags != NO_ANSWER)
        start, end, kind, names = at, at + 1, tags[at], inputs.class_names
    first = np.searchsorted(start, offsets)
    begin = np.repeat(offsets[:-1], np.diff(first))  # where the sentence of each span begins
    rows = zip((start - begin).tolist(), (end - begin).tolist(), kind.tolist(), strict=True)
    spans = [Span(start=one, end=other, kind=names[code]) for one, other, code in rows]
    return [tuple(spans[one:other]) for one, other in pairwise(first.tolist())]


@dataclass(frozen=True, eq=False, kw_only=True)
class Windows:
    """The tokens of some sentences that are shown, concatenated.

    Attributes:
        unit: unit[t], the unit of token t.
        offsets: First shown token of each sentence, and the end of the last one.
        length: length[e], the number of tokens of the whole sentence.
    """

    unit: Ints
    offsets: Ints
    length: Ints


def cut_windows(offsets: Ints, items: Ints, tokens: Ints) -> Windows:
    """Return the first tokens of some items, at least up to the given token of each."""
    begin, length = offsets[items], np.diff(offsets)[items]
    shown = np.minimum(length, np.maximum(MOST_TOKENS, tokens + 1))
    ends = np.concatenate([[0], np.cumsum(shown)])
    unit = np.arange(ends[-1]) + np.repeat(begin - ends[:-1], shown)
    return Windows(unit=unit, offsets=ends, length=length)


def show_sentences(inputs: ReportInputs, items: Ints, tokens: Ints, reliability: Floats) -> list[TaggedSentence]:
    """Return tokens, consensus and annotators' spans of some items.

    Args:
        inputs: The inputs of the report.
        items: Codes of the items.
        tokens: The token of each item that must be shown.
        reliability: reliability[j]; NaN if unknown.
    """
    windows = cut_windows(np.asarray(inputs.labels.offsets), items, tokens)
    answer = inputs.estimate.answer[windows.unit]
    belief = np.where(answer == NO_ANSWER, np.nan, inputs.estimate.beliefs[windows.unit, answer])
    confidence = list(map(round_figure, belief.tolist()))
    gold = np.full(len(windows.unit), UNKNOWN) if inputs.gold is None else inputs.gold[windows.unit]
    known_words = None if inputs.corpus is None else inputs.corpus.tokens
    rows = zip(
        pairwise(windows.offsets.tolist()),
        windows.length.tolist(),
        read_spans(inputs, answer, windows.offsets),
        read_annotators(inputs, windows, reliability),
        read_spans(inputs, gold, windows.offsets),
        strict=True,
    )
    return [
        TaggedSentence(
            tokens=tuple(
                f"token {place + 1}" if known_words is None else known_words[unit]
                for place, unit in enumerate(windows.unit[begin:end].tolist())
            ),
            n_tokens=length,
            confidence=tuple(confidence[begin:end]),
            consensus=consensus,
            readings=readings,
            n_readings=n_readings,
            gold=gold_spans if (gold[begin:end] != UNKNOWN).any() else None,
        )
        for (begin, end), length, consensus, (readings, n_readings), gold_spans in rows
    ]


def read_annotators(
    inputs: ReportInputs, windows: Windows, reliability: Floats
) -> list[tuple[tuple[Reading, ...], int]]:
    """Return for each sentence the spans of its first annotators, and the number of its annotators."""
    labels, n_annotators = inputs.labels, max(len(inputs.labels.annotators), 1)
    # Labels are sorted by unit, so those of a token are a range of rows; rows[n] and token[n] list all of them
    first, last = (np.searchsorted(labels.unit, windows.unit, side=side) for side in ("left", "right"))
    count = last - first
    rows = np.repeat(first - np.concatenate([[0], np.cumsum(count)[:-1]]), count) + np.arange(count.sum())
    token = np.repeat(np.arange(len(windows.unit)), count)
    sentence = np.searchsorted(windows.offsets, token, side="right") - 1
    # One sequence of tags for every pair of a sentence and an annotator, over the shown tokens
    pairs, pair = np.unique(sentence * n_annotators + labels.annotator[rows], return_inverse=True)
    sentence_of_pair, annotator_of_pair = pairs // n_annotators, pairs % n_annotators
    ends = np.concatenate([[0], np.cumsum(np.diff(windows.offsets)[sentence_of_pair])])
    tags = np.full(ends[-1], NO_ANSWER, dtype=np.int32)
    tags[ends[:-1][pair] + token - windows.offsets[sentence]] = labels.label[rows]
    names = labels.annotators.gather(annotator_of_pair).to_list()
    found = [
        Reading(annotator=str(name), spans=spans, reliability=round_figure(reliability[j]))
        for name, spans, j in zip(names, read_spans(inputs, tags, ends), annotator_of_pair.tolist(), strict=True)
    ]
    bounds = np.searchsorted(sentence_of_pair, np.arange(len(windows.length) + 1)).tolist()
    return [(tuple(found[one : min(other, one + MOST_READINGS)]), other - one) for one, other in pairwise(bounds)]


# Details of items: text, votes, beliefs and evidence. Axes: i unit, s item, j annotator, k class.

MOST_BELIEFS = 8
"""Maximum number of classes with their probability."""
MOST_VOTES = 50
"""Maximum number of votes of an item."""


def show_items(context: Context, units: Ints, expected_wrong: Floats) -> tuple[ShownItem, ...]:
    """Return the details of some items.

    Args:
        context: The context of the report, with the evidence of the units.
        units: One unit of each item, to which the details refer.
        expected_wrong: Expected number of wrong answers of each item.
    """
    inputs, estimate, labels = context.inputs, context.inputs.estimate, context.inputs.labels
    items, names, length = labels.item_of_unit[units], inputs.class_names, context.limits.text
    reliability = context.once(annotator_verdicts).scores.reliability
    sentences: Sequence[TaggedSentence | None] = [None] * len(units)
    tokens: Sequence[int | None] = [None] * len(units)
    if labels.offsets is not None:
        tokens = (units - labels.offsets[items]).tolist()
        sentences = show_sentences(inputs, items, units - labels.offsets[items], reliability)
    # Labels are sorted by unit, so those of a unit are a range of rows
    begins, ends = (np.searchsorted(labels.unit, units, side=side).tolist() for side in ("left", "right"))
    shown = []
    for n, (i, s) in enumerate(zip(units.tolist(), items.tolist(), strict=True)):
        answer, text, sentence = int(estimate.answer[i]), inputs.text(s), sentences[n]
        likeliest = np.argsort(-estimate.beliefs[i], kind="stable")[:MOST_BELIEFS].tolist()
        is_cut = len(sentence.tokens) < sentence.n_tokens if sentence is not None else len(text or "") > length
        shown.append(
            ShownItem(
                name=str(labels.items[s]),
                text=None if text is None else text[:length],
                is_cut=is_cut,
                answer=names[answer] if labels.offsets is None and answer != NO_ANSWER else None,
                confidence=round_figure(estimate.beliefs[i, answer]) if answer != NO_ANSWER else None,
                expected_wrong=round(float(expected_wrong[n]), 6),
                beliefs=tuple(Belief(name=names[k], share=round(float(estimate.beliefs[i, k]), 6)) for k in likeliest),
                token=tokens[n],
                votes=tuple(
                    Vote(
                        annotator=str(labels.annotators[int(labels.annotator[row])]),
                        label=names[labels.label[row]],
                        weight=1.0 if labels.weight is None else float(labels.weight[row]),
                        reliability=round_figure(reliability[labels.annotator[row]]),
                    )
                    for row in range(begins[n], min(ends[n], begins[n] + MOST_VOTES))
                ),
                n_votes=ends[n] - begins[n],
                gold=inputs.gold_name(i),
                sentence=sentence,
                evidence=context.evidence.get(i),
            )
        )
    return tuple(shown)


# Labels to check: the confidence of the answers, the most doubtful items, and gold that is probably wrong.
#
# The doubt about an item is the expected number of its wrong answers: 1 - confidence for a document, the sum of 1 -
# confidence over the tokens for a sentence. Axes: i unit, s item, k class.

THRESHOLDS = (0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99)
"""Confidences for which cost and benefit of checking are computed."""
SURE = 0.95
"""Minimum confidence of an answer that casts doubt on the gold."""
ANY_DOUBT = 1e-6
"""Minimum expected number of wrong answers of a doubtful item."""
BINS = 20
WORTH_CHECKING = 0.5
"""Minimum share of the expected wrong answers below the recommended threshold, which is the lowest such threshold."""
ON_EDGE = 1e-9
"""Maximum distance at which a threshold coincides with an edge of the histogram."""
OVERCONFIDENT = 2.0
"""Minimum factor by which confident answers contradict the gold more often than expected, to report overconfidence."""
MANY = 0.05
"""Minimum share of wrong answers, or of ties, that requires attention."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Doubts:
    """Doubtful answers, and doubtful gold.

    Attributes:
        wrong: wrong[i], the probability that the answer of unit i is wrong; 0 without an answer.
        units: The least certain unit of every doubtful item, most doubtful item first.
        doubt: The doubt about each of these items.
        suspects: For every item whose gold contradicts a confident answer, the unit with the most confident answer.
    """

    wrong: Floats
    units: Ints
    doubt: Floats
    suspects: Ints


def find_doubts(context: Context) -> Doubts:
    """Find doubtful answers and gold. Use `context.once(find_doubts)`, because it is called several times."""
    estimate = context.inputs.estimate
    wrong = np.where(estimate.answered, 1.0 - np.nan_to_num(estimate.confidence), 0.0)
    units, doubt = rank_doubtful(context.inputs, wrong)
    return Doubts(wrong=wrong, units=units, doubt=doubt, suspects=find_gold_suspects(context.inputs))


def evidence_units(context: Context) -> Ints:
    """Return the units of the items that are shown."""
    doubts, most = context.once(find_doubts), context.limits.items
    return np.concatenate([doubts.units[:most], doubts.suspects[:most]])


def compute_labels(context: Context) -> LabelFindings:
    """Compute the content of the page of labels."""
    inputs, doubts, most = context.inputs, context.once(find_doubts), context.limits.items
    estimate = inputs.estimate
    confidence, n_answered = estimate.confidence[estimate.answered], int(estimate.answered.sum())
    thresholds = price_thresholds(confidence)
    worth = worth_checking(thresholds, n_answered)
    check_below = None if worth is None else worth.confidence
    total, n_tied = float(doubts.wrong.sum()), int(find_ties(estimate).sum())
    suspects = doubts.suspects
    return LabelFindings(
        n_answered=n_answered,
        n_unanswered=int((~estimate.answered).sum()),
        n_tied=n_tied,
        expected_wrong=round(total, 6),
        expected_wrong_share=round_figure(total / n_answered) if n_answered else None,
        confidence=split_at(share_histogram(confidence, BINS), confidence, check_below),
        check_below=check_below,
        thresholds=thresholds,
        doubts=show_items(context, doubts.units[:most], doubts.doubt[:most]),
        n_doubts=len(doubts.units),
        gold_mistakes=show_items(context, suspects[:most], doubts.wrong[suspects[:most]]),
        n_gold_mistakes=len(suspects),
        sure=SURE,
        text_length=context.limits.text,
        findings=sort_by_importance(_findings(inputs, total, worth, n_tied=n_tied, n_suspects=len(suspects))),
    )


def price_thresholds(confidence: Floats) -> tuple[Threshold, ...]:
    """Return the number of answers and the expected number of wrong answers below each threshold."""
    wrong = 1.0 - confidence
    total = float(wrong.sum())
    found = [(level, confidence < level) for level in THRESHOLDS]
    return tuple(
        Threshold(
            confidence=level,
            n_below=int(below.sum()),
            expected_wrong=round(float(wrong[below].sum()), 6),
            share_found=round_figure(float(wrong[below].sum()) / total) if total > ANY_DOUBT else None,
        )
        for level, below in found
    )


def worth_checking(thresholds: tuple[Threshold, ...], n: int) -> Threshold | None:
    """Return the lowest threshold with half of the expected mistakes below it; None if all n answers are below it."""
    worth = next((row for row in thresholds if (row.share_found or 0.0) >= WORTH_CHECKING), None)
    return None if worth is None or worth.n_below >= n else worth


def split_at(histogram: Histogram, confidence: Floats, threshold: float | None) -> Histogram:
    """Add an edge at the threshold to a histogram, so that no bar contains values on both sides."""
    edges = np.array(histogram.edges)
    if threshold is None or len(edges) < 2 or np.abs(edges - threshold).min() < ON_EDGE:
        return histogram
    edges = np.sort(np.append(edges, threshold))
    bin_of = np.clip(np.searchsorted(edges, confidence, side="right") - 1, 0, len(edges) - 2)
    return Histogram(tuple(edges.tolist()), tuple(np.bincount(bin_of, minlength=len(edges) - 1).tolist()))


def find_ties(estimate: Estimate) -> Bools:
    """Return tied[i], whether an answered unit has several most probable classes."""
    if estimate.beliefs.shape[1] < 2:
        return np.zeros(len(estimate.answer), dtype=bool)
    # The two largest beliefs of each unit.
    first, second = -np.partition(-estimate.beliefs, 1, axis=1)[:, :2].T
    return np.asarray(estimate.answered & (first - second < TIE_TOLERANCE))


def rank_doubtful(inputs: ReportInputs, wrong: Floats) -> tuple[Ints, Floats]:
    """Return the least certain unit of every doubtful item, most doubtful item first, and the doubt of the items."""
    item = inputs.labels.item_of_unit
    doubt = sum_by(item, len(inputs.labels.items), wrong)
    order = np.argsort(-doubt, kind="stable")
    order = order[doubt[order] > ANY_DOUBT]
    # Units are sorted by item and then by decreasing doubt, so the first unit of each item is its least certain one
    by_item = np.lexsort((-wrong, item))
    first = np.searchsorted(item[by_item], order)
    return by_item[first], doubt[order]


def find_gold_suspects(inputs: ReportInputs) -> Ints:
    """Return the unit with the most confident answer of every item whose gold contradicts a confident answer."""
    if inputs.gold is None:
        return np.zeros(0, dtype=np.int64)
    estimate = inputs.estimate
    denied = inputs.known & estimate.answered & (estimate.answer != inputs.gold) & (estimate.confidence >= SURE)
    units = np.flatnonzero(denied)
    units = units[np.argsort(-estimate.confidence[units], kind="stable")]
    _, first = np.unique(inputs.labels.item_of_unit[units], return_index=True)
    return units[np.sort(first)]


def _findings(
    inputs: ReportInputs, total: float, worth: Threshold | None, *, n_tied: int, n_suspects: int
) -> Iterator[ReportFinding]:
    n = int(inputs.estimate.answered.sum())
    is_document = inputs.task is TaskKind.documents
    if not n:
        yield ReportFinding("No item has an answer: there are no labels.", Urgency.act, importance=100)
        return
    yield _expected_wrong_finding(inputs, total, worth)
    if n_suspects:  # either may be wrong; if the method is overconfident, often the answer
        estimate, gold = inputs.estimate, np.asarray(inputs.gold)
        sure = inputs.known & estimate.answered & (estimate.confidence >= SURE)
        denied = float((estimate.answer[sure] != gold[sure]).mean())
        text = (
            f"Check the gold of {pluralise(n_suspects, 'item')}: the answer contradicts it with {percent(SURE)} "
            f"confidence or more, so either the gold or the crowd is wrong there."
        )
        if denied > OVERCONFIDENT * (1 - SURE):
            text += f" At {percent(denied)} of such sure answers, many will be the method's own mistakes."
        yield ReportFinding(text, Urgency.look, importance=58)
    if n_tied:
        label = "label" if is_document else "tag"
        text = (
            f"{pluralise(n_tied, f'{label} is', f'{label}s are')} a mere tie between classes: another vote would "
            f"decide {'it' if n_tied == 1 else 'each'}."
        )
        yield ReportFinding(text, Urgency.look if n_tied > MANY * n else Urgency.know, importance=40)
    unanswered = len(inputs.estimate.answer) - n
    if unanswered:
        text = f"{pluralise(unanswered, 'item' if is_document else 'token')} got no answer, for want of labels."
        yield ReportFinding(text, Urgency.know, importance=5)


def _expected_wrong_finding(inputs: ReportInputs, total: float, worth: Threshold | None) -> ReportFinding:
    """Return a finding on the number of wrong answers, by the beliefs and by gold, and how to find many of them."""
    n, label = int(inputs.estimate.answered.sum()), "label" if inputs.task is TaskKind.documents else "tag"
    of_all, by_gold = f"of {pluralise(n, label)}", ""
    judged = inputs.known & inputs.estimate.answered
    if inputs.gold is not None and judged.any():
        wrong = int((inputs.estimate.answer[judged] != inputs.gold[judged]).sum())
        by_gold = f" (by gold {wrong:,} of {int(judged.sum()):,} {'is' if wrong == 1 else 'are'})"
    if total <= ANY_DOUBT:
        text = f"The method doubts none {of_all}{by_gold}."
        return ReportFinding(text, Urgency.know, importance=80)
    # How many answers are wrong; with calibrated confidence as an interval over answers whose truth is not known
    estimate = inputs.estimate
    expected = expected_accuracy(estimate) if estimate.calibration is not None else None
    if expected is None:
        own = "by the method's own confidence, which mostly claims too much"
        text = f"{approximate(total).capitalize()} {of_all} should be wrong {own}{by_gold}"
    else:
        known = n - expected.n
        unknown = f" whose truth is not known (that of {known:,} is)" if known else ""
        text = f"{describe_range(expected, label, which=unknown)}{by_gold}"
    first = mistakes_by_rank(inputs.labels, inputs.estimate)
    if first:
        ranges: list[str] = []
        for size, *ends in first:
            few, many = (percent(share) for share in sorted(ends))
            found = few if few == many else f"{few} to {many}"
            ranges.append(f"{found} {'in' if ranges else 'of the mistakes should be in'} the first {size}")
        text += f". Check the most doubtful items first: {', '.join(ranges)}"
    elif worth is not None:
        which = "the one" if worth.n_below == 1 else f"the {worth.n_below:,}"
        found = percent(worth.share_found)
        text += f". Check {which} below {percent(worth.confidence)} confidence: {found} of the mistakes should be there"
    return ReportFinding(f"{text}.", Urgency.act if total > MANY * n else Urgency.look, importance=80)


# The items of the page of labels as data for its script.

BUDGET = 2_600_000
"""Maximum number of bytes for items, so that the page is smaller than five million bytes."""


def select_items(found: LabelFindings) -> dict[str, Any]:
    """Return doubtful items and items with doubtful gold within the budget, and the number of omitted items."""
    lists: dict[str, Sequence[ShownItem]] = {"doubts": found.doubts, "gold_mistakes": found.gold_mistakes}
    shown: dict[str, list[Any]] = {}
    spent, left_out = 0, 0
    for name, items in lists.items():
        shown[name] = []
        for item in items:
            plain = _plain(item)
            spent += len(json.dumps(plain, ensure_ascii=False).encode("utf-8", "backslashreplace"))
            if spent > BUDGET:
                left_out += len(items) - len(shown[name])
                break
            shown[name].append(plain)
    return {**shown, "left_out": left_out}


def _plain(value: Any) -> Any:
    """Return a value for JSON: shortened texts, visible control characters, four decimals, null for None."""
    match value:
        case str():
            return shorten(value)
        case float():
            return round(value, 4) if math.isfinite(value) else None
        case Mapping():
            return {key: _plain(one) for key, one in value.items() if one is not None}
        case list() | tuple():
            return [_plain(one) for one in value]
        case _ if is_dataclass(value):
            return _plain(vars(value))
        case _:
            return value


PAGE = Page(
    title="Labels",
    module=__name__,
    compute=compute_labels,
    draw=draw_labels,
    evidence_units=evidence_units,
    highlight=highlight_labels,
    script_data=select_items,
)
