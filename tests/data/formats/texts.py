"""Crowds over texts that are hard to keep: emoji, combining characters, right-to-left text, CRLF."""

from __future__ import annotations

import numpy as np
import polars as pl
from hypothesis import strategies as st

from crowdlogic.data.corpus import Corpus, align, documents
from crowdlogic.data.formats.protocol import Crowd
from crowdlogic.data.frames import from_frame, from_sequences
from crowdlogic.data.intake.contract import Tokenizer
from crowdlogic.data.labels import CrowdLabels
from crowdlogic.data.text_tokens import tokenize_texts

PIECES = [
    "a",
    "Ann",
    "Lee",
    " ",
    "  ",
    "\r\n",
    "\n",
    "😀",
    "👩‍👩‍👧",
    "e\u0301",
    "שלום",
    "مرحبا",
    "x😀y",
    ".",
    "\u200f",
    "\t",
    "U.S.",
]
TEXTS = st.lists(st.sampled_from(PIECES), min_size=1, max_size=8).map("".join).filter(str.strip)
PEOPLE = ["ann", "bob", "Çelik"]
CLASSES = ["x", "y y", "ü"]
KINDS = ["PER", "LOC"]


@st.composite
def crowds_of_documents(draw: st.DrawFn) -> Crowd:
    """Documents with labels of up to three people."""
    texts = draw(st.lists(TEXTS, min_size=1, max_size=4))
    rows = [
        (f"item {i}", person, draw(st.sampled_from(CLASSES)))
        for i in range(len(texts))
        for person in draw(st.lists(st.sampled_from(PEOPLE), min_size=1, max_size=3, unique=True))
    ]
    columns = dict(zip(("item", "annotator", "label"), map(list, zip(*rows, strict=True)), strict=True))
    corpus = documents([f"item {i}" for i in range(len(texts))], texts)
    return Crowd(*align(from_frame(columns), corpus))


@st.composite
def crowds_of_sentences(draw: st.DrawFn) -> Crowd:
    """Texts, cut into words, in which up to three people marked spans of whole words."""
    texts = draw(st.lists(TEXTS, min_size=1, max_size=3))
    found = tokenize_texts(texts, Tokenizer.words)
    rows = []
    for i, count in enumerate(np.diff(found.offsets).tolist()):
        for person in draw(st.lists(st.sampled_from(PEOPLE), min_size=1, max_size=3, unique=True)):
            cuts = sorted(draw(st.sets(st.integers(0, count), max_size=4)))
            tags = ["O"] * count
            for start, end in zip(cuts[::2], cuts[1::2], strict=False):
                kind = draw(st.sampled_from(KINDS))
                tags[start:end] = [f"B-{kind}", *[f"I-{kind}"] * (end - start - 1)]
            rows.append((f"item {i}", person, tags))
    names = pl.Series([f"item {i}" for i in range(len(texts))])
    tokens = tuple(found.tokens.to_list())
    corpus = Corpus(names, texts=tuple(texts), tokens=tokens, offsets=found.offsets, bounds=found.bounds)
    return Crowd(*align(from_sequences(rows), corpus))


CROWDS_OF_DOCUMENTS = crowds_of_documents()
CROWDS_OF_SENTENCES = crowds_of_sentences().filter(lambda crowd: crowd.labels.n_classes > 1)


def same_labels(found: CrowdLabels, made: CrowdLabels) -> bool:
    """Whether two tables hold the same labels, whatever the order of their names."""
    columns = ["item", "annotator", "label"] + (["token"] if made.is_sequential else [])
    ours, theirs = (
        sorted(tuple(str(cell) for cell in row) for row in one.to_frame().select(columns).rows())
        for one in (found, made)
    )
    return ours == theirs
