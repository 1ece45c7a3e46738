"""How a fit went: its history, why it stopped, and what each source would have answered. Axes: i unit, k class."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from crowdlogic.data.estimate import Beliefs
from crowdlogic.metrics.scores import TieCredit, accuracy
from crowdlogic.metrics.spans import span_scores
from crowdlogic.report.findings import (
    EpochRow,
    Finding,
    Page,
    Severity,
    StudentTeacher,
    Task,
    TrainingFindings,
    ViewScore,
)
from crowdlogic.report.material import Material
from crowdlogic.report.wording import by_importance, counted, number
from crowdlogic.store.runs import RunRecord

TITLES = {
    "p": "the classifier alone",
    "q_a": "classifier and crowd",
    "q_b": "put right by the rules",
    "q_f": "the answers",
}
DEV = "dev student"
HELD_OUT = "the log likelihood of the labels kept apart"
BY_DEV = "the score of the classifier on the dev items"
LATE = 0.9
"""A best epoch in the last tenth of all that were allowed was perhaps not the best there is."""


def training_of(made: Material) -> TrainingFindings | None:
    """The history of a run; None without one."""
    kept = made.kept
    if kept is None:
        return None
    names = list(dict.fromkeys(name for row in kept.history for name in row.get("scores") or {}))
    chosen = int(kept.config["outcome"]["chosen"])
    rule = stopping_rule(kept)
    seconds = [row.get("seconds") for row in (*kept.history, *kept.refit_history)]
    total = sum(s for s in seconds if s is not None) if any(s is not None for s in seconds) else None
    views, watched = views_of(made), watched_at(kept, chosen)
    epochs = tuple(_epoch(row, names, scored=rule is not None) for row in kept.history)
    score_name = "span F1" if made.task is Task.spans else "accuracy"
    return TrainingFindings(
        epochs,
        chosen,
        rule or "nothing to stop by",
        rule == BY_DEV,
        stopped(kept, chosen, rule),
        tuple(names),
        score_name,
        number(total),
        views,
        watched,
        by_importance(_findings(kept, chosen, rule, views, watched)),
    )


def _epoch(row: Mapping[str, Any], names: Sequence[str], *, scored: bool) -> EpochRow:
    """A line of the history; without a stopping rule its score is a mere counter, and is left out."""
    loss, k, stopping, change, objective, seconds = (
        number(row.get(name)) for name in ("loss", "k", "stopping", "change", "objective", "seconds")
    )
    others = row.get("scores") or {}
    scores = tuple(number(others.get(name)) for name in names)
    return EpochRow(int(row["epoch"]), loss, k, stopping if scored else None, change, objective, seconds, scores)


def stopping_rule(kept: RunRecord) -> str | None:
    """What the stopping score measures; None where the fit had nothing to stop by."""
    if any(DEV in (row.get("scores") or {}) for row in kept.history):
        return BY_DEV
    if kept.config["method"].get("held_out") is not None:
        return HELD_OUT
    return None


def stopped(kept: RunRecord, chosen: int, rule: str | None) -> str:
    """Why the fit stopped, as a sentence."""
    done, most = len(kept.history), kept.config["method"].get("epochs")
    if rule is None:
        run = "the one epoch was" if done == 1 else f"all {done:,} epochs were"
        return f"There was nothing to stop by: {run} run, and the last one is kept."
    by_labels = rule == HELD_OUT
    kept_one = (
        f"epoch {chosen} {'is the latest as good as the best' if by_labels else 'had the best score'} and is kept"
    )
    if kept.refit_history:
        kept_one = f"epoch {chosen} is the latest as good as the best, so all labels were then learnt{_again(kept)}"
    if most is not None and done >= most:
        run = "The one epoch that was allowed was" if done == 1 else f"All {done:,} epochs that were allowed were"
        return f"{run} run; {kept_one}."
    waited = counted(done - chosen, "epoch")
    lost = "had been worse by more than a standard error" if by_labels else "had not risen"
    return f"It stopped after epoch {done}, since {rule} {lost} for {waited}; {kept_one}."


def _again(kept: RunRecord) -> str:
    """How a second pass answers."""
    since = kept.config["outcome"].get("since")
    if since is None:
        return " for as many epochs"
    length = counted(len(kept.refit_history), "epoch")
    return f" for {length}, and the classifier is the mean of its weights from epoch {since} on"


def views_of(made: Material) -> tuple[ViewScore, ...]:
    """Each view of the training items against gold; empty without gold."""
    if made.gold is None or not made.known.any():
        return ()
    return tuple(ViewScore(name, title, number(_score(made, made.views[name]))) for name, title in TITLES.items())


def _score(made: Material, beliefs: Beliefs) -> float:
    gold, answer = np.asarray(made.gold), beliefs.argmax(axis=1).astype(np.int32)
    if made.task is Task.spans:
        return float(span_scores(gold, answer, np.asarray(made.labels.offsets), made.labels.classes).f1)
    return float(accuracy(gold, answer, beliefs=beliefs, ties=TieCredit.half))


def watched_at(kept: RunRecord, chosen: int) -> tuple[StudentTeacher, ...]:
    """The scores of student and teacher on the watched items, at the epoch that answers."""
    row = (
        kept.refit_history[-1]
        if kept.refit_history
        else next((row for row in kept.history if row["epoch"] == chosen), {})
    )
    scores = row.get("scores") or {}
    names = dict.fromkeys(
        name.rpartition(" ")[0] for name in scores if name.rpartition(" ")[2] in ("student", "teacher")
    )
    return tuple(
        StudentTeacher(name, number(scores.get(f"{name} student")), number(scores.get(f"{name} teacher")))
        for name in names
    )


def _highest(kept: RunRecord) -> int:
    """The epoch with the best stopping score; a later one may be kept, if it cannot be told from it."""
    scores = [number(row.get("stopping")) for row in kept.history]
    return int(np.argmax([-np.inf if score is None else score for score in scores])) + 1


def _findings(
    kept: RunRecord, chosen: int, rule: str | None, views: tuple[ViewScore, ...], watched: tuple[StudentTeacher, ...]
) -> Iterator[Finding]:
    most = kept.config["method"].get("epochs")
    best = _highest(kept) if rule == HELD_OUT else chosen
    if rule is not None and most is not None and len(kept.history) >= most and best > LATE * most:
        text = f"The best of {counted(most, 'epoch')} was number {best}: more epochs may do better."
        yield Finding(text, Severity.look, Page.training, importance=33)
    by = {view.name: view.score for view in views}
    alone, final = by.get("p"), by.get("q_f")
    if alone is not None and final is not None:
        text = (
            f"On the labelled items the classifier alone scores {100 * alone:.1f}% by gold, with the crowd"
            f"{' and the rules' if kept.audit else ''} {100 * final:.1f}%."
        )
        yield Finding(text, Severity.know, Page.training, importance=27)
    for one in watched:
        if one.student is not None and one.teacher is not None:
            points = 100 * (one.teacher - one.student)
            text = (
                f"On {one.name} items the rules change the classifier's score by {points:+.1f} points, to "
                f"{100 * one.teacher:.1f}%."
            )
            severity = Severity.look if points < -0.05 else Severity.know
            yield Finding(text, severity, Page.training, one.name, 26)
