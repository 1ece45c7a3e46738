"""Sentences with every annotator's spans, all read at once.

Axes: i unit, t token that is shown, e sentence, j annotator, p pair of a sentence and an annotator.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from crowdlogic.data.corpus import UNKNOWN
from crowdlogic.data.estimate import NO_ANSWER
from crowdlogic.data.tagging import TagSet, parse_tags, tags_to_spans
from crowdlogic.numerics.arrays import Floats, Ints
from crowdlogic.report.findings import TaskKind, round_figure
from crowdlogic.report.inputs import ReportInputs
from crowdlogic.report.pages.labels.findings import Reading, Span, TaggedSentence

MOST_TOKENS = 200
"""Longer sentences are cut, but never before the token in the centre of attention."""
MOST_READINGS = 30
"""Annotators of a sentence that are shown."""


@dataclass(frozen=True, eq=False, kw_only=True)
class TagReader:
    """Reads tags as spans; where they are no span tags, every token's tag is a span of its own."""

    classes: tuple[str, ...]
    tag_set: TagSet | None

    def read_spans(self, tags: Ints, offsets: Ints) -> list[tuple[Span, ...]]:
        """The spans of every sentence; a tag of NO_ANSWER is none.

        Args:
            tags: tags[i], over all sentences.
            offsets: Where each sentence begins; and the end of the last.
        """
        if self.tag_set is None:
            at = np.flatnonzero(tags != NO_ANSWER)
            start, end, kind, names = at, at + 1, tags[at], self.classes
        else:
            found = tags_to_spans(tags, offsets, self.tag_set)
            start, end, kind, names = found.start, found.end, found.kind, self.tag_set.types
        first = np.searchsorted(start, offsets)
        begin = np.repeat(offsets[:-1], np.diff(first))  # where the sentence of each span begins
        rows = zip((start - begin).tolist(), (end - begin).tolist(), kind.tolist(), strict=True)
        spans = [Span(start=one, end=other, kind=names[code]) for one, other, code in rows]
        return [tuple(spans[one:other]) for one, other in pairwise(first.tolist())]


def tag_reader(inputs: ReportInputs) -> TagReader:
    """How the tags of the task are read."""
    is_spans = inputs.task is TaskKind.spans
    return TagReader(classes=inputs.class_names, tag_set=parse_tags(inputs.labels.classes) if is_spans else None)


@dataclass(frozen=True, eq=False, kw_only=True)
class Windows:
    """What is shown of some sentences: their first tokens, one sentence after another.

    Attributes:
        unit: unit[t], the unit of token t.
        offsets: Where each sentence begins among the tokens; and the end of the last.
        length: length[e], how many tokens the whole sentence has.
    """

    unit: Ints
    offsets: Ints
    length: Ints


def cut_windows(offsets: Ints, items: Ints, tokens: Ints) -> Windows:
    """The first tokens of some items, at least up to the token in the centre of attention."""
    begin, length = offsets[items], np.diff(offsets)[items]
    shown = np.minimum(length, np.maximum(MOST_TOKENS, tokens + 1))
    ends = np.concatenate([[0], np.cumsum(shown)])
    unit = np.arange(ends[-1]) + np.repeat(begin - ends[:-1], shown)
    return Windows(unit=unit, offsets=ends, length=length)


def show_sentences(inputs: ReportInputs, items: Ints, tokens: Ints, reliability: Floats) -> list[TaggedSentence]:
    """Tokens, consensus and readings of some items, all read at once.

    Args:
        inputs: The inputs of the report.
        items: The items' codes.
        tokens: The token of each item in the centre of attention, which is never cut off.
        reliability: reliability[j]; NaN where it is not known.
    """
    reader = tag_reader(inputs)
    windows = cut_windows(np.asarray(inputs.labels.offsets), items, tokens)
    answer = inputs.estimate.answer[windows.unit]
    belief = np.where(answer == NO_ANSWER, np.nan, inputs.estimate.beliefs[windows.unit, answer])
    confidence = list(map(round_figure, belief.tolist()))
    gold = np.full(len(windows.unit), UNKNOWN) if inputs.gold is None else inputs.gold[windows.unit]
    rows = zip(
        pairwise(windows.offsets.tolist()),
        windows.length.tolist(),
        reader.read_spans(answer, windows.offsets),
        read_annotators(inputs, windows, reader, reliability),
        reader.read_spans(gold, windows.offsets),
        strict=True,
    )
    return [
        TaggedSentence(
            tokens=_words(inputs, windows.unit[begin:end]),
            n_tokens=length,
            confidence=tuple(confidence[begin:end]),
            consensus=consensus,
            readings=readings,
            n_readings=n_readings,
            gold=gold_spans if (gold[begin:end] != UNKNOWN).any() else None,
        )
        for (begin, end), length, consensus, (readings, n_readings), gold_spans in rows
    ]


def _words(inputs: ReportInputs, units: Ints) -> tuple[str, ...]:
    if inputs.corpus is None or inputs.corpus.tokens is None:
        return tuple(f"token {i + 1}" for i in range(len(units)))
    return tuple(inputs.corpus.tokens[int(units[0]) : int(units[-1]) + 1]) if len(units) else ()


def read_annotators(
    inputs: ReportInputs, windows: Windows, reader: TagReader, reliability: Floats
) -> list[tuple[tuple[Reading, ...], int]]:
    """Of each sentence, the spans of its first annotators, and how many annotators there are."""
    labels, n_annotators = inputs.labels, max(len(inputs.labels.annotators), 1)
    # Labels are sorted by unit: those of a token are a range of rows. rows[n] and token[n] run over all of them.
    first, last = (np.searchsorted(labels.unit, windows.unit, side=side) for side in ("left", "right"))
    count = last - first
    rows = np.repeat(first - np.concatenate([[0], np.cumsum(count)[:-1]]), count) + np.arange(count.sum())
    token = np.repeat(np.arange(len(windows.unit)), count)
    sentence = np.searchsorted(windows.offsets, token, side="right") - 1
    # One sequence of tags for every pair of a sentence and an annotator, as long as the sentence is shown.
    pairs, pair = np.unique(sentence * n_annotators + labels.annotator[rows], return_inverse=True)
    sentence_of_pair, annotator_of_pair = pairs // n_annotators, pairs % n_annotators
    ends = np.concatenate([[0], np.cumsum(np.diff(windows.offsets)[sentence_of_pair])])
    tags = np.full(ends[-1], NO_ANSWER, dtype=np.int32)
    tags[ends[:-1][pair] + token - windows.offsets[sentence]] = labels.label[rows]
    names = labels.annotators.gather(annotator_of_pair).to_list()
    found = [
        Reading(annotator=str(name), spans=spans, reliability=round_figure(reliability[j]))
        for name, spans, j in zip(names, reader.read_spans(tags, ends), annotator_of_pair.tolist(), strict=True)
    ]
    bounds = np.searchsorted(sentence_of_pair, np.arange(len(windows.length) + 1)).tolist()
    return [(tuple(found[one : min(other, one + MOST_READINGS)]), other - one) for one, other in pairwise(bounds)]
