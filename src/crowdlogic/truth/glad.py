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
from scipy.special import log_expit

from crowdlogic.annotators.label_sums import EVIDENCE, LARGE, Q
from crowdlogic.data.blocks import Arrays, Engine, Shard, States, make_shards
from crowdlogic.data.corpus import Corpus
from crowdlogic.data.estimate import Beliefs, Estimate
from crowdlogic.data.labels import CrowdLabels, require_whole_labels
from crowdlogic.numerics.arrays import Floats, Ints, sum_by
from crowdlogic.numerics.convergence import Convergence
from crowdlogic.numerics.logspace import LOG_ZERO, normalise
from crowdlogic.store.checkpoints import State
from crowdlogic.truth.fitting import (
    DEFAULT_FIT,
    UNITS,
    BeliefPass,
    EngineFit,
    FitSummary,
    Fitting,
    empty_estimate,
    fit_model,
    infer_over,
)
from crowdlogic.truth.methods import takes_frames

# One pass of GLAD over all labels (see `glad`), in numpy for small inputs and compiled for large ones.
#
# With h[row] the belief in the row's label, x = alpha_j exp(b_i) and lambda(x) = tanh(x / 2) / (4 x), the expected
# log-likelihood of the row is at least (h - 1/2) x' - lambda(x) x'^2 + constant for a new x', and as much at x' = x.
#
# Axes: i unit, j annotator, k class.

STEPS = 3
"""Newton steps for an item's difficulty within one M-step."""

HALVINGS = 20
"""Maximum number of times that a Newton step which lowers the objective is halved before it is skipped."""

EASE, PULL, CURVATURE, SPREAD = "ease", "pull", "curvature", "spread"
"""What the pass counts, and the state of a shard, by name."""


@dataclass(frozen=True, kw_only=True)
class DifficultyStep:
    """E-step, the difficulties' M-step, and the sums for the abilities' M-step.

    Parameters: ability[j]. State: ease[i], the log of beta (the larger, the easier); q[i, k] to use instead of an
    E-step, if it is there. Counts: pull[j], the sum of (h - 1/2) exp(b); curvature[j], the sum of 2 lambda(x) exp(2 b);
    the log probability of all labels under the parameters given; spread, the sum of (b - 1)^2 of the b that were given.

    Attributes:
        n_classes: Number of classes.
        compiled: Whether to use the compiled kernel.
        keep: Whether the new state holds the beliefs q[i, k], too.
    """

    n_classes: int
    compiled: bool = False
    keep: bool = False

    def __call__(self, shard: Shard, parameters: Arrays, state: Arrays) -> tuple[Arrays, Arrays]:
        """The sums, and the new ease[i] of each unit."""
        ability, ease = parameters["ability"], state[EASE].copy()
        q = np.empty((shard.n_units if self.keep else 0, self.n_classes))
        given = np.ascontiguousarray(state[Q]) if Q in state else np.empty((0, self.n_classes))
        work = self._kernel if self.compiled else self._arrays
        pull, curvature, evidence = work(shard, ability, ease, q, given)
        off_centre = (state[EASE] - 1.0) ** 2
        spread = (off_centre * shard.times if len(shard.times) else off_centre).sum()
        counts = {PULL: pull, CURVATURE: curvature, EVIDENCE: np.array(evidence), SPREAD: spread}
        return counts, {EASE: ease, Q: q} if self.keep else {EASE: ease}

    def _kernel(
        self, shard: Shard, ability: Floats, ease: Floats, q: Floats, given: Floats
    ) -> tuple[Floats, Floats, float]:
        from crowdlogic.numerics.label_kernels import ability_pass, unrolled_states

        shard, pull, curvature = shard.narrow(), np.zeros_like(ability), np.zeros_like(ability)
        evidence = ability_pass(
            unrolled_states(self.n_classes),
            self.n_classes,
            shard.starts,
            shard.annotator,
            shard.label,
            shard.weight,
            shard.fixed,
            shard.times,
            ability,
            ease,
            q,
            given,
            pull,
            curvature,
            STEPS,
            HALVINGS,
        )
        return pull, curvature, evidence

    def _arrays(
        self, shard: Shard, ability: Floats, ease: Floats, q: Floats, given: Floats
    ) -> tuple[Floats, Floats, float]:
        """The kernel in numpy; changes ease and q."""
        unit, n_units = shard.unit, shard.n_units
        alpha, weight = ability[shard.annotator], shard.weight if len(shard.weight) else np.ones(len(unit))
        x = alpha * np.exp(ease)[unit]  # [row], the log odds that the label is right
        beliefs, evidence = _e_step(shard, unit, weight, x, self.n_classes)
        if len(given):
            beliefs = given
        if len(q):
            q[:] = beliefs
        # Slope and curvature of each label's parabola, summed by unit for the new ease, then by annotator
        pulled = weight * (beliefs[unit, shard.label] - 0.5)
        curved = weight * _curvature(x)
        lift, curve = sum_by(unit, n_units, pulled * alpha), sum_by(unit, n_units, curved * alpha**2)
        ease[:] = _best_ease(lift, curve, ease)
        beta = np.exp(ease)[unit]
        times = shard.times[unit] if len(shard.times) else 1.0
        pulled, curved = times * pulled, times * weight * _curvature(alpha * beta)
        size = len(ability)
        return (
            sum_by(shard.annotator, size, pulled * beta),
            2.0 * sum_by(shard.annotator, size, curved * beta**2),
            evidence,
        )


def difficulty_step(engine: Engine, *, keep: bool = False) -> DifficultyStep:
    """The step for the labels of an engine."""
    large = engine.n_labels * engine.n_classes >= LARGE // 2 if engine.compiled is None else engine.compiled
    return DifficultyStep(n_classes=engine.n_classes, compiled=large, keep=keep)


def _e_step(shard: Shard, unit: Ints, weight: Floats, x: Floats, n_classes: int) -> tuple[Floats, float]:
    n_units = shard.n_units
    # Every class starts from the log probability of a wrong label; the label's own class gets the difference
    wrong = weight * (log_expit(-x) - np.log(max(n_classes - 1, 1)))
    extra = weight * log_expit(x) - wrong
    cell = unit * n_classes + shard.label
    log_q = sum_by(cell, n_units * n_classes, extra).reshape(-1, n_classes) - np.log(n_classes)
    known = shard.known
    if known.any():
        log_q[known] = np.where(np.arange(n_classes) == shard.fixed[known, None], log_q[known], LOG_ZERO)
    beliefs, log_sum = normalise(log_q)
    return beliefs, float(shard.unit_sum(log_sum + sum_by(unit, n_units, wrong)))


def _curvature(x: Floats) -> Floats:
    """lambda(x) = tanh(x / 2) / (4 x), which is 1/8 at 0."""
    small = np.abs(x) < 1e-6
    return np.where(small, 0.125, np.tanh(x / 2) / np.where(small, 1.0, 4 * x))


def _best_ease(pull: Floats, curve: Floats, ease: Floats) -> Floats:
    """A few Newton steps up pull e^b - curve e^(2b) - (b - 1)^2 / 2, none of which may lower it."""
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
