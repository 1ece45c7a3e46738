"""Scores of spans: precision, recall and F1 of whole entities, and the accuracy of single tags.

A span is right if its start, end and type are right. `Scheme` defines spans: `conll` gives the figures of conlleval
(and seqeval's default), `strict` those of seqeval's strict mode. Shares are in [0, 1]; as in conlleval, they are 0
without predicted or gold spans.

Axes: i unit, s sequence, e span. A unit whose gold is UNKNOWN is outside all spans of gold and answers.

[CONLL03] Tjong Kim Sang, De Meulder: Introduction to the CoNLL-2003 Shared Task. CoNLL 2003.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from crowdlogic.data.corpus import UNKNOWN
from crowdlogic.data.estimate import NO_ANSWER
from crowdlogic.data.labels import CrowdLabels
from crowdlogic.data.names import Classes, Names
from crowdlogic.data.tagging import Scheme, Spans, parse_tags, tags_to_spans
from crowdlogic.data.wording import pluralise
from crowdlogic.errors import CorpusError, DataError
from crowdlogic.metrics.calibration import mean_or_nan
from crowdlogic.numerics.arrays import Bools, Floats, Ints


@dataclass(frozen=True, kw_only=True)
class TypeScores:
    """Precision, recall and F1 of the spans of one type, with their counts.

    Attributes:
        precision: Share of right spans among the predicted spans.
        recall: Share of gold spans that were predicted.
        f1: Harmonic mean of precision and recall.
        n_gold: Number of gold spans.
        n_predicted: Number of predicted spans.
        n_correct: Number of right spans.
    """

    precision: float
    recall: float
    f1: float
    n_gold: int
    n_predicted: int
    n_correct: int


@dataclass(frozen=True, kw_only=True)
class SpanScores(TypeScores):
    """Scores of the spans of all types together (micro average), and of each type.

    Attributes:
        per_type: Scores of each type of the tag set.
        accuracy: Share of right tags among the units with gold.
        scheme: Scheme by which tags were converted to spans.
    """

    per_type: Mapping[str, TypeScores]
    accuracy: float
    scheme: Scheme


def span_scores(
    gold: Ints, answer: Ints, offsets: Ints, classes: Classes, *, scheme: Scheme | str = Scheme.conll
) -> SpanScores:
    """Score predicted tags against gold tags.

    Args:
        gold: gold[i], UNKNOWN where it is not known.
        answer: answer[i], NO_ANSWER if missing, which is outside all spans and a wrong tag.
        offsets: First unit of each sequence, followed by the number of units.
        classes: The tag of each code.
        scheme: Interpretation of an I- tag without a beginning.
    """
    check_lengths(gold, answer, offsets)
    tags = parse_tags(classes)
    true = tags_to_spans(gold, offsets, tags, scheme)
    found = tags_to_spans(np.where(gold == UNKNOWN, NO_ANSWER, answer), offsets, tags, scheme)
    size = len(tags.types)
    counts = [
        np.bincount(kind, minlength=size) for kind in (true.kind, found.kind, found.kind[match_spans(found, true)])
    ]
    overall = _type_scores(*(int(count.sum()) for count in counts))
    each = {kind: _type_scores(*(int(count[t]) for count in counts)) for t, kind in enumerate(tags.types)}
    return SpanScores(
        **vars(overall),
        per_type=each,
        accuracy=mean_or_nan((answer == gold)[gold != UNKNOWN].astype(np.float64)),
        scheme=Scheme(scheme),
    )


def match_spans(found: Spans, true: Spans) -> Bools:
    """Return right[e], whether the found span e is a true span. The spans of each side must not overlap."""
    if not len(true):
        return np.zeros(len(found), dtype=bool)
    # Spans are sorted and do not overlap, so at most one true span has the same start as a found span.
    at = np.minimum(np.searchsorted(true.start, found.start), len(true) - 1)
    same_place = (true.start[at] == found.start) & (true.end[at] == found.end)
    return np.asarray(same_place & (true.kind[at] == found.kind))


def precision_recall_f1(n_correct: Ints, n_predicted: Ints, n_gold: Ints) -> tuple[Floats, Floats, Floats]:
    """Return precision, recall and F1 of counts, element by element; 0 for a division by zero."""
    precision = np.asarray(n_correct / np.maximum(n_predicted, 1))
    recall = np.asarray(n_correct / np.maximum(n_gold, 1))
    f1 = np.asarray(2.0 * n_correct / np.maximum(np.add(n_predicted, n_gold), 1))
    return precision, recall, f1


def check_lengths(gold: Ints, answer: Ints, offsets: Ints) -> None:
    """Raise an error if gold, answers and sequences do not cover the same units."""
    if not len(gold) == len(answer) == int(offsets[-1]):
        raise DataError(
            f"{pluralise(len(gold), 'gold tag')} and {pluralise(len(answer), 'answer')} for sequences of "
            f"{pluralise(int(offsets[-1]), 'unit')} in all. "
            f"Give one of each for every unit."
        )


def _type_scores(n_gold: int, n_predicted: int, n_correct: int) -> TypeScores:
    precision, recall, f1 = precision_recall_f1(np.array(n_correct), np.array(n_predicted), np.array(n_gold))
    return TypeScores(
        precision=float(precision),
        recall=float(recall),
        f1=float(f1),
        n_gold=n_gold,
        n_predicted=n_predicted,
        n_correct=n_correct,
    )


# Errors of each annotator in marking entities.
#
# The kinds of error are those of [LNCL] (section on the NER data): ignored, boundary and type. Every gold entity in the
# sequences that an annotator saw has exactly one of these outcomes:
#
# - correct: marked with the same boundaries and type;
# - boundary: not correct, but a span of its type overlaps it;
# - wrong type: only spans of other types overlap it;
# - ignored: no span overlaps it.
#
# A marked span that overlaps no gold entity is spurious. Sequences that an annotator did not see do not count. In a
# sequence that was seen, a token without the annotator's tag counts as O; a token without gold counts as O for both.
# A sequence that was tagged twice by the same annotator (duplicates kept) counts twice.
#
# Axes: i unit, j annotator, s sequence, r annotation (one annotator going through one sequence once), e span.
#
# [LNCL] Learning from Noisy Crowd Labels with Logics. ICDE 2023.


@dataclass(frozen=True, eq=False)
class SpanErrors:
    """Counts of errors of each annotator j, over the sequences that j saw.

    Attributes:
        annotators: The name of each annotator.
        n_sequences: Number of sequences that j saw.
        n_gold: Number of gold entities in these sequences: correct + boundary + wrong_type + ignored.
        n_marked: Number of spans that j marked.
        correct: Gold entities marked exactly.
        boundary: Gold entities marked with the right type, but other boundaries.
        wrong_type: Gold entities that only spans of other types overlap.
        ignored: Gold entities that no marked span overlaps.
        spurious: Marked spans that overlap no gold entity.
    """

    annotators: Names
    n_sequences: Ints
    n_gold: Ints
    n_marked: Ints
    correct: Ints
    boundary: Ints
    wrong_type: Ints
    ignored: Ints
    spurious: Ints

    def rates(self) -> dict[str, Floats]:
        """Return the shares of correct, boundary, wrong_type and ignored gold entities, and of spurious marked spans.

        NaN if an annotator saw, or marked, no entity.
        """
        kinds = ("correct", "boundary", "wrong_type", "ignored")
        return {kind: _share(getattr(self, kind), self.n_gold) for kind in kinds} | {
            "spurious": _share(self.spurious, self.n_marked)
        }

    @property
    def precision(self) -> Floats:
        """Return precision[j], the share of the marked spans that are right; 0 if none was marked, as in conlleval."""
        return precision_recall_f1(self.correct, self.n_marked, self.n_gold)[0]

    @property
    def recall(self) -> Floats:
        """Return recall[j], the share of the gold entities that were marked exactly; 0 if there were none."""
        return precision_recall_f1(self.correct, self.n_marked, self.n_gold)[1]

    @property
    def f1(self) -> Floats:
        """Return f1[j], the harmonic mean of precision and recall."""
        return precision_recall_f1(self.correct, self.n_marked, self.n_gold)[2]


@dataclass(frozen=True, eq=False)
class AnnotatedSequences:
    """Tags of all annotators for every sequence they saw, one annotation after the other, with the gold.

    Attributes:
        annotator: annotator[r], the annotator of annotation r.
        offsets: offsets[r], the first position of annotation r.
        tags: The given tags, NO_ANSWER for tokens without a tag.
        gold: The gold tags of the same tokens.
    """

    annotator: Ints
    offsets: Ints
    tags: Ints
    gold: Ints


def count_span_errors(labels: CrowdLabels, gold: Ints, *, scheme: Scheme | str = Scheme.conll) -> SpanErrors:
    """Count the outcomes of all gold entities for each annotator.

    Args:
        labels: Tags of sequences.
        gold: gold[i], over the labels' classes (see `align`), UNKNOWN where it is not known.
        scheme: Scheme by which tags are converted to spans.
    """
    found = collect_annotations(labels, gold)
    known = parse_tags(labels.classes)
    true = tags_to_spans(found.gold, found.offsets, known, scheme)
    marked = tags_to_spans(np.where(found.gold == UNKNOWN, NO_ANSWER, found.tags), found.offsets, known, scheme)
    # For each pair of overlapping spans: whether the types, and also the boundaries, are equal
    e, f = overlaps(true, marked)
    same_type = true.kind[e] == marked.kind[f]
    exact = same_type & (true.start[e] == marked.start[f]) & (true.end[e] == marked.end[f])
    correct, right_type, touched = (_mask(e[chosen], len(true)) for chosen in (exact, same_type, slice(None)))
    spurious = ~_mask(f, len(marked))

    def count(spans: Spans, chosen: Bools) -> Ints:
        """Return how many of the chosen spans each annotator has."""
        annotation = np.searchsorted(found.offsets, spans.start[chosen], side="right") - 1
        return np.bincount(found.annotator[annotation], minlength=len(labels.annotators))

    return SpanErrors(
        labels.annotators,
        n_sequences=np.bincount(found.annotator, minlength=len(labels.annotators)),
        n_gold=count(true, np.ones(len(true), dtype=bool)),
        n_marked=count(marked, np.ones(len(marked), dtype=bool)),
        correct=count(true, correct),
        boundary=count(true, right_type & ~correct),
        wrong_type=count(true, touched & ~right_type),
        ignored=count(true, ~touched),
        spurious=count(marked, spurious),
    )


def collect_annotations(labels: CrowdLabels, gold: Ints) -> AnnotatedSequences:
    """Concatenate the annotators' tags, annotation by annotation."""
    if labels.offsets is None:
        raise CorpusError(
            "Errors in spans need labels of sequences, but these are of documents. Pass tagged sentences."
        )
    if len(gold) != labels.n_units:
        raise CorpusError(
            f"{pluralise(len(gold), 'gold tag')} for sequences of {pluralise(labels.n_units, 'unit')} in all. Give "
            f"one for every unit."
        )
    item, annotator, annotation_of_label = labels.annotations()
    # Rows are sorted by unit, then annotator, so repeated tags of one annotator for one token are adjacent, in the
    # order of the file. The c-th copy belongs to that person's c-th annotation of the sequence.
    again = np.zeros(labels.n_labels, dtype=bool)
    again[1:] = (np.diff(labels.unit) == 0) & (np.diff(labels.annotator) == 0)
    if again.any():
        row = np.arange(labels.n_labels)
        copy = row - np.maximum.accumulate(np.where(again, 0, row))
        key = annotation_of_label * (copy.max() + 1) + copy
        found, annotation_of_label = np.unique(key, return_inverse=True)
        pair = found // (copy.max() + 1)
        item, annotator = item[pair], annotator[pair]
    length = np.diff(labels.offsets)[item]
    offsets = np.concatenate([[0], np.cumsum(length)])
    # unit[t], the unit at position t of the concatenated annotations
    unit = np.arange(offsets[-1]) + np.repeat(labels.offsets[item] - offsets[:-1], length)
    tags = np.full(offsets[-1], NO_ANSWER, dtype=np.int32)
    tags[offsets[annotation_of_label] + labels.unit - labels.offsets[item[annotation_of_label]]] = labels.label
    return AnnotatedSequences(annotator, offsets, tags, gold[unit])


def overlaps(one: Spans, other: Spans) -> tuple[Ints, Ints]:
    """Return the pairs of overlapping spans, as positions in both sequences; the spans of each side are disjoint."""
    first = np.searchsorted(other.end, one.start, side="right")
    last = np.searchsorted(other.start, one.end, side="left")
    n = np.maximum(last - first, 0)
    left = np.repeat(np.arange(len(one)), n)
    begins = np.cumsum(n) - n  # first pair of each span of `one` in the result
    return left, np.repeat(first - begins, n) + np.arange(n.sum())


def _mask(positions: Ints, size: int) -> Bools:
    inside = np.zeros(size, dtype=bool)
    inside[positions] = True
    return inside


def _share(part: Ints, whole: Ints) -> Floats:
    return np.where(whole > 0, part / np.maximum(whole, 1), np.nan)
