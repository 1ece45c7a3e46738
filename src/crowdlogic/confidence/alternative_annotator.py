"""Alternative annotator test: whether a judge may replace a person ([CALDERON25]).

Each person is left out in turn. On each of their items, the labels of the person and of the judge are scored by the
share of the other people who agree. The judge wins against a person if it is at least as close to the others about as
often: a one-sided t-test of the mean difference against `epsilon`, the advantage that a person must have to be worth
their cost, with the false discovery rate over all people controlled under any dependence ([BY01]). A judge that wins
against at least half of the people passes.

[CALDERON25] Calderon, Reichart and Dror, "The alternative annotator test for LLM-as-a-judge", 2025.
[BY01] Benjamini and Yekutieli, "The control of the false discovery rate in multiple testing under dependency", 2001.
Axes: i item, j person, k class.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from crowdlogic.data.labels import CrowdLabels
from crowdlogic.errors import DataError
from crowdlogic.numerics.arrays import Ints, find_discoveries

EPSILON = 0.2
"""Advantage of a person that is worth their cost; the paper's value for experts (0.1 for crowd workers)."""
FALSE_DISCOVERY_RATE = 0.05
MIN_ITEMS = 30
"""Minimum number of items shared with the judge and others, as in the paper; other people are left out."""
PASSES = 0.5
"""A judge passes if it wins against this share of the people."""


@dataclass(frozen=True, kw_only=True)
class AlternativeAnnotator:
    """Result of the test for one judge.

    Attributes:
        winning_rate: Share of the people whom the judge may replace.
        judge_advantage: Mean frequency at which the judge agrees with the others at least as well as the person.
        person_advantage: Mean frequency at which the person agrees with the others at least as well as the judge.
        people: Number of people with whom the judge was compared.
    """

    winning_rate: float
    judge_advantage: float
    person_advantage: float
    people: int

    @property
    def passes(self) -> bool:
        """Whether the judge may replace a person."""
        return self.winning_rate >= PASSES


def alternative_annotator_test(
    people: CrowdLabels, judge: Ints, *, epsilon: float = EPSILON
) -> AlternativeAnnotator | None:
    """Test whether a judge may replace a person; None if nobody has enough items in common with the judge and others.

    Args:
        people: The labels of people, of single items.
        judge: judge[i], the judge's label of each of these items; negative if missing.
        epsilon: The advantage that a person must have to be worth their cost.
    """
    from scipy.special import stdtr

    if people.is_sequential or people.negated is not None:
        raise DataError("alternative_annotator_test: expected labels of single items, without partial labels or tags.")
    votes = people.votes()
    p_values, of_judge, of_person = [], [], []
    for j in range(len(people.annotators)):
        rows = np.flatnonzero(people.annotator == j)
        unit, own = people.unit[rows], people.label[rows]
        others = votes[unit]
        others[np.arange(len(unit)), own] -= people.weights[rows]
        total = others.sum(axis=1)
        common = (total > 1e-9) & (judge[unit] >= 0)
        if np.count_nonzero(common) < MIN_ITEMS:
            continue
        unit, own, others, total = unit[common], own[common], others[common], total[common]
        at = np.arange(len(unit))
        by_person, by_judge = others[at, own] / total, others[at, judge[unit]] / total
        judge_wins, person_wins = by_judge >= by_person, by_person >= by_judge
        of_judge.append(float(judge_wins.mean()))
        of_person.append(float(person_wins.mean()))
        # One-sided t-test that the mean difference is below epsilon
        difference = person_wins.astype(np.float64) - judge_wins
        spread, n = float(difference.std(ddof=1)), len(difference)
        if spread == 0.0:
            p_values.append(0.0 if difference[0] < epsilon else 1.0)
        else:
            p_values.append(float(stdtr(n - 1, (float(difference.mean()) - epsilon) / (spread / np.sqrt(n)))))
    if not p_values:
        return None
    return AlternativeAnnotator(
        winning_rate=float(find_discoveries(np.array(p_values), FALSE_DISCOVERY_RATE, dependent=True).mean()),
        judge_advantage=float(np.mean(of_judge)),
        person_advantage=float(np.mean(of_person)),
        people=len(p_values),
    )
