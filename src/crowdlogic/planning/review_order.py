"""The order of review: how many mistakes the decision of a unit is expected to remove.

A decision removes the mistake of its own unit for certain, if there is one. How probable that is, is what a committee
of methods says of the present answer (`committee`), a quarter of what the method itself says of it, which has learnt
most from the decisions, and what these have said of answers of its class and of its annotators (`answer_effects`).

Axes: i unit, k class.
"""

from __future__ import annotations

import numpy as np

from crowdlogic.data.estimate import Estimate
from crowdlogic.data.labels import CrowdLabels
from crowdlogic.engines.shard import UNKNOWN
from crowdlogic.numerics.arrays import Floats, Ints
from crowdlogic.planning.answer_effects import answer_effects, log_odds
from crowdlogic.planning.committee import Committee, make_committee
from crowdlogic.planning.decisions import NO_DECISIONS, Decisions
from crowdlogic.truth.dependence import state_confidence

OWN_SHARE = 0.25
"""The share of the method's own log odds beside those of the committee."""


def expected_mistakes_removed(
    labels: CrowdLabels,
    estimate: Estimate,
    *,
    decisions: Decisions = NO_DECISIONS,
    before: Estimate | Committee | None = None,
) -> Floats:
    """removed[i], the expected number of wrong answers that deciding unit i puts right; 0 where it was decided.

    Args:
        labels: The labels.
        estimate: The present estimate.
        decisions: What was decided so far.
        before: The committee of the labels (`make_committee`), which is best made once for many calls; or the estimate
            before the first decision, to make one now; None takes the present estimate for it.
    """
    stated = state_confidence(labels, estimate, anchors=decisions.truth)
    if not labels.n_classes:
        return np.zeros(labels.n_units)
    committee = before if isinstance(before, Committee) else make_committee(labels, before or estimate)
    decided = decisions.classes(labels)
    answer = np.maximum(stated.answer, 0)
    right = _right(committee.pool(stated, decisions), stated.beliefs, answer)
    if decisions.truth and not labels.is_sequential:
        first = _right(committee.pool_first(decisions), committee.own, np.maximum(committee.answer, 0))
        right = answer_effects(labels, first, committee.answer, decided).add_to(right, labels, answer)
    return np.where(decided == UNKNOWN, 1.0 - right, 0.0)


def _right(pooled: Floats, own: Floats, answer: Ints) -> Floats:
    """right[i], how probable the answers are: by the log odds of the committee, and a part of the method's own."""
    units = np.arange(len(answer))
    z = (1.0 - OWN_SHARE) * log_odds(pooled[units, answer]) + OWN_SHARE * log_odds(own[units, answer])
    return np.asarray(1.0 / (1.0 + np.exp(-z)))
