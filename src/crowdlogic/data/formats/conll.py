"""CoNLL: tagged sentences, one token per line, with one column of tags, or with one column per annotator."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import polars as pl

from crowdlogic.data.corpus import Corpus
from crowdlogic.data.estimate import Answers, Estimate, answers_from_gold
from crowdlogic.data.files import InputFile
from crowdlogic.data.folders import require_parsable
from crowdlogic.data.formats.protocol import Crowd, FileFormat, ReadOptions
from crowdlogic.data.formats.tables import answer_tags, gold_tags, require_single_tags
from crowdlogic.data.intake.building import code_labels, odd_classes
from crowdlogic.data.intake.contract import Intake, TableSource
from crowdlogic.data.labels import NOT_SEEN, CrowdLabels, require_whole_labels
from crowdlogic.data.names import Names
from crowdlogic.data.wording import pluralise
from crowdlogic.errors import FormatError, OptionError
from crowdlogic.numerics.arrays import Bools, Ints

# Parsing and writing of CoNLL files: one token per line with its tags.
#
# Blank lines separate sentences; spaces or tabs separate columns. `token tag` contains gold or answers,
# `token tag_1 ... tag_J` one column per annotator, with `?` if an annotator did not see the token.
#
# Two comments before a sentence store names: `# id = s12` names the sentence, `# annotators = ann bob` (once,
# at the top) the columns. Without them, sentences are numbered from 0, and annotators are called annotator_1,
# annotator_2...

ID_MARK, ANNOTATORS_MARK = "# id = ", "# annotators = "


@dataclass(frozen=True, eq=False)
class ConllColumns:
    """Parsed content of a CoNLL file.

    Attributes:
        name: Name of the file in messages.
        items: Name of each sentence.
        annotators: Name of each column of tags.
        tokens: tokens[i].
        tags: tags[i * J + j], the tag in column j of unit i, NOT_SEEN if there is none.
        offsets: First unit of each sentence, and the end.
        lines: lines[i], the line of unit i in the file.
    """

    name: str
    items: Names
    annotators: Names
    tokens: Names
    tags: Names
    offsets: Ints
    lines: Ints


def parse_columns(content: bytes, name: str, *, untagged: bool = False) -> ConllColumns:
    """Parse a CoNLL file with any number of columns of tags.

    Args:
        content: Content of the file.
        name: Name of the file in messages.
        untagged: Whether tokens may have no tags.
    """
    raw = content.removeprefix(b"\xef\xbb\xbf")
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError as wrong:
        line = raw[: wrong.start].count(b"\n") + 1
        raise FormatError(f"{name}, line {line}: not UTF-8 text. Save the file as UTF-8.") from None
    lines = pl.Series(text.replace("\r\n", "\n").split("\n"), dtype=pl.String)
    lines = lines.str.replace_all(r"[ \t]+", " ").str.strip_chars(" ")
    blank = (lines == "").to_numpy()
    # comment[line]: an `# id = ` or `# annotators = ` line at the head of a sentence, or after another comment
    comment = (lines.str.starts_with(ID_MARK) | lines.str.starts_with(ANNOTATORS_MARK)).to_numpy().copy()
    for row in np.flatnonzero(comment):
        comment[row] = row == 0 or blank[row - 1] or comment[row - 1]
    rows = np.flatnonzero(~blank & ~comment)
    if not len(rows):
        raise FormatError(f"{name}: the file is empty. Each line of CoNLL has a token and its tags.")
    fields = lines.gather(rows).str.split(" ")
    width = _width(fields, rows, name, least=1 if untagged else 2)
    flat = fields.explode()
    is_tag = np.arange(len(flat)) % width != 0
    # A sentence begins at a token that is separated from the one before it by a blank line
    offsets = np.append(np.flatnonzero(np.diff(np.cumsum(blank)[rows], prepend=-1)), len(rows))
    return ConllColumns(
        name=name,
        items=_item_names(lines, comment, rows[offsets[:-1]], name),
        annotators=_annotator_names(lines, comment, width - 1, name),
        tokens=flat.filter(pl.Series(~is_tag)).alias("token"),
        tags=flat.filter(pl.Series(is_tag)).alias("tag"),
        offsets=offsets,
        lines=rows + 1,
    )


def _width(fields: pl.Series, content: Ints, name: str, *, least: int) -> int:
    widths = fields.list.len().to_numpy().astype(np.int64)
    if widths[0] < least:
        raise FormatError(f"{name}, line {content[0] + 1}: a token without a tag. Give each token at least one tag.")
    wrong = np.flatnonzero(widths != widths[0])
    if len(wrong):
        also = f" ({len(wrong) - 1:,} more such lines)" if len(wrong) > 1 else ""
        raise FormatError(
            f"{name}, line {content[wrong[0]] + 1}: {pluralise(int(widths[wrong[0]]), 'column')}, but the first "
            f"line has {widths[0]}. "
            f"Give every token the same number of tags, {NOT_SEEN} for not seen.{also}"
        )
    require_parsable(name, columns=int(widths[0]))
    return int(widths[0])


def _item_names(lines: Names, comment: Bools, first_lines: Ints, name: str) -> Names:
    """Return the names of the sentences: those in comments, otherwise numbers from 0."""
    named: dict[int, str] = {}
    for line in np.flatnonzero(comment):
        text = lines[int(line)]
        if text.startswith(ID_MARK):
            named[int(np.searchsorted(first_lines, line))] = text.removeprefix(ID_MARK)
    if not named:
        return pl.Series("item", np.arange(len(first_lines)))
    names = pl.Series("item", [named.get(s, str(s)) for s in range(len(first_lines))])
    again = (~names.is_first_distinct()).arg_true()
    if len(again):
        at, called = int(first_lines[again[0]]) + 1, names[again[0]]
        raise FormatError(f"{name}, line {at}: a second sentence is called {called!r}. Give each sentence its own id.")
    return names


def _annotator_names(lines: Names, comment: Bools, count: int, name: str) -> Names:
    for line in np.flatnonzero(comment):
        text = lines[int(line)]
        if text.startswith(ANNOTATORS_MARK):
            given = text.removeprefix(ANNOTATORS_MARK).split(" ")
            if len(given) != count:
                raise FormatError(
                    f"{name}, line {line + 1}: {pluralise(len(given), 'name')} of annotators for "
                    f"{pluralise(count, 'column')} of tags. Give one name per column."
                )
            if len(set(given)) != count:
                raise FormatError(f"{name}, line {line + 1}: an annotator is named twice. Name each column once.")
            return pl.Series("annotator", given)
    return pl.Series("annotator", [f"annotator_{j + 1}" for j in range(count)])


def encode_columns(
    items: Names,
    tokens: Sequence[str],
    offsets: Ints,
    columns: Sequence[Sequence[str]],
    annotators: Sequence[str] | None = None,
) -> bytes:
    """Return the text of a CoNLL file, with comments for names of sentences (unless numbers) and annotators.

    Raise an error for text that could not be read back: white space in a token, tag or name, and empty sentences.
    """
    numbered = items.dtype.is_integer() and bool((items.to_numpy() == np.arange(len(items))).all())
    names = [] if numbered else [str(name) for name in items]
    for what, values in (("token", tokens), ("annotator", annotators or ()), *(("tag", tags) for tags in columns)):
        for value in dict.fromkeys(values):
            if not value or set(value) & set(" \t\n\r"):
                raise FormatError(
                    f"The {what} {value!r} contains white space, which CoNLL does not support. Write .jsonl instead."
                )
    for name in names:
        if not name or name.strip(" ") != name or "  " in name or set(name) & set("\t\n\r"):
            raise FormatError(f"The sentence name {name!r} cannot be stored in CoNLL. Write .jsonl instead.")
    if (np.diff(offsets) == 0).any():
        empty = items[int(np.flatnonzero(np.diff(offsets) == 0)[0])]
        raise FormatError(f"Sentence {empty!r} is empty, which CoNLL does not support. Write .jsonl instead.")
    rows = [" ".join(row) for row in zip(tokens, *columns, strict=True)]
    head = [] if annotators is None else [ANNOTATORS_MARK + " ".join(annotators)]
    parts = []
    for s, (start, end) in enumerate(pairwise(offsets.tolist())):
        comment = [f"{ID_MARK}{names[s]}"] if names else []
        parts.append("\n".join([*head, *comment, *rows[start:end]]))
        head = []
    return ("\n\n".join(parts) + "\n").encode()


class Conll(FileFormat):
    """Tagged sentences in columns."""

    name, title, suffixes = "conll", "CoNLL", (".conll", ".bio", ".iob")

    def read_table(self, file: InputFile) -> tuple[pl.DataFrame, TableSource]:
        """Raise an error, since sentences are not rows of a table."""
        raise FormatError(f"{file.name}: CoNLL contains tagged sentences, but a table is needed here.")

    def read_crowd(self, file: InputFile, options: ReadOptions) -> Crowd:
        """Read labels and tokens, with one column of tags per annotator."""
        if options.wide:
            raise OptionError("wide: CoNLL always has a column per annotator. Leave --wide out.")
        _refuse_columns(file, options.columns)
        return _crowd_from_columns(parse_columns(file.content, file.name), options.classes)

    def read_corpus(self, file: InputFile, columns: Mapping[str, str] | None = None) -> Corpus:
        """Read tokens, and gold from the only column of tags, if any."""
        _refuse_columns(file, columns)
        return corpus_from_columns(parse_columns(file.content, file.name, untagged=True))

    def read_answers(self, file: InputFile, columns: Mapping[str, str] | None = None) -> Answers:
        """Read the only column of tags as answers."""
        return answers_from_gold(self.read_corpus(file, columns), file.name)

    def encode_labels(self, labels: CrowdLabels, corpus: Corpus | None, target: str) -> bytes:
        """Encode one column of tags per annotator, NOT_SEEN for missing tags."""
        if corpus is None or corpus.tokens is None or labels.offsets is None:
            raise _needs_sentences(target)
        require_single_tags(labels)
        require_whole_labels(labels, self.title)
        annotators = [str(name) for name in labels.annotators]
        default = annotators == [f"annotator_{j + 1}" for j in range(len(annotators))]
        return encode_columns(
            labels.items,
            corpus.tokens,
            labels.offsets,
            columns=_tags_by_annotator(labels),
            annotators=None if default else annotators,
        )

    def encode_corpus(self, corpus: Corpus, target: str) -> bytes:
        """Encode tokens with their gold tags."""
        if corpus.tokens is None or corpus.offsets is None:
            raise _needs_sentences(target)
        return encode_columns(corpus.items, corpus.tokens, corpus.offsets, columns=[gold_tags(corpus)])

    def encode_estimate(self, estimate: Estimate, corpus: Corpus | None, target: str) -> bytes:
        """Encode tokens with their answers."""
        if estimate.offsets is None:
            raise self._cannot_write(target, "a table", "encode_table")
        if corpus is None or corpus.tokens is None:
            raise OptionError(f"{target}: CoNLL needs the tokens, which are unknown. Write .jsonl instead.")
        return encode_columns(estimate.items, corpus.tokens, estimate.offsets, columns=[answer_tags(estimate)])


CONLL = Conll()


def _needs_sentences(target: str) -> OptionError:
    return OptionError(f"{target}: CoNLL needs sentences with their tokens. Write .csv or .jsonl instead.")


def _refuse_columns(file: InputFile, columns: Mapping[str, str] | None) -> None:
    """Raise an error for named columns, since the columns of CoNLL have no names."""
    if columns:
        role, name = next(iter(columns.items()))
        raise OptionError(
            f"{file.name}: --column {role}={name}: the columns of CoNLL have no names: the first is the token, each "
            f"other one the tags of an annotator. Leave --column out."
        )


def _crowd_from_columns(columns: ConllColumns, classes: Sequence[Any] | None) -> Crowd:
    """Return labels and tokens of a file with one column of tags per annotator."""
    n_annotators = len(columns.annotators)
    seen = (columns.tags != NOT_SEEN).to_numpy()
    cell = np.flatnonzero(seen)  # cell = unit * n_annotators + annotator
    source = TableSource(columns.name, word="line", numbers=columns.lines[cell // n_annotators])
    label, names = code_labels(columns.tags.filter(pl.Series(seen)), source, classes)
    labels = CrowdLabels(
        unit=cell // n_annotators,
        annotator=cell % n_annotators,
        label=label,
        items=columns.items,
        annotators=columns.annotators,
        classes=names,
        offsets=columns.offsets,
        intake=Intake(rows=len(columns.items), notices=(*odd_classes(names), *_suspicious_columns(columns))),
    )
    return Crowd(labels, Corpus(columns.items, tokens=tuple(columns.tokens.to_list()), offsets=columns.offsets))


def _suspicious_columns(columns: ConllColumns) -> tuple[str, ...]:
    """Return a notice if a column shares no tag with any other, since it may not contain an annotator's tags."""
    width = len(columns.annotators)
    used = [set(columns.tags.gather_every(width, j).unique()) - {NOT_SEEN} for j in range(width)]
    odd = [
        name
        for j, name in enumerate(columns.annotators)
        if width > 1 and used[j] and not any(used[j] & other for o, other in enumerate(used) if o != j)
    ]
    if not odd:
        return ()
    return (
        f"The column of {odd[0]} shares no tag with the others. Does every column contain the tags of an annotator?",
    )


