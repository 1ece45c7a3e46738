"""Convert labels or items to another format."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from crowdlogic.data.corpus import UNKNOWN, Corpus
from crowdlogic.data.estimate import Estimate
from crowdlogic.data.formats.protocol import find_format
from crowdlogic.data.labels import CrowdLabels
from crowdlogic.data.reading import read_answers, write_corpus, write_estimate, write_labels
from crowdlogic.errors import DataError
from crowdlogic.store.files import is_run
from crowdlogic.store.runs import read_run
from crowdlogic.workflows.inputs import InputOptions, check_outputs


@dataclass(frozen=True, kw_only=True)
class ConvertOptions:
    """The options of `convert`, `convert_labels` and `convert_items`.

    Attributes:
        source: The file to read.
        out: The file to write.
        format: The format to write; None to take it from the suffix.
        spreadsheet_safe: Whether csv and tsv cells that a spreadsheet would read as formulas get a leading quote.
        input: Options for reading the file.
    """

    source: str
    out: str
    format: str | None = None
    spreadsheet_safe: bool = False
    input: InputOptions = field(default_factory=InputOptions)


def convert(options: ConvertOptions) -> CrowdLabels | Corpus | Estimate:
    """Write the labels of a file in another format, or its items if each of them has only one label.

    If the new format has one answer per item, the file must have a single annotator or gold. If the source is a run,
    its clean labels are written: item, label and confidence, or tagged sentences.
    """
    check_outputs((options.out,), read=(options.source,))
    form: dict[str, Any] = {"format": options.format, "spreadsheet_safe": options.spreadsheet_safe}
    if is_run(Path(options.source)):
        record = read_run(Path(options.source))
        write_estimate(options.out, record.estimate, corpus=record.corpus, **form)
        return record.estimate
    if find_format(options.out, options.format).overrides("encode_labels"):
        try:
            return convert_labels(options)
        except DataError as problem:
            return _convert_answers(options, problem)
    crowd = None
    with suppress(DataError):
        crowd = options.input.read_crowd(options.source)
    gold = None if crowd is None or crowd.corpus is None else crowd.corpus.gold
    has_gold = gold is not None and bool((gold != UNKNOWN).any())
    if crowd is not None and len(crowd.labels.annotators) > 1 and not has_gold:
        return convert_labels(options)  # which raises an error that says what to do
    return _convert_answers(options, None)


def _convert_answers(options: ConvertOptions, problem: DataError | None) -> Corpus:
    """Write items with one label each; if that fails as well, raise the error about the labels."""
    try:
        corpus = options.input.read_corpus(options.source)
        if corpus.gold is None and problem is None:
            answers = read_answers(options.source, format=options.input.format, columns=options.input.columns)
            corpus = replace(corpus, classes=answers.classes, gold=answers.answer)
    except DataError:
        if problem is not None:
            raise problem from None
        raise
    if corpus.gold is None and problem is not None:
        raise problem
    write_corpus(options.out, corpus, format=options.format, spreadsheet_safe=options.spreadsheet_safe)
    return corpus


def convert_labels(options: ConvertOptions) -> CrowdLabels:
    """Read labels and write them in another format; `intake` of the result lists what was left out."""
    crowd = options.input.read_crowd(options.source)
    write_labels(
        options.out, crowd.labels, corpus=crowd.corpus, format=options.format, spreadsheet_safe=options.spreadsheet_safe
    )
    return crowd.labels


def convert_items(options: ConvertOptions) -> Corpus:
    """Read items and write them in another format."""
    check_outputs((options.out,), read=(options.source,))
    corpus = options.input.read_corpus(options.source)
    write_corpus(options.out, corpus, format=options.format, spreadsheet_safe=options.spreadsheet_safe)
    return corpus
