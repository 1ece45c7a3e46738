"""GLAD: annotators have an ability, items a difficulty.

[WRWBM09] Whitehill, Ruvolo, Wu, Bergsma and Movellan, "Whose vote should count more: optimal integration of labels
from labelers of unknown expertise", 2009: p(right) = sigmoid(alpha_j * beta_i), beta_i = exp(b_i) > 0, a wrong label
is any of the others (eq. 1), and normal priors on alpha and b (their section 3).

The M-step here is not their gradient ascent but a bound on it: log sigmoid(x) is at least a parabola that touches it
at the present x (Jaakkola and Jordan, "Bayesian parameter estimation via variational methods", 2000), so the best
alpha is a quotient of two sums over labels, and the best b of an item needs only its own labels. Each such update
raises the objective, so one pass over the labels is the E-step, the difficulties' M-step and the sums for the
abilities' M-step.

Axes: i unit, j annotator, k class.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from crowdlogic.data.corpus import Corpus
from crowdlogic.data.estimate import Beliefs, Estimate
from crowdlogic.data.labels import CrowdLabels, require_whole_labels
from crowdlogic.engines.engine import Arrays, Engine, States
from crowdlogic.engines.shard import Shard
from crowdlogic.engines.shards import make_shards
from crowdlogic.engines.steps import EVIDENCE, Q
from crowdlogic.numerics.arrays import Floats
from crowdlogic.numerics.convergence import Convergence
from crowdlogic.store.checkpoints import State
from crowdlogic.truth.accepting import takes_frames
from crowdlogic.truth.fitting import DEFAULT_FIT, UNITS, Fitting, empty_estimate
from crowdlogic.truth.glad_pass import CURVATURE, EASE, PULL, SPREAD, difficulty_step
from crowdlogic.truth.over_engines import BeliefPass, EngineFit, FitSummary, fit_model, infer_over

PRIOR_MEAN = 1.0
"""The mean of the priors on abilities and on log difficulties; their variance is 1 ([WRWBM09] section 3)."""


@dataclass(frozen=True)
class GLAD:
    """Abilities and difficulties by EM ([WRWBM09]).

    Attributes:
        convergence: When to stop: by the gain of the log posterior per label.
    """

    convergence: Convergence = Convergence(tolerance=1e-6)

    name = "glad"
    signed = True  # an ability or an ease may be negative

    @takes_frames
    def infer(self, labels: CrowdLabels, corpus: Corpus | None = None, *, fitting: Fitting = DEFAULT_FIT) -> Estimate:  # noqa: ARG002 (no text needed)
        """Iterate E- and M-steps until the log posterior converges."""
        require_whole_labels(labels, self.name)
        if not labels.n_labels:
            return empty_estimate(labels, self.name)
        return infer_over(self, labels, make_shards(labels, threads=fitting.threads, anchors=fitting.anchors), fitting)

    def fit_over(
        self, engine: Engine, *, labels: CrowdLabels | None = None, fitting: Fitting = DEFAULT_FIT
    ) -> EngineFit:
        """Fit over an engine."""
        return fit_model(self, AbilityEM(engine), labels=labels, fitting=fitting)

    def unit_parameters(self, fit: EngineFit) -> dict[str, Floats]:
        """The difficulty of each unit."""
        return {"difficulty": np.exp(-fit.engine.gather(fit.state[UNITS])[EASE])}


class AbilityEM:
    """The E- and M-step over an engine; the difficulties stay with the shards of their units."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine

    def first_state(self, beliefs: Beliefs | None = None) -> State:
        """All abilities and difficulties at the mean of their priors; or those that follow from beliefs."""
        ability = np.full(self.engine.n_annotators, PRIOR_MEAN)
        if beliefs is None:
            states = self.engine.sum(FirstEase(), {})[1]
            return {"ability": ability, UNITS: states}
        ease = np.full(self.engine.n_units, PRIOR_MEAN)
        return self._m_step(*self._pass(ability, self.engine.scatter({EASE: ease, Q: beliefs})))

    def step(self, state: State) -> tuple[State, float]:
        """The next abilities and difficulties, and the objective of those given."""
        found, states = self._pass(state["ability"], state[UNITS])
        log_prior = -0.5 * float(((state["ability"] - PRIOR_MEAN) ** 2).sum() + found[SPREAD])
        return self._m_step(found, states), float(found[EVIDENCE]) + log_prior

    def belief_pass(self, state: State) -> BeliefPass:
        """The E-step, with the beliefs kept."""
        step = difficulty_step(self.engine, keep=True)
        return BeliefPass(step=step, parameters={"ability": state["ability"]}, states=state[UNITS])

    def summary(self, state: State) -> FitSummary:
        """The abilities."""
        return FitSummary(reliability=state["ability"])

    def _pass(self, ability: Floats, states: States) -> tuple[Arrays, States]:
        return self.engine.sum(difficulty_step(self.engine), {"ability": ability}, states)

    def _m_step(self, found: Arrays, states: States) -> State:
        """The M-step for the abilities: the peak of the parabolas' sum and the prior."""
        return {"ability": (PRIOR_MEAN + found[PULL]) / (1.0 + found[CURVATURE]), UNITS: states}


@dataclass(frozen=True)
class FirstEase:
    """The first state of each shard: ease[i] at the mean of its prior."""

    def __call__(self, shard: Shard, parameters: Arrays, state: Arrays) -> tuple[Arrays, Arrays]:  # noqa: ARG002
        """No counts."""
        return {}, {EASE: np.full(shard.n_units, PRIOR_MEAN)}
