"""MACE: an annotator either knows the truth or spams, according to an individual strategy.

[HBVH13] Hovy, Berg-Kirkpatrick, Vaswani and Hovy, "Learning whom to trust with MACE", 2013. With probability theta_j
annotator j copies the truth, otherwise j draws a label from xi_j. Variational Bayes with the priors of the paper:
Beta(0.5, 0.5) on theta, Dirichlet(10) on xi, and a uniform distribution over classes.

Axes: i unit, j annotator, k class, n given label.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np

from crowdlogic.annotators.label_sums import FLOOR, compiled_match_step, is_compiled, tally_hits
from crowdlogic.data.blocks import Arrays, Engine, State
from crowdlogic.data.labels import CrowdLabels
from crowdlogic.numerics.arrays import Floats, check_amounts
from crowdlogic.numerics.convergence import Convergence
from crowdlogic.numerics.logspace import dirichlet_divergence, expected_log
from crowdlogic.truth.fitting import DEFAULT_FIT, EngineFit, Fitting, Iterations, starting_beliefs
from crowdlogic.truth.methods import FitsBlocks
from crowdlogic.truth.one_coin import e_step


@dataclass(frozen=True)
class MACE(FitsBlocks):
    """MACE method: knowing or spamming ([HBVH13]). Its E-step is that of the one-coin model.

    Attributes:
        knowing_count: Prior count of labels from knowledge, and of spam labels, of every annotator.
        strategy_count: Prior count of each label among an annotator's spam.
        convergence: Stopping criterion, by the gain of the bound per label.
    """

    knowing_count: float = 0.5
    strategy_count: float = 10.0
    convergence: Convergence = Convergence()

    name = "mace"

    def __post_init__(self) -> None:
        check_amounts(self, positive=("knowing_count", "strategy_count"))

    def fit_over(
        self, blocks: Engine, *, labels: CrowdLabels | None = None, fitting: Fitting = DEFAULT_FIT
    ) -> EngineFit:
        """Fit to blocks of labels, in memory or elsewhere."""
        step = compiled_match_step if is_compiled(blocks, blocks.n_classes) else e_step
        # Initialise by assuming that half of the right labels are known, given the votes or an earlier estimate
        votes, given = tally_hits(blocks, starting_beliefs(labels, fitting))
        fit = Iterations(self, blocks, self.update(given, votes.counts * 0.5), labels=labels, fitting=fitting)
        for p in fit:
            log_p, from_knowledge = log_parameters(p)
            s, _ = blocks.sum(step, log_p)
            following = self.update(given, s["counts"] * from_knowledge)
            fit.update(following, objective=float(s["log_evidence"]) - self.divergence(p))
        knowing, strategy = fit.state["knowing"], fit.state["strategy"]
        return fit.result(
            partial(step, keep=True),
            log_parameters(fit.state)[0],
            reliability=knowing[:, 0] / knowing.sum(axis=1),
            others={"strategy": strategy / strategy.sum(axis=1, keepdims=True)},
        )

    def update(self, given: Floats, known: Floats) -> State:
        """Return the posteriors from given[j, n] labels, of which known[j, n] are expected to come from knowledge.

        They are the Beta posterior knowing[j, 2] of theta and the Dirichlet posterior strategy[j, n] of xi.
        """
        spam = np.maximum(given - known, FLOOR)
        knowing = np.stack([known.sum(axis=1), spam.sum(axis=1)], axis=1)
        return {"knowing": knowing + self.knowing_count, "strategy": spam + self.strategy_count}

    def divergence(self, p: State) -> float:
        """Return the divergence of the posteriors from their priors."""
        knowing = dirichlet_divergence(p["knowing"], np.array(self.knowing_count), axis=1)
        return knowing + dirichlet_divergence(p["strategy"], np.array(self.strategy_count), axis=1)


def log_parameters(p: State) -> tuple[Arrays, Floats]:
    """Return the parameters of the E-step, and share[j, n], the probability that j knew a right label n."""
    log_theta = expected_log(p["knowing"], axis=1)
    # log_spam[j, n] = E[log (1 - theta_j)] + E[log xi_jn]; log_agree[j, n]: n is copied from the truth, or spam
    log_spam = log_theta[:, 1:] + expected_log(p["strategy"], axis=1)
    log_agree = np.logaddexp(log_theta[:, :1], log_spam)
    log_prior = np.full(log_spam.shape[1], -np.log(log_spam.shape[1]))
    log_p = {"log_agree": log_agree, "log_differ": log_spam, "log_prior": log_prior}
    return log_p, np.exp(log_theta[:, :1] - log_agree)
