"""Dawid-Skene: every annotator has a confusion matrix, estimated by EM together with the truth.

[DS79] Dawid and Skene, "Maximum likelihood estimation of observer error-rates using the EM algorithm", 1979. Here the
parameters are posterior modes under Dirichlet priors; without smoothing and trust they are those of the paper.

Axes: i unit, j annotator, m true class, n given label.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import ClassVar

import numpy as np

from crowdlogic.annotators.label_sums import (
    FLOOR,
    SMOOTHING,
    TRUST,
    check_size,
    clamp,
    code_table,
    compiled_table_step,
    count_labels,
    is_compiled,
    label_terms,
    sum_by_unit,
    tally,
    whole_counts,
)
from crowdlogic.data.blocks import Arrays, Engine, Shard, State
from crowdlogic.data.labels import CrowdLabels
from crowdlogic.numerics.arrays import Floats, check_amounts
from crowdlogic.numerics.convergence import Convergence
from crowdlogic.numerics.logspace import normalise, safe_log
from crowdlogic.truth.fitting import DEFAULT_FIT, EngineFit, Fitting, Iterations, starting_beliefs
from crowdlogic.truth.methods import FitsBlocks


def e_step(
    block: Shard, p: Arrays, _state: Arrays, *, keep: bool = False, states_per_class: int = 1
) -> tuple[Arrays, Arrays]:
    """Return the expected counts of a block and, with `keep`, its beliefs q[i, m] ([DS79] eq. 2.5)."""
    # log_q[i, m] = log prior[m] + sum over the labels of unit i of log table[annotator, label, m]
    log_q = p["log_prior"] + sum_by_unit(block, label_terms(block, p["log_table"]))
    q, log_evidence = normalise(clamp(block, log_q, states_per_class))
    # counts[j, n, m] = sum of q[i, m] over the units i that annotator j labelled n; totals[m] = sum of q[i, m]
    n_annotators, n_codes, _ = p["log_table"].shape
    counts = count_labels(block, n_annotators, n_codes, q)
    s = {"counts": counts, "totals": block.unit_sum(q), "log_evidence": block.unit_sum(log_evidence)}
    return s, {"q": q} if keep else {}


@dataclass(frozen=True)
class DawidSkene(FitsBlocks):
    """Confusion matrices by EM ([DS79]).

    Attributes:
        smoothing: Number of labels added to every cell of a confusion matrix and to every class; 0 for maximum
            likelihood.
        trust: Number of labels added to each diagonal cell in addition.
        convergence: Stopping criterion, by the gain of the log posterior per label.
    """

    smoothing: float = SMOOTHING
    trust: float = TRUST
    convergence: Convergence = Convergence()

    name = "dawid-skene"
    takes_partial_labels: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_amounts(self, not_negative=("smoothing", "trust"))

    def fit_over(
        self, blocks: Engine, *, labels: CrowdLabels | None = None, fitting: Fitting = DEFAULT_FIT
    ) -> EngineFit:
        """Fit to blocks of labels, in memory or elsewhere."""
        check_size(self.name, blocks.n_annotators, blocks.n_classes)
        step = compiled_table_step if is_compiled(blocks, blocks.n_classes) else e_step
        # Initialise with the M-step for the shares of the votes, or for the beliefs of an earlier estimate
        votes = tally(blocks, starting_beliefs(labels, fitting))
        fit = Iterations(self, blocks, self.m_step(votes.counts, votes.totals), labels=labels, fitting=fitting)
        for p in fit:
            log_table, log_prior = safe_log(p["table"]), safe_log(p["prior"])
            s, _ = blocks.sum(step, {"log_table": code_table(blocks, log_table), "log_prior": log_prior})
            following = self.m_step(whole_counts(s["counts"], log_table), s["totals"])
            fit.update(following, objective=float(s["log_evidence"]) + self.log_prior(p))
        table, prior = fit.state["table"], fit.state["prior"]
        return fit.result(
            partial(step, keep=True),
            {"log_table": code_table(blocks, safe_log(table)), "log_prior": safe_log(prior)},
            confusion=table.transpose(0, 2, 1),
            prior=prior,
        )

    def m_step(self, counts: Floats, totals: Floats) -> State:
        """Return table[j, n, m] and prior[m] from expected counts[j, n, m] and totals[m] ([DS79] eq. 2.3 and 2.4)."""
        counts = np.maximum(counts + self.smoothing, FLOOR) + self.trust * np.eye(counts.shape[1])
        totals = np.maximum(totals + self.smoothing, FLOOR)
        return {"table": counts / counts.sum(axis=1, keepdims=True), "prior": totals / totals.sum()}

    def log_prior(self, p: State) -> float:
        """Return the log density of the Dirichlet priors up to a constant."""
        log_table, added = safe_log(p["table"]), 0.0
        if self.smoothing:
            added += self.smoothing * float(log_table.sum() + safe_log(p["prior"]).sum())
        if self.trust:
            added += self.trust * float(np.diagonal(log_table, axis1=1, axis2=2).sum())
        return added
