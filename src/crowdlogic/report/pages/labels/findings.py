"""How sure the answers are, and which to check."""

from __future__ import annotations

from dataclasses import dataclass

from crowdlogic.report.evidence import AnswerEvidence
from crowdlogic.report.findings import Histogram, ReportFinding


@dataclass(frozen=True, kw_only=True)
class Threshold:
    """What checking every answer below a confidence would cost, and find.

    Attributes:
        confidence: The threshold.
        n_below: How many units lie below it.
        expected_wrong: How many of these are expected to be wrong.
        share_found: That share of all expected wrong answers; None when none is expected.
    """

    confidence: float
    n_below: int
    expected_wrong: float
    share_found: float | None


@dataclass(frozen=True, kw_only=True)
class Belief:
    """A class and its probability."""

    name: str
    share: float


@dataclass(frozen=True, kw_only=True)
class Vote:
    """A label: by whom, what, how much it counts, and how reliable its giver is; reliability None when not known."""

    annotator: str
    label: str
    weight: float
    reliability: float | None


@dataclass(frozen=True, kw_only=True)
class Span:
    """Tokens start to end (exclusive) of a type; for tags that are no spans, each token's tag is a span of its own."""

    start: int
    end: int
    kind: str


@dataclass(frozen=True, kw_only=True)
class Reading:
    """One annotator's spans in a sentence, and how reliable they are; reliability None when not known."""

    annotator: str
    spans: tuple[Span, ...]
    reliability: float | None


@dataclass(frozen=True, kw_only=True)
class TaggedSentence:
    """A sentence with everybody's spans.

    Attributes:
        tokens: The tokens, cut after a number of them; `token 1`, ... when the words are not known.
        n_tokens: How many there are.
        confidence: The confidence of each token shown; None where there is no answer.
        consensus: The answer's spans.
        readings: Every annotator's, the first so many.
        n_readings: How many annotators there are.
        gold: The gold's spans; None when it is not known.
    """

    tokens: tuple[str, ...]
    n_tokens: int
    confidence: tuple[float | None, ...]
    consensus: tuple[Span, ...]
    readings: tuple[Reading, ...]
    n_readings: int
    gold: tuple[Span, ...] | None


@dataclass(frozen=True, kw_only=True)
class ShownItem:
    """An item in detail.

    Attributes:
        name: Its name.
        text: Its text, cut at a length; None when it is not known. Empty for sentences: see `sentence`.
        is_cut: Whether text or tokens were cut.
        answer: The answer; None for a sentence, and where there is none.
        confidence: The belief in it; for a sentence that of its least sure token. None where there is no answer.
        expected_wrong: 1 - confidence; for a sentence the expected number of wrong tokens.
        beliefs: The most probable classes, most probable first; for a sentence those of its least sure token.
        token: Which token of a sentence is the least sure, from 0; None for documents.
        votes: Every label of it (of that token), the first so many.
        n_votes: How many there are.
        gold: The gold (of that token); None when it is not known.
        sentence: The sentence and everybody's spans; None for documents.
        evidence: Why it got its answer; None when that is not known.
    """

    name: str
    text: str | None
    is_cut: bool
    answer: str | None
    confidence: float | None
    expected_wrong: float
    beliefs: tuple[Belief, ...]
    token: int | None
    votes: tuple[Vote, ...]
    n_votes: int
    gold: str | None
    sentence: TaggedSentence | None
    evidence: AnswerEvidence | None


@dataclass(frozen=True, kw_only=True)
class LabelFindings:
    """How sure the answers are, and which to check.

    Attributes:
        n_answered: Units with an answer.
        n_unanswered: Units without one.
        n_tied: Units with several best classes.
        expected_wrong: The expected number of wrong answers, by the beliefs.
        expected_wrong_share: Their share; None without answers.
        confidence: A histogram over [0, 1] of the answers' confidence.
        check_below: The confidence below which answers should be checked; None where all or none should.
        thresholds: What checking below each would cost and find.
        doubts: The items most in doubt, the most doubtful first; those with nothing in doubt are left out.
        n_doubts: How many items have any doubt at all.
        gold_mistakes: Items whose gold the method confidently denies: `answer` against `gold`; the surest first.
        n_gold_mistakes: How many there are.
        sure: How confident the method must be to doubt the gold.
        text_length: Texts longer than this many characters are cut.
        findings: The sentences of this page.
    """

    n_answered: int
    n_unanswered: int
    n_tied: int
    expected_wrong: float
    expected_wrong_share: float | None
    confidence: Histogram
    check_below: float | None
    thresholds: tuple[Threshold, ...]
    doubts: tuple[ShownItem, ...]
    n_doubts: int
    gold_mistakes: tuple[ShownItem, ...]
    n_gold_mistakes: int
    sure: float
    text_length: int
    findings: tuple[ReportFinding, ...]
