"""MACE: an annotator either knows the truth or spams, by a strategy of their own.

[HBVH13] Hovy, Berg-Kirkpatrick, Vaswani and Hovy, "Learning whom to trust with MACE", 2013. With probability theta_j
annotator j copies the truth, else draws a label from xi_j. Both variants of the paper: EM, and variational Bayes with
its priors (Beta(0.5, 0.5) on theta, Dirichlet(10) on xi). The class prior is uniform, as there.

Axes: i unit, j annotator, k class, n given label.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from crowdlogic.annotators.label_sums import MatchStep, is_compiled, match_sweep, tally_hits_and_given
from crowdlogic.annotators.protocol import FLOOR
from crowdlogic.data.blocks import Engine, make_shards
from crowdlogic.data.corpus import Corpus
from crowdlogic.data.estimate import Beliefs, Estimate
from crowdlogic.data.labels import CrowdLabels, require_whole_labels
from crowdlogic.numerics import dirichlet
from crowdlogic.numerics.arrays import Floats, check_amounts
from crowdlogic.numerics.convergence import Convergence
from crowdlogic.store.checkpoints import State
from crowdlogic.truth.fitting import (
    DEFAULT_FIT,
    BeliefPass,
    EngineFit,
    FitSummary,
    Fitting,
    empty_estimate,
    fit_model,
    infer_over,
)
from crowdlogic.truth.methods import takes_frames


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
        return infer_over(self, labels, make_shards(labels, threads=fitting.threads, anchors=fitting.anchors), fitting)

    def fit_over(
        self, engine: Engine, *, labels: CrowdLabels | None = None, fitting: Fitting = DEFAULT_FIT
    ) -> EngineFit:
        """Fit over an engine."""
        return fit_model(self, KnowingVB(self, engine), labels=labels, fitting=fitting)


class KnowingVB:
    """The variational updates over an engine; given[j, n], how many labels n j gave, comes with the first state."""

    def __init__(self, options: MACE, engine: Engine) -> None:
        self.options, self.engine = options, engine
        self.given: Floats = np.zeros((engine.n_annotators, engine.n_classes))

    def first_state(self, beliefs: Beliefs | None = None) -> State:
        """Concentrations, half of the right labels being known."""
        found, self.given = tally_hits_and_given(self.engine, beliefs)
        return self._posterior(found.counts * 0.5)

    def step(self, state: State) -> tuple[State, float]:
        """The next concentrations, and the bound of those given."""
        odds, from_knowledge = self._log_odds(state)
        found = match_sweep(self.engine, odds["agree"], odds["differ"], odds["log_prior"])
        knowing, strategy = np.array(self.options.knowing_count), np.array(self.options.strategy_count)
        bound = found.log_evidence - dirichlet.divergence(state["knowing"], knowing, axis=1)
        bound -= dirichlet.divergence(state["strategy"], strategy, axis=1)
        return self._posterior(found.counts * from_knowledge), bound

    def belief_pass(self, state: State) -> BeliefPass:
        """The E-step, with the beliefs kept."""
        step = MatchStep(compiled=is_compiled(self.engine, self.engine.n_classes), keep=True)
        return BeliefPass(step=step, parameters=self._log_odds(state)[0])

    def summary(self, state: State) -> FitSummary:
        """How often each annotator knows, and how they spam."""
        knowing, strategy = state["knowing"], state["strategy"]
        return FitSummary(
            reliability=knowing[:, 0] / knowing.sum(axis=1),
            parameters={"strategy": strategy / strategy.sum(axis=1, keepdims=True)},
        )

    def _log_odds(self, state: State) -> tuple[dict[str, Floats], Floats]:
        """The parameters of the E-step, and the share of knowledge in a label that agrees, [j, n]."""
        log_theta = dirichlet.expected_log(state["knowing"], axis=1)
        # log_spam[j, n] = E[log (1 - theta_j)] + E[log xi_jn]; agree[j, n]: n is copied from the truth or spam
        log_spam = log_theta[:, 1:] + dirichlet.expected_log(state["strategy"], axis=1)
        agree = np.logaddexp(log_theta[:, :1], log_spam)
        log_prior = np.full(self.engine.n_classes, -np.log(self.engine.n_classes))
        return {"agree": agree, "differ": log_spam, "log_prior": log_prior}, np.exp(log_theta[:, :1] - agree)

    def _posterior(self, known: Floats) -> State:
        """Concentrations from known[j, n], the expected number of labels n that j gave knowing the truth."""
        spam = np.maximum(self.given - known, FLOOR)
        knowing = np.stack([known.sum(axis=1), spam.sum(axis=1)], axis=1)
        return {"knowing": knowing + self.options.knowing_count, "strategy": spam + self.options.strategy_count}
