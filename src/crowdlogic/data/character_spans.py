"""Spans in the characters of a text: the confidence of tagged spans, and their places in the text.

How a marked span that begins or ends inside a token is aligned with the tokens is a policy (`Boundaries`); the readers
of annotation tools apply it.

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

# How sure a span is: that its boundaries and its type are right.
#
# A span is right if each of its tokens has its tag and the span does not go on after it:
#
# p = product over its tokens of q[i, tag_i]  x  (1 - belief that the next token continues it).
#
# Tags of neighbours depend on each other, so p is put on a scale that one can act on: a line in log odds, whose shift
# and slope the estimate's calibration holds.
#
# Axes: i unit, k tag, e span.

CLOSEST = 1e-6
"""Probabilities nearer to 0 or 1 than this count as this: log odds stay finite."""


def span_confidence(estimate: Estimate) -> tuple[Spans, Floats]:
    """Return the spans of the answers, and confidence[e] that each is right."""
    if estimate.offsets is None:
        raise CorpusError("Spans need tagged sentences; these items are documents.")
    tag_set = parse_tags(estimate.classes)
    spans = tags_to_spans(estimate.answer, estimate.offsets, tag_set)
    raw = span_probability(estimate.beliefs, estimate.answer, spans, tag_set=tag_set, offsets=estimate.offsets)
    if estimate.calibration is None:
        return spans, raw
    return spans, scale_odds(raw, shift=estimate.calibration.span_shift, slope=estimate.calibration.span_slope)


def span_probability(beliefs: Beliefs, answer: Ints, spans: Spans, *, tag_set: TagSet, offsets: Ints) -> Floats:
    """Return p[e], the product of the beliefs in the tags of a span, times the belief that it ends where it does."""
    with np.errstate(divide="ignore"):
        log_belief = np.log(np.take_along_axis(beliefs, np.maximum(answer, 0)[:, None], axis=1)[:, 0])
    # sums[i], the log beliefs of all units before i: a span's sum is a difference, but -inf must not meet -inf
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
    """1 / (1 + exp(-(shift + slope log odds)))."""
    p = np.clip(probability, CLOSEST, 1.0 - CLOSEST)
    return np.asarray(1.0 / (1.0 + np.exp(-shift) * ((1.0 - p) / p) ** slope))


@dataclass(frozen=True)
class ConsensusSpan:
    """A span of the consensus.

    Attributes:
        start: Its first character in the item's text.
        end: The character after its last.
        kind: The name of its type.
        text: What stands there.
        confidence: How sure it is that its boundaries and its type are right.
    """

    start: int
    end: int
    kind: str
    text: str
    confidence: float


def consensus_spans(estimate: Estimate, corpus: Corpus) -> list[list[ConsensusSpan]]:
    """Return spans[s], the spans that the tags of each sentence make, with their places in characters.

    Without a text the tokens are joined by single spaces, and places are counted in that.
    """
    if estimate.offsets is None or corpus.offsets is None:
        raise CorpusError("Spans need tagged sentences; these items are documents.")
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
    """The text of each sentence, and the place of each token in it; joined by spaces where the text is not known."""
    if corpus.texts is not None and corpus.bounds is not None:
        return corpus.texts, corpus.bounds
    if corpus.tokens is None or corpus.offsets is None:
        raise CorpusError("Spans need the tokens of the sentences, and these came without.")
    ends = pl.Series(corpus.tokens, dtype=pl.String).str.len_chars().to_numpy().astype(np.int64)
    running = np.cumsum(ends + 1)  # a space follows each token
    before = np.concatenate([[0], running])[np.repeat(corpus.offsets[:-1], np.diff(corpus.offsets))]
    start = running - ends - 1 - before
    texts = tuple(" ".join(corpus.tokens[begin:end]) for begin, end in pairwise(corpus.offsets.tolist()))
    return texts, np.column_stack([start, start + ends])
