"""The same labels or items in another format."""

from __future__ import annotations

from dataclasses import dataclass, field

from crowdlogic.data.corpus import Corpus
from crowdlogic.data.labels import CrowdLabels
from crowdlogic.data.writing import write_corpus, write_labels
from crowdlogic.workflows.inputs import InputOptions


@dataclass(frozen=True, kw_only=True)
class ConvertOptions:
    """The options of `convert_labels` and `convert_items`.

    Attributes:
        source: The file to read.
        out: The file to write.
        format: The format to write; None to take it from the suffix.
        input: How the file is read.
    """

    source: str
    out: str
    format: str | None = None
    input: InputOptions = field(default_factory=InputOptions)


def convert_labels(options: ConvertOptions) -> CrowdLabels:
    """Read labels and write them in another format; `intake` of the result says what was left out."""
    crowd = options.input.read_crowd(options.source)
    write_labels(options.out, crowd.labels, corpus=crowd.corpus, format=options.format)
    return crowd.labels


def convert_items(options: ConvertOptions) -> Corpus:
    """Read items and write them in another format."""
    corpus = options.input.read_corpus(options.source)
    write_corpus(options.out, corpus, format=options.format)
    return corpus
