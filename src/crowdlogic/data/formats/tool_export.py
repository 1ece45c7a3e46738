"""What all exports of annotation tools share: items and gold are those that come with the labels."""

from __future__ import annotations

from collections.abc import Mapping

from crowdlogic.data.answers import Answers, answers_from_crowd
from crowdlogic.data.corpus import Corpus
from crowdlogic.data.files import InputFile
from crowdlogic.data.formats.protocol import FileFormat, ReadOptions
from crowdlogic.errors import CorpusError


class ToolExport(FileFormat):
    """An export of an annotation tool. A subclass says how it is recognised, and how its labels are read."""

    def read_corpus(self, file: InputFile, columns: Mapping[str, str] | None = None) -> Corpus:  # noqa: ARG002
        """The items that were annotated, with gold where the export marks it."""
        corpus = self.read_crowd(file, ReadOptions()).corpus
        if corpus is None or (corpus.texts is None and corpus.tokens is None and corpus.gold is None):
            raise CorpusError(f"{file.name}: {self.title} has neither texts nor gold here. Give the items' own file.")
        return corpus

    def read_answers(self, file: InputFile, columns: Mapping[str, str] | None = None) -> Answers:  # noqa: ARG002
        """The gold that the export marks; without any, the labels of its only annotator, such as a consensus."""
        crowd = self.read_crowd(file, ReadOptions())
        if len(crowd.labels.annotators) != 1 and (crowd.corpus is None or crowd.corpus.gold is None):
            raise CorpusError(f"{file.name}: no gold is marked in {self.title}. Aggregate its labels first.")
        return answers_from_crowd(crowd.labels, crowd.corpus, file.name)
