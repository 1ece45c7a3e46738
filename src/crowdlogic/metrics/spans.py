"""How well spans were found: precision, recall and F1 of whole entities, and the accuracy of single tags.

A span is right when its start, its end and its type are. What counts as a span is `Scheme`'s business: `conll` gives
conlleval's figures (and seqeval's default), `strict` those of seqeval's strict mode. Shares are in [0, 1], and 0
where conlleval says 0: no span found, or none to find.

Axes: i unit, s sequence, e span. A unit whose gold is UNKNOWN is outside every span, for gold and for answer.

[CONLL03] Tjong Kim Sang, De Meulder: Introduction to the CoNLL-2003 Shared Task. CoNLL 2003.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from crowdlogic.data.corpus import UNKNOWN
from crowdlogic.data.estimate import NO_ANSWER
from crowdlogic.data.names import Classes
from crowdlogic.data.tagging import Scheme, Spans, parse_tags, tags_to_spans
from crowdlogic.data.wording import pluralise
from crowdlogic.errors import DataError
from crowdlogic.metrics.calibration import mean_or_nan
from crowdlogic.numerics.arrays import Bools, Floats, Ints


@dataclass(frozen=True, kw_only=True)
class TypeScores:
    """Precision, recall and F1 of the spans of one type, and the counts they come from."""

    precision: float
    recall: float
    f1: float
    n_gold: int
    n_predicted: int
    n_correct: int


@dataclass(frozen=True, kw_only=True)
class SpanScores:
    """How well spans were found.

    Attributes:
        precision: The share of right spans among those predicted, over all types (micro).
        recall: The share of gold spans that were found.
        f1: Their harmonic mean.
        n_gold: How many spans there are.
        n_predicted: How many were predicted.
        n_correct: How many of these are right.
        per_type: The same for each type of the tag set.
        accuracy: The share of right tags among the units with gold.
        scheme: How tags were read as spans.
    """

    precision: float
    recall: float
    f1: float
    n_gold: int
    n_predicted: int
    n_correct: int
    per_type: Mapping[str, TypeScores]
    accuracy: float
    scheme: Scheme


def span_scores(
    gold: Ints, answer: Ints, offsets: Ints, classes: Classes, *, scheme: Scheme | str = Scheme.conll
) -> SpanScores:
    """Score predicted tags against gold ones.

    Args:
        gold: gold[i], UNKNOWN where it is not known.
        answer: answer[i], NO_ANSWER where there is none: outside every span, and a wrong tag.
        offsets: Where each sequence begins, and the number of units last.
        classes: The tags that the codes mean.
        scheme: How an I- tag without a beginning is read.
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
    """right[e], whether the found span e is a true one. The spans of either side must not overlap one another."""
    if not len(true):
        return np.zeros(len(found), dtype=bool)
    # Spans are sorted and do not overlap, so at most one true span starts where a found one does.
    at = np.minimum(np.searchsorted(true.start, found.start), len(true) - 1)
    same_place = (true.start[at] == found.start) & (true.end[at] == found.end)
    return np.asarray(same_place & (true.kind[at] == found.kind))


def precision_recall_f1(n_correct: Ints, n_predicted: Ints, n_gold: Ints) -> tuple[Floats, Floats, Floats]:
    """Precision, recall and F1 of counts, element by element; 0 where there is nothing to divide by."""
    precision = np.asarray(n_correct / np.maximum(n_predicted, 1))
    recall = np.asarray(n_correct / np.maximum(n_gold, 1))
    f1 = np.asarray(2.0 * n_correct / np.maximum(np.add(n_predicted, n_gold), 1))
    return precision, recall, f1


def check_lengths(gold: Ints, answer: Ints, offsets: Ints) -> None:
    """Refuse gold, answers and sequences that do not cover the same units."""
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
