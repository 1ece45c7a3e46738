"""`crowdlogic predict`: what a trained run says of new items."""

from __future__ import annotations

from typing import Annotated

import numpy as np
import polars as pl
import typer

from crowdlogic.cli.console import percent, say
from crowdlogic.cli.options import (
    ColumnsOption,
    FormatOption,
    OutFile,
    TablesOption,
    ToOption,
    columns_of,
    vocabulary_of,
)
from crowdlogic.data.corpus import Corpus
from crowdlogic.data.estimate import Beliefs, Estimate
from crowdlogic.data.names import Classes
from crowdlogic.data.reading import read_corpus
from crowdlogic.data.writing import write_estimate
from crowdlogic.learning.saved_run import load_run
from crowdlogic.learning.scoring import is_scorable, score, score_name

RunFolder = Annotated[str, typer.Argument(metavar="RUN", help="A run that `crowdlogic train` wrote.")]


def command(
    run: RunFolder,
    items: Annotated[str, typer.Argument(metavar="ITEMS", help="The items: item and text, or sentences.")],
    out: OutFile,
    student: Annotated[
        bool, typer.Option("--student/--teacher", help="The classifier alone, or put right by the rules.")
    ] = False,
    table: TablesOption = None,
    column: ColumnsOption = None,
    format: FormatOption = None,
    to: ToOption = None,
) -> None:
    """Answer new items with a trained classifier, and its rules."""
    loaded = load_run(run, vocabulary=vocabulary_of(table))
    corpus = read_corpus(items, format=format, columns=columns_of(column))
    beliefs = loaded.predict(corpus, student=student)
    classes = loaded.estimate.classes
    unknown = [name for name in corpus.classes if str(name) not in {str(own) for own in classes}]
    right = "" if unknown else scored(corpus, beliefs, classes)
    who = "student" if student or loaded.teacher.is_idle else "teacher"
    write_estimate(
        out, predicted(f"{loaded.estimate.method} {who}", corpus, beliefs, classes), corpus=corpus, format=to
    )
    if unknown:
        say(f"{items}: its gold has the class {unknown[0]!r}, which the run does not know, so nothing is scored.")
    say(f"{loaded.estimate.method}, {who}: {len(corpus.items):,} items{right} -> {out}")


def scored(corpus: Corpus, beliefs: Beliefs, classes: Classes) -> str:
    """How right the beliefs are by the gold of the items, in words; nothing where there is none."""
    if not is_scorable(corpus):
        return ""
    value = score(corpus.with_classes(classes), beliefs)
    return f", {score_name(classes, sequential=corpus.is_sequential)} {percent(value)} by its gold"


def predicted(method: str, corpus: Corpus, beliefs: Beliefs, classes: Classes) -> Estimate:
    """Beliefs on items that nobody labelled, as an Estimate."""
    nobody = pl.Series([], dtype=pl.String)
    answer = beliefs.argmax(axis=1).astype(np.int32)
    return Estimate(
        method=method,
        beliefs=beliefs,
        answer=answer,
        items=corpus.items,
        classes=classes,
        offsets=corpus.offsets,
        annotators=nobody,
    )
