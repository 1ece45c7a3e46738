"""How a fit went: its history, why it stopped, and what each source would have answered. Axes: i unit, k class."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from crowdlogic.data.estimate import Beliefs
from crowdlogic.data.wording import pluralise
from crowdlogic.metrics.scores import accuracy
from crowdlogic.metrics.spans import span_scores
from crowdlogic.report.context import Context
from crowdlogic.report.findings import ReportFinding, TaskKind, Urgency, round_figure, sort_by_importance
from crowdlogic.report.inputs import ReportInputs
from crowdlogic.report.pages.training.findings import EpochRow, StudentTeacher, TrainingFindings, ViewScore
from crowdlogic.store.runs import RunRecord

VIEW_TITLES = {
    "p": "the classifier alone",
    "q_a": "classifier and crowd",
    "q_b": "corrected by the rules",
    "q_f": "the answers",
}
DEV_SCORE = "dev student"
HELD_OUT = "how well held-out labels are predicted"
DEV = "the score of the classifier on the dev items"
LATE = 0.9
"""A best epoch after this share of the maximum number of epochs is perhaps not the best there is."""
WORSE = 0.05
"""Rules that lower a score by more than this many points call for a look."""


def compute_training(context: Context) -> TrainingFindings | None:
    """The findings of the page of training; None without a run."""
    inputs, record = context.inputs, context.inputs.record
    if record is None:
        return None
    names = list(dict.fromkeys(name for row in record.history for name in row.get("scores") or {}))
    chosen = int(record.config["outcome"]["chosen"])
    criterion = stopping_criterion(record)
    seconds = [row["seconds"] for row in (*record.history, *record.refit_history) if row.get("seconds") is not None]
    views, watched = score_views(inputs), watched_scores(record, chosen)
    findings = (*_late_findings(record, chosen, criterion), *_score_findings(record, views, watched))
    return TrainingFindings(
        epochs=tuple(_epoch(row, names, has_criterion=criterion is not None) for row in record.history),
        chosen=chosen,
        stopping_name=criterion or "none, the number of epochs was fixed",
        stops_by_score=criterion == DEV,
        has_rules=bool(record.audit) or (record.config.get("projector") or {}).get("transitions") is not None,
        stopped=explain_stop(record, chosen, criterion),
        score_names=tuple(names),
        score_titles=tuple(map(score_title, names)),
        score_name="span F1" if inputs.task is TaskKind.spans else "accuracy",
        seconds=round_figure(sum(seconds)) if seconds else None,
        views=views,
        watched=watched,
        findings=sort_by_importance(findings),
    )


def _epoch(row: Mapping[str, Any], names: Sequence[str], *, has_criterion: bool) -> EpochRow:
    """A row of the history; without a stopping criterion its stopping score only counts epochs, and is left out."""
    scores = row.get("scores") or {}
    return EpochRow(
        epoch=int(row["epoch"]),
        loss=round_figure(row.get("loss")),
        k=round_figure(row.get("k")),
        stopping=round_figure(row.get("stopping")) if has_criterion else None,
        change=round_figure(row.get("change")),
        objective=round_figure(row.get("objective")),
        seconds=round_figure(row.get("seconds")),
        scores=tuple(round_figure(scores.get(name)) for name in names),
    )


def stopping_criterion(record: RunRecord) -> str | None:
    """What the stopping score measures; None where the number of epochs was fixed."""
    if any(DEV_SCORE in (row.get("scores") or {}) for row in record.history):
        return DEV
    if _limits(record).get("held_out") is not None:
        return HELD_OUT
    return None


def _limits(record: RunRecord) -> Mapping[str, Any]:
    """The options for the number of epochs and for early stopping."""
    return record.config["method"].get("limits") or {}


def explain_stop(record: RunRecord, chosen: int, criterion: str | None) -> str:
    """Why the fit stopped, and what is kept of it, in plain sentences."""
    done, most = len(record.history), _limits(record).get("epochs")
    if criterion is None:
        return f"The model learnt for {pluralise(done, 'epoch')}, as many as it was given; the last one is kept."
    by_labels = criterion == HELD_OUT
    what = "its prediction of held-out labels" if by_labels else f"its score on the dev items ({criterion})"
    if most is not None and done >= most:
        stopped = f"The model learnt for {pluralise(done, 'epoch')}, as many as it was given."
    else:
        stopped = f"The model stopped learning after {pluralise(done, 'epoch')}: {what} no longer got better."
    if record.refit_history:
        return f"{stopped} It then learnt once more, from all labels{_describe_refit(record)}."
    best = "No other epoch was clearly better than" if by_labels else "The best score was that of"
    return f"{stopped} {best} epoch {chosen}, which is kept."


def _describe_refit(record: RunRecord) -> str:
    """How long the refit on all labels took, and whether its weights were averaged."""
    averaged_from, length = record.config["outcome"].get("averaged_from"), len(record.refit_history)
    if averaged_from is None:
        return f", for {pluralise(length, 'epoch')}"
    return f", for {pluralise(length, 'epoch')}; what it knew after epochs {averaged_from} to {length} was averaged"


def score_title(name: str) -> str:
    """What a score in the history measures, in words."""
    where, _, who = name.rpartition(" ")
    if name == "inference":
        return "the answers, by gold"
    if where and who in ("student", "teacher"):
        return f"{where}: {'the classifier alone' if who == 'student' else 'corrected by the rules'}"
    return name


def score_views(inputs: ReportInputs) -> tuple[ViewScore, ...]:
    """Each view of the training items against gold; empty without gold."""
    if inputs.gold is None or not inputs.known.any():
        return ()
    return tuple(
        ViewScore(name=name, title=title, score=round_figure(_score(inputs, inputs.views[name])))
        for name, title in VIEW_TITLES.items()
    )


def _score(inputs: ReportInputs, beliefs: Beliefs) -> float:
    gold, answer = np.asarray(inputs.gold), beliefs.argmax(axis=1).astype(np.int32)
    if inputs.task is TaskKind.spans:
        return float(span_scores(gold, answer, np.asarray(inputs.labels.offsets), inputs.labels.classes).f1)
    return float(accuracy(gold, answer))


def watched_scores(record: RunRecord, chosen: int) -> tuple[StudentTeacher, ...]:
    """The scores of student and teacher on the watched items, at the epoch that answers."""
    row = (
        record.refit_history[-1]
        if record.refit_history
        else next((row for row in record.history if row["epoch"] == chosen), {})
    )
    scores = row.get("scores") or {}
    parts = (name.rpartition(" ") for name in scores)
    names = dict.fromkeys(name for name, _, who in parts if who in ("student", "teacher"))
    return tuple(
        StudentTeacher(
            name=name,
            student=round_figure(scores.get(f"{name} student")),
            teacher=round_figure(scores.get(f"{name} teacher")),
        )
        for name in names
    )


def _best_epoch(record: RunRecord) -> int:
    """The epoch with the best stopping score; a later one may be kept if it is statistically as good."""
    scores = [round_figure(row.get("stopping")) for row in record.history]
    return int(np.argmax([-np.inf if score is None else score for score in scores])) + 1


def _late_findings(record: RunRecord, chosen: int, criterion: str | None) -> Iterator[ReportFinding]:
    most = _limits(record).get("epochs")
    best = _best_epoch(record) if criterion == HELD_OUT else chosen
    if criterion is not None and most is not None and len(record.history) >= most and best > LATE * most:
        text = f"The best of {pluralise(most, 'epoch')} was number {best}: more epochs may do better."
        yield ReportFinding(text, Urgency.look, importance=33)


def _score_findings(
    record: RunRecord, views: Sequence[ViewScore], watched: Sequence[StudentTeacher]
) -> Iterator[ReportFinding]:
    scores = {view.name: view.score for view in views}
    alone, final = scores.get("p"), scores.get("q_f")
    if alone is not None and final is not None:
        text = (
            f"On the labelled items the classifier alone scores {100 * alone:.1f}% by gold, with the crowd"
            f"{' and the rules' if record.audit else ''} {100 * final:.1f}%."
        )
        yield ReportFinding(text, Urgency.know, importance=27)
    for one in watched:
        if one.student is not None and one.teacher is not None:
            points = 100 * (one.teacher - one.student)
            text = (
                f"On {one.name} items the rules change the classifier's score by {points:+.1f} points, to "
                f"{100 * one.teacher:.1f}%."
            )
            severity = Urgency.look if points < -WORSE else Urgency.know
            yield ReportFinding(text, severity, importance=26, about=one.name)
