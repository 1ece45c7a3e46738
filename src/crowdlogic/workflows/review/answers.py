"""Answers as reviewers see and give them: a class, or the spans of a sentence; and as codes, which fits work with.

A span covers the tokens start to end (exclusive) and has a type. In tag sets that are no span tags (parts of speech)
every token is a span of its own, and its type is its tag. Classes are compared as text.

Axes: i unit, s sequence.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from crowdlogic.data.labels import CrowdLabels
from crowdlogic.data.tagging import NOT_SEEN, Spans, TagSet, is_span_tag_set, parse_tags, spans_to_tags, tags_to_spans
from crowdlogic.data.wording import pluralise
from crowdlogic.errors import DataError, did_you_mean, name_list
from crowdlogic.numerics.arrays import Ints


def item_units(offsets: Ints | None, items: Ints) -> Ints:
    """The units of some items, laid out one item after the other."""
    if offsets is None:
        return items
    return np.concatenate([np.arange(offsets[s], offsets[s + 1]) for s in items] or [np.zeros(0, dtype=np.int64)])


@dataclass(frozen=True, eq=False)
class AnswerForm:
    """What an answer to an item of these labels looks like."""

    labels: CrowdLabels

    @cached_property
    def class_names(self) -> tuple[str, ...]:
        """The classes as text."""
        return tuple(str(name) for name in self.labels.classes)

    @cached_property
    def _codes(self) -> dict[str, int]:
        return {name: k for k, name in enumerate(self.class_names)}

    @cached_property
    def tag_set(self) -> TagSet | None:
        """The tags split into prefix and type; None unless they are span tags."""
        sequential = self.labels.is_sequential and is_span_tag_set(self.labels.classes)
        return parse_tags(self.labels.classes) if sequential else None

    @property
    def types(self) -> tuple[str, ...]:
        """What a document, a span or a token can be."""
        return self.class_names if self.tag_set is None else self.tag_set.types

    def length(self, item: int) -> int:
        """How many units an item has."""
        offsets = self.labels.offsets
        return 1 if offsets is None else int(offsets[item + 1] - offsets[item])

    def encode(self, item: int, answer: Any) -> Ints:
        """The codes of an answer: of a class, or of one tag per token.

        An answer that is none of this item is refused with what is wrong with it.
        """
        tags = [answer] if self.labels.offsets is None else answer
        if not isinstance(tags, list) or not all(isinstance(tag, str) for tag in tags):
            raise DataError("An answer is a class, or one tag for each token of a sentence.")
        if len(tags) != self.length(item):
            raise DataError(
                f"{pluralise(len(tags), 'tag')} for {pluralise(self.length(item), 'token')}. Give one for each token."
            )
        return np.array([self._code(tag) for tag in tags], dtype=np.int32)

    def _code(self, name: str) -> int:
        if name not in self._codes:
            hint = did_you_mean(name, self.class_names)
            raise DataError(f"{name!r} is no class.{hint} There are {name_list(self.class_names)}.")
        return self._codes[name]

    def decode(self, codes: Ints) -> str | list[str]:
        """The answer that codes mean: a class, or the tags of a sentence; ? where there is no answer."""
        names = [*self.class_names, NOT_SEEN]
        tags = [names[int(code)] for code in codes]
        return tags[0] if self.labels.offsets is None else tags

    def spans(self, codes: Ints) -> list[dict[str, Any]]:
        """The spans of a sentence's tags, as start, end and type."""
        if self.tag_set is None:
            names = [*self.class_names, NOT_SEEN]
            return [{"start": i, "end": i + 1, "type": names[int(code)]} for i, code in enumerate(codes)]
        found = tags_to_spans(codes, np.array([0, len(codes)]), self.tag_set)
        return [
            {"start": int(start), "end": int(end), "type": self.tag_set.types[int(kind)]}
            for start, end, kind in zip(found.start, found.end, found.kind, strict=True)
        ]

    def tags_of_spans(self, item: int, spans: Sequence[Mapping[str, Any]]) -> list[str]:
        """One tag per token from spans, which must fit the sentence and not overlap."""
        if self.labels.offsets is None:
            raise DataError("Spans are of sentences. Answer a document with its class.")
        size, ordered = self.length(item), sorted(spans, key=lambda span: int(span["start"]))
        reached = 0
        for span in ordered:
            start, end = int(span["start"]), int(span["end"])
            if not reached <= start < end <= size:
                raise DataError(
                    f"The span {start} to {end} overlaps another, or does not fit {pluralise(size, 'token')}."
                )
            reached = end
        return self._plain_tags(size, ordered) if self.tag_set is None else self._span_tags(size, ordered)

    def _plain_tags(self, size: int, spans: Sequence[Mapping[str, Any]]) -> list[str]:
        tags = [NOT_SEEN] * size
        for span in spans:
            tags[int(span["start"]) : int(span["end"])] = [str(span["type"])] * (int(span["end"]) - int(span["start"]))
        if NOT_SEEN in tags:
            raise DataError(f"Token {tags.index(NOT_SEEN) + 1} has no tag. Give each token one.")
        return tags

    def _span_tags(self, size: int, spans: Sequence[Mapping[str, Any]]) -> list[str]:
        kinds = [self._type(str(span["type"])) for span in spans]
        start, end = (np.array([int(span[name]) for span in spans], dtype=np.int64) for name in ("start", "end"))
        tag_set = self.tag_set
        if tag_set is None:
            return []
        codes = spans_to_tags(Spans(start, end, np.array(kinds, dtype=np.int64)), size, tag_set)
        if len(self.spans(codes)) != len(spans):  # a long span without I- falls apart
            tags = name_list(self.class_names)
            raise DataError(f"These spans cannot be written with the tags {tags}: one is missing.")
        return list(self.decode(codes))

    def _type(self, name: str) -> int:
        if name not in self.types:
            raise DataError(f"{name!r} is no type.{did_you_mean(name, self.types)} There are {name_list(self.types)}.")
        return self.types.index(name)
