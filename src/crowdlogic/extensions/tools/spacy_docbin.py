"""Reader and writer for spaCy's DocBin (.spacy): answers as training data for spaCy, encoded by spaCy itself.

Documents store their answer as a category (1.0, the others 0.0); sentences as entities, or as fine-grained tags if the
classes are not span tags. The item's name is in `doc.user_data["item"]`, and the confidence of a document is in
`doc.user_data["confidence"]`. Needs the package spacy: pip install crowdlogic[spacy].
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from crowdlogic.data.corpus import Corpus, documents, sentences
from crowdlogic.data.estimate import NO_ANSWER, Answers, Estimate, answers_from_gold
from crowdlogic.data.files import InputFile
from crowdlogic.data.formats.protocol import FileFormat
from crowdlogic.data.formats.tables import answer_tags
from crowdlogic.data.labels import NOT_SEEN
from crowdlogic.data.tagging import is_span_tag_set, parse_tags, tags_to_spans
from crowdlogic.errors import FormatError, MissingExtraError, OptionError
from crowdlogic.numerics.arrays import Ints

if TYPE_CHECKING:
    from spacy.tokens import Doc

ATTRIBUTES = ("ENT_IOB", "ENT_TYPE", "TAG")
WORDS_AND_SPACES = re.compile(r"\S+|\s+")
MIN_CATEGORY_SCORE = 0.5
"""Minimum score at which a category is assigned."""


class DocBinFile(FileFormat):
    """spaCy documents in a DocBin."""

    name, title, suffixes = "spacy", "spaCy's DocBin", (".spacy",)

    def read_corpus(self, file: InputFile, columns: Mapping[str, str] | None = None) -> Corpus:  # noqa: ARG002
        """Read texts with categories, or sentences with entities or tags, as gold."""
        docs = _read_docs(file)
        names = [doc.user_data.get("item", number) for number, doc in enumerate(docs)]
        if any(doc.cats for doc in docs):
            return documents(names, [doc.text for doc in docs], gold=[_category(doc) for doc in docs])
        return sentences(names, [[token.text for token in doc] for doc in docs], gold=[_tags(doc) for doc in docs])

    def read_answers(self, file: InputFile, columns: Mapping[str, str] | None = None) -> Answers:
        """Read one category for each document, or one tag for each token."""
        return answers_from_gold(self.read_corpus(file, columns), file.name)

    def encode_estimate(self, estimate: Estimate, corpus: Corpus | None, target: str) -> bytes:
        """Encode documents with their answers; documents without an answer are skipped."""
        spacy = _import_spacy()
        if corpus is None or (corpus.texts if estimate.offsets is None else corpus.tokens) is None:
            raise OptionError(f"{target}: spaCy needs the texts, which are unknown. Write .csv or .jsonl instead.")
        make = _documents if estimate.offsets is None else _sentences
        docs = make(estimate, corpus, spacy.blank("xx").vocab)
        content: bytes = spacy.tokens.DocBin(attrs=ATTRIBUTES, store_user_data=True, docs=docs).to_bytes()
        return content


SPACY = DocBinFile()


def _import_spacy() -> Any:
    try:
        import spacy
        import spacy.tokens
    except ModuleNotFoundError as problem:
        raise MissingExtraError(
            "DocBin needs the package spacy, which is not installed: pip install crowdlogic[spacy]"
        ) from problem
    return spacy


def _read_docs(file: InputFile) -> list[Doc]:
    spacy = _import_spacy()
    try:
        docs = list(spacy.tokens.DocBin().from_bytes(file.content).get_docs(spacy.blank("xx").vocab))
    except Exception as problem:
        raise FormatError(f"{file.name}: spaCy cannot read it as a DocBin ({problem}). Write it again.") from problem
    if not docs:
        raise FormatError(f"{file.name}: contains no documents.")
    return docs


def _documents(estimate: Estimate, corpus: Corpus, vocab: Any) -> Iterator[Doc]:
    answers, items = estimate.answer_names(), estimate.items.to_list()
    for i, text in enumerate(corpus.texts or ()):
        if answers[i] is not None:
            words, spaces = split_words(text)
            doc = _import_spacy().tokens.Doc(vocab, words=words, spaces=spaces)
            doc.cats = {str(name): float(name == answers[i]) for name in estimate.classes}
            doc.user_data.update(item=items[i], confidence=float(estimate.confidence[i]))
            yield doc


def _sentences(estimate: Estimate, corpus: Corpus, vocab: Any) -> Iterator[Doc]:
    items, offsets = estimate.items.to_list(), np.asarray([0] if estimate.offsets is None else estimate.offsets)
    spans = is_span_tag_set(estimate.classes)
    tags = _begin_inside_outside(estimate, offsets) if spans else answer_tags(estimate)
    for s, (start, end) in enumerate(pairwise(offsets.tolist())):
        words = list((corpus.tokens or ())[start:end])
        spaces = _spaces_after(corpus, s, start, end)
        given = ["" if tag == NOT_SEEN else tag for tag in tags[start:end]]
        doc = _import_spacy().tokens.Doc(vocab, words=words, spaces=spaces, **{"ents" if spans else "tags": given})
        doc.user_data.update(item=items[s])
        yield doc


def _spaces_after(corpus: Corpus, sentence: int, start: int, end: int) -> list[bool]:
    """Return whether white space follows each token; without the text, assume a space between all tokens."""
    if corpus.texts is None or corpus.bounds is None:
        return [True] * (end - start - 1) + [False] * (end > start)
    text, bounds = corpus.texts[sentence], corpus.bounds
    return [text[int(bounds[i, 1]) : int(bounds[i, 1]) + 1].isspace() for i in range(start, end)]


def _begin_inside_outside(estimate: Estimate, offsets: Ints) -> list[str]:
    """Convert the tags from any scheme to B-, I- and O for spaCy; NOT_SEEN where there is no answer."""
    tag_set = parse_tags(estimate.classes)
    tags = [NOT_SEEN if code == NO_ANSWER else "O" for code in estimate.answer.tolist()]
    spans = tags_to_spans(estimate.answer, offsets, tag_set)
    for start, end, kind in zip(spans.start.tolist(), spans.end.tolist(), spans.kind.tolist(), strict=True):
        tags[start:end] = [f"{'B' if at == start else 'I'}-{tag_set.types[kind]}" for at in range(start, end)]
    return tags


def split_words(text: str) -> tuple[list[str], list[bool]]:
    """Split a text into words and flags for a following space, so that spaCy can rebuild the text.

    One space after a word is its flag; any other white space is a separate word.
    """
    words: list[str] = []
    spaces: list[bool] = []
    for piece in WORDS_AND_SPACES.findall(text):
        rest = piece
        if piece.isspace() and words and piece[0] == " ":
            spaces[-1], rest = True, piece[1:]
        if rest:
            words.append(rest)
            spaces.append(False)
    return words, spaces


def _category(doc: Doc) -> str | None:
    """Return the category with the highest score; None if no score reaches the minimum."""
    best = max(doc.cats, key=lambda name: doc.cats[name], default=None)
    return None if best is None or doc.cats[best] < MIN_CATEGORY_SCORE else str(best)


def _tags(doc: Doc) -> list[str | None]:
    """Return the fine-grained tag of each token if there are any, otherwise its entity; None if unknown."""
    if any(token.tag_ for token in doc):
        return [token.tag_ or None for token in doc]
    marks = {"O": "O", "": None}
    return [marks.get(token.ent_iob_, f"{token.ent_iob_}-{token.ent_type_}") for token in doc]
