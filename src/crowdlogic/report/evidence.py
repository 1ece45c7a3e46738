"""Evidence as a report shows it: why a unit got its answer, in bits for the answer against its strongest rival.

It is plain data, passed to `make_report` (see docs/decisions/0006): a report of votes alone needs neither
a classifier nor rules.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from crowdlogic.numerics.arrays import Ints


class EvidenceSource(StrEnum):
    """Where evidence comes from."""

    classifier = "classifier"
    annotator = "annotator"
    neighbours = "neighbours"
    rule = "rule"
    transitions = "transitions"
    rest = "rest"


@dataclass(frozen=True, kw_only=True)
class EvidenceTerm:
    """What one source contributes.

    Attributes:
        source: Which kind of source.
        name: The annotator, or the rule as text; empty for the others.
        said: The label given, for an annotator; None for the others.
        bits: Evidence for the answer against its rival: one bit more doubles the odds. None where it is infinite.
    """

    source: EvidenceSource
    name: str = ""
    said: str | None = None
    bits: float | None


@dataclass(frozen=True, kw_only=True)
class AnswerEvidence:
    """Why a unit got its answer.

    Attributes:
        token: Which token of the sentence, from 0; None for documents.
        answer: The answer.
        rival: The class that comes next.
        crowd: The classifier, every label and, where tags form chains, the other tokens of the sentence: these add up
            to crowd_bits exactly.
        crowd_bits: The log2 odds under classifier and crowd (q_a); None where infinite.
        rules: What the rules add to their starting point: crowd_bits, or the classifier's bits.
        from_classifier: Whether the rules start from the classifier alone.
        rules_bits: The log2 odds with the rules (q_b); None without rules, or where infinite.
        k: The weight of q_b in the answer.
        bits: The log2 odds of the answer as its confidence states them (q_f and doubt); None where infinite.
        is_exact: Whether the rules' terms add up by themselves; else each is what is lost without its rule.
    """

    token: int | None
    answer: str
    rival: str
    crowd: tuple[EvidenceTerm, ...]
    crowd_bits: float | None
    rules: tuple[EvidenceTerm, ...]
    from_classifier: bool
    rules_bits: float | None
    k: float
    bits: float | None
    is_exact: bool


Explain = Callable[[Ints], Sequence[AnswerEvidence | None]]
"""The evidence for each of some units, None where there is none. A report calls it once, with all units it shows."""


def explain_nothing(units: Ints) -> list[AnswerEvidence | None]:
    """No evidence."""
    return [None] * len(units)
