"""What a fit depends on, in short: two fits with the same digests take the same steps."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from typing import Any

import numpy as np
import polars as pl

from crowdlogic.data.corpus import Corpus
from crowdlogic.data.labels import CrowdLabels


def digest_of(*parts: Any) -> str:
    """A short digest of arrays, names, texts and whatever JSON can hold."""
    digest = hashlib.blake2b(digest_size=16)
    for part in parts:
        for kind, content in _pieces(part):
            digest.update(f"{kind} {len(content)} ".encode())
            digest.update(content)
    return digest.hexdigest()


def _pieces(part: Any) -> Iterable[tuple[str, bytes | memoryview]]:
    """What a part is, and its bytes."""
    if isinstance(part, np.ndarray):
        yield f"{part.dtype.str}{part.shape}", np.ascontiguousarray(part).tobytes()
    elif isinstance(part, pl.Series):
        yield "names", json.dumps(part.to_list()).encode()
    else:
        yield "json", json.dumps(part, sort_keys=True).encode()


def labels_digest(labels: CrowdLabels) -> str:
    """Who said what of which items, in which order of classes."""
    return digest_of(
        labels.unit,
        labels.annotator,
        labels.label,
        labels.weight,
        labels.offsets,
        labels.items,
        labels.annotators,
        labels.classes,
    )


def corpus_digest(corpus: Corpus | None) -> str:
    """The items, what there is to look at, and their gold."""
    if corpus is None:
        return "none"
    return digest_of(
        corpus.items, corpus.texts, corpus.tokens, corpus.offsets, corpus.features, corpus.classes, corpus.gold
    )
