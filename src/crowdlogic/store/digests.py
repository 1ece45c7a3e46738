"""Fingerprints of what a fit depends on: two fits with the same digests take the same steps."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from crowdlogic.data.corpus import Corpus
from crowdlogic.data.estimate import Estimate
from crowdlogic.data.labels import CrowdLabels
from crowdlogic.numerics.arrays import Bools

SIZE = 16
"""Bytes of a digest."""

NOTHING = "none"
"""The digest of something that was not given."""


def digest(*parts: Any) -> str:
    """A short digest of arrays, names, texts and whatever JSON can hold."""
    made = hashlib.blake2b(digest_size=SIZE)
    for part in parts:
        kind, content = _part_bytes(part)
        made.update(f"{kind} {len(content)} ".encode())
        made.update(content)
    return made.hexdigest()


def _part_bytes(part: Any) -> tuple[str, bytes | memoryview]:
    """What a part is, and its bytes."""
    if isinstance(part, np.ndarray):
        return f"{part.dtype.str}{part.shape}", np.ascontiguousarray(part).reshape(-1).view(np.uint8).data
    if isinstance(part, pl.Series):
        return "names", json.dumps(part.to_list()).encode()
    return "json", json.dumps(part, sort_keys=True).encode()


def file_digest(path: Path) -> str:
    """A digest of the bytes of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, lambda: hashlib.blake2b(digest_size=SIZE)).hexdigest()


def labels_digest(labels: CrowdLabels) -> str:
    """The digest of labels: items, annotators, labels and the order of the classes."""
    codes = (labels.unit, labels.annotator, labels.label, labels.weight, labels.offsets, *_partial(labels))
    return digest(*codes, labels.items, labels.annotators, labels.classes)


def _partial(labels: CrowdLabels) -> tuple[Bools, ...]:
    """Which labels are partial, where there are any."""
    return () if labels.negated is None else (labels.negated,)


def corpus_digest(corpus: Corpus | None) -> str:
    """The digest of a corpus: items, texts or features, and gold."""
    if corpus is None:
        return NOTHING
    seen = (corpus.texts, corpus.tokens, corpus.offsets, corpus.features)
    return digest(corpus.items, *seen, corpus.classes, corpus.gold)


def fit_digest(
    method: Any,
    labels: CrowdLabels,
    *,
    start: Estimate | None = None,
    anchors: Mapping[Any, Any] | None = None,
    corpus: Corpus | None = None,
) -> str:
    """What a fit of a truth method depends on: its options, the labels, where it starts, known truths and words."""
    return digest(
        repr(method),
        [str(name) for name in labels.classes],
        sorted((str(item), str(truth)) for item, truth in (anchors or {}).items()),
        None if corpus is None else corpus.tokens,
        *(labels.unit, labels.annotator, labels.label, labels.weight, labels.offsets, *_partial(labels)),
        None if start is None else start.beliefs,
    )
