"""IBCC: Dawid-Skene's model with priors on all parameters, fitted by variational Bayes.

[KG12] Kim and Ghahramani, "Bayesian classifier combination", 2012: the model.
[SRPS13] Simpson, Roberts, Psorakis and Smith, "Dynamic Bayesian combination of multiple imperfect classifiers", 2013:
the variational updates, eq. 12 to 20.
[LRC19] Li, Rubinstein and Cohn, "Exploiting worker correlation for label aggregation in crowdsourcing", 2019: the
priors (4, 1, 1); the defaults here are half of them.

The E-step is that of Dawid-Skene with expected log parameters. The bound is the log evidence under these parameters
minus the divergence of their posterior from the prior; it never decreases.

Axes: i unit, j annotator, m true class, n given label.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import ClassVar

import numpy as np

from crowdlogic.annotators.label_sums import (
    check_size,
    code_table,
    compiled_table_step,
    is_compiled,
    tally,
    whole_counts,
)
from crowdlogic.data.blocks import Engine, State
from crowdlogic.data.labels import CrowdLabels
from crowdlogic.numerics.arrays import Floats, check_amounts
from crowdlogic.numerics.convergence import Convergence
from crowdlogic.numerics.logspace import dirichlet_divergence, expected_log
from crowdlogic.truth.dawid_skene import e_step
from crowdlogic.truth.fitting import DEFAULT_FIT, EngineFit, Fitting, Iterations, starting_beliefs
from crowdlogic.truth.methods import FitsBlocks


@dataclass(frozen=True)
class IBCC(FitsBlocks):
    """Independent Bayesian classifier combination ([KG12]).

    Attributes:
        diagonal: Prior count of right labels, in each class, of every annotator.
        off_diagonal: Prior count of each wrong label.
        class_count: Prior count of each class.
        convergence: Stopping criterion, by the gain of the bound per label.
    """

    diagonal: float = 2.0
    off_diagonal: float = 0.5
    class_count: float = 1.0
    convergence: Convergence = Convergence()

    name = "ibcc"
    takes_partial_labels: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_amounts(self, positive=("diagonal", "off_diagonal", "class_count"))

    def fit_over(
        self, blocks: Engine, *, labels: CrowdLabels | None = None, fitting: Fitting = DEFAULT_FIT
    ) -> EngineFit:
        """Fit to blocks of labels, in memory or elsewhere."""
        check_size(self.name, blocks.n_annotators, blocks.n_classes)
        step = compiled_table_step if is_compiled(blocks, blocks.n_classes) else e_step
        # Initialise with the update for the shares of the votes, or for the beliefs of an earlier estimate
        votes = tally(blocks, starting_beliefs(labels, fitting))
        fit = Iterations(self, blocks, self.update(votes.counts, votes.totals), labels=labels, fitting=fitting)
        for p in fit:
            log_table, log_prior = expected_logs(p)
            s, _ = blocks.sum(step, {"log_table": code_table(blocks, log_table), "log_prior": log_prior})
            following = self.update(whole_counts(s["counts"], log_table), s["totals"])
            fit.update(following, objective=float(s["log_evidence"]) - self.divergence(p))
        log_table, log_prior = expected_logs(fit.state)
        table, classes = fit.state["table"], fit.state["prior"]
        return fit.result(
            partial(step, keep=True),
            {"log_table": code_table(blocks, log_table), "log_prior": log_prior},
            confusion=(table / table.sum(axis=1, keepdims=True)).transpose(0, 2, 1),
            prior=classes / classes.sum(),
        )

    def prior_counts(self, n_classes: int) -> Floats:
        """Return the prior counts [n, m] of an annotator's labels."""
        return np.asarray(np.eye(n_classes) * (self.diagonal - self.off_diagonal) + self.off_diagonal)

    def update(self, counts: Floats, totals: Floats) -> State:
        """Return the Dirichlet posteriors table[j, n, m] and prior[m] from expected counts ([SRPS13] eq. 12 to 20)."""
        return {"table": counts + self.prior_counts(counts.shape[1]), "prior": totals + self.class_count}

    def divergence(self, p: State) -> float:
        """Return the divergence of the posteriors from their priors."""
        annotators = dirichlet_divergence(p["table"], self.prior_counts(p["table"].shape[1]), axis=1)
        return annotators + dirichlet_divergence(p["prior"], np.asarray(self.class_count), axis=0)


def expected_logs(p: State) -> tuple[Floats, Floats]:
    """Return E[log table[j, n, m]] and E[log prior[m]] under the Dirichlet posteriors."""
    return expected_log(p["table"], axis=1), expected_log(p["prior"], axis=0)
