"""Overview: the size of the data, the agreement of the annotators, the estimate, and scores by gold."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from crowdlogic.confidence.expected_accuracy import describe_source
from crowdlogic.data.corpus import UNKNOWN
from crowdlogic.data.tagging import Scheme, parse_tags, tags_to_spans
from crowdlogic.data.wording import percent, pluralise, shorten_name
from crowdlogic.metrics.agreement import agreement
from crowdlogic.metrics.calibration import calibration_error, tie_credit
from crowdlogic.numerics.arrays import Floats, Ints
from crowdlogic.numerics.logspace import credible_interval
from crowdlogic.reporting.charts import (
    DotRow,
    Plot,
    calibration_chart,
    dot_plot,
    format_percent,
    histogram_chart,
)
from crowdlogic.reporting.findings import (
    CalibrationBin,
    Histogram,
    Quantity,
    ReportFinding,
    TaskKind,
    Urgency,
    count_histogram,
    round_figure,
    round_quantity,
    share_with_interval,
    sort_by_importance,
)
from crowdlogic.reporting.inputs import Context, ReportInputs
from crowdlogic.reporting.page import Page
from crowdlogic.truth.comparison import score_estimate
from crowdlogic.truth.majority import MajorityVote


@dataclass(frozen=True, kw_only=True)
class Coefficient:
    """A coefficient of agreement.

    Attributes:
        name: observed, alpha, fleiss, ac1 or cohen.
        title: Full name.
        figure: Value and interval.
        level: Level of the interval, such as 0.95.
        reason: Reason why it is undefined; None if it is defined.
    """

    name: str
    title: str
    figure: Quantity
    level: float
    reason: str | None


@dataclass(frozen=True, kw_only=True)
class ClassShare:
    """Frequency of a class.

    Attributes:
        name: The class.
        votes: Number of its labels.
        vote_share: Share of its labels; None without labels.
        answers: Number of units with this answer.
        posterior_share: Mean belief in the class over units with an answer; None if there are none.
        gold_share: Share of the class in the gold; None without gold.
    """

    name: str
    votes: int
    vote_share: float | None
    answers: int
    posterior_share: float | None
    gold_share: float | None


@dataclass(frozen=True, kw_only=True)
class Score:
    """Score of the answers against gold.

    Attributes:
        name: accuracy, or F1 conll and F1 strict for span tags.
        figure: The score, with an interval for the accuracy of documents.
        majority: Score of majority vote; None if not computed.
        n: Number of scored answers; for F1, of gold spans.
    """

    name: str
    figure: Quantity
    majority: float | None
    n: int


@dataclass(frozen=True, kw_only=True)
class Setting:
    """An option of the method, as text: dotted name and value."""

    name: str
    value: str


@dataclass(frozen=True, kw_only=True)
class OverviewFindings:
    """Content of the overview.

    Attributes:
        task: Documents, tags or spans.
        n_items: Number of documents or sentences.
        n_units: Number of documents or tokens.
        n_annotators: Number of annotators.
        n_labels: Number of labels.
        n_unlabelled: Number of items without labels.
        n_single: Number of items with a single annotator.
        labels_per_item: Histogram of the number of annotators per item; the last bin includes all larger numbers.
        mean_labels_per_item: Mean number of annotators per item; None without items.
        classes: Frequencies of the classes, in the order of the classes; if there are many, of the most frequent ones.
        n_classes: Number of classes.
        agreement: Coefficients of agreement.
        intake: Notices about labels that were left out or changed.
        method: Name of the method.
        settings: Options of the method and inputs of the run.
        converged: Whether the method converged.
        iterations: Number of iterations or epochs.
        iteration_name: "epoch" for a run, otherwise "iteration".
        scores: Scores against gold; empty without gold.
        n_gold: Number of units with gold.
        calibration: Confidence and accuracy; empty without gold.
        calibration_error: Mean difference between confidence and accuracy; None without gold.
        findings: Sentences of this page.
        confidence_source: Basis of the confidence; None for the method's own posterior.
    """

    task: TaskKind
    n_items: int
    n_units: int
    n_annotators: int
    n_labels: int
    n_unlabelled: int
    n_single: int
    labels_per_item: Histogram
    mean_labels_per_item: float | None
    classes: tuple[ClassShare, ...]
    n_classes: int
    agreement: tuple[Coefficient, ...]
    intake: tuple[str, ...]
    method: str
    settings: tuple[Setting, ...]
    converged: bool
    iterations: int
    iteration_name: str
    scores: tuple[Score, ...]
    n_gold: int
    calibration: tuple[CalibrationBin, ...]
    calibration_error: float | None
    findings: tuple[ReportFinding, ...]
    confidence_source: str | None = None


# Computation of the content. Axes: i unit, k class.

LEVEL = 0.95
"""Level of the intervals."""
MOST_CLASSES = 50
"""Maximum number of rows in the table of classes."""
MOST_PER_ITEM = 20
"""Number of annotators from which items are counted in the last bin of the histogram."""
CALIBRATION_BINS = 10
POOR_ALPHA, MODERATE_ALPHA = 0.4, 0.667
"""Agreement is poor below the first and moderate below the second, Krippendorff's bound for tentative conclusions."""
SKEW = 0.1
"""Minimum difference between the share of a class in the labels and its mean belief, for a finding."""
HIGH_CALIBRATION_ERROR = 0.1
"""Minimum calibration error for a finding."""


