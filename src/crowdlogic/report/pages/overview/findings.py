"""What was labelled, by whom, how far they agree, and what was made of it."""

from __future__ import annotations

from dataclasses import dataclass

from crowdlogic.report.findings import Histogram, Quantity, ReportFinding, TaskKind


@dataclass(frozen=True, kw_only=True)
class Coefficient:
    """A coefficient of agreement.

    Attributes:
        name: observed, alpha, fleiss, ac1 or cohen.
        title: The same in words.
        figure: Its value and interval.
        level: The level of the interval, such as 0.95.
        reason: Why it is undefined; None when it is not.
    """

    name: str
    title: str
    figure: Quantity
    level: float
    reason: str | None


@dataclass(frozen=True, kw_only=True)
class ClassShare:
    """How common a class is.

    Attributes:
        name: The class.
        votes: How many labels name it.
        vote_share: Their share of all labels; None when there are none.
        answers: How many units got it as their answer.
        posterior_share: The mean belief in it over the units that were answered; None when there are none.
        gold_share: Its share of the known gold; None without gold.
    """

    name: str
    votes: int
    vote_share: float | None
    answers: int
    posterior_share: float | None
    gold_share: float | None


@dataclass(frozen=True, kw_only=True)
class Score:
    """The answers against gold.

    Attributes:
        name: accuracy, or F1 conll and F1 strict for span tags.
        figure: The score; its interval where it is an accuracy.
        majority: What counting votes would have scored; None where it was not computed.
        n: Answers that were scored, those whose gold is known (for F1: gold spans).
    """

    name: str
    figure: Quantity
    majority: float | None
    n: int


@dataclass(frozen=True, kw_only=True)
class CalibrationBin:
    """Units whose confidence lies in [low, high).

    Attributes:
        low: Lower end.
        high: Upper end.
        n: How many units there are.
        confidence: Their mean confidence; None without any.
        accuracy: The share that is right; None without any.
        accuracy_low: Lower end of its 95% interval.
        accuracy_high: Upper end of it.
    """

    low: float
    high: float
    n: int
    confidence: float | None
    accuracy: float | None
    accuracy_low: float | None = None
    accuracy_high: float | None = None


@dataclass(frozen=True, kw_only=True)
class Setting:
    """An option of the method, as text: dotted name and value."""

    name: str
    value: str


@dataclass(frozen=True, kw_only=True)
class OverviewFindings:
    """What was labelled, by whom, how far they agree, and what was made of it.

    Attributes:
        task: Documents, tags or spans.
        n_items: Documents or sentences.
        n_units: Documents or tokens.
        n_annotators: Annotators, with labels or without.
        n_labels: Labels.
        n_unlabelled: Items without any label.
        n_single: Items that only one annotator labelled.
        labels_per_item: How many annotators an item has: whole numbers, the last bin may hold all larger ones.
        mean_labels_per_item: The mean of it; None without items.
        classes: A row per class, in the order of the classes; the most common ones when there are too many.
        n_classes: How many classes there are.
        agreement: Every coefficient.
        intake: What reading dropped or noticed, in sentences.
        method: The method's name.
        settings: Its options, and what the run was given.
        converged: Whether it converged.
        iterations: How many iterations it took.
        iteration_name: What these are: "epoch" for a run, else "iteration".
        scores: Against gold; empty without gold.
        n_gold: Units whose gold is known.
        calibration: Confidence against accuracy; empty without gold.
        calibration_error: The mean gap between both; None without gold.
        findings: The sentences of this page.
        confidence_source: What the confidence rests on, in words; None for the method's own posterior.
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
