"""Spans of characters in texts: positions of tagged spans, and their confidence.

The alignment of spans that begin or end inside a token is a policy (`Boundaries`), applied by the readers of annotation
tools.

Axes: e span, i token, s text.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import polars as pl

from crowdlogic.data.corpus import Corpus
from crowdlogic.data.estimate import Beliefs, Estimate
from crowdlogic.data.tagging import (
    END,
    INSIDE,
    Spans,
    TagSet,
    parse_tags,
    sequence_starts,
    tags_to_spans,
)
from crowdlogic.errors import CorpusError
from crowdlogic.numerics.arrays import Floats, Ints

# Confidence of a span: the probability that its boundaries and type are right.
#
# A span is right if all its tokens have the right tags and the next token does not continue it:
#
# p = product over its tokens of q[i, tag_i]  x  (1 - belief that the next token continues it).
#
# Tags of neighbours depend on each other, so p is calibrated by a linear function of the log odds, whose shift and
# slope are part of the estimate's calibration.
#
# Axes: i unit, k tag, e span.

CLOSEST = 1e-6
"""Minimum distance of probabilities from 0 and 1, so that log odds remain finite."""


def span_confidence(estimate: Estimate) -> tuple[Spans, Floats]:
    """Return the spans of the answers, and confidence[e], the probability that each is right."""
    if estimate.offsets is None:
        raise CorpusError("Spans require tagged sentences, but these items are documents.")
    tag_set = parse_tags(estimate.classes)
    spans = tags_to_spans(estimate.answer, estimate.offsets, tag_set)
    raw = span_probability(estimate.beliefs, estimate.answer, spans, tag_set=tag_set, offsets=estimate.offsets)
    if estimate.calibration is None:
        return spans, raw
    return spans, scale_odds(raw, shift=estimate.calibration.span_shift, slope=estimate.calibration.span_slope)


def span_probability(beliefs: Beliefs, answer: Ints, spans: Spans, *, tag_set: TagSet, offsets: Ints) -> Floats:
    """Return p[e], the product of the beliefs in the tags of a span, times the belief that it ends there."""
    with np.errstate(divide="ignore"):
        log_belief = np.log(np.take_along_axis(beliefs, np.maximum(answer, 0)[:, None], axis=1)[:, 0])
    # sums[i], the log beliefs of all units before i; the sum of a span is a difference, so -inf must be avoided
    sums = np.concatenate([[0.0], np.cumsum(np.maximum(log_belief, np.log(CLOSEST)))])
    inside = np.exp(sums[spans.end] - sums[spans.start])
    return np.asarray(inside * (1.0 - _continues(beliefs, spans, tag_set, offsets)))


def _continues(beliefs: Beliefs, spans: Spans, tag_set: TagSet, offsets: Ints) -> Floats:
    """Return the belief that the token after a span belongs to it; 0 at the end of a sequence."""
    starts = np.append(sequence_starts(len(beliefs), offsets), True)
    at = np.minimum(spans.end, len(beliefs) - 1)
    goes_on = np.isin(tag_set.prefix, (INSIDE, END))
    # of_type[k, t], whether tag k continues a span of type t
    of_type = (goes_on[:, None] & (tag_set.kind[:, None] == np.arange(len(tag_set.types)))).astype(np.float64)
    continued = np.take_along_axis(beliefs[at] @ of_type, spans.kind[:, None].astype(np.int64), axis=1)[:, 0]
    return np.where(starts[spans.end], 0.0, continued)


def scale_odds(probability: Floats, *, shift: float, slope: float) -> Floats:
    """Return 1 / (1 + exp(-(shift + slope log odds)))."""
    p = np.clip(probability, CLOSEST, 1.0 - CLOSEST)
    return np.asarray(1.0 / (1.0 + np.exp(-shift) * ((1.0 - p) / p) ** slope))


@dataclass(frozen=True)
class ConsensusSpan:
    """Span of the consensus.

    Attributes:
        start: Position of its first character in the item's text.
        end: Position after its last character.
        kind: Name of its type.
        text: Text of the span.
        confidence: Probability that its boundaries and its type are right.
    """

    start: int
    end: int
    kind: str
    text: str
    confidence: float


def consensus_spans(estimate: Estimate, corpus: Corpus) -> list[list[ConsensusSpan]]:
    """Return spans[s], the spans of each sentence, with their positions in characters.

    Without a text, positions refer to the tokens joined by single spaces.
    """
    if estimate.offsets is None or corpus.offsets is None:
        raise CorpusError("Spans require tagged sentences, but these items are documents.")
    types = parse_tags(estimate.classes).types
    found, confidence = span_confidence(estimate)
    texts, bounds = texts_and_bounds(corpus)
    sentence = np.searchsorted(estimate.offsets, found.start, side="right") - 1
    spans: list[list[ConsensusSpan]] = [[] for _ in range(len(estimate.items))]
    columns = (sentence, found.start, found.end, found.kind, confidence)
    for s, first, last, kind, sure in zip(*(column.tolist() for column in columns), strict=True):
        start, end = int(bounds[first, 0]), int(bounds[last - 1, 1])
        spans[s].append(ConsensusSpan(start, end, types[kind], texts[s][start:end], sure))
    return spans


def texts_and_bounds(corpus: Corpus) -> tuple[tuple[str, ...], Ints]:
    """Return the text of each sentence (or its tokens joined by spaces), and the position of each token in it."""
    if corpus.texts is not None and corpus.bounds is not None:
        return corpus.texts, corpus.bounds
    if corpus.tokens is None or corpus.offsets is None:
        raise CorpusError("Spans require the tokens of the sentences, which are missing.")
    ends = pl.Series(corpus.tokens, dtype=pl.String).str.len_chars().to_numpy().astype(np.int64)
    running = np.cumsum(ends + 1)  # a space follows each token
    before = np.concatenate([[0], running])[np.repeat(corpus.offsets[:-1], np.diff(corpus.offsets))]
    start = running - ends - 1 - before
    texts = tuple(" ".join(corpus.tokens[begin:end]) for begin, end in pairwise(corpus.offsets.tolist()))
    return texts, np.column_stack([start, start + ends])
