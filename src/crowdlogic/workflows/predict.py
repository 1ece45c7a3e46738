"""Predict new items with a run, and score the predictions if gold is known."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path

import polars as pl

from crowdlogic.data.corpus import Corpus
from crowdlogic.data.estimate import Beliefs, Estimate
from crowdlogic.data.features import is_npz
from crowdlogic.data.files import STANDARD_STREAM
from crowdlogic.data.formats.protocol import find_format
from crowdlogic.data.formats.tables import TableFormat
from crowdlogic.data.frames import corpus_from_table, number_items, to_corpus
from crowdlogic.data.names import Classes
from crowdlogic.data.reading import read_table, write_estimate
from crowdlogic.data.wording import pluralise
from crowdlogic.errors import CorpusError
from crowdlogic.learning.confidence import ScaleSource
from crowdlogic.learning.saved_run import load_run
from crowdlogic.learning.task import is_scorable, score_answers, score_name
from crowdlogic.numerics.arrays import Ints
from crowdlogic.store.files import read_config, require_entry
from crowdlogic.workflows.inputs import InputOptions, check_outputs, check_writable, percent, read_vocabulary

PREDICTORS = {
    "classifier": "the classifier",
    "student": "the classifier alone (student)",
    "teacher": "the classifier with the rules (teacher)",
}
"""Descriptions of the predictors."""


@dataclass(frozen=True, kw_only=True)
class PredictOptions:
    """The options of `predict`.

    Attributes:
        run: The folder of the run.
        items: The file of items.
        out: The file for the answers.
        student: Whether to use the classifier alone, without the rules.
        calibrated: Whether to calibrate the confidence.
        tables: Facts for predicates, as Name=file.
        format: The format of the answers; None to take it from the suffix.
        spreadsheet_safe: Whether csv and tsv cells that a spreadsheet would read as formulas get a leading quote.
        input: How the items are read.
    """

    run: str
    items: str
    out: str
    student: bool = False
    calibrated: bool = True
    tables: tuple[str, ...] = ()
    format: str | None = None
    spreadsheet_safe: bool = False
    input: InputOptions = field(default_factory=InputOptions)


@dataclass(frozen=True, kw_only=True, eq=False)
class Predicted:
    """Result of `predict`.

    Attributes:
        estimate: The answers.
        predictor: Who answered: teacher (the classifier and the rules), student (the classifier alone) or classifier
            (where there are no rules).
        score: The name of the score by the items' gold, and its value; None where nothing is scored.
        out: The file of the answers.
        notices: Notices on the items.
    """

    estimate: Estimate
    predictor: str
    score: tuple[str, float] | None
    out: str
    notices: tuple[str, ...]

    @property
    def message(self) -> str:
        """One-sentence summary."""
        scored = "" if self.score is None else f", {self.score[0]} {percent(self.score[1])} by its gold"
        method = self.estimate.method.removesuffix(f" {self.predictor}")
        count = pluralise(len(self.estimate.items), "item")
        return f"{method}, {PREDICTORS[self.predictor]}: {count}{scored} -> {self.out}"


def predict(options: PredictOptions) -> Predicted:
    """Answer new items with a run, and write the answers."""
    check_writable(options.out, options.format)
    check_outputs((options.out,), read=(options.items, *(text.partition("=")[2] for text in options.tables)))
    run = load_run(options.run, vocabulary=read_vocabulary(options.tables))
    columns = require_entry(read_config(Path(options.run)), "inputs", dict).get("features")
    if options.input.features is None and isinstance(columns, str) and not is_npz(columns):
        options = replace(
            options, input=replace(options.input, features=columns)
        )  # the columns that the run learnt from
    corpus, split = _read_items(options, sequential=run.estimate.offsets is not None)
    beliefs = run.predict(corpus, student=options.student, calibrated=options.calibrated)
    answer = run.learned.answer(corpus, student=options.student)
    classes = run.estimate.classes
    predictor = "classifier" if run.teacher.is_idle else "student" if options.student else "teacher"
    estimate = _to_estimate(f"{run.estimate.method} {predictor}", corpus, beliefs, classes, answer=answer)
    unknown = [name for name in corpus.classes if str(name) not in {str(own) for own in classes}]
    notices = split + [
        f"{options.items}: its gold has the class {name!r}, which the run does not know, so nothing is scored."
        for name in unknown[:1]
    ]
    if options.calibrated and run.learned.scales.student.source is ScaleSource.nothing:
        notices.append(f"The confidence is not calibrated: {options.run} had neither dev items nor held-out ones.")
    scored = None if unknown else _score(corpus, answer, classes)
    write_estimate(
        options.out, estimate, corpus=corpus, format=options.format, spreadsheet_safe=options.spreadsheet_safe
    )
    return Predicted(estimate=estimate, predictor=predictor, score=scored, out=options.out, notices=tuple(notices))


def _read_items(options: PredictOptions, *, sequential: bool) -> tuple[Corpus, list[str]]:
    """Return the items, of the kind that the run learnt from, and how texts were split into tokens, in words."""
    read, notices = _read_texts(options)
    if read.is_sequential and not sequential:
        raise CorpusError(
            f"{options.items}: contains tokenised sentences, but {options.run} was trained on documents. Supply items "
            f"with one text each."
        )
    if not sequential or read.is_sequential:
        return read, notices
    corpus = to_corpus(read, sequential=True)
    example = " ".join(corpus.sentence(0)[:8]) if len(corpus.items) else ""
    split = (
        f"{options.items}: {options.run} tags tokens, so the texts were split into words and punctuation marks, "
        f"{corpus.n_units:,} in all: {example} ..."
    )
    return corpus, [*notices, split]


def _read_texts(options: PredictOptions) -> tuple[Corpus, list[str]]:
    """Return the items of the file; texts without names are numbered, and that is said."""
    given = options.input
    if given.features is not None or is_npz(options.items):
        return given.read_corpus(options.items), []
    if options.items == STANDARD_STREAM or not isinstance(find_format(options.items, given.format), TableFormat):
        return given.read_corpus(options.items), []
    table, source = read_table(options.items, format=given.format)
    numbered = number_items(table, given.columns)
    if numbered is None:
        return given.read_corpus(options.items), []
    notice = (
        f"{options.items}: no column contains names of items, so they are numbered from 0 in the order of the file."
    )
    return corpus_from_table(numbered, source, given.columns), [notice]


def _score(corpus: Corpus, answer: Ints, classes: Classes) -> tuple[str, float] | None:
    """Return how right the answers are by the gold of the items; None where there is none."""
    if not is_scorable(corpus):
        return None
    return score_name(classes, sequential=corpus.is_sequential), score_answers(corpus.with_classes(classes), answer)


def _to_estimate(method: str, corpus: Corpus, beliefs: Beliefs, classes: Classes, *, answer: Ints) -> Estimate:
    """Return beliefs on items that nobody labelled, as an Estimate."""
    return Estimate(
        method=method,
        beliefs=beliefs,
        answer=answer,
        items=corpus.items,
        classes=classes,
        offsets=corpus.offsets,
        annotators=pl.Series([], dtype=pl.String),
    )
