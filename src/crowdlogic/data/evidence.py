"""Evidence behind the answer for a unit.

The report, the review and their JSON share these types. Amounts are in bits (log2 odds): one bit more doubles the odds
of the answer. `crowdlogic.learning.explain` computes them for runs, class by class.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

MIN_REST = 5e-3
"""Minimum remainder in bits to be shown; less would be displayed as 0.00."""


class EvidenceSource(StrEnum):
    """Kinds of sources of evidence."""

    prior = "prior"
    classifier = "classifier"
    annotator = "annotator"
    neighbours = "neighbours"
    rule = "rule"
    transitions = "transitions"
    rest = "rest"


@dataclass(frozen=True, kw_only=True)
class EvidenceTerm:
    """Contribution of one source to the evidence.

    Attributes:
        source: The kind of source.
        name: The annotator, or the rule as text; empty for the others.
        said: The label that an annotator gave; None for the others.
        bits: Evidence for the answer against its rival; None if infinite.
    """

    source: EvidenceSource
    name: str = ""
    said: str | None = None
    bits: float | None


@dataclass(frozen=True, kw_only=True)
class UnitEvidence:
    """Evidence behind the answer for a unit.

    Attributes:
        token: Position of the token in its sentence, from 0; None for documents.
        answer: The answer.
        rival: The next most probable class.
        terms: Contribution of each source. The terms add up to `bits` if all of them are finite.
        bits: The log2 odds of the answer against its rival, according to its confidence; None if infinite.
    """

    token: int | None
    answer: str
    rival: str
    terms: tuple[EvidenceTerm, ...]
    bits: float | None


def with_rest(terms: Sequence[EvidenceTerm], bits: float | None) -> tuple[EvidenceTerm, ...]:
    """Return the terms and the remainder that makes them add up to `bits`: mixing, pooling and uniform doubt."""
    found = [term.bits for term in terms if term.bits is not None]
    if bits is None or len(found) < len(terms):
        return tuple(terms)
    rest = round(bits - sum(found), 6)
    return (*terms, EvidenceTerm(source=EvidenceSource.rest, bits=rest)) if abs(rest) > MIN_REST else tuple(terms)
