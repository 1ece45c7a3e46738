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
from crowdlogic.data.estimate import Estimate, make_estimate
from crowdlogic.data.labels import CrowdLabels, require_whole_labels
from crowdlogic.engines.shards import make_shards
from crowdlogic.numerics.arrays import Floats
from crowdlogic.numerics.convergence import Convergence
from crowdlogic.truth.accepting import takes_frames
from crowdlogic.truth.fitting import DEFAULT_FIT, Fitting, empty_estimate, iterate, starting_beliefs
from crowdlogic.truth.glad_pass import Pass, difficulty_pass

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
        shards = make_shards(labels, threads=fitting.threads, anchors=fitting.anchors)
        started = starting_beliefs(labels, fitting)

        def initial() -> dict[str, Floats]:
            ability, ease = np.full(shards.n_annotators, PRIOR_MEAN), np.full(shards.n_units, PRIOR_MEAN)
            if started is None:
                return {"ability": ability, "ease": ease}
            return _m_step(difficulty_pass(shards, ability, ease, beliefs=started))

        def step(state: dict[str, Floats]) -> tuple[dict[str, Floats], float]:
            found = difficulty_pass(shards, state["ability"], state["ease"])
            return _m_step(found), found.log_evidence + _log_prior(state)

        fit = iterate(self, labels, initial=initial, step=step, fitting=fitting)
        state = fit.state
        found = difficulty_pass(shards, state["ability"], state["ease"], keep=True)
        return make_estimate(
            labels,
            self.name,
            np.asarray(found.q),
            reliability=state["ability"],
            trace=fit.trace,
            converged=fit.converged,
            answer_all=fitting.answer_all,
            parameters={"difficulty": np.exp(-state["ease"])},
        )


def _m_step(found: Pass) -> dict[str, Floats]:
    """The M-step for the abilities: the peak of the parabolas' sum and the prior."""
    return {"ability": (PRIOR_MEAN + found.pull) / (1.0 + found.curvature), "ease": found.ease}


def _log_prior(state: dict[str, Floats]) -> float:
    return -0.5 * float(((state["ability"] - PRIOR_MEAN) ** 2).sum() + ((state["ease"] - PRIOR_MEAN) ** 2).sum())