def compute_overview(context: Context) -> OverviewFindings:
    """Compute the content of the overview."""
    inputs = context.inputs
    labels, estimate = inputs.labels, inputs.estimate
    per_item = np.bincount(labels.annotations()[0], minlength=len(labels.items))
    coefficients = tuple(
        Coefficient(
            name=one.name,
            title=one.title,
            figure=round_quantity(one.value, one.low, one.high),
            level=one.level,
            reason=one.reason,
        )
        for one in agreement(labels, level=LEVEL, seed=context.seed)
    )
    classes, scores = class_shares(inputs), compute_scores(inputs, seed=context.seed)
    has_gold = inputs.gold is not None and labels.n_classes > 0
    gold_of_answers = np.where(estimate.answered, np.asarray(inputs.gold), UNKNOWN) if has_gold else None
    error = None if gold_of_answers is None else round_figure(calibration_error(gold_of_answers, estimate.beliefs))
    findings = (
        agreement_finding(inputs, next(one for one in coefficients if one.name == "alpha")),
        *score_findings(inputs, scores, error),
        *volume_findings(per_item),
        *balance_findings(classes),
        *(ReportFinding(text, Urgency.know, importance=15) for text in labels.intake.messages()),
    )
    return OverviewFindings(
        task=inputs.task,
        n_items=len(labels.items),
        n_units=labels.n_units,
        n_annotators=len(labels.annotators),
        n_labels=labels.n_labels,
        n_unlabelled=int((per_item == 0).sum()),
        n_single=int((per_item == 1).sum()),
        labels_per_item=count_histogram(per_item, MOST_PER_ITEM),
        mean_labels_per_item=round_figure(per_item.mean()) if len(per_item) else None,
        classes=classes,
        n_classes=labels.n_classes,
        agreement=coefficients,
        intake=tuple(labels.intake.messages()),
        method=estimate.method,
        settings=tuple(Setting(name=name, value=value) for name, value in inputs.settings),
        converged=estimate.converged,
        iterations=len(estimate.trace),
        iteration_name="iteration" if inputs.record is None else "epoch",
        scores=scores,
        n_gold=int(inputs.known.sum()),
        calibration=calibration_bins(inputs),
        calibration_error=error,
        confidence_source=None if estimate.calibration is None else describe_source(estimate.calibration),
        findings=sort_by_importance(findings),
    )


def class_shares(inputs: ReportInputs) -> tuple[ClassShare, ...]:
    """Return the frequency of each class in votes, answers, beliefs and gold."""
    labels, estimate = inputs.labels, inputs.estimate
    size, answered = labels.n_classes, estimate.answered
    votes = np.bincount(labels.label, minlength=size)
    answers = np.bincount(estimate.answer[answered], minlength=size)
    gold = np.zeros(size) if inputs.gold is None else np.bincount(inputs.gold[inputs.known], minlength=size)
    mean_belief = estimate.beliefs[answered].sum(axis=0) / max(answered.sum(), 1)
    shown = np.sort(np.argsort(-votes, kind="stable")[:MOST_CLASSES])
    return tuple(
        ClassShare(
            name=inputs.class_names[k],
            votes=int(votes[k]),
            vote_share=round_figure(votes[k] / votes.sum()) if votes.sum() else None,
            answers=int(answers[k]),
            posterior_share=round_figure(mean_belief[k]) if answered.any() else None,
            gold_share=round_figure(gold[k] / gold.sum()) if gold.sum() else None,
        )
        for k in shown
    )


