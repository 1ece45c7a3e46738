"""The order of review: how many mistakes the decision of a unit is expected to remove.

Axes: i unit, k class.
"""

from __future__ import annotations

import numpy as np

from crowdlogic.data.estimate import Estimate
from crowdlogic.data.labels import CrowdLabels
from crowdlogic.engines.shard import UNKNOWN
from crowdlogic.numerics.arrays import Floats
from crowdlogic.planning.decisions import NO_DECISIONS, Decisions
from crowdlogic.truth.dependence import state_confidence


def expected_mistakes_removed(
    labels: CrowdLabels,
    estimate: Estimate,
    *,
    decisions: Decisions = NO_DECISIONS,
    before: Estimate | None = None,  # noqa: ARG001
) -> Floats:
    """removed[i], the expected number of wrong answers that deciding unit i puts right; 0 where it was decided.

    Args:
        labels: The labels.
        estimate: The present estimate.
        decisions: What was decided so far.
        before: The estimate before the first decision, which says where answers turned out wrong.
    """
    stated = state_confidence(labels, estimate, anchors=decisions.truth)
    confidence = stated.beliefs.max(axis=1) if labels.n_classes else np.ones(labels.n_units)
    return np.where(decisions.classes(labels) == UNKNOWN, 1.0 - confidence, 0.0)
