"""The E-step and M-step of Algorithm 1 on confusion matrices."""

from __future__ import annotations

import numpy as np

from crowdlogic.annotators.abstaining import Abstaining
from crowdlogic.annotators.confusion import ConfusionMatrices
from crowdlogic.data.estimate import Beliefs
from crowdlogic.data.labels import CrowdLabels
from crowdlogic.engines.shards import make_shards
from crowdlogic.engines.sweeps import table_sweep
from crowdlogic.numerics.arrays import Floats
from crowdlogic.numerics.logspace import safe_log


def e_step(labels: CrowdLabels, confusion: Floats, prior: Floats, *, threads: int = 1) -> tuple[Beliefs, float]:
    """Posterior over the truth and its log evidence ([LNCL] eq. 13)."""
    shards = make_shards(labels, threads=threads)
    found = table_sweep(shards, safe_log(confusion.transpose(0, 2, 1)), safe_log(prior), keep=True)
    return np.asarray(found.q), found.log_evidence


def m_step(labels: CrowdLabels, q: Beliefs, *, smoothing: float = 0.0, trust: float = 0.0) -> Floats:
    """confusion[j, m, n] from beliefs ([LNCL] eq. 12)."""
    model = ConfusionMatrices(smoothing, trust)
    return model.m_step(model.observe(labels), q).confusion


def abstention_m_step(labels: CrowdLabels, q: Beliefs, *, smoothing: float = 0.0, trust: float = 0.0) -> Floats:
    """confusion[j, m, n] for annotators who look at everything and mostly abstain."""
    model = Abstaining(smoothing, trust)
    return model.m_step(model.observe(labels), q).confusion
