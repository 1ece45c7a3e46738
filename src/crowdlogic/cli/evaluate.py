"""`crowdlogic evaluate`: answers against gold."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated, Any

import typer

from crowdlogic.cli.console import percent, say, show_json, show_table
from crowdlogic.cli.options import FORMAT_NAMES, ColumnsOption, JsonOption, columns_of
from crowdlogic.data.answers import AlignedAnswers, align_answers
from crowdlogic.data.reading import read_answers
from crowdlogic.data.tagging import Scheme, is_span_tag_set
from crowdlogic.metrics.scores import TieCredit, score
from crowdlogic.metrics.spans import span_scores

PredictedFile = Annotated[
    str, typer.Argument(metavar="PREDICTED", help="Answers: item and label, or tagged sentences.")
]
GoldFile = Annotated[str, typer.Argument(metavar="GOLD", help="The truth, laid out likewise.")]


def command(
    predicted: PredictedFile,
    gold: GoldFile,
    scheme: Annotated[Scheme, typer.Option("--scheme", help="How tags are read as spans.")] = Scheme.conll,
    ties: Annotated[
        TieCredit, typer.Option("--ties", help="With p_ columns: count a tie that holds the truth in part.")
    ] = TieCredit.answered,
    column: ColumnsOption = None,
    format: Annotated[
        str | None, typer.Option("--format", "-f", metavar=FORMAT_NAMES, help="The format of both files.")
    ] = None,
    json: JsonOption = False,
) -> None:
    """Score answers against gold: accuracy and more, or precision, recall and F1 of spans."""
    columns = columns_of(column)
    pair = align_answers(
        read_answers(predicted, format=format, columns=columns), read_answers(gold, format=format, columns=columns)
    )
    figures, by_type = figures_of(pair, scheme, ties)
    for sentence in pair.remarks:
        say(sentence)
    if json:
        show_json({**figures, **({"per_type": by_type} if by_type else {})})
        return
    show_table(
        f"{predicted} against {gold}",
        ["score", "value"],
        [(name, shown(name, value)) for name, value in figures.items()],
    )
    if by_type:
        rows = [
            (kind, *(percent(one[name]) for name in ("precision", "recall", "f1")), one["n_gold"])
            for kind, one in by_type.items()
        ]
        show_table(f"by type ({scheme})", ["type", "precision", "recall", "F1", "gold spans"], rows)


def figures_of(
    pair: AlignedAnswers, scheme: Scheme, ties: TieCredit
) -> tuple[dict[str, Any], dict[str, dict[str, Any]]]:
    """The figures to show, and for spans those of each type."""
    plain = score(pair.gold, pair.predicted, pair.beliefs, ties=ties)
    if pair.offsets is None or not is_span_tag_set(pair.classes):
        return {name: value for name, value in asdict(plain).items() if value is not None}, {}
    spans = span_scores(pair.gold, pair.predicted, pair.offsets, pair.classes, scheme=scheme)
    figures = {name: getattr(spans, name) for name in ("precision", "recall", "f1", "accuracy")}
    counts = {"n": plain.n, "n_gold": spans.n_gold, "n_predicted": spans.n_predicted, "n_correct": spans.n_correct}
    return {**figures, **counts, "scheme": str(scheme)}, {kind: asdict(one) for kind, one in spans.per_type.items()}


def shown(name: str, value: Any) -> Any:
    """A figure as the table shows it: shares in percent, counts and losses as they are."""
    return (
        percent(value) if name in {"accuracy", "macro_f1", "precision", "recall", "f1", "calibration_error"} else value
    )
