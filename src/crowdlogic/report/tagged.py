"""Sentences with everybody's spans, read all at once. Axes: i unit, t token that is shown, e sentence, j annotator."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from crowdlogic.data.corpus import UNKNOWN
from crowdlogic.data.estimate import NO_ANSWER
from crowdlogic.data.tagging import TagSet, parse_tags, tags_to_spans
from crowdlogic.numerics.arrays import Floats, Ints
from crowdlogic.report.findings import Reading, Span, TaggedSentence, Task
from crowdlogic.report.material import Material
from crowdlogic.report.wording import number

MOST_TOKENS = 200
"""Longer sentences are cut, after the token that is looked at where that comes later."""
MOST_READINGS = 30
"""Annotators of a sentence that are shown."""


@dataclass(frozen=True, eq=False)
class Tags:
    """How tags are read: as spans where they are span tags, else token by token."""

    names: tuple[str, ...]
    spans: TagSet | None

    def read(self, tags: Ints, offsets: Ints) -> list[tuple[Span, ...]]:
        """The spans of every sentence; a tag of NO_ANSWER is none.

        Args:
            tags: tags[i], over all sentences.
            offsets: Where each sentence begins; and the end of the last.
        """
        if self.spans is None:
            at = np.flatnonzero(tags != NO_ANSWER)
            start, end, kind, names = at, at + 1, tags[at], self.names
        else:
            found = tags_to_spans(tags, offsets, self.spans)
            start, end, kind, names = found.start, found.end, found.kind, self.spans.types
        first = np.searchsorted(start, offsets)
        begin = np.repeat(offsets[:-1], np.diff(first))
        rows = zip((start - begin).tolist(), (end - begin).tolist(), kind.tolist(), strict=True)
        spans = [Span(one, other, names[code]) for one, other, code in rows]
        return [tuple(spans[one:other]) for one, other in pairwise(first.tolist())]


def tags_for(made: Material) -> Tags:
    """How the tags of a task are read."""
    return Tags(made.class_names, parse_tags(made.labels.classes) if made.task is Task.spans else None)


@dataclass(frozen=True, eq=False)
class Windows:
    """What is shown of some sentences, e: their first tokens one after another.

    Attributes:
        unit: unit[t], the unit of token t of all that are shown.
        offsets: Where each sentence begins among these; and the end of the last.
        length: length[e], how many tokens the whole sentence has.
    """

    unit: Ints
    offsets: Ints
    length: Ints


def windows_of(offsets: Ints, items: Ints, tokens: Ints) -> Windows:
    """The first tokens of some items, and never fewer than up to the token that is looked at."""
    begin, length = offsets[items], np.diff(offsets)[items]
    shown = np.minimum(length, np.maximum(MOST_TOKENS, tokens + 1))
    ends = np.concatenate([[0], np.cumsum(shown)])
    return Windows(np.arange(ends[-1]) + np.repeat(begin - ends[:-1], shown), ends, length)


def sentences_of(made: Material, items: Ints, tokens: Ints, tags: Tags, reliability: Floats) -> list[TaggedSentence]:
    """Tokens, consensus and readings of some items, all read at once.

    Args:
        made: The material.
        items: The items' codes.
        tokens: The token of each that is looked at, which is never cut off.
        tags: How tags are read.
        reliability: reliability[j]; NaN where it is not known.
    """
    shown = windows_of(np.asarray(made.labels.offsets), items, tokens)
    answer = made.estimate.answer[shown.unit]
    belief = made.estimate.beliefs[shown.unit, answer]
    confidence = list(map(number, np.where(answer == NO_ANSWER, np.nan, belief).tolist()))
    gold = None if made.gold is None else made.gold[shown.unit]
    golden = [()] * len(items) if gold is None else tags.read(gold, shown.offsets)
    read = zip(
        pairwise(shown.offsets.tolist()),
        shown.length.tolist(),
        tags.read(answer, shown.offsets),
        readings_of(made, shown, tags, reliability),
        golden,
        strict=True,
    )
    made_up = []
    for (begin, end), length, consensus, (readings, n_readings), true in read:
        has_gold = gold is not None and bool((gold[begin:end] != UNKNOWN).any())
        made_up.append(
            TaggedSentence(
                _words(made, shown.unit[begin:end]),
                length,
                tuple(confidence[begin:end]),
                consensus,
                readings,
                n_readings,
                true if has_gold else None,
            )
        )
    return made_up


def _words(made: Material, units: Ints) -> tuple[str, ...]:
    if made.corpus is None or made.corpus.tokens is None:
        return tuple(f"token {i + 1}" for i in range(len(units)))
    return tuple(made.corpus.tokens[int(units[0]) : int(units[-1]) + 1]) if len(units) else ()


def readings_of(
    made: Material, shown: Windows, tags: Tags, reliability: Floats
) -> list[tuple[tuple[Reading, ...], int]]:
    """Of each sentence, every annotator's spans, the first so many, and how many annotators there are."""
    labels, size = made.labels, max(len(made.labels.annotators), 1)
    # Labels are sorted by unit: those of a token are a range of rows.
    first, last = (np.searchsorted(labels.unit, shown.unit, side=side) for side in ("left", "right"))
    count = last - first
    rows = np.repeat(first - np.concatenate([[0], np.cumsum(count)[:-1]]), count) + np.arange(count.sum())
    token = np.repeat(np.arange(len(shown.unit)), count)
    sentence = np.searchsorted(shown.offsets, token, side="right") - 1
    pairs, pair = np.unique(sentence * size + labels.annotator[rows], return_inverse=True)
    of, who = pairs // size, pairs % size
    long = np.diff(shown.offsets)[of]
    ends = np.concatenate([[0], np.cumsum(long)])
    given = np.full(ends[-1], NO_ANSWER, dtype=np.int32)
    given[ends[:-1][pair] + token - shown.offsets[sentence]] = labels.label[rows]
    names = labels.annotators.gather(who).to_list()
    found = [
        Reading(str(name), spans, number(reliability[j]))
        for name, spans, j in zip(names, tags.read(given, ends), who.tolist(), strict=True)
    ]
    bounds = np.searchsorted(of, np.arange(len(shown.length) + 1)).tolist()
    return [(tuple(found[one : min(other, one + MOST_READINGS)]), other - one) for one, other in pairwise(bounds)]
