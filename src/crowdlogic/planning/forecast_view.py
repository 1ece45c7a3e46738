"""What a forecast counts with: beliefs that read the labels at hand as it reads further ones, and their discount.

A plan reads what annotators will say by their confusion matrices. A method that cannot read all of them (the vote and
MACE within the ensemble do not know who answers against the truth) is then unsure of items that the same reading of the
labels at hand would settle, and further labels are credited with what is known already. So the gains that are foretold
start from the geometric mean (the logarithmic pool [GENEST86]) of what is stated and of that reading.

[GENEST86] Genest and Zidek, "Combining probability distributions", 1986. Axes: i unit, j annotator, k class, n label.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from crowdlogic.data.estimate import Beliefs, Estimate
from crowdlogic.data.labels import CrowdLabels
from crowdlogic.engines.shards import make_shards
from crowdlogic.engines.sweeps import sum_evidence
from crowdlogic.numerics.logspace import normalise, safe_log
from crowdlogic.numerics.tempering import temper
from crowdlogic.planning.skills import Skills
from crowdlogic.registry import TRUTH_METHODS
from crowdlogic.truth.dependence import label_sharpness

FORETOLD = 0.8
"""`Skills.shared` of a forecast: a little above that by which labels are chosen (docs/decisions/0043)."""


def forecast_view(labels: CrowdLabels, estimate: Estimate, skills: Skills) -> tuple[Estimate, Skills]:
    """The estimate and the skills that gains are foretold by.

    Runs, which know the items, and tags, which know their neighbours, keep what they state.

    Args:
        labels: The labels so far.
        estimate: What is believed of the items, stated on a calibrated scale.
        skills: How annotators answer.
    """
    view = replace(skills, shared=FORETOLD)
    if labels.is_sequential or not labels.n_labels or estimate.method not in TRUTH_METHODS:
        return estimate, view
    pooled = safe_log(estimate.beliefs) + safe_log(read_labels_by(labels, estimate, skills))
    return replace(estimate, beliefs=normalise(0.5 * pooled)[0]), view


def read_labels_by(labels: CrowdLabels, estimate: Estimate, skills: Skills) -> Beliefs:
    """q[i, k], what the labels at hand say by the confusion matrices of the plan, on the scale of the estimate."""
    table = safe_log(skills.confusion).transpose(0, 2, 1)  # [j, n, k]
    evidence = sum_evidence(make_shards(labels, partial=True), np.ascontiguousarray(table))
    q = normalise(safe_log(skills.prior) + evidence)[0]
    scale = estimate.calibration
    if scale is None:
        return q
    return temper(temper(q, label_sharpness(labels.votes(), scale.correlation), scale.doubt), scale.sharpness)
