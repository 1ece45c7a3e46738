"""Predict new items with a run, and score the predictions if gold is known."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import polars as pl

from crowdlogic.classifiers.protocol import ChainClassifier
from crowdlogic.data.corpus import Corpus
from crowdlogic.data.estimate import Estimate
from crowdlogic.data.features import is_npz
from crowdlogic.data.files import STANDARD_STREAM
from crowdlogic.data.formats.protocol import find_format
from crowdlogic.data.formats.tables import TableFormat
from crowdlogic.data.frames import corpus_from_table, number_items, to_corpus
from crowdlogic.data.reading import read_table, write_estimate
from crowdlogic.data.wording import pluralise
from crowdlogic.errors import CorpusError
from crowdlogic.learning.confidence import ScaleSource
from crowdlogic.learning.saved_run import Run, load_run
from crowdlogic.learning.task import is_scorable, score_answers, score_name
from crowdlogic.registry import PREDICTION_ENGINES
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
        engine: Engine that predicts Parquet files piece by piece: a name in `registry.PREDICTION_ENGINES`; None
            predicts all items at once.
        workers: Number of processes of the engine; None for its default.
        address: The address of a cluster of that engine; None for this machine.
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
    engine: str | None = None
    workers: int | None = None
    address: str | None = None
    input: InputOptions = field(default_factory=InputOptions)


@dataclass(frozen=True, kw_only=True, eq=False)
class Predicted:
    """Result of `predict`.

    Attributes:
        estimate: The answers; None where an engine wrote them piece by piece.
        method: The learning method of the run.
        counts: Number of items, units, classes, ... by name.
        predictor: What answered: teacher (the classifier and the rules), student (the classifier alone) or classifier
            (if the run has no rules).
        score: Name and value of the score against the items' gold; None without gold.
        out: The file of the answers.
        notices: Notices on the items.
    """

    estimate: Estimate | None
    method: str
    counts: Mapping[str, int]
    predictor: str
    score: tuple[str, float] | None
    out: str
    notices: tuple[str, ...]

    @property
    def message(self) -> str:
        """One-sentence summary."""
        scored = "" if self.score is None else f", {self.score[0]} {percent(self.score[1])} by its gold"
        count = pluralise(self.counts["items"], "item")
        return f"{self.method}, {PREDICTORS[self.predictor]}: {count}{scored} -> {self.out}"


def predict(options: PredictOptions) -> Predicted:
    """Predict new items with a run, and write the answers."""
    check_writable(options.out, options.format)
    check_outputs((options.out,), read=(options.items, *(text.partition("=")[2] for text in options.tables)))
    if options.engine is not None:
        done: Predicted = PREDICTION_ENGINES.load(options.engine)(options)
        return done
    run, options = open_run(options)
    corpus, notices = _read_items(options, sequential=run.estimate.offsets is not None)
    estimate = answer_items(run, corpus, options)
    classes, scored = run.estimate.classes, None
    unknown = [name for name in corpus.classes if str(name) not in {str(own) for own in classes}]
    if unknown:
        notices.append(
            f"{options.items}: the gold contains the class {unknown[0]!r}, which the run does not know, so the "
            f"predictions are not scored."
        )
    elif is_scorable(corpus):
        accuracy = score_answers(corpus.with_classes(classes), estimate.answer)
        scored = score_name(classes, sequential=corpus.is_sequential), accuracy
    write_estimate(
        options.out, estimate, corpus=corpus, format=options.format, spreadsheet_safe=options.spreadsheet_safe
    )
    return Predicted(
        estimate=estimate,
        method=run.estimate.method,
        counts=estimate.counts,
        predictor=find_predictor(run, options),
        score=scored,
        out=options.out,
        notices=(*notices, *calibration_notices(run, options)),
    )


def open_run(options: PredictOptions) -> tuple[Run, PredictOptions]:
    """Load the run; if the options do not name columns of features, add those that the run learnt from."""
    run = load_run(options.run, vocabulary=read_vocabulary(options.tables))
    columns = require_entry(read_config(Path(options.run)), "inputs", dict).get("features")
    if options.input.features is None and isinstance(columns, str) and not is_npz(columns):
        options = replace(options, input=replace(options.input, features=columns))
    return run, options


def answer_items(run: Run, corpus: Corpus, options: PredictOptions) -> Estimate:
    """Predict items of the kind that the run was trained on (documents or sentences)."""
    beliefs = run.predict(corpus, student=options.student, calibrated=options.calibrated)
    if isinstance(run.classifier, ChainClassifier):  # the best path need not consist of the best tags
        answer = run.learned.answer(corpus, student=options.student)
    else:
        answer = np.asarray(beliefs.argmax(axis=1), dtype=np.int32)
    return Estimate(
        method=f"{run.estimate.method} {find_predictor(run, options)}",
        beliefs=beliefs,
        answer=answer,
        items=corpus.items,
        classes=run.estimate.classes,
        offsets=corpus.offsets,
        annotators=pl.Series([], dtype=pl.String),
    )


def find_predictor(run: Run, options: PredictOptions) -> str:
    """Return what answers: a key of `PREDICTORS`."""
    return "classifier" if run.teacher.is_idle else "student" if options.student else "teacher"


def calibration_notices(run: Run, options: PredictOptions) -> list[str]:
    """Return a notice if the confidence should be calibrated but cannot be."""
    if options.calibrated and run.learned.scales.student.source is ScaleSource.nothing:
        return [f"The confidence is not calibrated: {options.run} was trained without dev items or held-out labels."]
    return []


def _read_items(options: PredictOptions, *, sequential: bool) -> tuple[Corpus, list[str]]:
    """Read the items and convert them to the kind that the run was trained on; also return notices."""
    given, notices = options.input, []
    is_features = given.features is not None or is_npz(options.items)
    is_stream = options.items == STANDARD_STREAM
    numbered = None
    if not is_features and not is_stream and isinstance(find_format(options.items, given.format), TableFormat):
        # Texts without names are numbered
        table, source = read_table(options.items, format=given.format)
        numbered = number_items(table, given.columns)
    if numbered is None:
        read = given.read_corpus(options.items)
    else:
        read = corpus_from_table(numbered, source, given.columns)
        notices.append(
            f"{options.items}: no column contains names of items, so they are numbered from 0 in the order of the file."
        )
    if read.is_sequential and not sequential:
        raise CorpusError(
            f"{options.items}: expected items with one text each, as in the training of {options.run}, found tokenised "
            f"sentences. Supply documents."
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
