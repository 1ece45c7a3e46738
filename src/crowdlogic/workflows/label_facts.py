"""How much a table of labels holds: items, annotators, labels, spans, gold; the figures that `doctor` shows."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from crowdlogic.data.corpus import UNKNOWN
from crowdlogic.data.formats.protocol import Crowd
from crowdlogic.data.labels import CrowdLabels
from crowdlogic.data.tagging import is_span_tag_set, parse_tags, tags_to_spans
from crowdlogic.data.wording import list_names, pluralise

SHOWN_CLASSES = 8
"""How many classes are named; the others are counted."""


@dataclass(frozen=True, kw_only=True)
class LabelFacts:
    """What a file of labels holds.

    Attributes:
        items: How many items there are, labelled or not.
        unlabelled: How many of them nobody labelled.
        single: How many of them one annotator alone labelled.
        tokens: How many tokens the sentences have; None for documents.
        annotators: How many annotators there are.
        kinds: How many annotators are human, llm and code, where the file says so.
        classes: The classes, as text.
        labels: How many labels there are; for sentences, tags.
        annotations: How many (item, annotator) pairs there are.
        spans: How many spans all annotators marked; None where the classes are no span tags.
        fewest: The least number of labels that an annotator gave; for sentences, tags.
        texts: Whether the file holds the texts or the tokens.
        gold: How many units have a known truth in the file.
    """

    items: int
    unlabelled: int
    single: int
    tokens: int | None
    annotators: int
    kinds: dict[str, int]
    classes: tuple[str, ...]
    labels: int
    annotations: int
    spans: int | None
    fewest: int
    texts: bool
    gold: int

    def figures(self) -> dict[str, Any]:
        """The same as plain data."""
        return asdict(self)

    def rows(self) -> list[tuple[str, str]]:
        """The same as rows of a table: what, and how many."""
        kinds = ", ".join(f"{count} {kind}" for kind, count in self.kinds.items())
        rows = [
            ("sentences" if self.tokens is not None else "items", f"{self.items:,}{self._seldom_labelled()}"),
            ("annotators", f"{self.annotators:,}{f' ({kinds})' if kinds else ''}"),
            ("classes", f"{len(self.classes):,} ({list_names(self.classes, SHOWN_CLASSES)})"),
            ("labels", f"{self.labels:,}{self._average()}"),
        ]
        if self.tokens is not None:
            rows.insert(1, ("tokens", f"{self.tokens:,}"))
        if self.spans is not None:
            rows.append(("spans", f"{self.spans:,} by all annotators together"))
        rows.append(("texts", "in the file" if self.texts else "not in the file"))
        rows.append(("gold", f"for {pluralise(self.gold, 'unit')}" if self.gold else "none in the file"))
        return rows

    def _seldom_labelled(self) -> str:
        parts = [f"{self.single:,} with one annotator only"] if self.single else []
        parts += [f"{self.unlabelled:,} without labels"] if self.unlabelled else []
        return f" ({', '.join(parts)})" if parts else ""

    def _average(self) -> str:
        labelled = self.items - self.unlabelled
        if not labelled:
            return ""
        noun = "item" if self.tokens is None else "sentence"
        return f" ({self.annotations / labelled:.1f} annotators per labelled {noun})"


def count_labels(crowd: Crowd) -> LabelFacts:
    """Count what a file of labels holds."""
    labels, corpus = crowd.labels, crowd.corpus
    item, _, _ = labels.annotations()
    annotators_per_item = np.bincount(item, minlength=len(labels.items))
    kinds = Counter(kind for kind in labels.kind or () if kind)
    return LabelFacts(
        items=len(labels.items),
        unlabelled=int(np.count_nonzero(annotators_per_item == 0)),
        single=int(np.count_nonzero(annotators_per_item == 1)),
        tokens=labels.n_units if labels.is_sequential else None,
        annotators=len(labels.annotators),
        kinds=dict(sorted(kinds.items())),
        classes=tuple(str(name) for name in labels.classes),
        labels=labels.n_labels,
        annotations=len(item),
        spans=count_spans(labels),
        fewest=int(labels.labels_per_annotator().min(initial=labels.n_labels)),
        texts=corpus is not None and (corpus.texts is not None or corpus.tokens is not None),
        gold=0 if corpus is None or corpus.gold is None else int(np.count_nonzero(corpus.gold != UNKNOWN)),
    )


def count_spans(labels: CrowdLabels) -> int | None:
    """How many spans the annotators marked, each annotator's own counted; None where the classes are no span tags."""
    if not labels.is_sequential or not is_span_tag_set(labels.classes):
        return None
    order = np.lexsort((labels.unit, labels.annotator))
    unit, annotator = labels.unit[order], labels.annotator[order]
    item = labels.item_of_unit[unit]
    # A run of tags ends where the annotator, the sentence or (a token not seen) the sequence of tokens breaks off.
    breaks = (np.diff(annotator) != 0) | (np.diff(item) != 0) | (np.diff(unit) != 1)
    offsets = np.concatenate([[0], np.flatnonzero(breaks) + 1, [len(unit)]])
    return len(tags_to_spans(labels.label[order], offsets, parse_tags(labels.classes)))
