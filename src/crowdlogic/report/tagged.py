"""A sentence with everybody's spans. Axes: i unit (token), e span."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from crowdlogic.data.corpus import UNKNOWN
from crowdlogic.data.estimate import NO_ANSWER
from crowdlogic.data.tagging import TagSet, spans_of, tag_set
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

    def read(self, tags: Ints) -> tuple[Span, ...]:
        """The spans of one sentence; a tag of NO_ANSWER is none."""
        if self.spans is None:
            return tuple(Span(i, i + 1, self.names[tag]) for i, tag in enumerate(tags.tolist()) if tag != NO_ANSWER)
        found = spans_of(tags, np.array([0, len(tags)]), self.spans)
        rows = zip(found.start.tolist(), found.end.tolist(), found.kind.tolist(), strict=True)
        return tuple(Span(begin, end, self.spans.types[kind]) for begin, end, kind in rows)


def tags_for(made: Material) -> Tags:
    """How the tags of a task are read."""
    return Tags(made.class_names, tag_set(made.labels.classes) if made.task is Task.spans else None)


def sentence_of(made: Material, item: int, token: int, tags: Tags, reliability: Floats) -> TaggedSentence:
    """An item's tokens, consensus and readings.

    Args:
        made: The material.
        item: The item's code.
        token: The token that is looked at, which is never cut off.
        tags: How tags are read.
        reliability: reliability[j]; NaN where it is not known.
    """
    offsets = np.asarray(made.labels.offsets)
    begin, end = int(offsets[item]), int(offsets[item + 1])
    shown = min(end - begin, max(MOST_TOKENS, token + 1))
    window = slice(begin, begin + shown)
    corpus = made.corpus
    known = corpus is not None and corpus.tokens is not None
    words = corpus.tokens[window] if known else [f"token {i + 1}" for i in range(shown)]  # type: ignore[index, union-attr]
    gold = None if made.gold is None or (made.gold[window] == UNKNOWN).all() else tags.read(made.gold[window])
    readings, n_readings = readings_of(made, begin, shown, tags, reliability)
    answer = made.estimate.answer[window]
    belief = made.estimate.beliefs[np.arange(begin, begin + shown), answer]
    confidence = tuple(map(number, np.where(answer == NO_ANSWER, np.nan, belief)))
    return TaggedSentence(tuple(words), end - begin, confidence, tags.read(answer), readings, n_readings, gold)


def readings_of(
    made: Material, begin: int, length: int, tags: Tags, reliability: Floats
) -> tuple[tuple[Reading, ...], int]:
    """Every annotator's spans among some tokens, and how many annotators there are."""
    labels = made.labels
    rows = slice(*np.searchsorted(labels.unit, [begin, begin + length]))
    who = np.unique(labels.annotator[rows])
    found = []
    for j in who[:MOST_READINGS].tolist():
        mine = labels.annotator[rows] == j
        given = np.full(length, NO_ANSWER, dtype=np.int32)
        given[labels.unit[rows][mine] - begin] = labels.label[rows][mine]
        found.append(Reading(str(labels.annotators[j]), tags.read(given), number(reliability[j])))
    return tuple(found), len(who)