def corpus_from_columns(columns: ConllColumns) -> Corpus:
    """Return tokens and gold of a file with one column of tags; only tokens without one."""
    tokens = tuple(columns.tokens.to_list())
    if not len(columns.annotators):
        return Corpus(columns.items, tokens=tokens, offsets=columns.offsets)
    if len(columns.annotators) != 1:
        raise FormatError(
            f"{columns.name}: expected one column of tags, got {len(columns.annotators)}. Keep one column. A file with "
            f"one column per annotator contains labels, not gold."
        )
    source = TableSource(columns.name, word="line", numbers=columns.lines)
    gold, classes = code_labels(columns.tags.set(columns.tags == NOT_SEEN, None), source, None)
    return Corpus(columns.items, tokens=tokens, offsets=columns.offsets, classes=classes, gold=gold)


def _tags_by_annotator(labels: CrowdLabels) -> list[list[str]]:
    """Return tags[j][i], the tag of annotator j for unit i."""
    names = np.array([*map(str, labels.classes), NOT_SEEN], dtype=object)
    columns = []
    for j in range(len(labels.annotators)):
        tags = np.full(labels.n_units, -1)  # code -1 selects the last name, which is not seen
        mine = labels.annotator == j
        tags[labels.unit[mine]] = labels.label[mine]
        columns.append(names[tags].tolist())
    return columns


