"""Spans of characters to tags of tokens, and consensus tags back to spans of characters.

Annotators mark stretches of a text; methods need one label per token. Where a mark begins or ends inside a token, a
stated policy settles it and the number of such spans is reported:

- `widen`: the span takes in every token that it touches;
- `shrink`: it keeps the tokens that lie wholly inside it;
- `drop`: it is left out;
- `error`: it is refused.

Tags hold one span per token. Where two spans of one annotation overlap (after this), the longest is kept, the first of
equally long ones, and the others are left out and counted.

Axes: e span, a annotation (one annotator going through one text once), i token, s text.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import pairwise

import numpy as np
import polars as pl

from crowdlogic.data.corpus import Corpus
from crowdlogic.data.estimate import Beliefs, Estimate
from crowdlogic.data.names import Classes, Names, encode, sort_classes
from crowdlogic.data.tagging import (
    END,
    INSIDE,
    Spans,
    TagSet,
    parse_tags,
    sequence_starts,
    spans_to_tags,
    tags_to_spans,
)
from crowdlogic.data.text_tokens import TokenizedTexts
from crowdlogic.errors import CorpusError, OptionError
from crowdlogic.numerics.arrays import Bools, Floats, Ints

# How sure a span is: that its boundaries and its type are right.
#
# A span is right if each of its tokens has its tag and the span does not go on after it:
#
# p = product over its tokens of q[i, tag_i]  x  (1 - belief that the next token continues it).
#
# Tags of neighbours depend on each other, so p is put on a scale that one can act on: a line in log odds, whose shift
# and
# slope the estimate's calibration holds.
#
# Axes: i unit, k tag, e span.

CLOSEST = 1e-6
"""Probabilities nearer to 0 or 1 than this count as this: log odds stay finite."""


def span_confidence(estimate: Estimate) -> tuple[Spans, Floats]:
    """The spans of the answers, and confidence[e] that each is right."""
    if estimate.offsets is None:
        raise CorpusError("Spans need tagged sentences; these items are documents.")
    tag_set = parse_tags(estimate.classes)
    spans = tags_to_spans(estimate.answer, estimate.offsets, tag_set)
    raw = span_probability(estimate.beliefs, estimate.answer, spans, tag_set=tag_set, offsets=estimate.offsets)
    if estimate.calibration is None:
        return spans, raw
    return spans, scale_odds(raw, shift=estimate.calibration.span_shift, slope=estimate.calibration.span_slope)


def span_probability(beliefs: Beliefs, answer: Ints, spans: Spans, *, tag_set: TagSet, offsets: Ints) -> Floats:
    """p[e], the product of the beliefs in the tags of a span, times the belief that it ends where it does."""
    with np.errstate(divide="ignore"):
        log_belief = np.log(np.take_along_axis(beliefs, np.maximum(answer, 0)[:, None], axis=1)[:, 0])
    # sums[i], the log beliefs of all units before i: a span's sum is a difference, but -inf must not meet -inf
    sums = np.concatenate([[0.0], np.cumsum(np.maximum(log_belief, np.log(CLOSEST)))])
    inside = np.exp(sums[spans.end] - sums[spans.start])
    return np.asarray(inside * (1.0 - _continues(beliefs, spans, tag_set, offsets)))


def _continues(beliefs: Beliefs, spans: Spans, tag_set: TagSet, offsets: Ints) -> Floats:
    """The belief that the token after a span belongs to it; 0 at the end of a sequence."""
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


class Boundaries(StrEnum):
    """What to do with a span that begins or ends inside a token."""

    widen = "widen"
    shrink = "shrink"
    drop = "drop"
    error = "error"

    @classmethod
    def parse(cls, name: str) -> Boundaries:
        """The policy of that name."""
        try:
            return cls(name)
        except ValueError:
            raise OptionError(f"boundaries: expected one of {', '.join(cls)}; got {name!r}.") from None


@dataclass(frozen=True, eq=False, kw_only=True)
class CharacterSpans:
    """Spans that annotators marked in texts.

    Attributes:
        annotation: annotation[e], the annotation that the span belongs to.
        start: start[e], its first character.
        end: end[e], the character after its last.
        kind: kind[e], the name of its type.
    """

    annotation: Ints
    start: Ints
    end: Ints
    kind: Names

    def __len__(self) -> int:
        return len(self.start)

    def take(self, rows: Ints | Bools) -> CharacterSpans:
        """Some of the spans."""
        kept = np.flatnonzero(rows) if rows.dtype == bool else rows
        return CharacterSpans(
            annotation=self.annotation[kept], start=self.start[kept], end=self.end[kept], kind=self.kind.gather(kept)
        )


@dataclass(frozen=True, eq=False, kw_only=True)
class AlignedSpans:
    """Spans as runs of tokens, and what alignment did to get there.

    Attributes:
        spans: The spans that are kept; start and end count tokens within the text.
        inside: The positions of the spans that began or ended inside a token.
        empty: The positions of those that hold no token, and so are left out.
        overlapping: The positions of those that are left out because a longer one of the same annotation overlaps them.
    """

    spans: CharacterSpans
    inside: Ints
    empty: Ints
    overlapping: Ints


def align_spans(
    spans: CharacterSpans, item: Ints, texts: TokenizedTexts, boundaries: Boundaries | str = Boundaries.widen
) -> AlignedSpans:
    """Spans of characters as spans of tokens.

    Args:
        spans: The spans, with places in characters.
        item: item[a], the text of each annotation.
        texts: The tokens of the texts.
        boundaries: What to do with a span that begins or ends inside a token. With `error` nothing is refused here: the
            caller refuses what `inside` names.
    """
    policy = Boundaries.parse(boundaries)
    first, last, inside = _locate(spans, item, texts, shrink=policy is Boundaries.shrink)
    empty = first >= last
    gone = empty | inside if policy is Boundaries.drop else empty
    kept = np.flatnonzero(~gone)
    offset = texts.offsets[item[spans.annotation[kept]]]
    aligned = replace(spans.take(kept), start=first[kept] - offset, end=last[kept] - offset)
    loser = _overlapped(aligned)
    return AlignedSpans(
        spans=aligned.take(~loser),
        inside=np.flatnonzero(inside),
        empty=np.flatnonzero(empty),
        overlapping=kept[loser],
    )


def _locate(spans: CharacterSpans, item: Ints, texts: TokenizedTexts, *, shrink: bool) -> tuple[Ints, Ints, Bools]:
    """first[e] and last[e] (exclusive) token over all texts, and whether a bound of span e lies inside a token."""
    n_texts = len(texts.offsets) - 1
    longest = int(max(texts.bounds.max(initial=0), spans.end.max(initial=0))) + 1
    # (text, place) as one number, which rises from token to token, so that all spans are looked up at once
    text_of_token = np.repeat(np.arange(n_texts), np.diff(texts.offsets)) * longest
    begins, ends = text_of_token + texts.bounds[:, 0], text_of_token + texts.bounds[:, 1]
    start = item[spans.annotation] * longest + spans.start
    end = item[spans.annotation] * longest + spans.end
    touched = np.searchsorted(ends, start, side="right"), np.searchsorted(begins, end, side="left")
    within = np.searchsorted(begins, start, side="left"), np.searchsorted(ends, end, side="right")
    inside = (touched[0] != within[0]) | (touched[1] != within[1])
    first, last = within if shrink else touched
    return first.astype(np.int64), last.astype(np.int64), inside & (touched[0] < touched[1])


def _overlapped(spans: CharacterSpans) -> Bools:
    """loser[e], whether a longer span (or an equally long one before it) of the same annotation overlaps span e."""
    loser = np.zeros(len(spans), dtype=bool)
    order = np.lexsort((spans.end, spans.start, spans.annotation))
    annotation, start, end = spans.annotation[order], spans.start[order], spans.end[order]
    clash = (annotation[1:] == annotation[:-1]) & (start[1:] < end[:-1])
    affected = np.unique(annotation[1:][clash])
    if not len(affected):
        return loser
    members = np.flatnonzero(np.isin(spans.annotation, affected))
    ranked = members[np.lexsort((members, spans.start[members] - spans.end[members], spans.annotation[members]))]
    taken: dict[int, list[tuple[int, int]]] = {}
    for e in ranked.tolist():  # longest first within each annotation
        begin, stop = int(spans.start[e]), int(spans.end[e])
        known = taken.setdefault(int(spans.annotation[e]), [])
        loser[e] = any(begin < other_end and other_begin < stop for other_begin, other_end in known)
        if not loser[e]:
            known.append((begin, stop))
    return loser


def span_tag_classes(kinds: Names) -> Classes:
    """The tags that spans of these types need: B- and I- of every type, and O."""
    return sort_classes(["O", *(f"{prefix}-{kind}" for kind in kinds.unique().to_list() for prefix in "BI")])


def tag_annotations(spans: CharacterSpans, item: Ints, offsets: Ints, classes: Classes) -> tuple[Ints, Ints, Ints]:
    """The tags of all annotations: for each tag its annotation, its unit and its class; O where there is no span.

    Args:
        spans: Spans that do not overlap, in tokens of their text.
        item: item[a], the text of each annotation.
        offsets: offsets[s], the first unit of each text.
        classes: The tags, among them B- and I- of every type.
    """
    length = np.diff(offsets)[item]
    base = np.concatenate([[0], np.cumsum(length)])  # base[a], the first tag of annotation a
    annotation = np.repeat(np.arange(len(item), dtype=np.int32), length)
    # unit[t] = the place of tag t within its annotation + the first unit of the text
    unit = np.repeat((offsets[item] - base[:-1]).astype(np.int32), length)
    unit += np.arange(base[-1], dtype=np.int32)
    tag_set = parse_tags(classes)
    codes, names = encode(spans.kind)
    rank = np.array([tag_set.types.index(name) for name in names.to_list()], dtype=np.int32)
    shift = base[spans.annotation]
    placed = Spans(spans.start + shift, spans.end + shift, rank[codes] if len(spans) else codes)
    return annotation, unit, spans_to_tags(placed, int(base[-1]), tag_set)


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
    """spans[s], the spans that the tags of each sentence make, with their places in characters.

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
