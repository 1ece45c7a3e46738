"""The order of review: how many mistakes the decision of a unit is expected to remove.

A decision removes the mistake of its own unit for certain, if there is one. How probable that is, is what a committee
of methods says of the present answer (`committee`).

Axes: i unit, k class.
"""

from __future__ import annotations

import numpy as np

from crowdlogic.data.estimate import Estimate
from crowdlogic.data.labels import CrowdLabels
from crowdlogic.engines.shard import UNKNOWN
from crowdlogic.numerics.arrays import Floats
from crowdlogic.planning.committee import Committee, make_committee
from crowdlogic.planning.decisions import NO_DECISIONS, Decisions
from crowdlogic.truth.dependence import state_confidence


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
    pooled = committee.pool(stated, decisions)
    answer = np.maximum(stated.answer, 0)
    wrong = 1.0 - np.take_along_axis(pooled, answer[:, None], axis=1)[:, 0]
    return np.where(decided == UNKNOWN, wrong, 0.0)
