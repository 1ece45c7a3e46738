"""Comparison of several methods on the same labels."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from crowdlogic.data.wording import percent, pluralise
from crowdlogic.numerics.arrays import Bools, Floats
from crowdlogic.reporting.charts import DotRow, Plot, dot_plot, heat_map
from crowdlogic.reporting.findings import Quantity, ReportFinding, TaskKind, Urgency, round_figure, sort_by_importance
from crowdlogic.reporting.inputs import Context
from crowdlogic.reporting.page import Page
from crowdlogic.truth.comparison import MethodResult, pairwise_agreement, shown_scores


@dataclass(frozen=True, kw_only=True)
class MethodRow:
    """One of the compared methods.

    Attributes:
        name: Name of the method.
        scores: Scores in the order of `score_names`; empty without gold.
        seconds: Duration in seconds; None if unknown.
        iterations: Number of iterations.
        converged: Whether it converged.
        mean_agreement: Mean share of units with the same answer by another method; None for a single method.
    """

    name: str
    scores: tuple[float | None, ...]
    seconds: float | None
    iterations: int
    converged: bool
    mean_agreement: float | None


@dataclass(frozen=True, kw_only=True)
class ComparisonFindings:
    """Content of the page of the comparison.

    Attributes:
        methods: The methods, best first by the first score, or without gold by the mean agreement.
        score_names: Names of the scores.
        agreement: agreement[a][b], the share of units with the same answer, in the order of `methods`.
        n_disputed: Number of units on which not all methods agree.
        findings: Sentences of this page.
    """

    methods: tuple[MethodRow, ...]
    score_names: tuple[str, ...]
    agreement: tuple[tuple[float, ...], ...]
    n_disputed: int
    findings: tuple[ReportFinding, ...]


# Computation of the content. Axes: a and b methods, i unit.

STANDARD_ERRORS = 2.0
"""Minimum difference of scores, in standard errors, to call a method better."""
DISPUTED = 0.05
"""Minimum share of disputed units for which the choice of the method matters."""


def compute_comparison(context: Context) -> ComparisonFindings | None:
    """Compute the content of the page of the comparison; None if no methods are compared."""
    compared = context.compared
    if not compared:
        return None
    names = shown_scores(compared)
    between = pairwise_agreement(compared)
    # Without the agreement of each method with itself
    mean = (between.sum(axis=1) - 1) / max(len(compared) - 1, 1)
    keys = [-(one.scores[names[0]] if names else share) for one, share in zip(compared, mean, strict=True)]
    order = np.argsort(np.nan_to_num(np.array(keys), nan=1.0), kind="stable").tolist()
    rows = tuple(
        MethodRow(
            name=compared[a].name,
            scores=tuple(round_figure(compared[a].scores[name]) for name in names),
            seconds=round_figure(compared[a].seconds),
            iterations=len(compared[a].estimate.trace),
            converged=compared[a].estimate.converged,
            mean_agreement=round_figure(mean[a]) if len(compared) > 1 else None,
        )
        for a in order
    )
    disputed, agreement = disputed_units(compared), between[np.ix_(order, order)]
    findings = [*_best_finding(context, rows, names, agreement[0])]
    n = int(disputed.sum())
    share = n / max(len(disputed), 1)
    if len(rows) > 1:
        text = f"All {len(rows)} methods give the same labels."
        if n:
            text = f"The {len(rows)} methods disagree on {pluralise(n, 'answer')} ({percent(share)})."
        findings.append(ReportFinding(text, Urgency.look if share > DISPUTED else Urgency.know, importance=32))
        not_converged = [row.name for row in rows if not row.converged]
        if not_converged:
            text = f"Not converged: {', '.join(not_converged)}."
            findings.append(ReportFinding(text, Urgency.know, importance=12))
    return ComparisonFindings(
        methods=rows,
        score_names=tuple(names),
        agreement=tuple(tuple(round(float(x), 6) for x in line) for line in agreement),
        n_disputed=n,
        findings=sort_by_importance(findings),
    )


def disputed_units(compared: Sequence[MethodResult]) -> Bools:
    """Return disputed[i], whether two methods that answer unit i answer differently."""
    answers = np.stack([one.estimate.answer for one in compared])
    answered = answers >= 0
    high = answers.max(axis=0)
    low = np.where(answered, answers, np.iinfo(answers.dtype).max).min(axis=0)
    return np.asarray(answered.any(axis=0) & (low < high))


def _best_finding(
    context: Context, rows: Sequence[MethodRow], names: Sequence[str], agreement_with_best: Floats
) -> Iterator[ReportFinding]:
    """Yield a finding on the best method by gold, and whether it is significantly better than the report's method.

    The scores of two methods differ only by the units with different answers, so the standard error of the difference
    is at most the square root of the share of these units, divided by the number of units with gold.
    """
    best = rows[0].scores[0] if names and len(rows) > 1 else None
    if best is None:
        return
    text = f"Of {len(rows)} methods {rows[0].name} scores best by gold: {names[0]} {100 * best:.1f}%"
    severity, method, n_gold = Urgency.know, context.inputs.estimate.method, int(context.inputs.known.sum())
    place = next((place for place, row in enumerate(rows) if row.name == method), 0)
    own = rows[place].scores[0]
    if place and own is not None:
        error = float(np.sqrt((1 - agreement_with_best[place]) / max(n_gold, 1)))
        is_better = best - own > STANDARD_ERRORS * error
        severity = Urgency.look if is_better else Urgency.know
        verdict = "Consider it" if is_better else "That may be chance"
        text = f"{text}, against {100 * own:.1f}% for {method}. {verdict}"
    yield ReportFinding(f"{text}.", severity, importance=42, about=rows[0].name)


def draw_comparison(found: ComparisonFindings, task: TaskKind) -> Mapping[str, Sequence[Plot]]:  # noqa: ARG001
    """Return the plots of the page of the comparison."""
    plots, names = [], [one.name for one in found.methods]
    for score in found.score_names[:1]:
        rows = [DotRow(one.name, [Quantity(one.scores[0])]) for one in found.methods if one.scores]
        plots.append(dot_plot("methods", f"Methods by {score}", rows, [score], x=score))
    if len(names) > 1:
        heading = "How often methods answer alike"
        plots.append(heat_map("methods-agreement", heading, found.agreement, rows=names, columns=names))
    return {"main": plots}


PAGE = Page(title="Comparison", module=__name__, compute=compute_comparison, draw=draw_comparison)
