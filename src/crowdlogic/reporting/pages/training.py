"""Training: the history of a fit, why it stopped, and what each source would have answered."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from crowdlogic.data.wording import pluralise
from crowdlogic.metrics.scores import accuracy
from crowdlogic.metrics.spans import span_scores
from crowdlogic.reporting.charts import Curve, DotRow, Plot, dot_plot, format_percent, line_chart
from crowdlogic.reporting.findings import Quantity, ReportFinding, TaskKind, Urgency, round_figure, sort_by_importance
from crowdlogic.reporting.inputs import Context, ReportInputs
from crowdlogic.reporting.page import Page
from crowdlogic.store.runs import RunRecord

# How a fit went.


@dataclass(frozen=True, kw_only=True)
class EpochRow:
    """An epoch of the history; None where a figure was not computed.

    Attributes:
        epoch: Counted from 1.
        loss: The classifier's mean loss.
        k: The imitation rate: the weight of q_b in the answers.
        stopping: The stopping score; None where the number of epochs was fixed.
        change: The share of training units whose answer changed.
        objective: The log-likelihood of the labels, per label.
        seconds: How long it took.
        scores: In the order of `score_names`.
    """

    epoch: int
    loss: float | None
    k: float | None
    stopping: float | None
    change: float | None
    objective: float | None
    seconds: float | None
    scores: tuple[float | None, ...]


@dataclass(frozen=True, kw_only=True)
class ViewScore:
    """A view of the training items against gold: the classifier, with the crowd, with the rules, the answer."""

    name: str
    title: str
    score: float | None


@dataclass(frozen=True, kw_only=True)
class StudentTeacher:
    """Scores on watched items at the chosen epoch: the classifier alone, and corrected by the rules."""

    name: str
    student: float | None
    teacher: float | None


@dataclass(frozen=True, kw_only=True)
class TrainingFindings:
    """How the fit went.

    Attributes:
        epochs: The history.
        chosen: The epoch that was kept.
        stopping_name: What the stopping score is, in words.
        stops_by_score: Whether it is one of the scores, a share; else it is a log-likelihood, or there is none.
        stopped: Why it stopped: a whole sentence.
        has_rules: Whether rules, or transitions between tags, had a say.
        score_names: The names of the other scores.
        score_titles: The same in words.
        score_name: What scores are: accuracy, or F1.
        seconds: How long all epochs took; None when not known.
        views: What each source would have answered, against gold; empty without gold.
        watched: Student against teacher on watched items.
        findings: The sentences of this page.
    """

    epochs: tuple[EpochRow, ...]
    chosen: int
    stopping_name: str
    stops_by_score: bool
    stopped: str
    has_rules: bool
    score_names: tuple[str, ...]
    score_titles: tuple[str, ...]
    score_name: str
    seconds: float | None
    views: tuple[ViewScore, ...]
    watched: tuple[StudentTeacher, ...]
    findings: tuple[ReportFinding, ...]


# How a fit went: its history, why it stopped, and what each source would have answered. Axes: i unit, k class.

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
"""Share of the maximum number of epochs after which a best epoch suggests training longer."""
WORSE = 0.05
"""Rules that lower a score by more than this many points call for a look."""


def compute_training(context: Context) -> TrainingFindings | None:
    """Return the findings of the page of training; None without a run."""
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
    """Return a row of the history; without a stopping criterion, the stopping score is omitted."""
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
    """Return what the stopping score measures; None where the number of epochs was fixed."""
    if any(DEV_SCORE in (row.get("scores") or {}) for row in record.history):
        return DEV
    if _limits(record).get("held_out") is not None:
        return HELD_OUT
    return None


def _limits(record: RunRecord) -> Mapping[str, Any]:
    """Return the options for the number of epochs and for early stopping."""
    return record.config["method"].get("limits") or {}


def explain_stop(record: RunRecord, chosen: int, criterion: str | None) -> str:
    """Return why the fit stopped, and what is kept of it, in plain sentences."""
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
        averaged_from, length = record.config["outcome"].get("averaged_from"), len(record.refit_history)
        averaged = f"; what it knew after epochs {averaged_from} to {length} was averaged"
        again = f"{pluralise(length, 'epoch')}{'' if averaged_from is None else averaged}"
        return f"{stopped} It then learnt once more, from all labels, for {again}."
    best = "No other epoch was clearly better than" if by_labels else "The best score was that of"
    return f"{stopped} {best} epoch {chosen}, which is kept."


def score_title(name: str) -> str:
    """Return what a score in the history measures, in words."""
    where, _, who = name.rpartition(" ")
    if name == "inference":
        return "the answers, by gold"
    if where and who in ("student", "teacher"):
        return f"{where}: {'the classifier alone' if who == 'student' else 'corrected by the rules'}"
    return name


def score_views(inputs: ReportInputs) -> tuple[ViewScore, ...]:
    """Return each view of the training items against gold; empty without gold."""
    if inputs.gold is None or not inputs.known.any():
        return ()
    gold, offsets, found = np.asarray(inputs.gold), inputs.labels.offsets, []
    for name, title in VIEW_TITLES.items():
        answer = inputs.views[name].argmax(axis=1).astype(np.int32)
        if inputs.task is TaskKind.spans:
            score = float(span_scores(gold, answer, np.asarray(offsets), inputs.labels.classes).f1)
        else:
            score = float(accuracy(gold, answer))
        found.append(ViewScore(name=name, title=title, score=round_figure(score)))
    return tuple(found)


def watched_scores(record: RunRecord, chosen: int) -> tuple[StudentTeacher, ...]:
    """Return the scores of student and teacher on the watched items, at the epoch that answers."""
    at_chosen = (row for row in record.history if row["epoch"] == chosen)
    row = record.refit_history[-1] if record.refit_history else next(at_chosen, {})
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


def _late_findings(record: RunRecord, chosen: int, criterion: str | None) -> Iterator[ReportFinding]:
    most = _limits(record).get("epochs")
    best = chosen
    if criterion == HELD_OUT:  # a later epoch is kept if it is statistically as good as the best
        scores = [round_figure(row.get("stopping")) for row in record.history]
        best = int(np.argmax([-np.inf if score is None else score for score in scores])) + 1
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


# The plots of a fit: scores, stopping score, loss, convergence, and what each source would have answered.

BY_LABEL = "log-likelihood per label, more is better"
FAR = "How far the classifier is from what it should say (loss)"
"""The heading of the loss."""


def draw_training(found: TrainingFindings, task: TaskKind) -> Mapping[str, Sequence[Plot]]:  # noqa: ARG001
    """Return the plots of the page of training."""

    def points(figures: Iterable[float | None]) -> list[tuple[float, float]]:
        by_number = zip(found.epochs, figures, strict=True)
        return [(epoch.epoch, figure) for epoch, figure in by_number if figure is not None]

    def by_epoch(
        name: str, heading: str, curves: Sequence[Curve], y: str, show: Callable[[float], str] = format_percent
    ) -> Iterator[Plot]:
        drawn = [curve for curve in curves if curve.points]
        if drawn:
            yield line_chart(name, heading, drawn, x="epoch", y=y, chosen=found.chosen, show=show)

    def three_digits(value: float) -> str:
        return f"{value:.3g}"

    # A stopping score that is one of the scores is drawn among these, otherwise on its own.
    stopping = Curve(found.stopping_name, points(epoch.stopping for epoch in found.epochs))
    scores = [
        Curve(title, points(epoch.scores[n] for epoch in found.epochs)) for n, title in enumerate(found.score_titles)
    ]
    if found.stops_by_score and stopping.points not in [curve.points for curve in scores]:
        scores.insert(0, stopping)
    log_likelihood = [] if found.stops_by_score else [stopping]
    converging = [Curve("answers that changed", points(epoch.change for epoch in found.epochs))]
    if found.has_rules:
        converging.append(Curve("weight of the rules", points(epoch.k for epoch in found.epochs)))
    loss = [Curve("loss", points(epoch.loss for epoch in found.epochs))]
    heading = f"What decides when to stop: {found.stopping_name}"
    plots = [
        *by_epoch("scores", "Scores by epoch", scores, found.score_name),
        *by_epoch("stopping", heading, log_likelihood, BY_LABEL, three_digits),
        *by_epoch("loss", FAR, loss, "mean loss, less is better", three_digits),
        *by_epoch("convergence", "Convergence of the answers", converging, "share"),
    ]

    # What each source would have answered, and the classifier with and without the rules.
    rows = [DotRow(view.title, [Quantity(view.score)]) for view in found.views if view.score is not None]
    if rows:
        heading, x = "What each source would have answered", f"{found.score_name} against gold"
        plots.append(dot_plot("views", heading, rows, [found.score_name], x=x))
    rows = [DotRow(one.name, [Quantity(one.student), Quantity(one.teacher)]) for one in found.watched]
    if rows:
        heading = "The classifier alone, and corrected by the rules"
        kinds = ["alone (student)", "corrected by the rules (teacher)"]
        plots.append(dot_plot("student-teacher", heading, rows, kinds, x=found.score_name))
    return {"main": plots}


PAGE = Page(title="Training", module=__name__, compute=compute_training, draw=draw_training)
