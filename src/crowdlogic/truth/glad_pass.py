"""One pass of GLAD over all labels (see `glad`), in numpy for small inputs and compiled for large ones.

With h[row] the belief in the row's label, x = alpha_j exp(b_i) and lambda(x) = tanh(x / 2) / (4 x), the expected
log-likelihood of the row is at least (h - 1/2) x' - lambda(x) x'^2 + constant for a new x', and as much at x' = x.

Axes: i unit, j annotator, k class.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import log_expit

from crowdlogic.engines.shards import Shard, Shards
from crowdlogic.engines.sweeps import LARGE
from crowdlogic.numerics.arrays import Floats, Ints
from crowdlogic.numerics.logspace import LOG_ZERO, normalise
from crowdlogic.numerics.sums import sum_by

STEPS = 3
"""Newton steps for an item's difficulty within one M-step."""

HALVINGS = 20
"""Maximum number of times that a Newton step which lowers the objective is halved before it is skipped."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Pass:
    """The sums of a pass.

    Attributes:
        ease: ease[i], the new b of each unit.
        pull: pull[j], the sum of (h - 1/2) exp(b).
        curvature: curvature[j], the sum of 2 lambda(x) exp(2 b).
        log_evidence: The log probability of all labels under the parameters given.
        q: q[i, k], with `keep`.
    """

    ease: Floats
    pull: Floats
    curvature: Floats
    log_evidence: float
    q: Floats | None


def difficulty_pass(
    shards: Shards, ability: Floats, ease: Floats, *, keep: bool = False, beliefs: Floats | None = None
) -> Pass:
    """E-step, the difficulties' M-step, and the sums for the abilities' M-step.

    Args:
        shards: The labels.
        ability: alpha[j].
        ease: b[i], the log of beta; the larger, the easier.
        keep: Whether to keep the beliefs.
        beliefs: q[i, k] to use instead of an E-step.
    """
    q = np.empty((shards.n_units if keep else 0, shards.n_classes))
    new_ease = ease.copy()
    compiled = shards.n_labels * shards.n_classes >= LARGE // 2 if shards.compiled is None else shards.compiled
    given = np.empty((0, shards.n_classes)) if beliefs is None else np.ascontiguousarray(beliefs)

    def work(shard: Shard) -> tuple[Floats, Floats, float]:
        mine = (new_ease[shard.units], q[shard.units] if keep else q, given[shard.units] if len(given) else given)
        if not compiled:
            return _pass(shard, shards.n_classes, ability, *mine)
        from crowdlogic.numerics.glad_kernels import ability_pass
        from crowdlogic.numerics.label_kernels import unrolled_states

        pull, curvature = np.zeros_like(ability), np.zeros_like(ability)
        evidence = ability_pass(
            unrolled_states(shards.n_classes),
            shards.n_classes,
            shard.starts,
            shard.annotator,
            shard.label,
            shard.weight,
            shard.fixed,
            ability,
            *mine,
            pull,
            curvature,
            STEPS,
            HALVINGS,
        )
        return pull, curvature, evidence

    found = shards.map(work)
    pull, curvature = sum(part[0] for part in found), sum(part[1] for part in found)
    return Pass(
        ease=new_ease,
        pull=np.asarray(pull),
        curvature=np.asarray(curvature),
        log_evidence=float(sum(part[2] for part in found)),
        q=q if keep else None,
    )


def _pass(
    shard: Shard, n_classes: int, ability: Floats, ease: Floats, q: Floats, given: Floats
) -> tuple[Floats, Floats, float]:
    """`glad_kernels.ability_pass` in numpy; changes ease and q."""
    n_units = len(shard.starts) - 1
    unit = np.repeat(np.arange(n_units), np.diff(shard.starts))
    alpha, weight = ability[shard.annotator], shard.weight if len(shard.weight) else np.ones(len(unit))
    x = alpha * np.exp(ease)[unit]  # [row], the log odds that the label is right
    beliefs, evidence = _e_step(shard, unit, weight, x, n_classes)
    if len(given):
        beliefs = given
    if len(q):
        q[:] = beliefs
    # Slope and curvature of each label's parabola, summed by unit for the new ease, then by annotator
    pulled = weight * (beliefs[unit, shard.label] - 0.5)
    curved = weight * _curvature(x)
    ease[:] = _best_ease(
        sum_by(unit, n_units, pulled * alpha),
        sum_by(unit, n_units, curved * alpha**2),
        ease,
    )
    beta = np.exp(ease)[unit]
    curved = weight * _curvature(alpha * beta)
    size = len(ability)
    return (
        sum_by(shard.annotator, size, pulled * beta),
        2.0 * sum_by(shard.annotator, size, curved * beta**2),
        evidence,
    )


def _e_step(shard: Shard, unit: Ints, weight: Floats, x: Floats, n_classes: int) -> tuple[Floats, float]:
    n_units = len(shard.starts) - 1
    # Every class starts from the log probability of a wrong label; the label's own class gets the difference
    wrong = weight * (log_expit(-x) - np.log(max(n_classes - 1, 1)))
    extra = weight * log_expit(x) - wrong
    cell = unit * n_classes + shard.label
    log_q = sum_by(cell, n_units * n_classes, extra).reshape(-1, n_classes) - np.log(n_classes)
    if len(shard.fixed):
        known = shard.fixed >= 0
        log_q[known] = np.where(np.arange(n_classes) == shard.fixed[known, None], log_q[known], LOG_ZERO)
    beliefs, log_sum = normalise(log_q)
    return beliefs, float(log_sum[np.diff(shard.starts) > 0].sum() + wrong.sum())


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
