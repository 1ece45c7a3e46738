"""One-coin Dawid-Skene: one accuracy per annotator, for many classes or few labels per annotator.

[DS79] Dawid and Skene, "Maximum likelihood estimation of observer error-rates using the EM algorithm", 1979, with one
parameter per annotator instead of a matrix: an annotator who errs gives any other class with equal probability.

Axes: i unit, j annotator, k class, n given label.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np

from crowdlogic.annotators.label_sums import (
    FLOOR,
    SMOOTHING,
    TRUST,
    clamp,
    compiled_match_step,
    count_hits,
    is_compiled,
    match_scores,
    tally_hits,
)
from crowdlogic.data.blocks import Arrays, Engine, Shard, State
from crowdlogic.data.labels import CrowdLabels
from crowdlogic.numerics.arrays import Floats, check_amounts
from crowdlogic.numerics.convergence import Convergence
from crowdlogic.numerics.logspace import normalise, safe_log
from crowdlogic.truth.fitting import DEFAULT_FIT, EngineFit, Fitting, Iterations, starting_beliefs
from crowdlogic.truth.methods import FitsBlocks


def e_step(block: Shard, p: Arrays, _state: Arrays, *, keep: bool = False) -> tuple[Arrays, Arrays]:
    """Return the expected number of right labels of a block and, with `keep`, its beliefs q[i, k]."""
    # log_q[i, k] = log prior[k] + sum over the labels n of unit i of log_agree[j, n] if n = k, otherwise log_differ[j,
    # n]; base[i], the sum of log_differ over all labels, is the same for all classes
    scores, base = match_scores(block, p["log_agree"], p["log_differ"])
    q, log_evidence = normalise(clamp(block, scores + p["log_prior"]))
    # counts[j, n] = sum of q[i, n] over the units i that annotator j labelled n; totals[k] = sum of q[i, k]
    hits = count_hits(block, len(p["log_agree"]), q)
    s = {"counts": hits, "totals": block.unit_sum(q), "log_evidence": block.unit_sum(log_evidence + base)}
    return s, {"q": q} if keep else {}


@dataclass(frozen=True)
class OneCoin(FitsBlocks):
    """One-coin Dawid-Skene: one accuracy per annotator, by EM.

    Attributes:
        smoothing: Number of labels added to the right and to the wrong labels of every annotator, and to every class.
        trust: Number of right labels added in addition.
        convergence: Stopping criterion, by the gain of the log posterior per label.
    """

    smoothing: float = SMOOTHING
    trust: float = TRUST
    convergence: Convergence = Convergence()

    name = "one-coin"

    def __post_init__(self) -> None:
        check_amounts(self, not_negative=("smoothing", "trust"))

    def fit_over(
        self, blocks: Engine, *, labels: CrowdLabels | None = None, fitting: Fitting = DEFAULT_FIT
    ) -> EngineFit:
        """Fit to blocks of labels, in memory or elsewhere."""
        step = compiled_match_step if is_compiled(blocks, blocks.n_classes) else e_step
        # Initialise with the M-step for the shares of the votes, or for the beliefs of an earlier estimate
        votes, given = tally_hits(blocks, starting_beliefs(labels, fitting))
        given = given.sum(axis=1)  # [j], the number of labels
        fit = Iterations(self, blocks, self.m_step(given, votes.counts, votes.totals), labels=labels, fitting=fitting)
        for p in fit:
            s, _ = blocks.sum(step, log_parameters(p))
            following = self.m_step(given, s["counts"], s["totals"])
            fit.update(following, objective=float(s["log_evidence"]) + self.log_prior(p))
        p = fit.state
        return fit.result(partial(step, keep=True), log_parameters(p), reliability=p["accuracy"], prior=p["prior"])

    def m_step(self, given: Floats, hits: Floats, totals: Floats) -> State:
        """Return accuracy[j] and prior[k] from given[j] labels, of which hits[j, n] are right, and totals[k]."""
        right = np.maximum(hits.sum(axis=1) + self.smoothing + self.trust, FLOOR)
        wrong = np.maximum(given - hits.sum(axis=1) + self.smoothing, FLOOR)
        totals = np.maximum(totals + self.smoothing, FLOOR)
        return {"accuracy": right / (right + wrong), "prior": totals / totals.sum()}

    def log_prior(self, p: State) -> float:
        """Return the log density of the Beta and Dirichlet priors up to a constant."""
        right, wrong, added = safe_log(p["accuracy"]), safe_log(1.0 - p["accuracy"]), 0.0
        if self.smoothing + self.trust:
            added += (self.smoothing + self.trust) * float(right.sum())
        if self.smoothing:
            added += self.smoothing * float(wrong.sum() + safe_log(p["prior"]).sum())
        return added


def log_parameters(p: State) -> Arrays:
    """Return the parameters of the E-step: log p(label n of j) if n is the truth or not, and the log prior."""
    from crowdlogic.annotators.one_coin import Accuracies

    coins = Accuracies(p["accuracy"], n_classes=len(p["prior"]))
    return {"log_agree": coins.log_agree, "log_differ": coins.log_differ, "log_prior": safe_log(p["prior"])}