# CoNLL-2003: tagged sentences in the four columns of the shared task, token, part of speech, chunk and tag.
#
# Only the first and the last column are used. Unknown parts of speech and chunks are written as -X- and _, as by
# doccano and in the document marks of the task. The format has one column of tags, so labels of several annotators are
# written as `conll`, which has a column for each.

DOCUMENT = b"-DOCSTART-"
FIRST_LINES = b"-DOCSTART- -X- -X- O\n\n"
PART_OF_SPEECH, CHUNK = "-X-", "_"
SEPARATORS = re.compile(rb"[ \t]+")


class Conll2003(FileFormat):
    """Tagged sentences in the four columns of CoNLL-2003."""

    name, title, suffixes = "conll2003", "CoNLL-2003", (".conll", ".iob2")

    def recognises(self, head: bytes) -> bool:
        """Return whether the file begins with a document mark."""
        return head.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(DOCUMENT)

    def read_corpus(self, file: InputFile, columns: Mapping[str, str] | None = None) -> Corpus:  # noqa: ARG002
        """Read tokens from the first column, gold from the last."""
        return corpus_from_columns(parse_columns(_first_and_last(file), file.name))

    def read_answers(self, file: InputFile, columns: Mapping[str, str] | None = None) -> Answers:  # noqa: ARG002
        """Read the last column as answers."""
        return answers_from_gold(self.read_corpus(file), file.name)

    def encode_corpus(self, corpus: Corpus, target: str) -> bytes:
        """Encode tokens with their gold tags."""
        return _encode(corpus, corpus.offsets, gold_tags(corpus), target)

    def encode_estimate(self, estimate: Estimate, corpus: Corpus | None, target: str) -> bytes:
        """Encode tokens with their answers."""
        return _encode(corpus, estimate.offsets, answer_tags(estimate), target)


CONLL2003 = Conll2003()


def _first_and_last(file: InputFile) -> bytes:
    """Return the first and the last column of each line, without document marks."""
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
