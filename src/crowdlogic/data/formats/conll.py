"""CoNLL: tagged sentences, one token a line, with one column of tags (gold, answers) or one per annotator (labels)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl

from crowdlogic.data.answers import Answers, answers_from_gold
from crowdlogic.data.corpus import Corpus
from crowdlogic.data.estimate import Estimate
from crowdlogic.data.files import InputFile
from crowdlogic.data.formats.conll_columns import ConllColumns, encode_columns, parse_columns
from crowdlogic.data.formats.protocol import Crowd, FileFormat, ReadOptions
from crowdlogic.data.formats.table_layouts import answer_tags, gold_tags, require_single_tags
from crowdlogic.data.intake.cells import code_labels
from crowdlogic.data.intake.contract import Intake, TableSource
from crowdlogic.data.intake.odd_labels import odd_classes
from crowdlogic.data.labels import CrowdLabels, require_whole_labels
from crowdlogic.data.tagging import NOT_SEEN
from crowdlogic.data.wording import pluralise
from crowdlogic.errors import FormatError, OptionError


class Conll(FileFormat):
    """Tagged sentences in columns."""

    name, title, suffixes = "conll", "CoNLL", (".conll", ".bio", ".iob")

    def read_table(self, file: InputFile) -> tuple[pl.DataFrame, TableSource]:
        """Refused: sentences are no rows of a table."""
        raise FormatError(f"{file.name}: CoNLL holds tagged sentences, and a table is needed here.")

    def read_crowd(self, file: InputFile, options: ReadOptions) -> Crowd:
        """Labels and tokens, with one column of tags per annotator."""
        if options.wide:
            raise OptionError("wide: CoNLL has a column per annotator as it is. Leave --wide out.")
        _refuse_columns(file, options.columns)
        return _crowd_from_columns(parse_columns(file.content, file.name), options.classes)

    def read_corpus(self, file: InputFile, columns: Mapping[str, str] | None = None) -> Corpus:
        """Tokens, and gold from the one column of tags, where there is one."""
        _refuse_columns(file, columns)
        return corpus_from_columns(parse_columns(file.content, file.name, untagged=True))

    def read_answers(self, file: InputFile, columns: Mapping[str, str] | None = None) -> Answers:
        """The one column of tags as answers."""
        return answers_from_gold(self.read_corpus(file, columns), file.name)

    def encode_labels(self, labels: CrowdLabels, corpus: Corpus | None, target: str) -> bytes:
        """One column of tags per annotator, NOT_SEEN where an annotator gave none."""
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
        """Tokens with their gold tags."""
        if corpus.tokens is None or corpus.offsets is None:
            raise _needs_sentences(target)
        return encode_columns(corpus.items, corpus.tokens, corpus.offsets, columns=[gold_tags(corpus)])

    def encode_estimate(self, estimate: Estimate, corpus: Corpus | None, target: str) -> bytes:
        """Tokens with the tags that were chosen."""
        if estimate.offsets is None:
            raise self._cannot_write(target, "a table", "encode_table")
        if corpus is None or corpus.tokens is None:
            raise OptionError(f"{target}: CoNLL needs the tokens, and the labels came without. Write .jsonl instead.")
        return encode_columns(estimate.items, corpus.tokens, estimate.offsets, columns=[answer_tags(estimate)])


CONLL = Conll()


def _needs_sentences(target: str) -> OptionError:
    return OptionError(f"{target}: CoNLL needs sentences with their tokens. Write .csv or .jsonl instead.")


def _refuse_columns(file: InputFile, columns: Mapping[str, str] | None) -> None:
    """Raise an error for columns by name: CoNLL goes by their order."""
    if columns:
        role, name = next(iter(columns.items()))
        raise OptionError(
            f"{file.name}: --column {role}={name}: the columns of CoNLL have no names: the first is the token, each "
            f"other one the tags of an annotator. Leave --column out."
        )


def _crowd_from_columns(columns: ConllColumns, classes: Sequence[Any] | None) -> Crowd:
    """Labels and tokens of a file with one column of tags per annotator."""
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
    """A notice when a column shares no tag with any other: it may hold something else than an annotator's tags."""
    width = len(columns.annotators)
    used = [set(columns.tags.gather_every(width, j).unique()) - {NOT_SEEN} for j in range(width)]
    odd = [
        name
        for j, name in enumerate(columns.annotators)
        if width > 1 and used[j] and not any(used[j] & other for o, other in enumerate(used) if o != j)
    ]
    if not odd:
        return ()
    return (f"The column of {odd[0]} shares no tag with the others; is every column an annotator's?",)


def corpus_from_columns(columns: ConllColumns) -> Corpus:
    """Tokens and gold of a file with one column of tags; tokens alone of a file with none."""
    tokens = tuple(columns.tokens.to_list())
    if not len(columns.annotators):
        return Corpus(columns.items, tokens=tokens, offsets=columns.offsets)
    if len(columns.annotators) != 1:
        raise FormatError(
            f"{columns.name}: {pluralise(len(columns.annotators), 'column')} of tags where one is expected (token "
            f"tag). "
            f"Keep the column that is meant; a file with one column per annotator holds labels, not gold."
        )
    source = TableSource(columns.name, word="line", numbers=columns.lines)
    gold, classes = code_labels(columns.tags.set(columns.tags == NOT_SEEN, None), source, None)
    return Corpus(columns.items, tokens=tokens, offsets=columns.offsets, classes=classes, gold=gold)


def _tags_by_annotator(labels: CrowdLabels) -> list[list[str]]:
    """tags[j][i], what annotator j gave unit i."""
    names = np.array([*map(str, labels.classes), NOT_SEEN], dtype=object)
    columns = []
    for j in range(len(labels.annotators)):
        tags = np.full(labels.n_units, -1)  # the code -1 picks the last name: not seen
        mine = labels.annotator == j
        tags[labels.unit[mine]] = labels.label[mine]
        columns.append(names[tags].tolist())
    return columns
