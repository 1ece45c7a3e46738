"""fastText: a document a line, each with its label in front: `__label__positive the text`.

What the format cannot hold is said rather than lost: labels must have no white space, and a line break within a text
becomes a space, since fastText ends a document at it. The names of items are not kept; read again, they are numbers.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

import numpy as np
import polars as pl

from crowdlogic.data.answers import Answers, answers_from_gold
from crowdlogic.data.corpus import Corpus
from crowdlogic.data.estimate import Estimate
from crowdlogic.data.files import InputFile
from crowdlogic.data.formats.protocol import FileFormat
from crowdlogic.data.intake.cells import code_labels
from crowdlogic.data.intake.contract import TableSource
from crowdlogic.data.names import ClassName
from crowdlogic.errors import FormatError, OptionError

MARK = "__label__"
BREAKS = re.compile(r"[\r\n\v\f\x1c-\x1e\x85\u2028\u2029]+")
"""What ends a line for some reader."""


class FastText(FileFormat):
    """Documents with one label each."""

    name, title, suffixes = "fasttext", "fastText", (".ft", ".fasttext")

    def recognises(self, head: bytes) -> bool:
        """Every line begins with a label."""
        return head.startswith(MARK.encode())

    def read_corpus(self, file: InputFile, columns: Mapping[str, str] | None = None) -> Corpus:  # noqa: ARG002
        """Texts, numbered from 0, with their labels as gold."""
        labels, texts, source = _parse_lines(file)
        codes, classes = code_labels(labels, source)
        return Corpus(pl.Series("item", np.arange(len(texts))), texts=tuple(texts), classes=classes, gold=codes)

    def read_answers(self, file: InputFile, columns: Mapping[str, str] | None = None) -> Answers:
        """One label for each document, numbered from 0."""
        return answers_from_gold(self.read_corpus(file, columns), file.name)

    def encode_corpus(self, corpus: Corpus, target: str) -> bytes:
        """Texts with their gold; texts without gold are left out."""
        if corpus.gold is None:
            raise OptionError(f"{target}: fastText needs a label for each text, and the items have no gold.")
        names: list[ClassName | None] = [*corpus.classes, None]
        return _encode_lines([names[code] for code in corpus.gold], corpus, target)

    def encode_estimate(self, estimate: Estimate, corpus: Corpus | None, target: str) -> bytes:
        """Texts with their answers; texts without an answer are left out."""
        return _encode_lines(estimate.answer_names(), corpus, target)


FASTTEXT = FastText()


def _encode_lines(labels: list[ClassName | None], corpus: Corpus | None, target: str) -> bytes:
    if corpus is None or corpus.texts is None or corpus.is_sequential:
        raise OptionError(
            f"{target}: fastText needs the texts of documents, and they are not known. Write .csv instead."
        )
    spaced = next((name for name in labels if name is not None and str(name).split() != [str(name)]), None)
    if spaced is not None:
        raise OptionError(f"{target}: the class {spaced!r} has white space, which fastText cannot hold. Rename it.")
    lines = [
        f"{MARK}{label} {BREAKS.sub(' ', text)}\n"
        for label, text in zip(labels, corpus.texts, strict=True)
        if label is not None
    ]
    return "".join(lines).encode()


def _parse_lines(file: InputFile) -> tuple[pl.Series, list[str], TableSource]:
    """The label and the text of each line that is not blank."""
    try:
        lines = file.content.decode("utf-8-sig").split("\n")
    except UnicodeDecodeError as wrong:
        where = f"{file.name}, line {file.content[: wrong.start].count(10) + 1}"
        raise FormatError(f"{where}: not UTF-8 text. Save the file as UTF-8.") from None
    labels, texts, numbers = [], [], []
    for number, line in enumerate(lines, start=1):
        if line.strip():
            label, _, text = line.rstrip("\r").partition(" ")
            _check_line(label, text, f"{file.name}, line {number}")
            labels.append(label.removeprefix(MARK))
            texts.append(text)
            numbers.append(number)
    if not labels:
        raise FormatError(f"{file.name}: the file is empty. fastText has a label and a text on each line.")
    return pl.Series("label", labels), texts, TableSource(file.name, word="line", numbers=np.array(numbers))


def _check_line(label: str, text: str, where: str) -> None:
    if not label.startswith(MARK) or label == MARK:
        raise FormatError(f"{where}: no label in front. Begin each line with {MARK} and the label.")
    if text.startswith(MARK):
        raise FormatError(f"{where}: several labels for one text. Give one; make one file per label for the others.")
