"""GLAD: every annotator has an ability, and every item a difficulty.

[WRWBM09] Whitehill, Ruvolo, Wu, Bergsma and Movellan, "Whose vote should count more: optimal integration of labels
from labelers of unknown expertise", 2009: p(right) = sigmoid(alpha_j * beta_i), beta_i = exp(b_i) > 0, a wrong label
is any of the others (eq. 1), and normal priors on alpha and b (their section 3).

Unlike the paper, which follows the gradient, the M-step maximises a lower bound: a parabola that touches log sigmoid at
the current x (Jaakkola and Jordan, "Bayesian parameter estimation via variational methods", 2000). So the best alpha is
a quotient of two sums over labels, and the best b of an item only depends on its labels. Each update increases the
objective. One pass over the labels is the E-step, the M-step of the difficulties, and the sums for the M-step of the
abilities.

Axes: i unit, j annotator, k class.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np
from scipy.special import log_expit

from crowdlogic.annotators.label_sums import LARGE, clamp, kernel_columns
from crowdlogic.data.blocks import Arrays, Engine, Shard, State
from crowdlogic.data.labels import CrowdLabels
from crowdlogic.numerics.arrays import Floats, sum_by
from crowdlogic.numerics.convergence import Convergence
from crowdlogic.numerics.logspace import normalise
from crowdlogic.truth.fitting import (
    DEFAULT_FIT,
    UNITS,
    EngineFit,
    Fitting,
    Iterations,
    starting_beliefs,
)
from crowdlogic.truth.methods import FitsBlocks

STEPS = 3
"""Number of Newton steps for an item's difficulty within one M-step."""

HALVINGS = 20
"""Maximum number of times that a Newton step is halved if it lowers the objective; then it is skipped."""

EASE = "ease"
"""Key of ease[i], the log of beta (larger for easier items), among the arrays of units."""

PRIOR_MEAN = 1.0
"""Mean of the priors on abilities and log difficulties; the variance is 1 ([WRWBM09] section 3)."""


def em_step(block: Shard, p: Arrays, state: Arrays, *, n_classes: int, keep: bool = False) -> tuple[Arrays, Arrays]:
    """Run the E-step and the M-step of the difficulties, and sum the statistics for the M-step of the abilities.

    With h[row] the belief in the row's label, x = alpha_j exp(b_i) and lambda(x) = tanh(x / 2) / (4 x), the expected
    log-likelihood of the row is at least (h - 1/2) x' - lambda(x) x'^2 + constant for a new x', and equal at x' = x.

    Args:
        block: The labels.
        p: ability[j].
        state: ease[i], and optionally q[i, k], which replaces the E-step.
        n_classes: Number of classes.
        keep: Whether to return q[i, k] as well.

    Returns:
        pull[j], the sum of (h - 1/2) exp(b); curvature[j], the sum of 2 lambda(x) exp(2 b); the log evidence under the
        given parameters; spread, the sum of (b - 1)^2 of the given b. By unit: the new ease[i].
    """
    alpha, ease, unit = p["ability"][block.annotator], state[EASE], block.unit
    n_units, n_annotators = block.n_units, len(p["ability"])
    weight = block.weight if len(block.weight) else np.ones(len(unit))
    x = alpha * np.exp(ease)[unit]  # [row], the log odds that the label is right

    # E-step: a label n is right with probability sigmoid(x), otherwise any other class
    log_right, log_wrong = weight * log_expit(x), weight * (log_expit(-x) - np.log(max(n_classes - 1, 1)))
    cell = unit * n_classes + block.label
    log_q = sum_by(cell, n_units * n_classes, log_right - log_wrong).reshape(-1, n_classes) - np.log(n_classes)
    q, log_evidence = normalise(clamp(block, log_q))
    evidence = block.unit_sum(log_evidence + sum_by(unit, n_units, log_wrong))
    q = state.get("q", q)

    # M-step of the difficulties: slope and curvature of each label's parabola, summed by unit
    pulled, curved = weight * (q[unit, block.label] - 0.5), weight * _curvature(x)
    new_ease = _best_ease(sum_by(unit, n_units, pulled * alpha), sum_by(unit, n_units, curved * alpha**2), ease)

    # Sums for the M-step of the abilities, by annotator, with the new difficulties
    beta = np.exp(new_ease)[unit]
    times = block.times[unit] if len(block.times) else 1.0
    pull = sum_by(block.annotator, n_annotators, times * pulled * beta)
    curved = times * weight * _curvature(alpha * beta) * beta**2
    curvature = 2.0 * sum_by(block.annotator, n_annotators, curved)
    s = {"pull": pull, "curvature": curvature, "log_evidence": evidence, "spread": _spread(block, ease)}
    return s, {EASE: new_ease, "q": q} if keep else {EASE: new_ease}


