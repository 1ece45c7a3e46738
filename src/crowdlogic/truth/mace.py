"""MACE: an annotator either knows the truth or spams, by a strategy of their own.

[HBVH13] Hovy, Berg-Kirkpatrick, Vaswani and Hovy, "Learning whom to trust with MACE", 2013. With probability theta_j
annotator j copies the truth, else draws a label from xi_j. Both variants of the paper: EM, and variational Bayes with
its priors (Beta(0.5, 0.5) on theta, Dirichlet(10) on xi). The class prior is uniform, as there.

Axes: i unit, j annotator, k class, n given label.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from crowdlogic.annotators.protocol import FLOOR
from crowdlogic.data.corpus import Corpus
from crowdlogic.data.estimate import Estimate, make_estimate
from crowdlogic.data.labels import CrowdLabels, require_whole_labels
from crowdlogic.engines.shards import make_shards
from crowdlogic.engines.sweeps import Sweep, match_sweep, tally_hits
from crowdlogic.numerics import dirichlet
from crowdlogic.numerics.arrays import Floats
from crowdlogic.numerics.checks import check_amounts
from crowdlogic.numerics.convergence import Convergence
from crowdlogic.numerics.sums import sum_by
from crowdlogic.truth.accepting import takes_frames
from crowdlogic.truth.fitting import DEFAULT_FIT, Fitting, empty_estimate, iterate, starting_beliefs


@dataclass(frozen=True)
class MACE:
    """Knowing or spamming ([HBVH13]).

    Attributes:
        knowing_count: Prior count of labels from knowledge, and of labels from spamming, of every annotator.
        strategy_count: Prior count of each label among an annotator's spam.
        convergence: When to stop: by the gain of the bound per label.
    """

    knowing_count: float = 0.5
    strategy_count: float = 10.0
    convergence: Convergence = Convergence()

    name = "mace"

    def __post_init__(self) -> None:
        check_amounts(self, positive=("knowing_count", "strategy_count"))

    @takes_frames
    def infer(self, labels: CrowdLabels, corpus: Corpus | None = None, *, fitting: Fitting = DEFAULT_FIT) -> Estimate:  # noqa: ARG002 (no text needed)
        """Iterate the updates until the bound converges."""
        require_whole_labels(labels, self.name)
        if not labels.n_labels:
            return empty_estimate(labels, self.name)
        shards = make_shards(labels, threads=fitting.threads, anchors=fitting.anchors)
        shape = (shards.n_annotators, shards.n_classes)
        # given[j, n], how many labels n annotator j gave, by weight
        cell = labels.annotator * np.int64(shape[1]) + labels.label
        given = sum_by(cell, shape[0] * shape[1], labels.weight).reshape(shape)
        log_prior = np.full(shape[1], -np.log(shape[1]))

        def initial() -> dict[str, Floats]:
            hits = tally_hits(shards, starting_beliefs(labels, fitting)).counts
            return self._posterior(hits * 0.5, given)

        def sweep(state: dict[str, Floats], *, keep: bool = False) -> tuple[Sweep, Floats]:
            log_theta = dirichlet.expected_log(state["knowing"], axis=1)
            # log_spam[j, n] = E[log (1 - theta_j)] + E[log xi_jn]; agree[j, n]: n is copied from the truth or spam
            log_spam = log_theta[:, 1:] + dirichlet.expected_log(state["strategy"], axis=1)
            agree = np.logaddexp(log_theta[:, :1], log_spam)
            return match_sweep(shards, agree, log_spam, log_prior, keep=keep), np.exp(log_theta[:, :1] - agree)

        def step(state: dict[str, Floats]) -> tuple[dict[str, Floats], float]:
            found, from_knowledge = sweep(state)
            bound = found.log_evidence - dirichlet.divergence(state["knowing"], np.array(self.knowing_count), axis=1)
            bound -= dirichlet.divergence(state["strategy"], np.array(self.strategy_count), axis=1)
            return self._posterior(found.counts * from_knowledge, given), bound

        fit = iterate(self, labels, initial=initial, step=step, fitting=fitting)
        knowing, strategy = fit.state["knowing"], fit.state["strategy"]
        return make_estimate(
            labels,
            self.name,
            np.asarray(sweep(fit.state, keep=True)[0].q),
            reliability=knowing[:, 0] / knowing.sum(axis=1),
            trace=fit.trace,
            converged=fit.converged,
            answer_all=fitting.answer_all,
            parameters={"strategy": strategy / strategy.sum(axis=1, keepdims=True)},
        )

    def _posterior(self, known: Floats, given: Floats) -> dict[str, Floats]:
        """Concentrations from known[j, n], the expected number of labels n that j gave knowing the truth."""
        spam = np.maximum(given - known, FLOOR)
        knowing = np.stack([known.sum(axis=1), spam.sum(axis=1)], axis=1)
        return {"knowing": knowing + self.knowing_count, "strategy": spam + self.strategy_count}
