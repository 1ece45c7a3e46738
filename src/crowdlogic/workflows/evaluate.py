"""Answers against gold: scores of items, or of spans where the classes are span tags."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from crowdlogic.data.answers import AlignedAnswers, align_answers
from crowdlogic.data.reading import read_answers
from crowdlogic.data.tagging import Scheme, is_span_tag_set
from crowdlogic.metrics.scores import TieCredit, score
from crowdlogic.metrics.spans import span_scores
from crowdlogic.workflows.tables import ResultTable, percent

SHARES = frozenset({"accuracy", "macro_f1", "precision", "recall", "f1", "calibration_error"})
"""The scores that a table shows in percent."""


@dataclass(frozen=True, kw_only=True)
class EvaluateOptions:
    """The options of `evaluate`.

    Attributes:
        predicted: The file of answers.
        gold: The file of the truth.
        scheme: How tags are read as spans.
        ties: What a tie counts that holds the truth; for answers with probabilities.
        columns: role -> column, for columns whose names are not recognised.
        format: The format of both files; None to take it from the suffixes.
    """

    predicted: str
    gold: str
    scheme: Scheme = Scheme.conll
    ties: TieCredit = TieCredit.answered
    columns: Mapping[str, str] = field(default_factory=dict)
    format: str | None = None


@dataclass(frozen=True, kw_only=True)
class Evaluation:
    """The scores.

    Attributes:
        title: What was compared.
        scores: Every score and count by name.
        by_type: For spans: the scores of each type.
        notices: What a person should know of the two files.
    """

    title: str
    scores: Mapping[str, Any]
    by_type: Mapping[str, Mapping[str, Any]]
    notices: tuple[str, ...]

    def tables(self) -> list[ResultTable]:
        """The scores, and for spans those of each type."""
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
        """The same as plain data."""
        return {**self.scores, **({"per_type": self.by_type} if self.by_type else {})}


def evaluate(options: EvaluateOptions) -> Evaluation:
    """Score answers against gold."""
    predicted, gold = (
        read_answers(path, format=options.format, columns=options.columns) for path in (options.predicted, options.gold)
    )
    pair = align_answers(predicted, gold)
    scores, by_type = _score(pair, options)
    return Evaluation(
        title=f"{options.predicted} against {options.gold}",
        scores=scores,
        by_type=by_type,
        notices=tuple(pair.remarks),
    )


def _score(pair: AlignedAnswers, options: EvaluateOptions) -> tuple[dict[str, Any], dict[str, dict[str, Any]]]:
    """The scores, and for spans those of each type."""
    plain = score(pair.gold, pair.predicted, pair.beliefs, ties=options.ties)
    if pair.offsets is None or not is_span_tag_set(pair.classes):
        return {name: value for name, value in asdict(plain).items() if value is not None}, {}
    spans = span_scores(pair.gold, pair.predicted, pair.offsets, pair.classes, scheme=options.scheme)
    scores = {name: getattr(spans, name) for name in ("precision", "recall", "f1", "accuracy")}
    counts = {"n": plain.n, "n_gold": spans.n_gold, "n_predicted": spans.n_predicted, "n_correct": spans.n_correct}
    by_type = {kind: asdict(one) for kind, one in spans.per_type.items()}
    return {**scores, **counts, "scheme": str(options.scheme)}, by_type
