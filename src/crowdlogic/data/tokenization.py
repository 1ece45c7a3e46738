"""Texts as sentences of tokens, where a tagger is asked about plain texts."""

from __future__ import annotations

from crowdlogic.data.corpus import Corpus
from crowdlogic.data.text_tokens import Tokenizer, tokenize_texts
from crowdlogic.errors import CorpusError


def tokenize_corpus(corpus: Corpus, tokenizer: Tokenizer | str = Tokenizer.words) -> Corpus:
    """Texts as sentences of tokens. A class of a whole text says nothing of its tokens, so gold stays behind."""
    if corpus.texts is None:
        raise CorpusError("These items have neither tokens nor texts. Give a tagger sentences, or texts.")
    found = tokenize_texts(corpus.texts, tokenizer)
    return Corpus(corpus.items, tokens=tuple(found.tokens.to_list()), offsets=found.offsets)
