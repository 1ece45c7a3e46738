"""Conversion of spans that annotators marked in texts to tags, with a report of every adjusted or skipped span."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

import numpy as np
import polars as pl

from crowdlogic.data.character_spans import (
    AlignedSpans,
    Boundaries,
    CharacterSpans,
    align_spans,
    span_tag_classes,
    tag_annotations,
)
from crowdlogic.data.formats.protocol import ReadOptions
from crowdlogic.data.names import Classes
from crowdlogic.data.tagging import is_span_tag_set
from crowdlogic.data.text_tokens import TokenizedTexts
from crowdlogic.errors import FormatError, OptionError, name_list
from crowdlogic.numerics.arrays import Ints

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
    policy = Boundaries.parse(options.boundaries)
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
        raise OptionError(f"classes: the tags {name_list(missing)} are used, but missing from {name_list(named)}.")
    return tuple(named)
