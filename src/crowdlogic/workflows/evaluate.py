"""Score answers against gold: scores of items, or of spans if the classes are span tags.

Scores are over the items that have an answer; the coverage is their share. `accuracy_all` is over all items with gold
(docs/decisions/0047).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from enum import StrEnum
from pathlib import Path
from typing import Any

import numpy as np

from crowdlogic.data.corpus import UNKNOWN
from crowdlogic.data.estimate import (
    NO_ANSWER,
    AlignedAnswers,
    Answers,
    align_answers,
    answers_from_estimate,
    answers_from_gold,
)
from crowdlogic.data.tagging import Scheme, is_span_tag_set
from crowdlogic.data.wording import pluralise
from crowdlogic.errors import MissingDataError, OptionError
from crowdlogic.metrics.scores import Scores, Unanswered, accuracy_ties_half, score_aligned
from crowdlogic.metrics.spans import span_scores
from crowdlogic.store.estimates import NAMES, load_estimate
from crowdlogic.store.files import is_run
from crowdlogic.store.runs import read_run
from crowdlogic.workflows.inputs import InputOptions, ResultTable, percent

UNNEEDED = ("annotator", "text")
"""Roles of columns that scores do not need, but that users may name, since other commands use the same options."""

SHARES = frozenset(
    {"coverage", "accuracy", "accuracy_all", "accuracy_ties_half", "macro_f1", "precision", "recall", "f1"}
    | {"calibration_error"}
)
"""The scores that a table shows in percent."""


class TieCredit(StrEnum):
    """Whether ties are also scored in a second way."""

    answered = "answered"
    """Answers are scored as they are in the file."""
    half = "half"
    """Also print `accuracy_ties_half`: 1/t for a tie among t best classes, the mean over random choices."""


@dataclass(frozen=True, kw_only=True)
class EvaluateOptions:
    """The options of `evaluate`.

    Attributes:
        predicted: The file of answers, or the folder of a run or of a saved estimate.
        gold: The file of the truth; None for the gold that a run keeps.
        scheme: How tags are converted to spans.
        ties: Whether to print `accuracy_ties_half`, too; for answers with probabilities.
        unanswered: How items with gold but no answer are scored.
        columns: role -> column, for columns whose names are not recognised.
        format: The format of both files; None to take it from the suffixes.
    """

    predicted: str
    gold: str | None = None
    scheme: Scheme = Scheme.conll
    ties: TieCredit = TieCredit.answered
    unanswered: Unanswered = Unanswered.skip
    columns: Mapping[str, str] = field(default_factory=dict)
    format: str | None = None


@dataclass(frozen=True, kw_only=True)
class Evaluation:
    """The scores.

    Attributes:
        title: What was compared.
        scores: Every score and count by name.
        by_type: For spans: the scores of each type.
        notices: Notices on the two files.
    """

    title: str
    scores: Mapping[str, Any]
    by_type: Mapping[str, Mapping[str, Any]]
    notices: tuple[str, ...]

    def tables(self) -> list[ResultTable]:
        """Return the scores, and for spans those of each type."""
        overall = [(name, percent(value) if name in SHARES else value) for name, value in self.scores.items()]
        tables = [ResultTable(title=self.title, columns=["score", "value"], rows=overall)]
        if self.by_type:
            columns = ["type", "precision", "recall", "F1", "gold spans"]
            rows = [
                (kind, *(percent(one[name]) for name in ("precision", "recall", "f1")), one["n_gold"])
                for kind, one in self.by_type.items()
            ]
            tables.append(ResultTable(title=f"by type ({self.scores['scheme']})", columns=columns, rows=rows))
        return tables

    def figures(self) -> dict[str, Any]:
        """Return the scores as plain data."""
        return {**self.scores, **({"per_type": self.by_type} if self.by_type else {})}


def evaluate(options: EvaluateOptions) -> Evaluation:
    """Score answers against gold."""
    predicted, gold = _read(options)
    pair = align_answers(predicted, gold)
    missing, n = int(pair.unanswered.sum()), int(np.count_nonzero(pair.gold != UNKNOWN))
    plain = score_aligned(pair, unanswered=options.unanswered)
    if options.unanswered is Unanswered.skip:
        pair = pair.without(pair.unanswered)
    scores, by_type = _score(pair, plain, options)
    noun, notices = "item" if pair.offsets is None else "token", list(pair.remarks)
    if missing:
        found = f"{missing:,} of {pluralise(n, f'{noun} with gold', f'{noun}s with gold')} have no answer"
        others = f": the scores are of the other {n - missing:,}. accuracy_all counts them as wrong."
        notices.append(f"{found} and count as wrong." if options.unanswered is Unanswered.wrong else found + others)
    return Evaluation(
        title=f"{predicted.source} against {gold.source}",
        scores=scores,
        by_type=by_type,
        notices=(*notices, *_describe_known(pair, noun)),
    )


def _describe_known(pair: AlignedAnswers, noun: str) -> Iterator[str]:
    """Yield a notice about answers that are certain and right, since their truth was probably given to the method."""
    if pair.beliefs is None:
        return
    scored = (pair.gold != UNKNOWN) & (pair.predicted != NO_ANSWER)
    rows = np.flatnonzero(scored)
    certain = pair.beliefs[rows, pair.predicted[rows]] >= 1.0
    if certain.any() and (pair.predicted[rows] == pair.gold[rows])[certain].all():
        others = int((~certain).sum())
        right = int((pair.predicted[rows] == pair.gold[rows])[~certain].sum())
        rest = f"Of the other {others:,}, {right:,} are right." if others else "Score other items."
        known = f"{int(certain.sum()):,} of {pluralise(len(rows), f'scored {noun}')}"
        yield (
            f"{known} have a confidence of exactly 1 and are right. Their truth was probably given (--anchors), so "
            f"they do not test the method. {rest}"
        )


def _read(options: EvaluateOptions) -> tuple[Answers, Answers]:
    """Return the answers of a file, a run or a saved estimate, and the gold of a file or of the run itself."""
    home, kept = Path(options.predicted), None
    # A column applies to the files that have it, the format to both
    files = [path for path in (options.predicted, options.gold) if path is not None and not Path(path).is_dir()]
    given = InputOptions(format=options.format, columns=options.columns)
    found = given.by_file(*files, optional=UNNEEDED) if files else {}
    by_file = {path: replace(one, format=options.format) for path, one in found.items()}
    if is_run(home):
        record = read_run(home)
        predicted = answers_from_estimate(record.estimate, options.predicted)
        if record.corpus.gold is not None and (record.corpus.gold != UNKNOWN).any():
            kept = answers_from_gold(record.corpus, "the gold that it keeps")
    elif (home / NAMES).is_file():
        predicted = answers_from_estimate(load_estimate(home), options.predicted)
    elif home.is_dir():
        raise MissingDataError(
            f"{home}: this folder contains neither a run nor an estimate. Name a file of answers, or a folder that "
            f"`train` or `aggregate --save` wrote."
        )
    else:
        predicted = by_file[options.predicted].read_answers(options.predicted)
    if options.gold is not None:
        return predicted, by_file[options.gold].read_answers(options.gold)
    if kept is None:
        raise OptionError(
            f"{options.predicted}: this does not contain gold to compare the answers with. Pass a file of gold: "
            f"crowdlogic evaluate {options.predicted} gold.csv"
        )
    return predicted, kept


def _score(
    pair: AlignedAnswers, plain: Scores, options: EvaluateOptions
) -> tuple[dict[str, Any], dict[str, dict[str, Any]]]:
    """Return the scores by name, and for spans those of each type."""
    halved: dict[str, float] = {}
    if options.ties is TieCredit.half:
        if pair.beliefs is None:
            raise OptionError(
                f"--ties half: {options.predicted} has no probabilities, so ties cannot be detected. Use answers with "
                f"p_ columns, as written by aggregate."
            )
        halved = {"accuracy_ties_half": accuracy_ties_half(pair.gold, pair.predicted, pair.beliefs)}
    if pair.offsets is None or not is_span_tag_set(pair.classes):
        return {name: value for name, value in (asdict(plain) | halved).items() if value is not None}, {}
    spans = span_scores(pair.gold, pair.predicted, pair.offsets, pair.classes, scheme=options.scheme)
    scores = {name: getattr(spans, name) for name in ("precision", "recall", "f1")}
    scores = {"coverage": plain.coverage, **scores, "accuracy": plain.accuracy, "accuracy_all": plain.accuracy_all}
    counts = {"n": plain.n, "n_gold": spans.n_gold, "n_predicted": spans.n_predicted, "n_correct": spans.n_correct}
    by_type = {kind: asdict(one) for kind, one in spans.per_type.items()}
    return {**scores, **counts, "scheme": str(options.scheme)}, by_type
