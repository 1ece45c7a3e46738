"""The overview: what was labelled, how far annotators agree, what was made of it, and how right that is.

Axes: i unit, k class.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from crowdlogic.annotators.table import credible_interval
from crowdlogic.data.estimate import Estimate
from crowdlogic.data.tagging import Scheme
from crowdlogic.metrics.agreement import Agreement, agreement
from crowdlogic.metrics.scores import TieCredit, accuracy, calibration_error, tie_credit
from crowdlogic.metrics.spans import span_scores
from crowdlogic.numerics.arrays import Floats, Ints
from crowdlogic.report.findings import (
    CalibrationBin,
    ClassShare,
    Coefficient,
    Figure,
    Finding,
    Histogram,
    Overview,
    Page,
    Score,
    Severity,
    Task,
)
from crowdlogic.report.material import Material
from crowdlogic.report.wording import by_importance, counted, number, percent, short
from crowdlogic.truth.majority import MajorityVote

LEVEL = 0.95
MOST_CLASSES = 50
"""Classes that the table of their shares holds."""
MOST_PER_ITEM = 20
"""Items with this many annotators or more share the last bin."""
BINS = 10
"""Bins of the calibration."""
LOW, FAIR = 0.4, 0.667
"""Krippendorff's own bound for tentative conclusions is 0.667; below 0.4 agreement is poor by everybody's."""
SKEW = 0.1
"""A class whose share of the votes and whose share of the answers differ by this much is pointed out."""
OVERSURE = 0.1
"""A calibration error from which on confidences should not be taken at their word."""


def overview_of(made: Material, *, seed: int = 0) -> Overview:
    """The overview."""
    labels, estimate = made.labels, made.estimate
    per_item = np.bincount(labels.annotations()[0], minlength=len(labels.items))
    coefficients = tuple(map(_coefficient, agreement(labels, level=LEVEL, seed=seed)))
    classes, scores = class_shares(made), scores_of(made)
    error = calibration_error(made.gold, estimate.beliefs) if made.gold is not None and labels.n_classes else np.nan
    return Overview(
        made.task,
        len(labels.items),
        labels.n_units,
        len(labels.annotators),
        labels.n_labels,
        n_unlabelled=int((per_item == 0).sum()),
        n_single=int((per_item == 1).sum()),
        labels_per_item=whole_numbers(per_item, MOST_PER_ITEM),
        mean_labels_per_item=number(per_item.mean()) if len(per_item) else None,
        classes=classes,
        n_classes=labels.n_classes,
        agreement=coefficients,
        intake=tuple(labels.intake.messages()),
        method=estimate.method,
        settings=made.settings,
        converged=estimate.converged,
        iterations=len(estimate.trace),
        scores=scores,
        n_gold=int(made.known.sum()),
        calibration=calibration_of(made),
        calibration_error=number(error),
        findings=by_importance(_findings(made, per_item, coefficients, classes, scores, number(error))),
    )


def whole_numbers(values: Ints, most: int) -> Histogram:
    """How often each whole number occurs, from 0; the last bin holds `most` and all above."""
    top = int(values.max(initial=0))
    counts = np.bincount(np.minimum(values, most), minlength=min(top, most) + 1)
    edges = [*range(len(counts)), max(top, 0) + 1]
    return Histogram(tuple(map(float, edges)), tuple(counts.tolist()))


def _coefficient(one: Agreement) -> Coefficient:
    figure = Figure(number(one.value), number(one.low), number(one.high))
    return Coefficient(one.name, one.title, figure, one.level, one.reason)


def class_shares(made: Material) -> tuple[ClassShare, ...]:
    """How common each class is among votes, answers, beliefs and gold."""
    labels, estimate = made.labels, made.estimate
    size, answered = labels.n_classes, estimate.answered
    votes = np.bincount(labels.label, minlength=size)
    answers = np.bincount(estimate.answer[answered], minlength=size)
    gold = np.zeros(size) if made.gold is None else np.bincount(made.gold[made.known], minlength=size)
    columns = (votes / max(votes.sum(), 1), estimate.beliefs[answered].sum(axis=0) / max(answered.sum(), 1))
    shown = np.sort(np.argsort(-votes, kind="stable")[:MOST_CLASSES])
    return tuple(
        ClassShare(
            made.class_names[k],
            int(votes[k]),
            number(columns[0][k]) if votes.sum() else None,
            int(answers[k]),
            number(columns[1][k]) if answered.any() else None,
            number(gold[k] / gold.sum()) if gold.sum() else None,
        )
        for k in shown
    )


def scores_of(made: Material) -> tuple[Score, ...]:
    """The answers against gold, with those of a majority vote beside them; nothing without gold."""
    if made.gold is None or not made.known.any():
        return ()
    votes = MajorityVote().infer(made.labels)
    if made.task is not Task.spans:
        return (_accuracy(made, votes),)
    return tuple(_f1(made, votes, scheme) for scheme in Scheme)


def _accuracy(made: Material, votes: Estimate) -> Score:
    gold, n = np.asarray(made.gold), int(made.known.sum())
    ours, theirs = (
        accuracy(gold, one.answer, beliefs=one.beliefs, ties=TieCredit.half) for one in (made.estimate, votes)
    )
    low, high = credible_interval(np.array([ours * n]), np.array([float(n)]), LEVEL)
    alone = made.task is Task.documents  # the tokens of a sentence are not independent of each other
    figure = Figure(number(ours), number(low[0]) if alone else None, number(high[0]) if alone else None)
    return Score("accuracy", figure, number(theirs), n)


def _f1(made: Material, votes: Estimate, scheme: Scheme) -> Score:
    offsets, classes = np.asarray(made.labels.offsets), made.labels.classes
    ours, theirs = (
        span_scores(np.asarray(made.gold), one.answer, offsets, classes, scheme=scheme)
        for one in (made.estimate, votes)
    )
    return Score(f"F1 {scheme}", Figure(number(ours.f1)), number(theirs.f1), ours.n_gold)


def calibration_of(made: Material) -> tuple[CalibrationBin, ...]:
    """How often answers of each confidence are right; ties count in part."""
    chosen = made.known & made.estimate.answered
    if made.gold is None or not chosen.any():
        return ()
    beliefs = made.estimate.beliefs[chosen]
    confidence = beliefs.max(axis=1)
    right = tie_credit(made.gold[chosen], beliefs)
    at = np.minimum((confidence * BINS).astype(np.int64), BINS - 1)
    n, sums, hits = (np.bincount(at, weights=w, minlength=BINS) for w in (None, confidence, right))
    return tuple(
        CalibrationBin(
            b / BINS,
            (b + 1) / BINS,
            int(n[b]),
            number(sums[b] / n[b]) if n[b] else None,
            number(hits[b] / n[b]) if n[b] else None,
        )
        for b in range(BINS)
    )


def _findings(
    made: Material,
    per_item: Ints,
    coefficients: tuple[Coefficient, ...],
    classes: tuple[ClassShare, ...],
    scores: tuple[Score, ...],
    error: float | None,
) -> Iterator[Finding]:
    yield _headline(made, next(one for one in coefficients if one.name == "alpha"))
    yield from (_scored(score, made) for score in scores[:1])
    if error is not None and error > OVERSURE:
        text = f"Confidences are off by {percent(error)} on average, measured by gold: do not take them at their word."
        yield Finding(text, Severity.look, Page.overview, importance=45)
    if not made.estimate.converged:
        text = f"{made.estimate.method} stopped before it settled: allow more iterations before relying on it."
        yield Finding(text, Severity.act, Page.overview, importance=75)
    yield from _about_volume(per_item)
    yield from _about_balance(classes)
    yield from (Finding(text, Severity.know, Page.overview, importance=15) for text in made.labels.intake.messages())


def _headline(made: Material, alpha: Coefficient) -> Finding:
    labels = made.labels
    noun = "item" if made.task is Task.documents else "sentence"
    size = (
        f"{counted(len(labels.items), noun)}, {counted(labels.n_labels, 'label')} by "
        f"{counted(len(labels.annotators), 'annotator')}"
    )
    value, low, high = alpha.figure.value, alpha.figure.low, alpha.figure.high
    if value is None:
        return Finding(f"{size}; agreement cannot be measured: {alpha.reason}.", Severity.know, Page.overview, None, 60)
    between = "" if low is None or high is None else f" ({low:.2f} to {high:.2f})"
    word = "poor" if value < LOW else "moderate" if value < FAIR else "good"
    severity = Severity.look if value < LOW else Severity.know
    text = f"{size}. They agree {_how(word)}: Krippendorff's alpha is {value:.2f}{between}."
    return Finding(text, severity, Page.overview, importance=60)


def _how(word: str) -> str:
    return {"poor": "poorly", "moderate": "moderately", "good": "well"}[word]


def _scored(score: Score, made: Material) -> Finding:
    value, votes = score.figure.value or 0.0, score.majority
    what = "of the answers are right by gold" if score.name == "accuracy" else "span F1 by gold"
    known = f" ({counted(score.n, 'item' if made.task is Task.documents else 'token')})"
    known = f" ({counted(score.n, 'gold span')})" if made.task is Task.spans else known
    beside = "" if votes is None else f"; counting votes would give {100 * votes:.1f}%"
    severity = Severity.look if votes is not None and value < votes else Severity.know
    return Finding(f"{100 * value:.1f}% {what}{known}{beside}.", severity, Page.overview, importance=70)


def _about_volume(per_item: Ints) -> Iterator[Finding]:
    none, one = int((per_item == 0).sum()), int((per_item == 1).sum())
    if none:
        verb = "has" if none == 1 else "have"
        yield Finding(f"{counted(none, 'item')} {verb} no label.", Severity.look, Page.overview, importance=35)
    if one:
        verb = "has" if one == 1 else "have"
        text = (
            f"{counted(one, 'item')} of {len(per_item):,} {verb} a single annotator, whom nobody there can contradict."
        )
        severity = Severity.look if 2 * one > len(per_item) else Severity.know
        yield Finding(text, severity, Page.overview, importance=30)


def _about_balance(classes: tuple[ClassShare, ...]) -> Iterator[Finding]:
    gaps: Floats = np.array([abs((one.vote_share or 0.0) - (one.posterior_share or 0.0)) for one in classes])
    if len(gaps) and gaps.max() > SKEW and classes[0].posterior_share is not None:
        one = classes[int(gaps.argmax())]
        way = "to" if (one.vote_share or 0.0) > (one.posterior_share or 0.0) else "away from"
        text = (
            f"{short(one.name)} is {percent(one.vote_share)} of the labels and {percent(one.posterior_share)} of what "
            f"is believed: some annotators lean {way} it."
        )
        yield Finding(text, Severity.know, Page.overview, short(one.name), 20)
    unused = [one.name for one in classes if not one.votes]
    if unused and len(classes) > len(unused):
        text = f"Nobody ever gave the class{'es' if len(unused) > 1 else ''} {', '.join(map(short, unused[:4]))}."
        yield Finding(text, Severity.know, Page.overview, importance=18)
