"""Annotations of texts as annotation tools store them: a label, or marked spans. Shared by the writers for tools.

Axes: i unit, j annotator, s item.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from crowdlogic.data.character_spans import ConsensusSpan, consensus_spans, texts_and_bounds
from crowdlogic.data.corpus import Corpus
from crowdlogic.data.estimate import Estimate
from crowdlogic.data.formats.tables import require_single_tags
from crowdlogic.data.labels import CrowdLabels
from crowdlogic.data.names import ClassName
from crowdlogic.data.tagging import TagSet, is_span_tag_set, parse_tags, tags_to_spans
from crowdlogic.errors import OptionError
from crowdlogic.numerics.arrays import Floats, Ints


@dataclass(frozen=True, kw_only=True)
class Annotated:
    """Annotation of one text by one annotator, or by the consensus.

    Attributes:
        item: The code of the item.
        annotator: The code of the annotator; -1 for the consensus.
        label: The class of a document; None for marked spans.
        spans: The marked spans, with positions in characters; empty for documents.
        confidence: Confidence of the annotation; NaN if unknown.
        time: Time of the annotation in seconds; NaN if unknown.
    """

    item: int
    annotator: int = -1
    label: ClassName | None = None
    spans: tuple[ConsensusSpan, ...] = ()
    confidence: float = float("nan")
    time: float = float("nan")


def require_texts(corpus: Corpus | None, *, sequential: bool, target: str, tool: str) -> tuple[str, ...]:
    """Return the text of each item; raise an error if the texts are unknown."""
    if corpus is None or (corpus.tokens if sequential else corpus.texts) is None:
        raise OptionError(f"{target}: {tool} needs the texts, which are unknown. Write .csv or .jsonl instead.")
    return texts_and_bounds(corpus)[0] if sequential else tuple(corpus.texts or ())


def require_spans(labels: CrowdLabels | Estimate, *, target: str, tool: str) -> None:
    """Raise an error for tags that are not span tags, such as parts of speech."""
    if labels.offsets is not None and not is_span_tag_set(labels.classes):
        raise OptionError(
            f"{target}: {tool} only supports span tags (B-, I- and O), unlike these tags. Write .conll or .jsonl."
        )


def consensus_annotations(estimate: Estimate, corpus: Corpus) -> list[Annotated]:
    """Return the answers of all items with an answer, in the order of the items.

    The confidence of a sentence is that of its least confident token.
    """
    if estimate.offsets is None:
        names = estimate.answer_names()
        return [
            Annotated(item=i, label=names[i], confidence=float(estimate.confidence[i]))
            for i in np.flatnonzero(estimate.answered).tolist()
        ]
    spans, least = consensus_spans(estimate, corpus), sentence_confidence(estimate)
    return [
        Annotated(item=s, spans=tuple(spans[s]), confidence=float(least[s]))
        for s in np.flatnonzero(~np.isnan(least)).tolist()
    ]


def sentence_confidence(estimate: Estimate) -> Floats:
    """Return confidence[s] of the least confident token; NaN if any token of the sentence has no answer."""
    offsets = np.zeros(1, dtype=np.int64) if estimate.offsets is None else estimate.offsets
    least = np.full(len(offsets) - 1, np.nan)
    filled = np.flatnonzero(np.diff(offsets))
    if len(filled):
        least[filled] = np.minimum.reduceat(estimate.confidence, offsets[filled])  # NaN where a token has no answer
    return least


def review_order(annotations: list[Annotated]) -> list[Annotated]:
    """Sort annotations by confidence, lowest first, so that a review from the top finds the most mistakes."""
    return sorted(annotations, key=lambda one: one.confidence)


def crowd_annotations(labels: CrowdLabels, corpus: Corpus | None) -> Iterator[Annotated]:
    """Yield the annotations of all annotators, sorted by item and then by annotator."""
    times = np.full(labels.n_labels, np.nan) if labels.time is None else labels.time
    if labels.offsets is None:
        names = labels.classes
        rows = zip(labels.unit.tolist(), labels.annotator.tolist(), labels.label.tolist(), times.tolist(), strict=True)
        yield from (Annotated(item=i, annotator=j, label=names[k], time=at) for i, j, k, at in rows)
    elif corpus is not None:
        yield from _marked_sentences(labels, corpus, times)


def _marked_sentences(labels: CrowdLabels, corpus: Corpus, times: Floats) -> Iterator[Annotated]:
    require_single_tags(labels)
    texts, bounds = texts_and_bounds(corpus)
    tag_set, offsets = parse_tags(labels.classes), np.asarray(labels.offsets)
    item, annotator, pair = labels.annotations()
    order = np.lexsort((labels.unit, pair))
    starts = np.concatenate([[0], np.cumsum(np.bincount(pair, minlength=len(item)))])
    for p, (s, j) in enumerate(zip(item.tolist(), annotator.tolist(), strict=True)):
        rows = order[starts[p] : starts[p + 1]]
        first = int(offsets[s])
        if len(rows) != offsets[s + 1] - first:
            who = labels.annotators[j]
            raise OptionError(
                f"Annotator {who!r} tagged only a part of sentence {labels.items[s]!r}. Marked spans need whole "
                f"sentences; write .conll instead."
            )
        spans = _spans_of_tags(labels.label[rows], first, texts[s], bounds, tag_set)
        yield Annotated(item=s, annotator=j, spans=spans, time=float(times[rows[0]]))


def _spans_of_tags(tags: Ints, first: int, text: str, bounds: Ints, tag_set: TagSet) -> tuple[ConsensusSpan, ...]:
    """Return the spans of one tagged sentence, with positions in characters."""
    found = tags_to_spans(tags, np.array([0, len(tags)]), tag_set)
    spans = []
    for start, end, kind in zip(found.start.tolist(), found.end.tolist(), found.kind.tolist(), strict=True):
        begin, stop = int(bounds[first + start, 0]), int(bounds[first + end - 1, 1])
        spans.append(ConsensusSpan(begin, stop, tag_set.types[kind], text[begin:stop], float("nan")))
    return tuple(spans)
