"""How a fit went."""

from __future__ import annotations

from dataclasses import dataclass

from crowdlogic.report.findings import ReportFinding


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
