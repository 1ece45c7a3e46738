"""Statistics of every annotator: reliability with a credible interval, informativeness, frequent confusions.

Informativeness is the mean squared distance between the rows of the confusion matrix ([RY12] eq. 12): 0 for an
annotator whose labels do not depend on the truth, 1 for one whose labels determine the truth, even if they are wrong.
[RY12] calls it the spammer score, although it is low for spammers.

All figures are computed from labels and beliefs, so they have the same meaning for all methods.

[RY12] Raykar and Yu, "Eliminating spammers and ranking annotators for crowdsourced labeling tasks", 2012.

Axes: j annotator, m true class, n given label.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from crowdlogic.annotators.label_sums import MOST_CELLS, tally
from crowdlogic.confidence.expected_accuracy import HIGH, LOW
from crowdlogic.data.blocks import make_shards
from crowdlogic.data.estimate import Beliefs, Estimate
from crowdlogic.data.labels import CrowdLabels
from crowdlogic.data.tagging import (
    BEGIN,
    OUTSIDE,
    SINGLE,
    Spans,
    TagSet,
    is_span_tag_set,
    parse_tags,
    sequence_starts,
    tags_to_spans,
)
from crowdlogic.numerics.arrays import Floats, Ints, sum_by
from crowdlogic.numerics.logspace import HALF, credible_interval

# Reliability of annotators who mark spans: the expected F1 of their spans, with an interval.
#
# Nearly all tokens are outside of any span, where every annotator is right. An annotator who overlooks a quarter of the
# spans and gives the wrong type to another quarter therefore has most tokens right. So spans are counted, as in
# evaluation, but the truth is replaced by beliefs:
#
# expected F1 = 2 E[right] / (marked + E[true])
#
# E[right] is the sum, over the marked spans, of the probability that the truth contains exactly this span. E[true] is
# the expected number of spans in the annotated sentences. Beliefs are those of single tokens. The tokens of a span are
# usually all right or all wrong, so the probability of a span is the minimum of the probabilities that it begins here,
# continues, and ends there. An I- tag begins a span, as in conlleval, to the extent that its probability exceeds that
# of its type at the token before.
#
# The interval is that of a share with as many independent observations as give the share's variance over sentences.
#
# Axes: i token of an annotation (one annotator going through one sentence), r annotation, j annotator, t type, e
# span.


@dataclass(frozen=True, eq=False, kw_only=True)
class SpanReliability:
    """Expected span F1 of every annotator.

    Attributes:
        f1: f1[j]; NaN if an annotator marked nothing and there was nothing to mark.
        low: Lower end of the interval.
        high: Upper end of the interval.
        n_marked: n_marked[j], the number of marked spans.
        n_true: n_true[j], the expected number of true spans.
    """

    f1: Floats
    low: Floats
    high: Floats
    n_marked: Floats
    n_true: Floats


@dataclass(frozen=True, eq=False, kw_only=True)
class _Annotations:
    """Tags of each sentence by each annotator, concatenated.

    Attributes:
        annotator: annotator[r].
        offsets: offsets[r], the first token of annotation r.
        tags: tags[i], the given tag.
        beliefs: beliefs[i, k] about the token.
    """

    annotator: Ints
    offsets: Ints
    tags: Ints
    beliefs: Beliefs


def span_reliability(labels: CrowdLabels, beliefs: Beliefs, *, level: float = 0.95) -> SpanReliability:
    """Return the expected F1 of every annotator's spans.

    Args:
        labels: Span tags of sequences.
        beliefs: q[i, k], the beliefs about each unit.
        level: Level of the intervals.
    """
    # The tags in the order of annotations; a sentence that one annotator tagged twice is included once
    _, annotator, pair = labels.annotations()
    order = np.lexsort((labels.unit, pair))
    first = np.ones(len(order), dtype=bool)
    first[1:] = (np.diff(pair[order]) != 0) | (np.diff(labels.unit[order]) != 0)
    order = order[first]
    lengths = np.bincount(pair[order], minlength=len(annotator))
    given = _Annotations(
        annotator=annotator,
        offsets=np.concatenate([[0], np.cumsum(lengths)]),
        tags=labels.label[order],
        beliefs=beliefs[labels.unit[order]],
    )
    size = len(labels.annotators)
    tags = parse_tags(labels.classes)
    marked = tags_to_spans(given.tags, given.offsets, tags)
    begins, inside = _type_beliefs(given, tags)
    n_annotations = len(given.annotator)
    right = sum_by(_annotation_of(marked.start, given), n_annotations, _probability(marked, begins, inside, given))
    units = np.repeat(np.arange(n_annotations), np.diff(given.offsets))
    # room[r]: half the spans on both sides, so that F1 is right / room
    room = 0.5 * sum_by(units, n_annotations, begins.sum(axis=1))
    n_true = sum_by(given.annotator, size, 2.0 * room)
    count = sum_by(_annotation_of(marked.start, given), n_annotations, np.ones(len(marked)))
    room = room + 0.5 * count

    # F1 of each annotator, and its interval by the variance over sentences
    right_of, room_of = (sum_by(given.annotator, size, part) for part in (right, room))
    f1 = np.divide(right_of, room_of, out=np.full(size, np.nan), where=room_of > 0)
    residual = right - np.nan_to_num(f1)[given.annotator] * room
    variance = sum_by(given.annotator, size, residual**2) / np.where(room_of > 0, room_of, 1.0) ** 2
    independent = np.divide(f1 * (1 - f1), variance, out=room_of.copy(), where=variance > 0)
    n = np.clip(np.nan_to_num(independent), np.minimum(room_of, 1.0), room_of)
    low, high = credible_interval(np.nan_to_num(f1) * n, n, level)
    return SpanReliability(f1=f1, low=low, high=high, n_marked=sum_by(given.annotator, size, count), n_true=n_true)


def _type_beliefs(given: _Annotations, tags: TagSet) -> tuple[Floats, Floats]:
    """Return the probabilities that a span of type t begins at a token, begins[i, t], or continues, inside[i, t]."""
    n_tokens, n_types = len(given.tags), len(tags.types)
    begins, inside = np.zeros((n_tokens, n_types)), np.zeros((n_tokens, n_types))
    for k, (prefix, kind) in enumerate(zip(tags.prefix, tags.kind, strict=True)):
        if prefix != OUTSIDE:
            target = begins if prefix in (BEGIN, SINGLE) else inside
            target[:, kind] += given.beliefs[:, k]
    before = np.roll(begins + inside, 1, axis=0)
    before[sequence_starts(n_tokens, given.offsets)] = 0.0
    orphans = np.maximum(inside - before, 0.0)
    return begins + orphans, inside - orphans


def _probability(marked: Spans, begins: Floats, inside: Floats, given: _Annotations) -> Floats:
    """Return the probability of each span: the minimum over beginning here, continuing to its end, and ending there."""
    n_tokens = len(given.tags)
    ends = np.append(sequence_starts(n_tokens, given.offsets), True)  # past the last token of an annotation
    further = np.where(ends[marked.end], 0.0, inside[np.minimum(marked.end, n_tokens - 1), marked.kind])
    found = np.minimum(begins[marked.start, marked.kind], 1.0 - further)
    length = marked.end - marked.start - 1
    span = np.repeat(np.arange(len(marked)), length)
    unit = np.repeat(marked.start + 1 - (np.cumsum(length) - length), length) + np.arange(length.sum())
    np.minimum.at(found, span, inside[unit, marked.kind[span]])
    return np.asarray(found)


def _annotation_of(unit: Ints, given: _Annotations) -> Ints:
    """Return the annotation of each token."""
    return np.searchsorted(given.offsets, unit, side="right") - 1


LEVEL = 0.95
"""Default level of the intervals."""


def annotator_figures(labels: CrowdLabels, estimate: Estimate, level: float) -> pl.DataFrame:
    """Return one row per annotator, in the order of the labels, with the figures of `annotator_table`."""
    size = len(labels.annotators)
    given = sum_by(labels.annotator, size, labels.weight)
    belief = estimate.beliefs[labels.unit, labels.label]  # [n], the probability that the label is right
    if labels.negated is not None:  # a partial label is right if the class is another one
        belief = np.where(labels.negated, 1.0 - belief, belief)
    right = sum_by(labels.annotator, size, labels.weights * belief)
    low, high = credible_interval(right, given, level)
    if level == LEVEL and LOW in estimate.parameters and len(estimate.parameters[LOW]) == size:
        # The range from independent to shared errors, or by gold; an annotator without labels has none
        known = given > 0
        low = np.where(known, estimate.parameters[LOW], low)
        high = np.where(known, estimate.parameters[HIGH], high)
    columns: dict[str, object] = {
        "annotator": labels.annotators,
        "labels": labels.labels_per_annotator(),
        "items": np.bincount(labels.annotations()[1], minlength=size),
        "reliability": (right + HALF) / (given + 2 * HALF),
        "reliability_low": low,
        "reliability_high": high,
    }
    if labels.is_sequential and is_span_tag_set(labels.classes):
        found = span_reliability(labels, estimate.beliefs, level=level)
        columns |= {"token_reliability": columns["reliability"], "reliability": found.f1}
        columns |= {"reliability_low": found.low, "reliability_high": found.high}
    return pl.DataFrame(columns | _from_confusion(labels, estimate)).with_columns(
        pl.Series("weight", estimate.reliability if estimate.reliability is not None else [None] * size, pl.Float64)
    )


def informativeness(confusion: Floats) -> Floats:
    """Return informativeness[j] of confusion[j, m, n] ([RY12] eq. 12): 0 for spammers, 1 if labels fix the truth."""
    n_classes = confusion.shape[1]
    if n_classes < 2:
        return np.ones(len(confusion))
    mean = confusion.mean(axis=1, keepdims=True)
    # The sum over pairs of rows of their squared distances is the number of rows times that to their mean.
    return np.asarray(((confusion - mean) ** 2).sum(axis=(1, 2)) / (n_classes - 1))


def _from_confusion(labels: CrowdLabels, estimate: Estimate) -> dict[str, object]:
    size, n_classes = len(labels.annotators), labels.n_classes
    if not n_classes or size * n_classes**2 > MOST_CELLS:
        kinds = {
            "expected_accuracy": pl.Float64,
            "informativeness": pl.Float64,
            "confused_truth": pl.String,
            "confused_label": pl.String,
            "confused_count": pl.Float64,
        }
        return {name: pl.Series([None] * size, dtype=kind) for name, kind in kinds.items()}
    counts = tally(make_shards(labels, partial=True), estimate.beliefs).counts.transpose(0, 2, 1)
    smoothed = counts + HALF / n_classes
    confusion = smoothed / smoothed.sum(axis=2, keepdims=True)
    prior = estimate.beliefs[labels.labels_per_unit() > 0].mean(axis=0) if labels.n_labels else np.ones(n_classes)
    # The most frequent mistake (true class, given label) of each annotator
    wrong = (counts * (1.0 - np.eye(n_classes))).reshape(size, -1)
    best, count = wrong.argmax(axis=1), wrong.max(axis=1, initial=0.0)
    names = [str(name) for name in labels.classes]
    truth, label = (
        [names[k] if often > 0 else None for k, often in zip(classes, count, strict=True)]
        for classes in (best // n_classes, best % n_classes)
    )
    return {
        "expected_accuracy": np.diagonal(confusion, axis1=1, axis2=2) @ (prior / prior.sum()),
        "informativeness": informativeness(confusion),
        "confused_truth": pl.Series(truth, dtype=pl.String),
        "confused_label": pl.Series(label, dtype=pl.String),
        "confused_count": count,
    }
