"""Conversion between tags and spans: B-PER I-PER O is one span of type PER.

Tag sequences can be interpreted in two ways:

- `conll`: as by conlleval, the official scorer of the CoNLL tasks. An I- tag without a preceding tag of its type also
  starts a span.
- `strict`: a span starts with B- (or S-) and continues with I- (or E-) of its type; other tags are ignored.

Axes: i unit, s sequence. A tag code of -1 (no answer) is outside every span.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import numpy as np

from crowdlogic.errors import DataError, parse_choice
from crowdlogic.numerics.arrays import Bools, Ints

OUTSIDE, BEGIN, INSIDE, END, SINGLE = range(5)
PREFIXES = {"B": BEGIN, "I": INSIDE, "E": END, "S": SINGLE, "L": END, "U": SINGLE}


class Scheme(StrEnum):
    """Schemes for converting tags to spans."""

    conll = "conll"
    strict = "strict"


@dataclass(frozen=True, eq=False)
class TagSet:
    """The tags of a task, split into prefix and type.

    Attributes:
        classes: The tags.
        prefix: prefix[k], one of OUTSIDE, BEGIN, INSIDE, END, SINGLE.
        kind: kind[k], the position of the tag's type among `types`; -1 for O.
        types: The entity types, sorted.
    """

    classes: tuple[Any, ...]
    prefix: Ints
    kind: Ints
    types: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Spans:
    """Spans from start[e] to end[e] (exclusive), in units over all sequences, of the types kind[e]."""

    start: Ints
    end: Ints
    kind: Ints

    def __len__(self) -> int:
        return len(self.start)


def is_span_tag_set(classes: Sequence[Any]) -> bool:
    """Return whether the classes are span tags, such as O and B-PER, in contrast to parts of speech."""
    texts = [str(name) for name in classes]
    return bool(texts) and all(text == "O" or _split_tag(text) is not None for text in texts)


def parse_tags(classes: Sequence[Any]) -> TagSet:
    """Split tags into prefixes and types."""
    parts = [(OUTSIDE, None) if str(name) == "O" else _split_tag(str(name)) for name in classes]
    for name, part in zip(classes, parts, strict=True):
        if part is None:
            raise DataError(f"{name!r} is not a span tag. Spans require O and tags such as B-PER and I-PER.")
    known = [part for part in parts if part is not None]
    types = tuple(sorted({kind for _, kind in known if kind is not None}))
    return TagSet(
        tuple(classes),
        prefix=np.array([prefix for prefix, _ in known], dtype=np.int8),
        kind=np.array([-1 if kind is None else types.index(kind) for _, kind in known], dtype=np.int32),
        types=types,
    )


def _split_tag(tag: str) -> tuple[int, str | None] | None:
    head, dash, kind = tag.partition("-")
    return (PREFIXES[head], kind) if dash and kind and head in PREFIXES else None


def tags_to_spans(tags: Ints, offsets: Ints, tag_set: TagSet, scheme: Scheme | str = Scheme.conll) -> Spans:
    """Return the spans of tag sequences.

    Args:
        tags: tags[i], codes among the tag set; -1 for no answer.
        offsets: First unit of each sequence, and the number of units.
        tag_set: The tags.
        scheme: How tags are interpreted; see the module docstring.
    """
    reading = parse_choice(Scheme, scheme, "scheme")
    # The code -1 selects the appended entry: outside, without a type
    prefix = np.append(tag_set.prefix, np.int8(OUTSIDE))[tags]
    kind = np.append(tag_set.kind, np.int32(-1))[tags]
    opens = _span_starts(prefix, kind, sequence_starts(len(tags), offsets))
    # A span ends before the next span, before a unit outside, at the last unit, and at E- and S- tags
    closes = np.concatenate([opens[1:] | (prefix[1:] == OUTSIDE), [True]]) if len(tags) else np.zeros(0, dtype=bool)
    closes |= np.isin(prefix, (END, SINGLE))
    start = np.flatnonzero(opens)
    inside_end = np.flatnonzero(closes & (prefix != OUTSIDE))
    end = inside_end[np.searchsorted(inside_end, start)] + 1
    found = Spans(start, end, kind[start])
    return found if reading is Scheme.conll else _drop_malformed(found, prefix, tag_set)


def sequence_starts(n_units: int, offsets: Ints) -> Bools:
    """Return first[i], whether unit i begins a sequence."""
    first = np.zeros(n_units, dtype=bool)
    first[np.asarray(offsets[:-1])[np.diff(offsets) > 0]] = True
    return first


def _span_starts(prefix: Ints, kind: Ints, first: Bools) -> Bools:
    """Return whether a span starts at each unit, by the rules of conlleval."""
    before, kind_before = np.roll(prefix, 1), np.roll(kind, 1)
    fresh = first | (before == OUTSIDE) | np.isin(before, (END, SINGLE)) | (kind != kind_before)
    return np.asarray((prefix == BEGIN) | (prefix == SINGLE) | ((prefix != OUTSIDE) & fresh))


def _drop_malformed(spans: Spans, prefix: Ints, tag_set: TagSet) -> Spans:
    """Return the spans that start with B- or S- and, in tag sets with E- and S-, also end with one of these."""
    fine = np.isin(prefix[spans.start], (BEGIN, SINGLE))
    if np.isin(tag_set.prefix, (END, SINGLE)).any():
        single = prefix[spans.start] == SINGLE
        fine &= np.where(single, spans.end - spans.start == 1, prefix[spans.end - 1] == END)
    return Spans(spans.start[fine], spans.end[fine], spans.kind[fine])


def spans_to_tags(spans: Spans, n_units: int, tag_set: TagSet) -> Ints:
    """Return the tags of spans that do not overlap: the inverse of `tags_to_spans`.

    Last and single tokens get the tags E- and S- (or L- and U-) if the tag set has them, otherwise I- and B-.
    """
    begin, inside = _tag_codes(tag_set, BEGIN), _tag_codes(tag_set, INSIDE, BEGIN)
    length = spans.end - spans.start
    # units[u], all units of the first span, then of the second, ...
    units = np.repeat(spans.start - np.concatenate([[0], np.cumsum(length)[:-1]]), length) + np.arange(length.sum())
    tags = np.full(n_units, _outside_code(tag_set), dtype=np.int32)
    tags[units] = np.repeat(inside[spans.kind], length)
    tags[spans.end - 1] = _tag_codes(tag_set, END, INSIDE, BEGIN)[spans.kind]
    tags[spans.start] = begin[spans.kind]
    single = length == 1
    tags[spans.start[single]] = _tag_codes(tag_set, SINGLE, BEGIN)[spans.kind[single]]
    return tags


def _tag_codes(tag_set: TagSet, *prefixes: int) -> Ints:
    """Return code[t], the tag of type t with the first of the prefixes for which there is a tag."""
    code = {(int(p), int(k)): i for i, (p, k) in enumerate(zip(tag_set.prefix, tag_set.kind, strict=True))}
    found = [[code[p, t] for p in prefixes if (p, t) in code] for t in range(len(tag_set.types))]
    for kind, codes in zip(tag_set.types, found, strict=True):
        if not codes:
            raise DataError(f"Spans of type {kind!r} cannot be written as tags: B-{kind} is not among the classes.")
    return np.array([codes[0] for codes in found], dtype=np.int32)


def _outside_code(tag_set: TagSet) -> int:
    codes = np.flatnonzero(tag_set.prefix == OUTSIDE)
    if not len(codes):
        raise DataError("Spans cannot be written as tags: O is not among the classes.")
    return int(codes[0])
