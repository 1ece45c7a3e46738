"""A format as another package would add it."""

from __future__ import annotations

import polars as pl

from crowdlogic.data.corpus import documents
from crowdlogic.data.files import InputFile
from crowdlogic.data.formats.protocol import Crowd, FileFormat, ReadOptions, assemble_crowd
from crowdlogic.data.intake.contract import TableSource


class Votes(FileFormat):
    """A tool that exports lines of item|annotator|label|text, below a first line that says VOTES."""

    name, title, suffixes = "votes", "Votes", (".jsonl", ".votes")

    def recognises(self, head: bytes) -> bool:
        return head.startswith(b"VOTES")

    def read_crowd(self, file: InputFile, options: ReadOptions) -> Crowd:
        rows = [line.split("|") for line in file.content.decode().splitlines()[1:]]
        table = pl.DataFrame(rows, schema=["item", "annotator", "label", "text"], orient="row")
        texts = dict(zip(table["item"], table["text"], strict=True))
        corpus = documents(list(texts), list(texts.values()), gold=["x"] * len(texts))
        source = TableSource(file.name, first_row=2, word="line")
        return assemble_crowd(table.drop("text"), source, options, corpus=corpus, notices=("One task was skipped.",))


VOTES = Votes()
