"""Training: the history of the epochs, why training stopped, and the scores of each source of the answers."""

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


@dataclass(frozen=True, kw_only=True)
class EpochRow:
    """An epoch of the history; figures that were not computed are None.

    Attributes:
        epoch: Number of the epoch, starting at 1.
        loss: Mean loss of the classifier.
        k: Weight of the rules' posterior in the answers.
        stopping: Stopping score; None if the number of epochs was fixed.
        change: Share of training units whose answer changed.
        objective: Log-likelihood per label.
        seconds: Duration in seconds.
        scores: Scores in the order of `score_names`.
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
    """Score by gold of a source of the answers: classifier, classifier and crowd, with the rules, or the answer."""

    name: str
    title: str
    score: float | None


@dataclass(frozen=True, kw_only=True)
class StudentTeacher:
    """Scores on watched items at the chosen epoch: of the classifier alone, and of the classifier with the rules."""

    name: str
    student: float | None
    teacher: float | None


@dataclass(frozen=True, kw_only=True)
class TrainingFindings:
    """Content of the page of training.

    Attributes:
        epochs: History of the epochs.
        chosen: The chosen epoch.
        stopping_name: Description of the stopping score.
        stops_by_score: Whether the stopping score is one of the scores instead of a log-likelihood.
        stopped: Why training stopped, as a sentence.
        has_rules: Whether rules, or transitions between tags, were used.
        score_names: Names of the scores.
        score_titles: Descriptions of the scores.
        score_name: Kind of the scores: accuracy or F1.
        seconds: Duration of all epochs in seconds; None if unknown.
        views: Score by gold of each source of the answers; empty without gold.
        watched: Scores on watched items with and without the rules.
        findings: Sentences of this page.
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


# Computation of the content. Axes: i unit, k class.

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
"""If the best epoch comes after this share of the maximum number of epochs, longer training may help."""
WORSE = 0.05
"""Minimum number of points by which rules lower a score, for a finding."""


def compute_training(context: Context) -> TrainingFindings | None:
    """Compute the content of the page of training; None without a run."""
    inputs, record = context.inputs, context.inputs.record
    if record is None:
        return None
    names = list(dict.fromkeys(name for row in record.history for name in row.get("scores") or {}))
    chosen = int(record.config["outcome"]["chosen"])
    criterion = stopping_criterion(record)
    seconds = [row["seconds"] for row in (*record.history, *record.refit_history) if row.get("seconds") is not None]
    views, watched = score_views(inputs), watched_scores(record, chosen)
    findings = (*_late_findings(record, chosen, criterion), *_score_findings(record, views, watched))
    epochs = []
    for row in record.history:
        scores, figures = row.get("scores") or {}, ("loss", "k", "change", "objective", "seconds")
        epochs.append(
            EpochRow(
                epoch=int(row["epoch"]),
                stopping=None if criterion is None else round_figure(row.get("stopping")),
                scores=tuple(round_figure(scores.get(name)) for name in names),
                **{name: round_figure(row.get(name)) for name in figures},
            )
        )
    return TrainingFindings(
        epochs=tuple(epochs),
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


def stopping_criterion(record: RunRecord) -> str | None:
    """Return a description of the stopping score; None if the number of epochs was fixed."""
    if any(DEV_SCORE in (row.get("scores") or {}) for row in record.history):
        return DEV
    if _limits(record).get("held_out") is not None:
        return HELD_OUT
    return None


def _limits(record: RunRecord) -> Mapping[str, Any]:
    """Return the options for the number of epochs and for early stopping."""
    return record.config["method"].get("limits") or {}


def explain_stop(record: RunRecord, chosen: int, criterion: str | None) -> str:
    """Return sentences on why training stopped, and which epoch was kept."""
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
    """Return a description of a score in the history."""
    where, _, who = name.rpartition(" ")
    if name == "inference":
        return "the answers, by gold"
    if where and who in ("student", "teacher"):
        return f"{where}: {'the classifier alone' if who == 'student' else 'corrected by the rules'}"
    return name


def score_views(inputs: ReportInputs) -> tuple[ViewScore, ...]:
    """Score each source of the answers for the training items against gold; empty without gold."""
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
    """Return the scores of student and teacher on the watched items at the chosen epoch, or after the refit."""
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
            f"On the labelled items, {100 * alone:.1f}% is the score of the classifier alone against the gold, and "
            f"{100 * final:.1f}% that of classifier{', crowd and rules' if record.audit else ' and crowd'} together."
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


# Plots of the page of training.

BY_LABEL = "log-likelihood per label, higher is better"
FAR = "How far the classifier is from what it should say (loss)"
"""Heading of the plot of the loss."""


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

    # If the stopping score is one of the scores, it is drawn among them, otherwise in a separate plot
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
        *by_epoch("loss", FAR, loss, "mean loss, lower is better", three_digits),
        *by_epoch("convergence", "Convergence of the answers", converging, "share"),
    ]

    # The scores of each source of the answers, and of the classifier with and without the rules
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
