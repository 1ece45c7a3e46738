"""Texts split into tokens, where a tagger is asked about plain texts."""

from __future__ import annotations

import re

from crowdlogic.data.corpus import Corpus, sentences
from crowdlogic.errors import CorpusError

WORD_OR_MARK = re.compile(r"\w+(?:[-'’.]\w+)*|[^\w\s]")
"""A word, with hyphens, apostrophes and points inside it, or a punctuation mark."""


def tokenize(text: str) -> list[str]:
    """Words and punctuation marks, as they are written: "U.S. firms, 3.5 %" is U.S . firms , 3.5 %."""
    return WORD_OR_MARK.findall(text)


def tokenize_corpus(corpus: Corpus) -> Corpus:
    """Texts as sentences of tokens. A class of a whole text says nothing of its tokens, so gold stays behind."""
    if corpus.texts is None:
        raise CorpusError("These items have neither tokens nor texts. Give a tagger sentences, or texts.")
    return sentences(corpus.items.to_list(), [tokenize(text) for text in corpus.texts])
