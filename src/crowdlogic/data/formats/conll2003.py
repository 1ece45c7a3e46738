"""CoNLL-2003: tagged sentences in the four columns of the shared task, token, part of speech, chunk and tag.

Only the first and the last column are used. Where parts of speech and chunks are not known, they are written as doccano
and the task's own document marks have them: -X- and _. The format holds one reading, so labels of several annotators
are written in the package's own CoNLL, which has a column for each.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import numpy as np
import polars as pl

from crowdlogic.data.answers import Answers, answers_from_gold
from crowdlogic.data.corpus import Corpus
from crowdlogic.data.estimate import Estimate
from crowdlogic.data.files import InputFile
from crowdlogic.data.formats.conll import corpus_from_columns
from crowdlogic.data.formats.conll_columns import encode_columns, parse_columns
from crowdlogic.data.formats.protocol import FileFormat
from crowdlogic.data.formats.table_layouts import answer_tags, gold_tags
from crowdlogic.errors import FormatError, OptionError
from crowdlogic.numerics.arrays import Ints

DOCUMENT = b"-DOCSTART-"
FIRST_LINES = b"-DOCSTART- -X- -X- O\n\n"
PART_OF_SPEECH, CHUNK = "-X-", "_"
SEPARATORS = re.compile(rb"[ \t]+")


class Conll2003(FileFormat):
    """Tagged sentences in four columns."""

    name, title, suffixes = "conll2003", "CoNLL-2003", (".conll", ".iob2")

    def recognises(self, head: bytes) -> bool:
        """The file begins with the mark of a document."""
        return head.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(DOCUMENT)

    def read_corpus(self, file: InputFile, columns: Mapping[str, str] | None = None) -> Corpus:  # noqa: ARG002
        """Tokens from the first column, gold from the last."""
        return corpus_from_columns(parse_columns(_first_and_last(file), file.name))

    def read_answers(self, file: InputFile, columns: Mapping[str, str] | None = None) -> Answers:  # noqa: ARG002
        """The last column as answers."""
        return answers_from_gold(self.read_corpus(file), file.name)

    def encode_corpus(self, corpus: Corpus, target: str) -> bytes:
        """Tokens with their gold tags."""
        return _encode(corpus, corpus.offsets, gold_tags(corpus), target)

    def encode_estimate(self, estimate: Estimate, corpus: Corpus | None, target: str) -> bytes:
        """Tokens with the tags that were chosen."""
        return _encode(corpus, estimate.offsets, answer_tags(estimate), target)


CONLL2003 = Conll2003()


def _first_and_last(file: InputFile) -> bytes:
    """The first and the last column of each line; marks of documents are left out."""
    lines = []
    for number, line in enumerate(file.content.removeprefix(b"\xef\xbb\xbf").split(b"\n"), start=1):
        fields = SEPARATORS.split(line.strip(b" \t\r"))
        if fields == [b""] or fields[0] == DOCUMENT:
            lines.append(b"")
        elif len(fields) == 1:
            raise FormatError(f"{file.name}, line {number}: a token without a tag. Give each token its columns.")
        else:
            lines.append(fields[0] + b" " + fields[-1])
    return b"\n".join(lines)


def _encode(corpus: Corpus | None, offsets: Ints | None, tags: Sequence[str], target: str) -> bytes:
    if corpus is None or corpus.tokens is None or offsets is None:
        raise OptionError(f"{target}: CoNLL-2003 needs sentences with their tokens. Write .csv or .jsonl instead.")
    numbers = pl.Series(np.arange(len(corpus.items)))  # names are not kept: the format has no place for them
    columns = [[PART_OF_SPEECH] * len(tags), [CHUNK] * len(tags), tags]
    return FIRST_LINES + encode_columns(numbers, corpus.tokens, offsets, columns=columns)
