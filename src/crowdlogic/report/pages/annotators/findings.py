"""Whom to trust."""

from __future__ import annotations

from dataclasses import dataclass

from crowdlogic.annotators.verdicts.flags import FlagKind
from crowdlogic.report.findings import Histogram, Quantity, ReportFinding


@dataclass(frozen=True, kw_only=True)
class Flag:
    """A flag, and the reason in words: a whole sentence with its figures."""

    kind: FlagKind
    reason: str


@dataclass(frozen=True, kw_only=True)
class ConfusedClasses:
    """A class mistaken for another: the expected number of times, and the share of the labels on the true class."""

    truth: str
    label: str
    count: float
    share: float


@dataclass(frozen=True, kw_only=True)
class TimeBin:
    """An annotator's labels from begin to end (seconds, as the labels have them): how many, and how reliable."""

    begin: float
    end: float
    n: int
    reliability: Quantity


@dataclass(frozen=True, kw_only=True)
class Drift:
    """An annotator's reliability over time.

    Attributes:
        bins: Equal numbers of labels each, in the order of time.
        change: The last bin's share of right labels less the first one's.
        p_value: How probable so clear a trend is by chance; None where undefined.
        falls: Whether reliability falls significantly, by all annotators' tests together.
    """

    bins: tuple[TimeBin, ...]
    change: float
    p_value: float | None
    falls: bool


@dataclass(frozen=True, kw_only=True)
class SpanMistakes:
    """What became of the true spans that an annotator met, in counts; against gold, or the consensus without it."""

    n_sequences: int
    n_true: int
    n_marked: int
    correct: int
    boundary: int
    wrong_type: int
    ignored: int
    spurious: int
    precision: float | None
    recall: float | None
    f1: float | None


@dataclass(frozen=True, kw_only=True)
class AnnotatorRow:
    """One annotator.

    Attributes:
        name: Their name.
        kind: human, llm or code; None when not known.
        n_labels: Labels given.
        n_items: Items seen.
        reliability: The expected share of right labels, with its credible interval; for span tags the expected F1 of
            whole spans.
        token_reliability: For span tags: the expected share of right tokens; None otherwise.
        expected_accuracy: How often they would be right if classes came as often as believed; None if not computed.
        gold_accuracy: The share of right labels by gold, with its interval, and over how many: n_gold.
        n_gold: Labels whose gold is known.
        skill: How far their labels agree with the answers beyond what their own habits would by chance, with its
            interval: 1 for always right, 0 for guessing or always saying the same, below 0 for worse than chance.
        informativeness: How far their labels depend on the truth: 0 for one who answers the same whatever it is, 1 for
            one whose labels give it away; None if not computed.
        confusions: What they mix up most, at most three.
        matrix: matrix[m][n], expected counts of labels n where the truth is m; None with too many classes.
        favourite: The label they give most; None without labels.
        favourite_share: Its share of their labels.
        weight: The method's own number for them; None when it has none.
        flags: The most serious first.
        drift: Their reliability over time; None without times or with too few labels.
        mistakes: For span tags; None otherwise.
    """

    name: str
    kind: str | None
    n_labels: int
    n_items: int
    reliability: Quantity
    token_reliability: float | None
    expected_accuracy: float | None
    gold_accuracy: Quantity
    n_gold: int
    skill: Quantity
    informativeness: float | None
    confusions: tuple[ConfusedClasses, ...]
    matrix: tuple[tuple[float, ...], ...] | None
    favourite: str | None
    favourite_share: float | None
    weight: float | None
    flags: tuple[Flag, ...]
    drift: Drift | None
    mistakes: SpanMistakes | None


@dataclass(frozen=True, kw_only=True)
class PairAgreement:
    """Agreement between the busiest annotators, as square tables over `names`; None where two share nothing.

    Attributes:
        names: The annotators.
        shared: shared[a][b], units that both labelled.
        agreement: agreement[a][b], the share of these with the same label.
        kappa: kappa[a][b], Cohen's; None where it is undefined.
        n_annotators: Of how many annotators these are the busiest.
    """

    names: tuple[str, ...]
    shared: tuple[tuple[int, ...], ...]
    agreement: tuple[tuple[float | None, ...], ...]
    kappa: tuple[tuple[float | None, ...], ...]
    n_annotators: int


@dataclass(frozen=True, kw_only=True)
class AnnotatorFindings:
    """Whom to trust.

    Attributes:
        rows: Flagged annotators first (the most serious flag, then the most labels), then the others by labels.
        n_annotators: How many there are; rows may be fewer.
        n_flagged: How many have each flag.
        classes: The names along both axes of the matrices; empty with too many classes.
        level: The level of the intervals.
        reliability: A histogram over [0, 1] of all annotators with labels.
        pairs: Agreement between the busiest; None with fewer than two annotators.
        against_gold: Whether span mistakes are counted against gold; else against the consensus.
        has_times: Whether labels have times.
        by_others: Whether everybody is judged by the votes of the others, since the method has no model of annotators.
        findings: The sentences of this page.
    """

    rows: tuple[AnnotatorRow, ...]
    n_annotators: int
    n_flagged: dict[str, int]
    classes: tuple[str, ...]
    level: float
    reliability: Histogram
    pairs: PairAgreement | None
    against_gold: bool
    has_times: bool
    by_others: bool
    findings: tuple[ReportFinding, ...]