def compute_scores(inputs: ReportInputs, *, seed: int = 0) -> tuple[Score, ...]:
    """Score the answers and a majority vote against gold, as `evaluate` does; empty without gold."""
    labels, gold = inputs.labels, inputs.gold_answers
    if gold is None:
        return ()
    ours = score_estimate(inputs.estimate, gold)
    votes = score_estimate(MajorityVote(seed=seed).infer(labels), gold)
    if inputs.task is TaskKind.spans:
        n_spans = len(tags_to_spans(gold.answer, np.asarray(labels.offsets), parse_tags(labels.classes), Scheme.conll))
        return tuple(
            Score(name=name, figure=round_quantity(ours[name]), majority=round_figure(votes[name]), n=n_spans)
            for name in (f"F1 {scheme}" for scheme in Scheme)
        )
    n = int((inputs.known & inputs.estimate.answered).sum())
    if not n:
        return ()
    figure = round_quantity(ours["accuracy"])
    if inputs.task is TaskKind.documents:  # the tokens of a sentence depend on each other, so they get no interval
        figure = share_with_interval(ours["accuracy"] * n, n, LEVEL)
    return (Score(name="accuracy", figure=figure, majority=round_figure(votes["accuracy"]), n=n),)


def calibration_bins(inputs: ReportInputs) -> tuple[CalibrationBin, ...]:
    """Return the accuracy of answers by their confidence; ties count partly."""
    judged = inputs.known & inputs.estimate.answered
    if inputs.gold is None or not judged.any():
        return ()
    beliefs = inputs.estimate.beliefs[judged]
    confidence = beliefs.max(axis=1)
    right = tie_credit(inputs.gold[judged], beliefs)
    bin_of = np.minimum((confidence * CALIBRATION_BINS).astype(np.int64), CALIBRATION_BINS - 1)
    n, confidences, rights = (
        np.bincount(bin_of, weights=weights, minlength=CALIBRATION_BINS) for weights in (None, confidence, right)
    )
    lows, highs = credible_interval(np.asarray(rights, dtype=np.float64), n.astype(np.float64), LEVEL)
    return tuple(
        CalibrationBin(
            low=b / CALIBRATION_BINS,
            high=(b + 1) / CALIBRATION_BINS,
            n=int(n[b]),
            confidence=round_figure(confidences[b] / n[b]) if n[b] else None,
            accuracy=round_figure(rights[b] / n[b]) if n[b] else None,
            accuracy_low=round_figure(lows[b]) if n[b] else None,
            accuracy_high=round_figure(highs[b]) if n[b] else None,
        )
        for b in range(CALIBRATION_BINS)
    )


def agreement_finding(inputs: ReportInputs, alpha: Coefficient) -> ReportFinding:
    """Return a finding on the size of the data and the agreement of the annotators."""
    labels = inputs.labels
    noun = "item" if inputs.task is TaskKind.documents else "sentence"
    size = (
        f"{pluralise(len(labels.items), noun)}, {pluralise(labels.n_labels, 'label')} by "
        f"{pluralise(len(labels.annotators), 'annotator')}"
    )
    value, low, high = alpha.figure.value, alpha.figure.low, alpha.figure.high
    if value is None:
        text = f"{size}; agreement cannot be measured: {alpha.reason}."
        return ReportFinding(text, Urgency.know, importance=60)
    interval = "" if low is None or high is None else f" ({low:.2f} to {high:.2f})"
    how = "poorly" if value < POOR_ALPHA else "moderately" if value < MODERATE_ALPHA else "well"
    severity = Urgency.look if value < POOR_ALPHA else Urgency.know
    text = (
        f"{size}. They agree {how}: where 0 is guessing and 1 is full agreement they reach {value:.2f}{interval} "
        f"(Krippendorff's alpha)."
    )
    return ReportFinding(text, severity, importance=60)


def score_findings(inputs: ReportInputs, scores: tuple[Score, ...], error: float | None) -> Iterator[ReportFinding]:
    """Yield findings on the accuracy by gold, on the calibration of the confidence, and on convergence."""
    for score in scores[:1]:
        value, votes = score.figure.value or 0.0, score.majority
        what = "of the answers are right by gold" if score.name == "accuracy" else "span F1 by gold"
        counted = {TaskKind.documents: "item", TaskKind.tags: "token", TaskKind.spans: "gold span"}[inputs.task]
        majority = "" if votes is None else f"; majority vote would give {100 * votes:.1f}%"
        severity = Urgency.look if votes is not None and value < votes else Urgency.know
        text = f"{100 * value:.1f}% {what} ({pluralise(score.n, counted)}){majority}."
        yield ReportFinding(text, severity, importance=70)
    if error is not None and error > HIGH_CALIBRATION_ERROR:
        text = f"Confidences are off by {percent(error)} on average, measured by gold: do not take them literally."
        yield ReportFinding(text, Urgency.look, importance=45)
    if not inputs.estimate.converged:
        text = f"{inputs.estimate.method} did not converge: allow more iterations before relying on it."
        yield ReportFinding(text, Urgency.act, importance=75)


