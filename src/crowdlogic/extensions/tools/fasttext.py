"""Reader and writer for fastText files: one document per line, preceded by its label (`__label__positive the text`).

Labels that contain white space are rejected, because the format cannot represent them. Line breaks within a text become
spaces, since fastText ends a document at a line break. Item names are not stored; on reading, items are numbered.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

import numpy as np
import polars as pl

from crowdlogic.data.corpus import Corpus
from crowdlogic.data.estimate import Answers, Estimate, answers_from_gold
from crowdlogic.data.files import InputFile
from crowdlogic.data.formats.protocol import FileFormat
from crowdlogic.data.intake.building import code_labels
from crowdlogic.data.intake.contract import TableSource
from crowdlogic.data.names import ClassName
from crowdlogic.errors import FormatError, OptionError

MARK = "__label__"
BREAKS = re.compile(r"[\r\n\v\f\x1c-\x1e\x85\u2028\u2029]+")
"""Characters that some readers treat as the end of a line."""


class FastText(FileFormat):
    """Documents with one label each."""

    name, title, suffixes = "fasttext", "fastText", (".ft", ".fasttext")

    def recognises(self, head: bytes) -> bool:
        """Return whether the file begins with a label."""
        return head.startswith(MARK.encode())

    def read_corpus(self, file: InputFile, columns: Mapping[str, str] | None = None) -> Corpus:  # noqa: ARG002
        """Read the texts, numbered from 0, with their labels as gold."""
        labels, texts, source = _parse_lines(file)
        codes, classes = code_labels(labels, source)
        return Corpus(pl.Series("item", np.arange(len(texts))), texts=tuple(texts), classes=classes, gold=codes)

    def read_answers(self, file: InputFile, columns: Mapping[str, str] | None = None) -> Answers:
        """Read one label for each document, numbered from 0."""
        return answers_from_gold(self.read_corpus(file, columns), file.name)

    def encode_corpus(self, corpus: Corpus, target: str) -> bytes:
        """Encode the texts with their gold labels; texts without gold are skipped."""
        if corpus.gold is None:
            raise OptionError(f"{target}: fastText needs a label for each text, and the items have no gold.")
        names: list[ClassName | None] = [*corpus.classes, None]
        return _encode_lines([names[code] for code in corpus.gold], corpus, target)

    def encode_estimate(self, estimate: Estimate, corpus: Corpus | None, target: str) -> bytes:
        """Encode the texts with their answers; texts without an answer are skipped."""
        return _encode_lines(estimate.answer_names(), corpus, target)


FASTTEXT = FastText()


def _encode_lines(labels: list[ClassName | None], corpus: Corpus | None, target: str) -> bytes:
    if corpus is None or corpus.texts is None or corpus.is_sequential:
        raise OptionError(f"{target}: fastText needs the texts of documents, which are unknown. Write .csv instead.")
    spaced = next((name for name in labels if name is not None and str(name).split() != [str(name)]), None)
    if spaced is not None:
        raise OptionError(f"{target}: the class {spaced!r} contains white space, which fastText forbids. Rename it.")
    lines = [
        f"{MARK}{label} {BREAKS.sub(' ', text)}\n"
        for label, text in zip(labels, corpus.texts, strict=True)
        if label is not None
    ]
    return "".join(lines).encode()


def _parse_lines(file: InputFile) -> tuple[pl.Series, list[str], TableSource]:
    """Return the labels and texts of all lines that are not blank."""
    try:
        lines = file.content.decode("utf-8-sig").split("\n")
    except UnicodeDecodeError as wrong:
        where = f"{file.name}, line {file.content[: wrong.start].count(10) + 1}"
        raise FormatError(f"{where}: not UTF-8 text. Save the file as UTF-8.") from None
    labels, texts, numbers = [], [], []
    for number, line in enumerate(lines, start=1):
        if line.strip():
            label, _, text = line.rstrip("\r").partition(" ")
            where = f"{file.name}, line {number}"
            if not label.startswith(MARK) or label == MARK:
                raise FormatError(f"{where}: no label at the start. Begin each line with {MARK} and the label.")
            if text.startswith(MARK):
                what = "a text with several labels. Keep one label, or make a separate file for each label"
                raise FormatError(f"{where}: {what}.")
            labels.append(label.removeprefix(MARK))
            texts.append(text)
            numbers.append(number)
    if not labels:
        raise FormatError(f"{file.name}: the file is empty. fastText has a label and a text on each line.")
    return pl.Series("label", labels), texts, TableSource(file.name, word="line", numbers=np.array(numbers))