def compiled_em_step(
    block: Shard, p: Arrays, state: Arrays, *, n_classes: int, keep: bool = False
) -> tuple[Arrays, Arrays]:
    """Compute `em_step` with a compiled kernel."""
    from crowdlogic.numerics.label_kernels import ability_pass, unrolled_states

    ability, ease = p["ability"], state[EASE].copy()
    q = np.empty((block.n_units if keep else 0, n_classes))
    given = np.ascontiguousarray(state["q"]) if "q" in state else np.empty((0, n_classes))
    pull, curvature = np.zeros_like(ability), np.zeros_like(ability)
    evidence = ability_pass(
        unrolled_states(n_classes),
        n_classes,
        *kernel_columns(block),
        ability,
        ease,
        q,
        given,
        pull,
        curvature,
        STEPS,
        HALVINGS,
    )
    spread = _spread(block, state[EASE])
    s = {"pull": pull, "curvature": curvature, "log_evidence": np.array(evidence), "spread": spread}
    return s, {EASE: ease, "q": q} if keep else {EASE: ease}


def _spread(block: Shard, ease: Floats) -> Floats:
    """Return the sum of (b - 1)^2 over units."""
    off_centre = (ease - PRIOR_MEAN) ** 2
    return np.array((off_centre * block.times if len(block.times) else off_centre).sum())


def first_ease(block: Shard, _p: Arrays, _state: Arrays) -> tuple[Arrays, Arrays]:
    """Return the initial state of a block: ease[i] at the mean of its prior."""
    return {}, {EASE: np.full(block.n_units, PRIOR_MEAN)}


def _curvature(x: Floats) -> Floats:
    """Return lambda(x) = tanh(x / 2) / (4 x), which is 1/8 at 0."""
    small = np.abs(x) < 1e-6
    return np.where(small, 0.125, np.tanh(x / 2) / np.where(small, 1.0, 4 * x))


def _best_ease(pull: Floats, curve: Floats, ease: Floats) -> Floats:
    """Return b after Newton steps towards the maximum of pull e^b - curve e^(2b) - (b - 1)^2 / 2, which never falls."""
    for _ in range(STEPS):
        beta = np.exp(ease)
        slope = pull * beta - 2.0 * curve * beta**2 - (ease - 1.0)
        bend = np.maximum(4.0 * curve * beta**2 - pull * beta + 1.0, 1.0)
        move = np.clip(slope / bend, -1.0, 1.0)
        before = _ease_score(pull, curve, ease)
        for _ in range(HALVINGS):
            losing = _ease_score(pull, curve, ease + move) < before
            if not losing.any():
                break
            move = np.where(losing, move / 2, move)
        ease = np.where(_ease_score(pull, curve, ease + move) < before, ease, ease + move)
    return ease


def _ease_score(pull: Floats, curve: Floats, ease: Floats) -> Floats:
    beta = np.exp(ease)
    return np.asarray(pull * beta - curve * beta**2 - 0.5 * (ease - 1.0) ** 2)


@dataclass(frozen=True)
class GLAD(FitsBlocks):
    """Abilities and difficulties by EM ([WRWBM09]).

    Attributes:
        convergence: Stopping criterion, by the gain of the log posterior per label.
    """

    convergence: Convergence = Convergence(tolerance=1e-6)

    name = "glad"
    signed = True  # an ability or an ease may be negative

    def fit_over(
        self, blocks: Engine, *, labels: CrowdLabels | None = None, fitting: Fitting = DEFAULT_FIT
    ) -> EngineFit:
        """Fit to blocks of labels, in memory or elsewhere; difficulties stay with the blocks of their units."""
        # The compiled kernel pays off with half as many labels as for other methods
        large = blocks.n_labels * blocks.n_classes >= LARGE // 2
        compiled = large if blocks.compiled is None else blocks.compiled
        step = partial(compiled_em_step if compiled else em_step, n_classes=blocks.n_classes)
        # Initialise abilities and difficulties with the means of their priors; given beliefs, if any, update both
        first: State = {"ability": np.full(blocks.n_annotators, PRIOR_MEAN)}
        start = starting_beliefs(labels, fitting)
        if start is None:
            _, first[UNITS] = blocks.sum(first_ease, {})
        else:
            ease = np.full(blocks.n_units, PRIOR_MEAN)
            s, states = blocks.sum(step, first, blocks.scatter({EASE: ease, "q": start}))
            first = {"ability": self.m_step(s), UNITS: states}
        fit = Iterations(self, blocks, first, labels=labels, fitting=fitting)
        for p in fit:
            s, states = blocks.sum(step, {"ability": p["ability"]}, p[UNITS])
            log_prior = -0.5 * float(((p["ability"] - PRIOR_MEAN) ** 2).sum() + s["spread"])
            fit.update({"ability": self.m_step(s), UNITS: states}, objective=float(s["log_evidence"]) + log_prior)
        ability = fit.state["ability"]
        return fit.result(partial(step, keep=True), {"ability": ability}, fit.state[UNITS], reliability=ability)

    def m_step(self, s: Arrays) -> Floats:
        """Return ability[j], which maximises the sum of the parabolas and the log prior."""
        return np.asarray((PRIOR_MEAN + s["pull"]) / (1.0 + s["curvature"]))

    def unit_parameters(self, fit: EngineFit) -> dict[str, Floats]:
        """Return the difficulty of each unit."""
        return {"difficulty": np.exp(-fit.engine.gather(fit.state[UNITS])[EASE])}
