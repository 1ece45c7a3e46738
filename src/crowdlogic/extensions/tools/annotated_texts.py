"""Annotations of texts as annotation tools store them: a label, or marked spans.

The modules that write files for annotation tools share this one.

Axes: i unit, j annotator, s item.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from crowdlogic.data.character_spans import ConsensusSpan, consensus_spans, texts_and_bounds
from crowdlogic.data.corpus import Corpus
from crowdlogic.data.estimate import Estimate
from crowdlogic.data.formats.tables import require_single_tags
from crowdlogic.data.labels import CrowdLabels
from crowdlogic.data.names import ClassName
from crowdlogic.data.tagging import is_span_tag_set, parse_tags, tags_to_spans
from crowdlogic.errors import OptionError
from crowdlogic.numerics.arrays import Floats


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


def annotate(
    content: CrowdLabels | Estimate, corpus: Corpus | None, *, target: str, tool: str
) -> tuple[Corpus, tuple[str, ...], Iterable[Annotated]]:
    """Return the items, their texts, and their annotations: those of the crowd, or the consensus in review order.

    The annotations of a crowd are sorted by item and then by annotator. The consensus is sorted by confidence, lowest
    first, so that a review from the top finds the most mistakes; items without an answer are left out.

    Args:
        content: The labels of a crowd, or the answers of a method.
        corpus: The items, with their texts or tokens.
        target: Name of the output file in messages.
        tool: Name of the tool in messages.
    """
    is_sequential = content.offsets is not None
    if corpus is None or (corpus.tokens if is_sequential else corpus.texts) is None:
        raise OptionError(f"{target}: {tool} needs the texts, which are unknown. Write .csv or .jsonl instead.")
    if is_sequential and not is_span_tag_set(content.classes):
        raise OptionError(
            f"{target}: {tool} only supports span tags (B-, I- and O), unlike these tags. Write .conll or .jsonl."
        )
    texts = texts_and_bounds(corpus)[0] if is_sequential else tuple(corpus.texts or ())
    if isinstance(content, CrowdLabels):
        return corpus, texts, _crowd_annotations(content, corpus)
    return corpus, texts, sorted(_consensus_annotations(content, corpus), key=lambda one: one.confidence)


def _consensus_annotations(estimate: Estimate, corpus: Corpus) -> list[Annotated]:
    """Return the answers of all items with an answer; a sentence is as certain as its least certain token."""
    if estimate.offsets is None:
        names = estimate.answer_names()
        return [
            Annotated(item=i, label=names[i], confidence=float(estimate.confidence[i]))
            for i in np.flatnonzero(estimate.answered).tolist()
        ]
    spans = consensus_spans(estimate, corpus)
    # least[s], the confidence of the least certain token; NaN if any token of the sentence has no answer
    least = np.full(len(estimate.items), np.nan)
    filled = np.flatnonzero(np.diff(estimate.offsets))
    if len(filled):
        least[filled] = np.minimum.reduceat(estimate.confidence, estimate.offsets[filled])
    return [
        Annotated(item=s, spans=tuple(spans[s]), confidence=float(least[s]))
        for s in np.flatnonzero(~np.isnan(least)).tolist()
    ]


def _crowd_annotations(labels: CrowdLabels, corpus: Corpus) -> Iterator[Annotated]:
    times = np.full(labels.n_labels, np.nan) if labels.time is None else labels.time
    if labels.offsets is not None:
        yield from _marked_sentences(labels, corpus, times)
        return
    names = labels.classes
    rows = zip(labels.unit.tolist(), labels.annotator.tolist(), labels.label.tolist(), times.tolist(), strict=True)
    yield from (Annotated(item=i, annotator=j, label=names[k], time=at) for i, j, k, at in rows)


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
        found = tags_to_spans(labels.label[rows], np.array([0, len(rows)]), tag_set)
        spans = []
        for start, end, kind in zip(found.start.tolist(), found.end.tolist(), found.kind.tolist(), strict=True):
            begin, stop = int(bounds[first + start, 0]), int(bounds[first + end - 1, 1])
            spans.append(ConsensusSpan(begin, stop, tag_set.types[kind], texts[s][begin:stop], float("nan")))
        yield Annotated(item=s, annotator=j, spans=tuple(spans), time=float(times[rows[0]]))
