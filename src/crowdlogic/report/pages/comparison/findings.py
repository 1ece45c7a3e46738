"""Several methods on the same labels."""

from __future__ import annotations

from dataclasses import dataclass

from crowdlogic.report.findings import ReportFinding


@dataclass(frozen=True, kw_only=True)
class MethodRow:
    """One method of several.

    Attributes:
        name: The method.
        scores: In the order of `score_names`; empty without gold.
        seconds: How long it took; None when it is not known.
        iterations: How many iterations.
        converged: Whether it converged.
        mean_agreement: The mean share of units on which it agrees with each other method; None for a single one.
    """

    name: str
    scores: tuple[float | None, ...]
    seconds: float | None
    iterations: int
    converged: bool
    mean_agreement: float | None


@dataclass(frozen=True, kw_only=True)
class ComparisonFindings:
    """Several methods on the same labels.

    Attributes:
        methods: The best by the first score first; without gold, the one that most agree with.
        score_names: What was scored.
        agreement: agreement[a][b], the share of units answered alike, in the order of `methods`.
        n_disputed: Units on which not all methods agree.
        findings: The sentences of this page.
    """

    methods: tuple[MethodRow, ...]
    score_names: tuple[str, ...]
    agreement: tuple[tuple[float, ...], ...]
    n_disputed: int
    findings: tuple[ReportFinding, ...]
