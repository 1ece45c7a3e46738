"""Conversion of spans that annotators marked in texts to tags, with a report of every adjusted or skipped span."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol, TypeAlias

import numpy as np
import polars as pl

from crowdlogic.data.formats.protocol import ReadOptions
from crowdlogic.data.intake.contract import Boundaries
from crowdlogic.data.names import Classes, Names, encode, sort_classes
from crowdlogic.data.tagging import Spans, is_span_tag_set, parse_tags, spans_to_tags
from crowdlogic.data.text_tokens import TokenizedTexts
from crowdlogic.errors import FormatError, OptionError, name_list, parse_choice
from crowdlogic.numerics.arrays import Bools, Ints

MarkedSpan: TypeAlias = tuple[int, int, str]
"""Start, end (exclusive) and type of a span, in characters."""

POLICY_RESULTS = {
    Boundaries.widen: "widened to whole tokens",
    Boundaries.shrink: "cut down to whole tokens",
    Boundaries.drop: "left out",
}
"""How each policy treats a span that begins or ends inside a token, for messages."""


class Reporter(Protocol):
    """Protocol for objects that count what was left out and create errors."""

    def leave_out(self, what: str, reason: str, record: int | str = "") -> None:
        """Count something that was left out or changed."""
        ...

    def error(self, record: int | str, what: str, remedy: str) -> FormatError:
        """Create the error for a record."""
        ...


# Conversion of spans of characters to spans of tokens, and of these to tags.


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
        """Return some of the spans."""
        kept = np.flatnonzero(rows) if rows.dtype == bool else rows
        return CharacterSpans(
            annotation=self.annotation[kept], start=self.start[kept], end=self.end[kept], kind=self.kind.gather(kept)
        )


@dataclass(frozen=True, eq=False, kw_only=True)
class AlignedSpans:
    """Result of aligning spans to tokens.

    Attributes:
        spans: The remaining spans; start and end are token positions within the text.
        inside: Indices of the spans that began or ended inside a token.
        empty: Indices of the spans that were dropped because they contain no token.
        overlapping: Indices of the spans that were dropped because a longer one of the same annotation overlaps them.
    """

    spans: CharacterSpans
    inside: Ints
    empty: Ints
    overlapping: Ints


def align_spans(
    spans: CharacterSpans, item: Ints, texts: TokenizedTexts, boundaries: Boundaries | str = Boundaries.widen
) -> AlignedSpans:
    """Convert spans of characters to spans of tokens.

    Args:
        spans: The spans, with positions in characters.
        item: item[a], the text of each annotation.
        texts: The tokens of the texts.
        boundaries: Treatment of spans that begin or end inside a token. With `error`, the caller raises an error if
            `inside` is not empty.
    """
    policy = parse_choice(Boundaries, boundaries, "boundaries")
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
    """Return first[e] and last[e] (exclusive) token over all texts, and whether span e cuts through a token."""
    n_texts = len(texts.offsets) - 1
    longest = int(max(texts.bounds.max(initial=0), spans.end.max(initial=0))) + 1
    # (text, position) as one increasing number per token, so that all spans are found by one binary search
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
    """Return loser[e], whether span e overlaps a longer (or equally long, earlier) span of the same annotation."""
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
    """Return the tags for spans of these types: B- and I- of every type, and O."""
    return sort_classes(["O", *(f"{prefix}-{kind}" for kind in kinds.unique().to_list() for prefix in "BI")])


def tag_annotations(spans: CharacterSpans, item: Ints, offsets: Ints, classes: Classes) -> tuple[Ints, Ints, Ints]:
    """Return the annotation, the unit and the class of every tag; the class is O outside spans.

    Args:
        spans: Spans that do not overlap, in tokens of their text.
        item: item[a], the text of each annotation.
        offsets: offsets[s], the first unit of each text.
        classes: The tags, including B- and I- of every type.
    """
    length = np.diff(offsets)[item]
    base = np.concatenate([[0], np.cumsum(length)])  # base[a], the first tag of annotation a
    annotation = np.repeat(np.arange(len(item), dtype=np.int32), length)
    # unit[t] = position of tag t within its annotation + first unit of the text
    unit = np.repeat((offsets[item] - base[:-1]).astype(np.int32), length)
    unit += np.arange(base[-1], dtype=np.int32)
    tag_set = parse_tags(classes)
    codes, names = encode(spans.kind)
    rank = np.array([tag_set.types.index(name) for name in names.to_list()], dtype=np.int32)
    shift = base[spans.annotation]
    placed = Spans(spans.start + shift, spans.end + shift, rank[codes] if len(spans) else codes)
    return annotation, unit, spans_to_tags(placed, int(base[-1]), tag_set)


@dataclass(frozen=True, eq=False)
class Annotations:
    """Annotations: item[a], record[a] in the export, and the marked spans."""

    item: Ints
    record: Ints
    spans: Sequence[Sequence[MarkedSpan]]


@dataclass(frozen=True, eq=False)
class TaggedTexts:
    """Tags of annotations: annotation[t], unit[t], label[t] among the classes."""

    annotation: Ints
    unit: Ints
    label: Ints
    classes: Classes


def tag_texts(annotations: Annotations, texts: TokenizedTexts, options: ReadOptions, reporter: Reporter) -> TaggedTexts:
    """Align all spans to the tokens, report what was adjusted or left out, and return the spans as tags."""
    spans = _columns(annotations)
    policy = parse_choice(Boundaries, options.boundaries, "boundaries")
    aligned = align_spans(spans, annotations.item, texts, policy)
    _report(aligned, spans, annotations, policy, reporter)
    classes = _tag_classes(spans, options.classes)
    annotation, unit, label = tag_annotations(aligned.spans, annotations.item, texts.offsets, classes)
    return TaggedTexts(annotation, unit, label, classes)


def _columns(annotations: Annotations) -> CharacterSpans:
    flat = [span for spans in annotations.spans for span in spans]
    places = np.array([span[:2] for span in flat], dtype=np.int64).reshape(-1, 2)
    counts = np.array([len(spans) for spans in annotations.spans], dtype=np.int64)
    return CharacterSpans(
        annotation=np.repeat(np.arange(len(counts)), counts),
        start=places[:, 0],
        end=places[:, 1],
        kind=pl.Series("kind", [span[2] for span in flat], dtype=pl.String),
    )


def _report(
    aligned: AlignedSpans, spans: CharacterSpans, annotations: Annotations, policy: Boundaries, reporter: Reporter
) -> None:
    record = annotations.record[spans.annotation]
    if policy is Boundaries.error and len(aligned.inside):
        e = int(aligned.inside[0])
        raise reporter.error(
            int(record[e]),
            f"the span {spans.start[e]} to {spans.end[e]} begins or ends inside a token",
            f"Choose what to do with the {len(aligned.inside):,} such spans: --boundaries widen, shrink or drop; or "
            f"use other tokens: --tokens characters.",
        )
    for e in aligned.inside.tolist():
        reporter.leave_out("span", f"with a bound inside a token: {POLICY_RESULTS[policy]}", int(record[e]))
    for e in aligned.empty.tolist():
        reporter.leave_out("span", "without any token: left out", int(record[e]))
    for e in aligned.overlapping.tolist():
        reporter.leave_out("span", "overlapping a longer one of the same annotator: left out", int(record[e]))


def _tag_classes(spans: CharacterSpans, given: Sequence[Any] | None) -> Classes:
    """Return the tag set: the given one, which must cover every span type, or one derived from the types."""
    needed = span_tag_classes(spans.kind)
    if given is None:
        return needed
    named = [str(name) for name in given]
    if not is_span_tag_set(named):  # types such as PER, LOC, from which the tags follow
        named = [str(tag) for tag in span_tag_classes(pl.Series(named, dtype=pl.String))]
    missing = [tag for tag in needed if tag not in named]
    if missing:
        raise OptionError(
            f"classes: the tags {name_list(missing)} are used, but missing from {name_list(named)}. Add them."
        )
    return tuple(named)
