"""One-coin Dawid-Skene: one accuracy per annotator.

[DS79] Dawid and Skene, "Maximum likelihood estimation of observer error-rates using the EM algorithm", 1979, with one
parameter per annotator instead of a matrix: class proportions x `annotators/one_coin`. For many classes, or few labels
per annotator.

Axes: i unit, j annotator, k class, n given label.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from crowdlogic.annotators.confusion import SMOOTHING, TRUST, ClassProportions
from crowdlogic.annotators.label_sums import MatchStep, Sweep, is_compiled, match_sweep, tally_hits_and_given
from crowdlogic.annotators.one_coin import Accuracies, Coin
from crowdlogic.data.blocks import Engine, make_shards
from crowdlogic.data.corpus import Corpus
from crowdlogic.data.estimate import Beliefs, Estimate
from crowdlogic.data.labels import CrowdLabels, require_whole_labels
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
class OneCoin:
    """One accuracy per annotator, by EM.

    Attributes:
        smoothing: Labels added to the right and to the wrong ones of every annotator, and to every class.
        trust: Labels added to the right ones beyond that.
        convergence: When to stop: by the gain of the log posterior per label.
    """

    smoothing: float = SMOOTHING
    trust: float = TRUST
    convergence: Convergence = Convergence()

    name = "one-coin"

    def __post_init__(self) -> None:
        check_amounts(self, not_negative=("smoothing", "trust"))

    @takes_frames
    def infer(self, labels: CrowdLabels, corpus: Corpus | None = None, *, fitting: Fitting = DEFAULT_FIT) -> Estimate:  # noqa: ARG002 (no text needed)
        """Iterate E- and M-steps until the log posterior converges."""
        require_whole_labels(labels, self.name)
        if not labels.n_labels:
            return empty_estimate(labels, self.name)
        return infer_over(self, labels, make_shards(labels, anchors=fitting.anchors, threads=fitting.threads), fitting)

    def fit_over(
        self, engine: Engine, *, labels: CrowdLabels | None = None, fitting: Fitting = DEFAULT_FIT
    ) -> EngineFit:
        """Fit over an engine."""
        model = CoinEM(Coin(self.smoothing, self.trust), ClassProportions(self.smoothing), engine)
        return fit_model(self, model, labels=labels, fitting=fitting)


class CoinEM:
    """The E- and M-step of one accuracy per annotator; given[j], the number of labels, comes with the first state."""

    def __init__(self, coin: Coin, proportions: ClassProportions, engine: Engine) -> None:
        self.coin, self.proportions, self.engine = coin, proportions, engine
        self.given: Floats = np.zeros(engine.n_annotators)

    def first_state(self, beliefs: Beliefs | None = None) -> State:
        """Accuracies from beliefs, or from the shares of the votes."""
        found, given = tally_hits_and_given(self.engine, beliefs)
        self.given = given.sum(axis=1)
        return self._m_step(found)

    def step(self, state: State) -> tuple[State, float]:
        """The next accuracies, and the objective of those given."""
        odds = self._log_odds(state)
        found = match_sweep(self.engine, odds["agree"], odds["differ"], odds["log_prior"])
        added = self.coin.log_prior(state["accuracy"]) + self.proportions.log_prior(state["prior"])
        return self._m_step(found), found.log_evidence + added

    def belief_pass(self, state: State) -> BeliefPass:
        """The E-step, with the beliefs kept."""
        step = MatchStep(compiled=is_compiled(self.engine, self.engine.n_classes), keep=True)
        return BeliefPass(step=step, parameters=self._log_odds(state))

    def summary(self, state: State) -> FitSummary:
        """Accuracies and class proportions."""
        return FitSummary(reliability=state["accuracy"], prior=state["prior"])

    def _log_odds(self, state: State) -> dict[str, Floats]:
        coins = Accuracies(state["accuracy"], self.engine.n_classes)
        log_prior = self.proportions.log(state["prior"])
        return {"agree": coins.log_agree, "differ": coins.log_differ, "log_prior": log_prior}

    def _m_step(self, found: Sweep) -> State:
        accuracy = self.coin.from_hits(self.given, found.counts).accuracy
        return {"accuracy": accuracy, "prior": self.proportions.from_totals(found.totals)}
