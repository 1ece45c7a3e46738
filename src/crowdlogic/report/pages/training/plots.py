"""The plots of a fit: scores, stopping score, loss, convergence, and what each source would have answered."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from crowdlogic.report.findings import TaskKind
from crowdlogic.report.pages.training.findings import EpochRow, TrainingFindings
from crowdlogic.report.plots.charts import Curve, line_chart
from crowdlogic.report.plots.elements import Plot
from crowdlogic.report.plots.rows import DotRow, Mark, dot_plot
from crowdlogic.report.plots.scales import format_percent

BY_LABEL = "log-likelihood per label, more is better"
FAR = "How far the classifier is from what it should say (loss)"
"""The heading of the loss."""


def draw_training(found: TrainingFindings, task: TaskKind) -> Mapping[str, Sequence[Plot]]:  # noqa: ARG001
    """The plots of the page of training."""
    stopping = _points(found, lambda epoch: epoch.stopping)
    heading = f"What decides when to stop: {found.stopping_name}"
    loss = [Curve("loss", _points(found, lambda epoch: epoch.loss))]
    converging = [Curve("answers that changed", _points(found, lambda epoch: epoch.change))]
    if found.has_rules:
        converging.append(Curve("weight of the rules", _points(found, lambda epoch: epoch.k)))
    log_likelihood = [] if found.stops_by_score else [Curve(found.stopping_name, stopping)]
    main = [
        *_by_epoch(found, "scores", "Scores by epoch", _scores(found, stopping), y=found.score_name),
        *_by_epoch(found, "stopping", heading, log_likelihood, y=BY_LABEL, show=_three_digits),
        *_by_epoch(found, "loss", FAR, loss, y="mean loss, less is better", show=_three_digits),
        *_by_epoch(found, "convergence", "How the answers come to rest", converging, y="share"),
        *_views(found),
        *_student_and_teacher(found),
    ]
    return {"main": main}


def _points(found: TrainingFindings, figure: Callable[[EpochRow], float | None]) -> list[tuple[float, float]]:
    """(epoch, figure) where there is a figure."""
    return [(epoch.epoch, value) for epoch in found.epochs if (value := figure(epoch)) is not None]


def _scores(found: TrainingFindings, stopping: list[tuple[float, float]]) -> list[Curve]:
    """A curve for each score, and for the stopping score where that is a score and not among them."""
    points = [
        [(epoch.epoch, score) for epoch in found.epochs if (score := epoch.scores[n]) is not None]
        for n in range(len(found.score_names))
    ]
    curves = [Curve(title, line) for title, line in zip(found.score_titles, points, strict=True)]
    is_new = found.stops_by_score and stopping not in points
    return [Curve(found.stopping_name, stopping), *curves] if is_new else curves


def _by_epoch(
    found: TrainingFindings,
    name: str,
    heading: str,
    curves: Sequence[Curve],
    *,
    y: str,
    show: Callable[[float], str] = format_percent,
) -> Iterator[Plot]:
    drawn = [curve for curve in curves if curve.points]
    if drawn:
        yield line_chart(name, heading, drawn, x="epoch", y=y, chosen=found.chosen, show=show)


def _three_digits(value: float) -> str:
    return f"{value:.3g}"


def _views(found: TrainingFindings) -> Iterator[Plot]:
    rows = [DotRow(view.title, [Mark(view.score)]) for view in found.views if view.score is not None]
    if rows:
        heading = "What each source would have answered"
        yield dot_plot("views", heading, rows, [found.score_name], x=f"{found.score_name} against gold")


def _student_and_teacher(found: TrainingFindings) -> Iterator[Plot]:
    rows = [DotRow(one.name, [Mark(one.student), Mark(one.teacher)]) for one in found.watched]
    if rows:
        kinds = ["alone (student)", "corrected by the rules (teacher)"]
        heading = "The classifier alone, and corrected by the rules"
        yield dot_plot("student-teacher", heading, rows, kinds, x=found.score_name)