def volume_findings(per_item: Ints) -> Iterator[ReportFinding]:
    """Yield findings on items without labels, and on items with a single annotator."""
    none, one = int((per_item == 0).sum()), int((per_item == 1).sum())
    if none:
        text = f"{pluralise(none, 'item has', 'items have')} no label."
        yield ReportFinding(text, Urgency.look, importance=35)
    if one:
        text = (
            f"{pluralise(one, 'item')} of {len(per_item):,} {'has' if one == 1 else 'have'} a single annotator, so "
            f"nobody else confirms or contradicts the label."
        )
        severity = Urgency.look if 2 * one > len(per_item) else Urgency.know
        yield ReportFinding(text, severity, importance=30)


def balance_findings(classes: tuple[ClassShare, ...]) -> Iterator[ReportFinding]:
    """Yield findings on classes that are given too often or too seldom, and on classes that nobody gave."""
    gaps: Floats = np.array([abs((one.vote_share or 0.0) - (one.posterior_share or 0.0)) for one in classes])
    if len(gaps) and gaps.max() > SKEW and classes[0].posterior_share is not None:
        one = classes[int(gaps.argmax())]
        how = "too often" if (one.vote_share or 0.0) > (one.posterior_share or 0.0) else "too seldom"
        text = (
            f"{shorten_name(one.name)} is {percent(one.vote_share)} of the labels, but {percent(one.posterior_share)} "
            f"of the estimated truth: some annotators give it {how}."
        )
        yield ReportFinding(text, Urgency.know, importance=20, about=shorten_name(one.name))
    unused = [one.name for one in classes if not one.votes]
    if unused and len(classes) > len(unused):
        text = (
            f"Nobody ever gave the class{'es' if len(unused) > 1 else ''} {', '.join(map(shorten_name, unused[:4]))}."
        )
        yield ReportFinding(text, Urgency.know, importance=18)


# Plots of the overview: classes, agreement, annotators per item, calibration.

SHORT_TITLES = {"cohen": "Cohen's kappa, mean"}
"""Short names of coefficients whose titles are too long for a plot."""
MAX_DRAWN_CLASSES = 24
"""Maximum number of classes in a plot; the table shows the others."""


def draw_overview(found: OverviewFindings, task: TaskKind) -> Mapping[str, Sequence[Plot]]:  # noqa: ARG001
    """Return the plots of the overview."""
    plots: list[Plot] = []
    if found.classes:
        shown = found.classes[:MAX_DRAWN_CLASSES]
        kinds = {"what the method believes": "posterior_share", "what was voted": "vote_share", "gold": "gold_share"}
        if all(one.gold_share is None for one in found.classes):
            del kinds["gold"]
        rows = [DotRow(one.name, [Quantity(getattr(one, kind)) for kind in kinds.values()]) for one in shown]
        plots.append(dot_plot("classes", "How common each class is", rows, [*kinds], x="share", from_zero=True))
    if found.agreement:
        plots.append(
            dot_plot(
                "agreement",
                "How far annotators agree",
                [DotRow(SHORT_TITLES.get(one.name, one.title), [one.figure]) for one in found.agreement],
                ["agreement"],
                x=f"coefficient, with {format_percent(found.agreement[0].level)} interval",
                show=lambda v: f"{v:.2f}",
                from_zero=True,
            )
        )
    if len(found.labels_per_item.edges) > 1:
        heading = "How many annotators an item has"
        plots.append(
            histogram_chart("labels-per-item", heading, found.labels_per_item, x="annotators", y="items", whole=True)
        )
    if any(one.n for one in found.calibration):
        heading, y = "Are answers right as often as their confidence says?", "share that is right, with 95% interval"
        plots.append(calibration_chart("calibration", heading, found.calibration, x="confidence", y=y))
    return {"main": plots}


PAGE = Page(title="Overview", module=__name__, compute=compute_overview, draw=draw_overview)
