"""One-coin Dawid-Skene: one accuracy per annotator.

[DS79] Dawid and Skene, "Maximum likelihood estimation of observer error-rates using the EM algorithm", 1979, with one
parameter per annotator instead of a matrix: class proportions x `annotators/one_coin`. For many classes, or few labels
per annotator.

Axes: i unit, j annotator, k class, n given label.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from crowdlogic.annotators.confusion import SMOOTHING, TRUST
from crowdlogic.annotators.one_coin import Accuracies, Coin, count_given
from crowdlogic.annotators.proportions import ClassProportions
from crowdlogic.data.corpus import Corpus
from crowdlogic.data.estimate import Estimate, make_estimate
from crowdlogic.data.labels import CrowdLabels, require_whole_labels
from crowdlogic.engines.sweeps import Sweep, match_sweep, tally_hits
from crowdlogic.numerics.checks import check_amounts
from crowdlogic.numerics.convergence import Convergence
from crowdlogic.store.checkpoints import State
from crowdlogic.truth.accepting import takes_frames
from crowdlogic.truth.fitting import DEFAULT_FIT, Fitting, empty_estimate, iterate, starting_beliefs


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
        coin, proportions = Coin(self.smoothing, self.trust), ClassProportions(self.smoothing)
        shards = coin.observe(labels, anchors=fitting.anchors, threads=fitting.threads)
        given = count_given(shards)

        def m_step(found: Sweep) -> State:
            accuracy = coin.from_hits(given, found.counts).accuracy
            return {"accuracy": accuracy, "prior": proportions.from_totals(found.totals)}

        def e_step(state: State, *, keep: bool = False) -> Sweep:
            coins = Accuracies(state["accuracy"], labels.n_classes)
            return match_sweep(shards, coins.log_agree, coins.log_differ, proportions.log(state["prior"]), keep=keep)

        def step(state: State) -> tuple[State, float]:
            found = e_step(state)
            added = coin.log_prior(state["accuracy"]) + proportions.log_prior(state["prior"])
            return m_step(found), found.log_evidence + added

        start = starting_beliefs(labels, fitting)
        fit = iterate(self, labels, initial=lambda: m_step(tally_hits(shards, start)), step=step, fitting=fitting)
        return make_estimate(
            labels,
            self.name,
            np.asarray(e_step(fit.state, keep=True).q),
            reliability=fit.state["accuracy"],
            prior=fit.state["prior"],
            trace=fit.trace,
            converged=fit.converged,
            answer_all=fitting.answer_all,
        )
